// SPDX-License-Identifier: MIT
// Program CONV.nsk MEMORY.nsk AGENTS.nsk IMAGE.nsk: the package as a game uses it. Prints hashes, bytes of managed memory, and what is wrong.
// Program --own-tests: the package's tests for the editor.
// Program: what is left of models where there is no library.
using System;
using System.IO;
using System.Reflection;
using Netsuke;
using Netsuke.Editor;
using Netsuke.Samples;
using Unity.Collections;
using UnityEditor.AssetImporters;
using UnityEngine;

internal static class Program
{
    private const int TimeSteps = 3, Ways = 7, Runs = 10000;
    private static int s_failures;

    internal static void Require(bool condition, string text)
    {
        if (condition) return;
        ++s_failures;
        Console.WriteLine("wrong: " + text);
    }

    private static float InputNumber(uint i) { return ((i * 2654435761u) >> 16) / 65536.0f - 0.5f; }

    private static ulong AddToHash(ulong hash, ReadOnlySpan<byte> bytes)
    {
        foreach (byte b in bytes) hash = (hash ^ b) * 1099511628211u;
        return hash;
    }

    private static float[] InputsOf(NskPort port, int first)
    {
        float[] values = new float[port.Elements];
        for (int i = 0; i < values.Length; ++i) values[i] = InputNumber((uint)(first + i));
        return values;
    }

    private static void WriteInputs(NskSession net, int timeStep)
    {
        for (int i = 0; i < net.Inputs.Length; ++i) net.Write<float>(i, InputsOf(net.Inputs[i], 1000 * timeStep + i));
    }

    private static ulong HashOf(NskSession net)
    {
        ulong hash = 14695981039346656037u;
        for (int i = 0; i < net.Outputs.Length; ++i)
        {
            byte[] bytes = new byte[net.Outputs[i].Bytes];
            net.Read<byte>(i, bytes);
            hash = AddToHash(hash, bytes);
        }
        return hash;
    }

    /// <summary>One job after the other, the last first; throws behind the first one where it is told to.</summary>
    private sealed class BackwardJobs : NskJobs
    {
        public int Calls;
        public bool Throws;

        protected override void ParallelFor(int count, NskJob job)
        {
            ++Calls;
            for (int i = count; i-- > 0;)
            {
                job.Run(i);
                if (Throws) throw new NotSupportedException("no more jobs");
            }
        }
    }

