// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Netsuke
{
    /// <summary>Whether an agent has asked: not yet, without an answer so far, with an answer.</summary>
    public enum NskStanding { Idle, Waiting, Answered }
    /// <summary>What became of a row: it waits; or the agent asks again after a run, because all slots are taken or its last row waits.</summary>
    public enum NskAsked { Taken, QueueFull, AlreadyWaiting }

    /// <summary>A recurrent state of each agent: what a run leaves in the output is the input of the agent's next row.</summary>
    public struct NskRecurrentPair
    {
        public string Input, Output;

        public NskRecurrentPair(string input, string output)
        {
            Input = input;
            Output = output;
        }
    }

    /// <summary>
    /// Rows of many agents, 0 to agents - 1, that become the batch of one run per frame. Any thread asks and reads, for
    /// agents of its own; one thread runs. Once it is made, no method allocates managed memory.
    /// </summary>
    public sealed unsafe class NskBatcher : IDisposable
    {
        private readonly NskModel m_model;
        private readonly int m_variant;
        private readonly NskMemory m_memory;
        private readonly NskPort[] m_outputs;
        private IntPtr m_handle;
        private int m_disposed;

        /// <summary>For a variant with a batch (nsk convert --batch-max); `slots` rows wait at once.</summary>
        public NskBatcher(NskModel model, int agents, int slots, int variant = 0, NskRecurrentPair[] states = null)
        {
            if (model == null) throw new ArgumentNullException(nameof(model));
            NskNativePair[] pairs = NativeOf(states);
            m_outputs = model.Outputs(variant);
            NskStatus status;
            fixed (NskNativePair* first = pairs)
            {
                NskNativeOptions how = new NskNativeOptions { States = (IntPtr)first, StateCount = states == null ? 0 : states.Length, Agents = agents, Slots = slots };
                UIntPtr howBytes = new UIntPtr((uint)sizeof(NskNativeOptions));
                ulong bytes;
                status = NskNative.nsk_batcher_required_bytes(model.Handle, variant, &how, howBytes, out bytes);
                if (status.Code == 0)
                {
                    m_memory = new NskMemory(Math.Max(bytes, 64));  // 0 is a refusal, whose reason the next call says
                    status = NskNative.nsk_batcher_open(m_memory.Address, new UIntPtr(bytes), model.Handle, variant, &how, howBytes, out m_handle);
                }
            }
            foreach (NskNativePair pair in pairs)
            {
                Marshal.FreeHGlobal(pair.Input);
                Marshal.FreeHGlobal(pair.Output);
            }
            if (status.Code != 0)
            {
                m_disposed = 1;
                if (m_memory != null) m_memory.Free();
            }
            NskException.Check(status, model.Handle, variant);
            m_model = model;
            m_variant = variant;
            model.Retain();
            RowBytes = checked((int)NskNative.nsk_batcher_row_bytes(m_handle));
        }

        ~NskBatcher() { Dispose(); }

        /// <summary>Bytes of a row: its part of all inputs that are no recurrent states, one behind the other in the order of the model.</summary>
        public int RowBytes { get; }

        /// <summary>Hands over a row of RowBytes bytes, which is copied. Any thread.</summary>
        public NskAsked Ask<T>(int agent, ReadOnlySpan<T> row) where T : struct
        {
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(row);
            NskStatus status;
            fixed (byte* data = &MemoryMarshal.GetReference(bytes)) status = NskNative.nsk_batcher_ask(m_handle, agent, (IntPtr)data, (ulong)bytes.Length);
            if (status.Code == QueueFull || status.Code == AlreadyWaiting)
            {
                GC.KeepAlive(this);
                return status.Code == QueueFull ? NskAsked.QueueFull : NskAsked.AlreadyWaiting;
            }
            Check(status);
            return NskAsked.Taken;
        }
        public NskStanding Standing(int agent)
        {
            int standing = NskNative.nsk_batcher_standing(m_handle, agent);
            GC.KeepAlive(this);
            if (standing < 0) throw new ArgumentOutOfRangeException(nameof(agent));
            return (NskStanding)standing;
        }
        /// <summary>An agent's part of an output: that of its last answer, until it asks again. T is as long as the port's elements.</summary>
        public ReadOnlySpan<T> Output<T>(int agent, int output) where T : struct
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_batcher_output(m_handle, agent, output, out data, out bytes));
            if (NskSession.SizeOf<T>() != m_outputs[output].ElementBytes) Check(new NskStatus { Code = NskSession.WrongType, Where = output });
            return MemoryMarshal.Cast<byte, T>(new ReadOnlySpan<byte>((void*)data, checked((int)bytes)));
        }
        /// <summary>The recurrent states of an agent, to be saved, put back or changed while it does not wait.</summary>
        public Span<byte> States(int agent)
        {
            IntPtr data;
            ulong bytes;
            Check(NskNative.nsk_batcher_recurrent_states(m_handle, agent, out data, out bytes));
            return new Span<byte>((void*)data, checked((int)bytes));
        }
        /// <summary>Makes the recurrent states of an agent zeros.</summary>
        public void Reset(int agent) { Check(NskNative.nsk_batcher_reset(m_handle, agent)); }

        /// <summary>Answers the oldest rows, at most as many as the batch has, in one run; returns how many. One thread.</summary>
        public int Run(NskSession session, NskJobs jobs = null)
        {
            int rows = Gather(session);
            if (rows == 0) return 0;
            session.Run(jobs);
            Scatter(session);
            return rows;
        }
        /// <summary>The parts of Run, for inferences that take several frames: gather, RunForTime until it returns true, scatter.</summary>
        public int Gather(NskSession session)
        {
            int rows;
            Check(NskNative.nsk_batcher_gather(m_handle, session.Handle, out rows));
            GC.KeepAlive(session);
            return rows;
        }
        public void Scatter(NskSession session)
        {
            Check(NskNative.nsk_batcher_scatter(m_handle, session.Handle));
            GC.KeepAlive(session);
        }
        /// <summary>Whose row the last run answered, for row 0 and so on; -1 behind the last.</summary>
        public int ServedAgent(int row)
        {
            int agent = NskNative.nsk_batcher_served_agent(m_handle, row);
            GC.KeepAlive(this);
            return agent;
        }

        public void Dispose()
        {
            if (Interlocked.Exchange(ref m_disposed, 1) != 0) return;
            GC.SuppressFinalize(this);
            if (m_handle != IntPtr.Zero) NskNative.nsk_batcher_close(m_handle);
            m_handle = IntPtr.Zero;
            if (m_memory != null) m_memory.Free();
            if (m_model != null) m_model.Release();
        }

        private void Check(NskStatus status)
        {
            NskException.Check(status, m_model.Handle, m_variant);
            GC.KeepAlive(this);
        }

        private static NskNativePair[] NativeOf(NskRecurrentPair[] states)
        {
            NskNativePair[] pairs = new NskNativePair[states == null ? 0 : states.Length];
            for (int i = 0; i < pairs.Length; ++i) pairs[i] = new NskNativePair { Input = Copied(states[i].Input), Output = Copied(states[i].Output) };
            return pairs;
        }
        private static IntPtr Copied(string text)
        {
            byte[] bytes = NskText.Bytes(text ?? "");
            IntPtr block = Marshal.AllocHGlobal(bytes.Length);
            Marshal.Copy(bytes, 0, block, bytes.Length);
            return block;
        }

        private const int QueueFull = 43;  // nsk_status_queue_full
        private const int AlreadyWaiting = 44;  // nsk_status_already_waiting
    }
}
