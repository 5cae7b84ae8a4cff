// SPDX-License-Identifier: MIT
// Images, batches of many callers, logs and traces of the package.
using System;
using Netsuke;
using Unity.Collections;
using System.IO;

internal static class Parts
{
    private const int Agents = 11, Frames = 10000;

    private static byte[] FrameOf(int bytes)
    {
        byte[] pixels = new byte[bytes];
        uint number = 1;
        for (int i = 0; i < bytes; ++i)
        {
            number = number * 1664525 + 1013904223;
            pixels[i] = (byte)(number >> 24);
        }
        return pixels;
    }

    /// <summary>Whether the input has the colours of an image of its size; `pixel` is the first byte of a tensor's pixel in the image.</summary>
    private static bool Shows(NskSession net, byte[] pixels, Func<int, int, int> pixel, int red, int blue)
    {
        ReadOnlySpan<float> tensor = net.Input<float>(0);
        int height = net.Inputs[0].Shape[1], width = net.Inputs[0].Shape[2];
        for (int i = 0; i < height * width; ++i)
        {
            int at = pixel(i / width, i % width);
            float wrong = Math.Abs(tensor[3 * i] - pixels[at + red] / 255f) + Math.Abs(tensor[3 * i + 1] - pixels[at + 1] / 255f) + Math.Abs(tensor[3 * i + 2] - pixels[at + blue] / 255f);
            if (wrong > 1e-5f) return false;
        }
        return true;
    }

