// SPDX-License-Identifier: MIT
// Program CONV.nsk MEMORY.nsk AGENTS.nsk: the package as a game uses it. Prints hashes, bytes of managed memory, and what is wrong.
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
    private const int TimeSteps = 3, Runs = 10000;
    private static int s_failures;

    private static void Require(bool condition, string text)
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

    /// <summary>Hashes of several time steps, whole and in slices; the states go back by a snapshot in between.</summary>
    private static void Hashes(int number, string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model, 0, 2))
        {
            byte[] before = new byte[net.StateBytes];
            net.Save(before);
            for (int way = 0; way < 3; ++way)
            {
                net.Load(before);
                for (int step = 0; step < TimeSteps; ++step)
                {
                    WriteInputs(net, step);
                    int slices = 1;
                    if (way == 0) net.Run();
                    if (way == 1) while (!net.Step(1)) ++slices;
                    if (way == 2) while (!net.StepFor(0)) ++slices;
                    Require(way == 0 || slices > 1, path + ": one slice");
                    Require(net.Flags == 0, path + ": flags");
                    Console.WriteLine("hash " + way + " " + number + " " + step + " " + HashOf(net).ToString("x16"));
                }
            }
            net.SelfTest();
        }
    }

    /// <summary>One frame of a game in each of the package's ways; whatever it needs was made before.</summary>
    private static void Frame(NskSession net, float[] input, float[] output, byte[] snapshot, NativeArray<float> inputArray, NativeArray<float> outputArray)
    {
        net.Save(snapshot);
        net.Write<float>(0, input);
        net.Run();
        net.Read<float>(0, output);
        net.Load(snapshot);
        input.AsSpan().CopyTo(net.Input<float>(0));
        while (!net.Step(100000)) { }
        net.Output<float>(0).CopyTo(output);
        net.Write(0, inputArray);
        while (!net.StepFor(1000000)) { }
        net.Read(0, outputArray);
        net.InputArray<float>(0);
        net.Seed(1);
    }

    private static void Garbage(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model))
        using (NativeArray<float> inputArray = new NativeArray<float>(net.Inputs[0].Elements, Allocator.Persistent))
        using (NativeArray<float> outputArray = new NativeArray<float>(net.Outputs[0].Elements, Allocator.Persistent))
        {
            float[] input = InputsOf(net.Inputs[0], 0), output = new float[net.Outputs[0].Elements];
            byte[] snapshot = new byte[net.StateBytes];
            Frame(net, input, output, snapshot, inputArray, outputArray);  // compiles, and fills caches
            long before = GC.GetAllocatedBytesForCurrentThread();
            int collections = GC.CollectionCount(0);
            for (int i = 0; i < Runs; ++i) Frame(net, input, output, snapshot, inputArray, outputArray);
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Console.WriteLine("garbage " + bytes + " bytes, " + (GC.CollectionCount(0) - collections) + " collections in " + Runs + " frames of 3 runs");
            Require(bytes == 0, "a run allocates");
            object allocated = new byte[1000];  // the measurement sees what is allocated
            Require(GC.GetAllocatedBytesForCurrentThread() - before - bytes >= 1000 && allocated != null, "the measurement sees nothing");
        }
    }

    private static void Expect(string name, Action action)
    {
        try
        {
            action();
            Require(false, name + " was expected, nothing was thrown");
        }
        catch (NskException e)
        {
            Require(e.Name == name && e.Message.Length > 40, name + " was expected, not " + e.Message);
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
        Expect("bad_variant", () => new NskSession(model, 3));
        NskSession net = new NskSession(model);
        Expect("wrong_size", () => net.Write<float>(0, new float[3]));
        Expect("wrong_size", () => net.Read<float>(0, new float[net.Outputs[0].Elements + 1]));
        Expect("wrong_size", () => net.Save(new byte[net.StateBytes + 1]));
        Expect("wrong_type", () => net.Input<byte>(0));
        Expect("no_such_port", () => net.Write<float>(-1, new float[3]));
        Expect("no_such_port", () => net.Output<float>(7));
        Expect("bad_batch", () => net.SetBatch(2));
        Require(net.FindInput("no such") == -1 && net.FindInput(net.Inputs[0].Name) == 0, "names");
        model.Dispose();
        model.Dispose();
        Expect("bad_handle", () => new NskSession(model));
        WriteInputs(net, 0);
        net.Run();  // a session keeps the file that it runs
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
        Require(context.Errors.Count == 0 && asset.Summary.Contains("in  image Float32 [1, 32, 32, 3]"), "the importer says " + asset.Summary);
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

    private static int Main(string[] arguments)
    {
        Console.WriteLine("runtime " + Environment.Version + ", netsuke " + NskModel.LibraryVersion + " " + NskModel.LibraryIsa);
        Hashes(0, arguments[0]);
        Hashes(1, arguments[1]);
        Garbage(arguments[0]);
        Garbage(arguments[1]);
        Misuse(arguments[0]);
        Batch(arguments[2]);
        Unity(arguments[0], arguments[1]);
        Console.WriteLine(s_failures + " failures");
        return s_failures == 0 ? 0 : 1;
    }
}
