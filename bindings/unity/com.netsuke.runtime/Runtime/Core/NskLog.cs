// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Netsuke
{
    /// <summary>The clock of logs, traces and profiles.</summary>
    public static class NskTime
    {
        /// <summary>Nanoseconds since any moment that stays the same.</summary>
        public static long Now => (long)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency));

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate long Clock(IntPtr user);

        private static readonly Clock s_clock = OnNow;  // kept alive as long as the program
        internal static readonly IntPtr Pointer = Marshal.GetFunctionPointerForDelegate(s_clock);

        [MonoPInvokeCallback(typeof(Clock))]
        private static long OnNow(IntPtr user) { return Now; }
    }

    /// <summary>Times of the last runs, in nanoseconds. Only Line() allocates managed memory.</summary>
    public sealed unsafe class NskRunLog : IDisposable
    {
        private const int LineBytes = 2049;

        private readonly NskMemory m_memory;
        private IntPtr m_handle;
        private NskModel m_model;
        private int m_disposed;

        /// <summary>Keeps so many runs.</summary>
        public NskRunLog(int runs)
        {
            m_memory = new NskMemory(NskNative.nsk_run_log_required_bytes(runs).ToUInt64());
            NskException.Check(NskNative.nsk_run_log_open(m_memory.Address, m_memory.Size, out m_handle));
        }

        ~NskRunLog() { Dispose(); }

        /// <summary>Adds name and bytes of a model to the line.</summary>
        public void Describe(NskModel model, int variant = 0, int lanes = 1)
        {
            NskException.Check(NskNative.nsk_run_log_describe(m_handle, model.Handle, variant, lanes), model.Handle, variant);
            model.Retain();
            if (m_model != null) m_model.Release();
            m_model = model;
        }
        /// <summary>Adds one part of a run; `complete` is what RunForTime returned.</summary>
        public void Slice(long nanoseconds, bool complete)
        {
            NskException.Check(NskNative.nsk_run_log_slice(m_handle, nanoseconds, complete ? 1 : 0));
            GC.KeepAlive(this);
        }
        /// <summary>Complete runs since the beginning.</summary>
        public ulong Runs => Kept(NskNative.nsk_run_log_runs(m_handle));
        /// <summary>The shortest time that so many percent, 1 to 100, of the runs kept do not exceed.</summary>
        public long Percentile(int percent) => Kept(NskNative.nsk_run_log_percentile(m_handle, percent));
        public long WorstSlice => Kept(NskNative.nsk_run_log_worst_slice(m_handle));
        /// <summary>A line of JSON for the log of the game.</summary>
        public string Line()
        {
            byte* line = stackalloc byte[LineBytes];
            int size = (int)NskNative.nsk_run_log_line(m_handle, line, new UIntPtr(LineBytes)).ToUInt32();
            return Kept(Encoding.UTF8.GetString(line, size));
        }
        public void Clear() { NskException.Check(NskNative.nsk_run_log_clear(m_handle)); }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref m_disposed, 1) != 0) return;
            GC.SuppressFinalize(this);
            if (m_handle != IntPtr.Zero) NskNative.nsk_run_log_close(m_handle);
            m_handle = IntPtr.Zero;
            if (m_memory != null) m_memory.Free();
            if (m_model != null) m_model.Release();
        }

        private T Kept<T>(T result)
        {
            GC.KeepAlive(this);
            return result;
        }
    }

    /// <summary>What a game does with a network in a frame.</summary>
    public enum NskStage { Input, Inference, Output }

    /// <summary>Bars for ui.perfetto.dev in a text of so many bytes; what comes first is kept. Times are those of NskTime.Now.</summary>
    public sealed unsafe class NskTrace : IDisposable
    {
        private readonly NskMemory m_memory, m_text;
        private readonly byte[] m_process;
        private int m_disposed;

        public NskTrace(int bytes = 1 << 20, string process = "game")
        {
            m_process = NskText.Bytes(process);
            m_text = new NskMemory((ulong)bytes);
            m_memory = new NskMemory(NskNative.nsk_trace_required_bytes().ToUInt64());
            IntPtr handle;
            NskStatus status;
            fixed (byte* name = m_process) status = NskNative.nsk_trace_open(m_memory.Address, m_memory.Size, m_text.Address, m_text.Size, name, out handle);
            Handle = handle;
            NskException.Check(status);
        }

        ~NskTrace() { Dispose(); }

        internal IntPtr Handle { get; private set; }
        /// <summary>Bars that were left out because the text is full.</summary>
        public ulong Dropped => NskNative.nsk_trace_dropped(Handle);

        /// <summary>Writes a stage of a frame; allocates nothing.</summary>
        public void Stage(NskStage stage, long begin, long end) { Check(NskNative.nsk_trace_add_stage(Handle, (int)stage, begin, end)); }
        /// <summary>Writes a bar of the game's own on a track: 0 has the stages, 1 the steps, 2 and so on the lanes.</summary>
        public void Add(string name, int track, long begin, long end, string category = "")
        {
            fixed (byte* text = NskText.Bytes(name), kind = NskText.Bytes(category)) Check(NskNative.nsk_trace_add(Handle, text, kind, track, begin, end));
        }
        public void NameTrack(int track, string name)
        {
            fixed (byte* text = NskText.Bytes(name)) Check(NskNative.nsk_trace_name_track(Handle, track, text));
        }
        /// <summary>The JSON so far; the next bar begins another one.</summary>
        public string Finish()
        {
            IntPtr json;
            UIntPtr bytes;
            Check(NskNative.nsk_trace_finish(Handle, out json, out bytes));
            string text = bytes == UIntPtr.Zero ? "" : Encoding.UTF8.GetString((byte*)json, (int)bytes.ToUInt32());
            fixed (byte* name = m_process) Check(NskNative.nsk_trace_restart(Handle, name));
            return text;
        }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref m_disposed, 1) != 0) return;
            GC.SuppressFinalize(this);
            if (Handle != IntPtr.Zero) NskNative.nsk_trace_close(Handle);  // a session that watches writes no bars from here on
            Handle = IntPtr.Zero;
            if (m_memory != null) m_memory.Release();
            if (m_text != null) m_text.Release();
        }

        internal void Retain()
        {
            m_memory.Retain();
            m_text.Retain();
        }
        internal void Release()
        {
            m_memory.Release();
            m_text.Release();
        }

        private void Check(NskStatus status)
        {
            NskException.Check(status);
            GC.KeepAlive(this);
        }
    }

    /// <summary>Time of each step of a model, summed up over the runs of sessions that are watched. Not to be disposed.</summary>
    public sealed unsafe class NskProfile
    {
        private readonly NskMemory m_sums;
        private readonly string[] m_names, m_operators;
        private readonly ulong[] m_macs;

        public NskProfile(NskModel model, int variant = 0)
        {
            Steps = Math.Max(0, NskNative.nsk_model_step_count(model.Handle, variant));
            m_names = new string[Steps];
            m_operators = new string[Steps];
            m_macs = new ulong[Steps];
            for (int i = 0; i < Steps; ++i)
            {
                NskNativeStep step;
                NskException.Check(NskNative.nsk_model_step(model.Handle, variant, i, out step, new UIntPtr((uint)sizeof(NskNativeStep))), model.Handle, variant);
                m_names[i] = NskText.Of(step.Name);
                m_operators[i] = NskText.Of(step.Operator);
                m_macs[i] = step.Macs;
            }
            m_sums = new NskMemory((ulong)Steps * sizeof(long));
            Clear();
            GC.KeepAlive(model);
        }

        ~NskProfile() { m_sums.Release(); }

        public int Steps { get; }
        /// <summary>Nodes of the source model that a step computes, its operator, and its multiply-accumulates.</summary>
        public string Name(int step) => m_names[step];
        public string Operator(int step) => m_operators[step];
        public ulong Macs(int step) => m_macs[step];
        /// <summary>Nanoseconds of a step in all runs since Clear.</summary>
        public long Nanoseconds(int step)
        {
            if (step < 0 || step >= Steps) throw new ArgumentOutOfRangeException(nameof(step));
            long sum = ((long*)m_sums.Address)[step];
            GC.KeepAlive(this);
            return sum;
        }
        public void Clear()
        {
            for (int i = 0; i < Steps; ++i) ((long*)m_sums.Address)[i] = 0;
            GC.KeepAlive(this);
        }

        internal NskMemory Sums => m_sums;
    }
}
