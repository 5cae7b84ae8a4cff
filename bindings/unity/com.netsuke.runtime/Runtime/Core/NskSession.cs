// SPDX-License-Identifier: MIT
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

namespace Netsuke
{
    /// <summary>
    /// A model with its own memory: inputs, outputs, states. Belongs to one thread at a time. Once it is made, no method
    /// allocates managed memory; each throws NskException where the native call does not succeed.
    /// </summary>
    public sealed unsafe class NskSession : IDisposable
    {
        private readonly NskModel m_model;
        private readonly int m_variant;
        private readonly NskMemory m_arena, m_memory;
        private IntPtr m_handle;
        private int m_disposed;
        private NskTrace m_trace;
        private NskProfile m_profile;

        public NskSession(NskModel model, int variant = 0, int lanes = 1)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            m_arena = new NskMemory(model.RequiredBytes(variant, lanes));
            m_memory = new NskMemory(NskNative.nsk_session_required_bytes().ToUInt64());
            NskStatus status = NskNative.nsk_session_open(m_memory.Address, m_memory.Size, model.Handle, variant, m_arena.Address, m_arena.Size, out m_handle);
            if (status.Code != 0)
            {
                m_disposed = 1;
                FreeAll();
            }
            NskException.Check(status, model.Handle, variant);
            m_model = model;
            m_variant = variant;
            model.Retain();
            Inputs = model.Inputs(variant);
            Outputs = model.Outputs(variant);
            StateBytes = checked((int)NskNative.nsk_session_state_bytes(m_handle));
        }

        ~NskSession() { Dispose(); }

        internal IntPtr Handle => m_handle;
        public NskPort[] Inputs { get; }
        public NskPort[] Outputs { get; }
        /// <summary>Bytes of a snapshot of all states.</summary>
        public int StateBytes { get; }

        /// <summary>Number of the input or output of this name, -1 when there is none.</summary>
        public int FindInput(string name) => Find(Inputs, name);
        public int FindOutput(string name) => Find(Outputs, name);