    /// <summary>Hashes of several time steps, whole and in slices, with and without jobs; the states go back by a snapshot in between.</summary>
    private static void Hashes(int number, string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model, 0, 3))
        using (BackwardJobs backwards = new BackwardJobs())
        using (NskThreads threads = new NskThreads(2))
        using (NskUnityJobs unity = new NskUnityJobs())
        {
            Require(net.Lanes >= 3, path + ": lanes");
            byte[] before = new byte[net.StateBytes];
            net.Save(before);
            for (int way = 0; way < Ways; ++way)
            {
                net.Load(before);
                for (int step = 0; step < TimeSteps; ++step)
                {
                    WriteInputs(net, step);
                    int slices = 1;
                    if (way == 0) net.Run();
                    if (way == 1) while (!net.RunForWork(1)) ++slices;
                    if (way == 2) while (!net.RunForTime(0)) ++slices;
                    if (way == 3) net.Run(backwards);
                    if (way == 4) net.Run(threads);
                    if (way == 5) while (!net.RunForWork(300000, threads)) ++slices;  // several tiles at once
                    if (way == 6) while (!net.RunForTime(0, unity)) ++slices;
                    Require(slices > 1 || (way != 1 && way != 2 && way != 6), path + ": one slice");
                    Require(net.Flags == 0, path + ": flags");
                    Console.WriteLine("hash " + way + " " + number + " " + step + " " + HashOf(net).ToString("x16"));
                }
            }
            net.SelfTest();
            Require(number != 0 || backwards.Calls > 0, path + ": no step has jobs");
        }
    }

    /// <summary>An exception of a job system comes out of Run, behind the inference that it did not stop.</summary>
    private static void ThrowingJobs(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model, 0, 3), quiet = new NskSession(model))
        using (BackwardJobs jobs = new BackwardJobs { Throws = true })
        {
            WriteInputs(net, 0);
            WriteInputs(quiet, 0);
            quiet.Run();
            try
            {
                net.Run(jobs);
                Require(false, "the exception of a job system is lost");
            }
            catch (InvalidOperationException e)
            {
                Require(e.InnerException is NotSupportedException && e.Message.Contains("no more jobs"), "the exception of a job system: " + e.Message);
            }
            Require(HashOf(net) == HashOf(quiet), "a step whose jobs were not all run is wrong");
            jobs.Throws = false;
            net.Run(jobs);
            jobs.Dispose();
            try
            {
                net.Run(jobs);
                Require(false, "jobs that were disposed run");
            }
            catch (ObjectDisposedException)
            {
            }
        }
    }

    /// <summary>A session whose threads are busy with another one's jobs runs on its own thread, and leaves those alone.</summary>
    private static void BusyThreads(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model, 0, 3), quiet = new NskSession(model))
        using (NskThreads threads = new NskThreads(2))
        {
            FieldInfo left = typeof(NskThreads).GetField("m_left", BindingFlags.Instance | BindingFlags.NonPublic);
            WriteInputs(net, 1);
            WriteInputs(quiet, 1);
            quiet.Run();
            left.SetValue(threads, 1);
            net.Run(threads);
            Require(HashOf(net) == HashOf(quiet) && (int)left.GetValue(threads) == 1, "a session waits for, or disturbs, another one's jobs");
            left.SetValue(threads, 0);
        }
    }

    /// <summary>One frame of a game in each of the package's ways; whatever it needs was made before.</summary>
    private static void Frame(NskSession net, NskJobs jobs, NskJobs unity, float[] input, float[] output, byte[] snapshot, NativeArray<float> inputArray, NativeArray<float> outputArray)
    {
        net.Save(snapshot);
        net.Write<float>(0, input);
        net.Run();
        net.Read<float>(0, output);
        net.Load(snapshot);
        input.AsSpan().CopyTo(net.Input<float>(0));
        while (!net.RunForWork(100000)) { }
        net.Output<float>(0).CopyTo(output);
        net.Write(0, inputArray);
        while (!net.RunForTime(1000000)) { }
        net.Read(0, outputArray);
        net.InputArray<float>(0);
        net.Seed(1);
        net.Run(jobs);
        while (!net.RunForWork(300000, unity)) { }
    }

    /// <summary>Bytes that all threads have allocated; 0 where the runtime cannot tell.</summary>
    private static long AllocatedByAll()
    {
        MethodInfo method = typeof(GC).GetMethod("GetTotalAllocatedBytes");
        return method == null ? 0 : (long)method.Invoke(null, new object[] { true });
    }

    private static void Garbage(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model, 0, 3))
        using (NskThreads jobs = new NskThreads(2))
        using (NskUnityJobs unity = new NskUnityJobs())
        using (NativeArray<float> inputArray = new NativeArray<float>(net.Inputs[0].Elements, Allocator.Persistent))
        using (NativeArray<float> outputArray = new NativeArray<float>(net.Outputs[0].Elements, Allocator.Persistent))
        {
            float[] input = InputsOf(net.Inputs[0], 0), output = new float[net.Outputs[0].Elements];
            byte[] snapshot = new byte[net.StateBytes];
            Frame(net, jobs, unity, input, output, snapshot, inputArray, outputArray);  // compiles, and fills caches
            long allBefore = AllocatedByAll();
            long before = GC.GetAllocatedBytesForCurrentThread();
            int collections = GC.CollectionCount(0);
            for (int i = 0; i < Runs; ++i) Frame(net, jobs, unity, input, output, snapshot, inputArray, outputArray);
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            collections = GC.CollectionCount(0) - collections;
            long byAll = AllocatedByAll() - allBefore;
            Console.WriteLine("garbage " + bytes + " bytes, " + collections + " collections in " + Runs + " frames of 5 runs");
            Require(bytes == 0, "a run allocates");
            Require(byAll < Runs, "threads allocate " + byAll + " bytes");  // less than one byte a frame: what asking takes
            object allocated = new byte[1000];  // the measurement sees what is allocated
            Require(GC.GetAllocatedBytesForCurrentThread() - before - bytes >= 1000 && allocated != null, "the measurement sees nothing");
        }
    }

    /// <summary>The message has the code's name, then `text`.</summary>
    internal static void Expect(string name, Action action, string text = "")
    {
        try
        {
            action();
            Require(false, name + " was expected, nothing was thrown");
        }
        catch (NskException e)
        {
            Require(e.Name == name && e.Message.Length > 40, name + " was expected, not " + e.Message);
            Require(e.Message.Contains(text), text + " was expected in " + e.Message);
        }
    }

    private static void Misuse(string path)
    {
        byte[] file = File.ReadAllBytes(path), tomorrow = (byte[])file.Clone();
        ++tomorrow[8];
        Expect("wrong_version", () => new NskModel(tomorrow));
        Expect("bad_magic", () => new NskModel(new byte[100]));
        Expect("too_short", () => new NskModel(file.AsSpan(0, file.Length / 2)));
        Expect("too_short", () => new NskModel(new byte[0]));
        NskModel model = new NskModel(file);
        Expect("bad_variant", () => new NskSession(model, 3), "bad_variant: variant 3: the model");
        NskSession net = new NskSession(model);
        Expect("wrong_size", () => net.Write<float>(0, new float[3]), "wrong_size: port 0 (input 'image' or output 'scores'): the block");
        Expect("wrong_size", () => net.Read<float>(0, new float[net.Outputs[0].Elements + 1]));
        Expect("wrong_size", () => net.Save(new byte[net.StateBytes + 1]));
        Expect("wrong_type", () => net.Input<byte>(0), "wrong_type: port 0 (input 'image' or output 'scores'): the element type");
        Expect("no_such_port", () => net.Write<float>(-1, new float[3]));
        Expect("no_such_port", () => net.Output<float>(7), "(inputs: 0 'image'; outputs: 0 'scores')");
        Expect("rows_out_of_range", () => net.SetBatch(2), "rows_out_of_range: rows 2: the variant");
        Require(net.FindInput("no such") == -1 && net.FindInput(net.Inputs[0].Name) == 0, "names");
        model.Dispose();
        model.Dispose();
        Expect("bad_handle", () => new NskSession(model));
        WriteInputs(net, 0);
        net.Run();  // a session keeps the file that it runs
        Expect("wrong_size", () => net.Write<float>(0, new float[3]), "wrong_size: port 0: the block");  // its model has no names any more
        net.Dispose();
        net.Dispose();
        Expect("bad_handle", () => net.Run());
        Expect("bad_handle", () => net.Input<float>(0));
    }

    private static void Batch(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession rows = new NskSession(model), one = new NskSession(model))
        {
            Require(model.MaxBatch() == 8, "the batch");
            WriteInputs(rows, 0);
            WriteInputs(one, 0);
            rows.SetBatch(4);
            one.SetBatch(1);
            rows.Seed(3);
            one.Seed(3);
            rows.Run();
            one.Run();
            for (int i = 0; i < rows.Outputs.Length; ++i)
            {
                ReadOnlySpan<byte> all = Bytes(rows, i), first = Bytes(one, i);
                int length = rows.Outputs[i].Shape[0] == 8 ? all.Length / 8 : all.Length;
                Require(all.Slice(0, length).SequenceEqual(first.Slice(0, length)), "row 0 of a batch");
            }
        }
    }

    private static byte[] Bytes(NskSession net, int output)
    {
        byte[] bytes = new byte[net.Outputs[output].Bytes];
        net.Read<byte>(output, bytes);
        return bytes;
    }

    private static T Sample<T>(NskModelAsset asset) where T : new()
    {
        T sample = new T();
        typeof(T).GetField("m_asset", BindingFlags.Instance | BindingFlags.NonPublic).SetValue(sample, asset);
        return sample;
    }

    private static void Unity(string path, string memory)
    {
        AssetImportContext context = new AssetImportContext { assetPath = path }, damaged = new AssetImportContext { assetPath = path + ".damaged" };
        new NskImporter().OnImportAsset(context);
        NskModelAsset asset = (NskModelAsset)context.MainObject;
        Require(context.Errors.Count == 0 && asset.Summary.Contains("in  image Float32 [1, 64, 64, 3]"), "the importer says " + asset.Summary);
        File.WriteAllBytes(damaged.assetPath, new byte[100]);
        new NskImporter().OnImportAsset(damaged);
        Require(damaged.Errors.Count == 1 && damaged.Errors[0].Contains("bad_magic"), "a damaged file is imported");

        SpreadOverFrames spread = Sample<SpreadOverFrames>(asset);
        spread.OnEnable();
        for (int frame = 0; frame < 100000 && spread.Completed < 2; ++frame) spread.Update();
        Require(spread.Completed == 2 && spread.Best >= 0, "the sample that is spread over frames");
        spread.OnDisable();

        context.assetPath = memory;
        new NskImporter().OnImportAsset(context);
        RollBack back = Sample<RollBack>((NskModelAsset)context.MainObject);
        back.OnEnable();
        float[] input = { 0.1f, 0.2f, 0.3f, 0.4f };
        for (int frame = 0; frame < 5; ++frame) back.Advance(input);
        float[] expected = (float[])back.Output.Clone();
        back.Advance(input);
        Require(!expected.AsSpan().SequenceEqual(back.Output), "the memory does not go on");
        back.Return(3);
        for (int frame = 3; frame < 5; ++frame) back.Advance(input);
        Require(expected.AsSpan().SequenceEqual(back.Output), "frames computed again differ");
        back.OnDisable();
    }

    /// <summary>Where there is no library the constructor says so, and what it has left does no harm when it is collected.</summary>
    private static int WithoutLibrary()
    {
        for (int i = 0; i < 10; ++i)
        {
            try
            {
                new NskModel(new byte[100]);
                return 1;
            }
            catch (DllNotFoundException)
            {
            }
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("no library, no harm");
        return 0;
    }

    /// <summary>The tests that the package has for the editor, each by its name.</summary>
    private static int OwnTests()
    {
        object tests = new Netsuke.Tests.PackageTests();
        foreach (MethodInfo method in tests.GetType().GetMethods())
        {
            if (method.GetCustomAttributes(typeof(NUnit.Framework.TestAttribute), false).Length == 0) continue;
            try
            {
                method.Invoke(tests, null);
                Console.WriteLine("passed " + method.Name);
            }
            catch (TargetInvocationException e)
            {
                Require(false, method.Name + ": " + e.InnerException.Message);
            }
        }
        return s_failures == 0 ? 0 : 1;
    }

    private static int Main(string[] arguments)
    {
        if (arguments.Length == 0) return WithoutLibrary();
        if (arguments[0] == "--own-tests") return OwnTests();
        Console.WriteLine("runtime " + Environment.Version + ", netsuke " + NskModel.LibraryVersion + " " + NskModel.LibraryIsa);
        Hashes(0, arguments[0]);
        Hashes(1, arguments[1]);
        ThrowingJobs(arguments[0]);
        BusyThreads(arguments[0]);
        Garbage(arguments[0]);
        Garbage(arguments[1]);
        Misuse(arguments[0]);
        Batch(arguments[2]);
        Unity(arguments[0], arguments[1]);
        Parts.Run(arguments[2], arguments[3]);
        Console.WriteLine(s_failures + " failures");
        return s_failures == 0 ? 0 : 1;
    }
}