    private static void Images(string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model))
        {
            int height = net.Inputs[0].Shape[1], width = net.Inputs[0].Shape[2], high = net.Outputs[0].Shape[1], wide = net.Outputs[0].Shape[2];
            byte[] pixels = FrameOf(width * height * 4);
            NskImageFormat format = new NskImageFormat(width, height, NskPixelFormat.Bgra);
            NskPoint point = net.WriteImage(0, pixels, format).ToImage(3, 4);
            Program.Require(Shows(net, pixels, (y, x) => 4 * (y * width + x), 2, 0), "an image");
            Program.Require(Math.Abs(point.X - 3) + Math.Abs(point.Y - 4) < 1e-5, "the map of an image");
            format.BottomUp = true;
            net.WriteImage(0, pixels, format);
            Program.Require(Shows(net, pixels, (y, x) => 4 * ((height - 1 - y) * width + x), 2, 0), "an image from the bottom up");
            NskImageSettings how = model.ImageSettings();
            how.Mirrored = true;
            format = new NskImageFormat(width - 1, height, NskPixelFormat.Rgba, false, 4 * width);
            how.Show(width / 2f - 1, height / 2f, width, height);
            net.WriteImage(0, pixels, format, how);
            Program.Require(Shows(net, pixels, (y, x) => 4 * (y * width + Math.Max(width - 2 - x, 0)), 0, 2), "a region that is mirrored, with longer rows");
            using (NativeArray<uint> array = new NativeArray<uint>(width * height, Allocator.Persistent))
            {
                NativeArray<uint> writable = array;
                for (int i = 0; i < array.Length; ++i) writable[i] = BitConverter.ToUInt32(pixels, 4 * i);
                net.WriteImage(0, array, new NskImageFormat(width, height, NskPixelFormat.Rgba));
                Program.Require(Shows(net, pixels, (y, x) => 4 * (y * width + x), 0, 2), "an image in a native array");
            }
            Results(net, wide, high);
            Program.Expect("no_image", () => net.WriteImage(0, pixels, format, Grey()), "port 0 (input 'frame' or output 'upscaled')");
            Program.Expect("wrong_image_size", () => net.ReadImage(0, pixels, new NskImageFormat(width, height, NskPixelFormat.Rgba)), "output 0 'upscaled': the image's");
            try
            {
                net.WriteImage(0, pixels, new NskImageFormat(width, height + 1, NskPixelFormat.Rgba));
                Program.Require(false, "an image without its last row is read");
            }
            catch (ArgumentException)
            {
            }
        }
    }

    private static NskImageSettings Grey()
    {
        NskImageSettings how = NskImageSettings.Default;
        how.Order = NskChannelOrder.Grey;
        return how;
    }

    /// <summary>The levels of an output, and the same upside down with its colours the other way round.</summary>
    private static void Results(NskSession net, int width, int height)
    {
        net.Run();
        byte[] image = new byte[width * height * 3], other = new byte[width * height * 4];
        net.ReadImage(0, image, new NskImageFormat(width, height, NskPixelFormat.Rgb));
        NskTensorSettings how = NskTensorSettings.Default;
        how.Alpha = NskImageAlpha.Keep;
        net.ReadImage(0, other, new NskImageFormat(width, height, NskPixelFormat.Bgra, true), how);
        ReadOnlySpan<float> numbers = net.Output<float>(0);
        bool same = true;
        for (int i = 0; i < width * height; ++i)
        {
            int there = ((height - 1 - i / width) * width + i % width) * 4;
            for (int c = 0; c < 3; ++c)
                same &= image[3 * i + c] == other[there + 2 - c] && Math.Abs(image[3 * i + c] - Math.Min(Math.Max(numbers[3 * i + c] * 255, 0), 255)) <= 0.51f;
            same &= other[there + 3] == 0;
        }
        Program.Require(same, "the image of an output");
    }

    private static void See(float[] row, int agent)
    {
        for (int i = 0; i < row.Length; ++i) row[i] = (agent * 13 + i) * 37 % 101 / 101f - 0.5f;
    }

    private static void Batcher(string path)
    {
        const int output = 4;
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model), one = new NskSession(model))
        using (NskBatcher crowd = new NskBatcher(model, Agents, 10))
        {
            float[] row = new float[crowd.RowBytes / sizeof(float)];
            one.SetBatch(1);
            for (int agent = Agents; agent-- > 0;)
            {
                See(row, agent);
                Program.Require(crowd.Ask<float>(agent, row) == (agent > 0 ? NskAsked.Taken : NskAsked.QueueFull), "a row of agent " + agent);
            }
            Program.Require(crowd.Ask<float>(3, row) == NskAsked.AlreadyWaiting && crowd.Standing(3) == NskStanding.Waiting && crowd.Standing(0) == NskStanding.Idle, "standings");
            Program.Require(crowd.Run(net) == 8 && crowd.ServedAgent(0) == Agents - 1 && crowd.ServedAgent(8) == -1, "the first run");
            Program.Require(crowd.Gather(net) == 2, "the second run");
            while (!net.RunForWork(1)) { }
            crowd.Scatter(net);
            Program.Require(crowd.Run(net) == 0, "a run without rows");
            for (int agent = 1; agent < Agents; ++agent)
            {
                See(row, agent);
                row.AsSpan().CopyTo(one.Input<float>(0));
                one.Run();
                Program.Require(crowd.Standing(agent) == NskStanding.Answered, "agent " + agent + " has no answer");
                Program.Require(crowd.Output<float>(agent, output).SequenceEqual(one.Output<float>(output).Slice(0, 2)), "the answer of agent " + agent);
            }
            Program.Require(crowd.States(1).Length == 0 && net.Inputs[0].Rows == 8 && net.Outputs[0].Rows == 0, "states and rows");
            Program.Expect("wrong_type", () => crowd.Output<byte>(1, output));
            Program.Expect("no_such_agent", () => crowd.Reset(Agents));
            Program.Expect("wrong_size", () => crowd.Ask<float>(0, new float[3]));
            Program.Expect("no_rows", () => new NskBatcher(model, 0, 1));
            Program.Expect("no_such_port", () => new NskBatcher(model, 1, 1, 0, new[] { new NskRecurrentPair("obs_0", "nothing") }));
        }
    }

    private static void Logs(string path)
    {
        NskTrace trace = new NskTrace(1 << 16, "test");
        using (NskModel model = new NskModel(File.ReadAllBytes(path)))
        using (NskRunLog log = new NskRunLog(8))
        using (NskSession net = new NskSession(model))
        {
            NskProfile profile = new NskProfile(model);
            net.Watch(trace, profile);
            net.Run();
            net.Unwatch();
            ulong macs = 0;
            bool timed = true;
            for (int i = 0; i < profile.Steps; ++i)
            {
                macs += profile.Macs(i);
                timed &= profile.Nanoseconds(i) >= 0 && profile.Nanoseconds(i) < 1000000000 && profile.Operator(i).Length > 2;
            }
            long before = profile.Nanoseconds(0);
            net.Run();
            Program.Require(timed && macs > 1000 && profile.Nanoseconds(0) == before, "the profile");
            trace.Stage(NskStage.Output, 5, 9);
            trace.Add("frame \"one\"", 0, 1, 2);
            string json = trace.Finish();
            int steps = json.Split(new[] { "\"tid\":1" }, StringSplitOptions.None).Length - 1;
            Program.Require(steps == profile.Steps && json.Contains("\"name\":\"frame \\\"one\\\"\"") && json.Contains("\"dropped_events\":0"), "the trace: " + json);
            Program.Require(trace.Finish().Length < 300, "a trace that begins anew");
            for (int i = 1; i <= 10; ++i) log.Slice(1000 * i, i != 10);
            log.Describe(model);
            string line = log.Line();
            Program.Require(log.Runs == 9 && log.Percentile(100) == 9000 && log.WorstSlice == 9000, "times of runs");
            Program.Require(line.StartsWith("{\"model\":\"" + model.Name + "\"") && line.Contains("\"p50_us\":5.000"), "the line: " + line);
            net.Watch(trace);
            trace.Dispose();  // in front of the session that writes to it
            net.Run();
        }
        Program.Expect("bad_handle", () => trace.Stage(NskStage.Input, 0, 1));
    }

    private static void Frame(NskSession image, NskSession net, NskBatcher crowd, NskRunLog log, NskTrace trace, byte[] pixels, byte[] result, float[] row)
    {
        long begin = NskTime.Now;
        image.WriteImage(0, pixels, new NskImageFormat(image.Inputs[0].Shape[2], image.Inputs[0].Shape[1], NskPixelFormat.Rgba));
        image.ReadImage(0, result, new NskImageFormat(image.Outputs[0].Shape[2], image.Outputs[0].Shape[1], NskPixelFormat.Rgba));
        for (int agent = 0; agent < 3; ++agent) crowd.Ask<float>(agent, row);
        crowd.Ask<float>(0, row);
        crowd.Run(net);
        row[0] = crowd.Output<float>(2, 4)[0];
        trace.Stage(NskStage.Inference, begin, NskTime.Now);
        log.Slice(NskTime.Now - begin, true);
    }

    private static void Garbage(string agents, string path)
    {
        using (NskModel model = new NskModel(File.ReadAllBytes(agents)), other = new NskModel(File.ReadAllBytes(path)))
        using (NskSession net = new NskSession(model), image = new NskSession(other))
        using (NskBatcher crowd = new NskBatcher(model, Agents, Agents))
        using (NskRunLog log = new NskRunLog(64))
        using (NskTrace trace = new NskTrace())
        {
            byte[] pixels = FrameOf(image.Inputs[0].Elements / 3 * 4), result = new byte[image.Outputs[0].Elements / 3 * 4];
            float[] row = new float[crowd.RowBytes / sizeof(float)];
            net.Watch(trace);
            Frame(image, net, crowd, log, trace, pixels, result, row);
            long before = GC.GetAllocatedBytesForCurrentThread();
            int collections = GC.CollectionCount(0);
            for (int i = 0; i < Frames; ++i) Frame(image, net, crowd, log, trace, pixels, result, row);
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Console.WriteLine("garbage " + bytes + " bytes, " + (GC.CollectionCount(0) - collections) + " collections in " + Frames + " frames of images and rows");
        }
    }

    public static void Run(string agents, string image)
    {
        Images(image);
        Batcher(agents);
        Logs(image);
        Garbage(agents, image);
    }
}