        /// <summary>
        /// The elements of an input in the session's memory, to be written before a run: nothing is copied. They keep their
        /// values from run to run, and are valid until the session is disposed. T is as long as the port's elements.
        /// </summary>
        public Span<T> Input<T>(int input) where T : struct
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_session_input(m_handle, input, out data, out bytes));
            return MemoryMarshal.Cast<byte, T>(new Span<byte>((void*)data, SizeFor<T>(Inputs, input)));
        }

        /// <summary>The elements of an output, valid from the end of a run until the next one starts.</summary>
        public ReadOnlySpan<T> Output<T>(int output) where T : struct
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_session_output(m_handle, output, out data, out bytes));
            return MemoryMarshal.Cast<byte, T>(new ReadOnlySpan<byte>((void*)data, SizeFor<T>(Outputs, output)));
        }

        /// <summary>Copies a whole input or output; the block has the port's bytes.</summary>
        public void Write<T>(int input, ReadOnlySpan<T> from) where T : struct
        {
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(from);
            fixed (byte* data = &MemoryMarshal.GetReference(bytes)) WriteBytes(input, (IntPtr)data, bytes.Length);
        }
        public void Read<T>(int output, Span<T> to) where T : struct
        {
            Span<byte> bytes = MemoryMarshal.AsBytes(to);
            fixed (byte* data = &MemoryMarshal.GetReference(bytes)) ReadBytes(output, (IntPtr)data, bytes.Length);
        }
        public void WriteBytes(int input, IntPtr from, int bytes)
        {
            Check(NskNative.nsk_session_write(m_handle, input, from, (ulong)bytes));
        }
        public void ReadBytes(int output, IntPtr to, int bytes)
        {
            Check(NskNative.nsk_session_read(m_handle, output, to, (ulong)bytes));
        }
        /// <summary>Where an input or output is in the session's memory.</summary>
        public IntPtr InputPointer(int input)
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_session_input(m_handle, input, out data, out bytes));
            return data;
        }
        public IntPtr OutputPointer(int output)
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_session_output(m_handle, output, out data, out bytes));
            return data;
        }

        /// <summary>Lets runs compute the first rows of a batch.</summary>
        public void SetBatch(int rows) { Check(NskNative.nsk_session_set_batch(m_handle, rows)); }

        /// <summary>Computes with a length of the model from now on: inputs and outputs have as many elements as follow from it.</summary>
        public void SetLength(string name, int value)
        {
            fixed (byte* text = NskText.Bytes(name)) Check(NskNative.nsk_session_set_length(m_handle, text, value));
        }

        /// <summary>Lanes that the session has memory for: how many jobs a step is divided into at most.</summary>
        public int Lanes => Kept(NskNative.nsk_session_lanes(m_handle));

        /// <summary>Runs a whole inference, on this thread or with the lanes of the session as jobs.</summary>
        public void Run(NskJobs jobs = null)
        {
            NskNativeJobs native = NativeOf(jobs);
            NskStatus status = NskNative.nsk_session_run(m_handle, jobs == null ? null : &native);
            CheckRun(status, jobs);
        }

        /// <summary>
        /// Runs so many multiply-accumulates, the same on every machine; true when the inference is complete. Inputs must not
        /// change in between; the next call starts a new inference or goes on.
        /// </summary>
        public bool RunForWork(ulong macs, NskJobs jobs = null)
        {
            int complete;
            NskNativeJobs native = NativeOf(jobs);
            NskStatus status = NskNative.nsk_session_run_for_work(m_handle, macs, jobs == null ? null : &native, out complete);
            CheckRun(status, jobs);
            return complete != 0;
        }
        /// <summary>Runs until so many microseconds have passed; else as RunForWork.</summary>
        public bool RunForTime(long microseconds, NskJobs jobs = null)
        {
            int complete;
            NskNativeJobs native = NativeOf(jobs);
            NskStatus status = NskNative.nsk_session_run_for_time(m_handle, microseconds, NskClock.Pointer, IntPtr.Zero, jobs == null ? null : &native, out complete);
            CheckRun(status, jobs);
            return complete != 0;
        }
        /// <summary>Abandons an inference that a step has begun.</summary>
        public void Restart() { Check(NskNative.nsk_session_restart(m_handle)); }

        /// <summary>Copies the states, as the last complete inference left them, out and in: StateBytes bytes.</summary>
        public void Save(Span<byte> snapshot)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(snapshot))
                Check(NskNative.nsk_session_save(m_handle, (IntPtr)data, (ulong)snapshot.Length));
        }
        public void Load(ReadOnlySpan<byte> snapshot)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(snapshot))
                Check(NskNative.nsk_session_load(m_handle, (IntPtr)data, (ulong)snapshot.Length));
        }
        /// <summary>Gives every state its initial value.</summary>
        public void Reset() { Check(NskNative.nsk_session_reset(m_handle)); }
        /// <summary>Chooses the numbers of random steps.</summary>
        public void Seed(ulong key, uint firstRow = 0) { Check(NskNative.nsk_session_seed(m_handle, key, firstRow)); }
        /// <summary>What the data of this inference made necessary, bits of enum nsk_run_flag.</summary>
        public uint Flags => Kept(NskNative.nsk_session_flags(m_handle));
        /// <summary>
        /// Notes the steps of all runs from now on: as bars of a trace, and as sums of a profile; either may be null. Replaces
        /// what was watched before.
        /// </summary>
        public void Watch(NskTrace trace, NskProfile profile = null)
        {
            if (trace != null && trace.Handle == IntPtr.Zero) throw new ObjectDisposedException(nameof(NskTrace));
            NskNativeWatch watch = new NskNativeWatch { Clock = NskTime.Pointer };
            if (trace != null) watch.Trace = trace.Handle;
            if (profile != null) watch.StepNanoseconds = profile.Sums.Address;
            if (profile != null) watch.Steps = profile.Steps;
            Unwatch();
            Check(NskNative.nsk_session_watch(m_handle, &watch, new UIntPtr((uint)sizeof(NskNativeWatch))));
            if (trace != null) trace.Retain();
            if (profile != null) profile.Sums.Retain();
            m_trace = trace;
            m_profile = profile;
        }
        public void Unwatch()
        {
            Check(NskNative.nsk_session_watch(m_handle, null, UIntPtr.Zero));
            ReleaseWatched();
        }

        internal NskImageMap WriteImage(int input, int row, NskNativeImage image, NskImageSettings* how)
        {
            NskImageMap map;
            Check(NskNative.nsk_session_write_image(m_handle, input, row, &image, how, NskImageSettings.Bytes, out map));
            return map;
        }
        internal void ReadImage(int output, int row, NskNativeImage image, NskTensorSettings* how)
        {
            Check(NskNative.nsk_session_read_image(m_handle, output, row, how, NskTensorSettings.Bytes, &image));
        }

        /// <summary>Replays what the converter recorded; throws where this machine computes something else.</summary>
        public void SelfTest() { Check(NskNative.nsk_session_selftest(m_handle)); }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref m_disposed, 1) != 0) return;
            GC.SuppressFinalize(this);
            NskNative.nsk_session_close(m_handle);
            m_handle = IntPtr.Zero;
            ReleaseWatched();
            FreeAll();
            if (m_model != null) m_model.Release();
        }

        private void ReleaseWatched()
        {
            if (m_trace != null) m_trace.Release();
            if (m_profile != null) m_profile.Sums.Release();
            m_trace = null;
            m_profile = null;
        }

        private void FreeAll()
        {
            if (m_arena != null) m_arena.Free();
            if (m_memory != null) m_memory.Free();
        }

        private void Check(NskStatus status)
        {
            NskException.Check(status, m_model.Handle, m_variant);
            GC.KeepAlive(this);
        }
        /// <summary>Returns what a native call gave: until here, the collector keeps the session and its memory.</summary>
        private T Kept<T>(T result)
        {
            GC.KeepAlive(this);
            return result;
        }
        private void CheckRun(NskStatus status, NskJobs jobs)
        {
            if (jobs != null) jobs.ThrowError();
            Check(status);
        }
        private static NskNativeJobs NativeOf(NskJobs jobs) { return jobs == null ? default(NskNativeJobs) : jobs.Native; }

        private static int Find(NskPort[] ports, string name)
        {
            for (int i = 0; i < ports.Length; ++i)
            {
                if (ports[i].Name == name) return i;
            }
            return -1;
        }

        private int SizeFor<T>(NskPort[] ports, int number) where T : struct
        {
            if (SizeOf<T>() != ports[number].ElementBytes) Check(new NskStatus { Code = WrongType, Where = number });
            return ports[number].Bytes;
        }

        internal static int SizeOf<T>() where T : struct { return Size<T>.Bytes; }
        internal const int WrongType = 34;  // nsk_status_wrong_type

        private static class Size<T> where T : struct
        {
            public static readonly int Bytes = MemoryMarshal.AsBytes(new Span<T>(new T[1])).Length;
        }
    }

    /// <summary>The clock of RunForTime, called by the native library.</summary>
    internal static class NskClock
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate long Clock(IntPtr user);

        private static readonly Clock s_clock = Now;  // kept alive as long as the program
        public static readonly IntPtr Pointer = Marshal.GetFunctionPointerForDelegate(s_clock);

        [MonoPInvokeCallback(typeof(Clock))]
        private static long Now(IntPtr user)
        {
            return (long)(Stopwatch.GetTimestamp() * (1e6 / Stopwatch.Frequency));
        }
    }

    /// <summary>Tells ahead-of-time compilers (IL2CPP) that native code calls a method; they know it by its name.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
}
