// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Netsuke
{
    /// <summary>A verified .nsk file in unmanaged memory. Sessions keep it alive: it may be disposed before they are.</summary>
    public sealed unsafe class NskModel : IDisposable
    {
        private readonly NskMemory m_file, m_memory;
        private int m_users = 1;
        private int m_disposed;

        /// <summary>Copies the bytes of a file and opens them; small files are expanded. Throws NskException where they are no file of this engine.</summary>
        public NskModel(ReadOnlySpan<byte> file)
        {
            NskException.Check(NskNative.nsk_check_library(NskNative.Version));
            m_file = Prepared(file);
            m_memory = new NskMemory(NskNative.nsk_model_required_bytes().ToUInt64());
            IntPtr handle;
            NskStatus status = NskNative.nsk_model_open(m_memory.Address, m_memory.Size, m_file.Address, m_file.Size, 0, out handle);
            Handle = handle;
            if (status.Code != 0) FreeAll();
            NskException.Check(status);
        }

        /// <summary>The bytes of a file; what they expand to where it is a small one.</summary>
        private static NskMemory Prepared(ReadOnlySpan<byte> file)
        {
            NskMemory given = new NskMemory((ulong)file.Length);
            file.CopyTo(new Span<byte>((void*)given.Address, file.Length));
            ulong bytes = NskNative.nsk_prepare_required_bytes(given.Address, given.Size).ToUInt64();
            if (bytes == 0) return given;
            NskMemory prepared = new NskMemory(bytes);
            NskStatus status = NskNative.nsk_prepare(given.Address, given.Size, prepared.Address, prepared.Size);
            given.Free();
            if (status.Code != 0) prepared.Free();
            NskException.Check(status);
            return prepared;
        }

        public NskModel(byte[] file) : this(new ReadOnlySpan<byte>(file)) { }

        ~NskModel() { Dispose(); }

        internal IntPtr Handle { get; private set; }

        /// <summary>Version and instruction set of the native library.</summary>
        public static string LibraryVersion => NskText.Of(NskNative.nsk_library_version());
        public static string LibraryIsa => NskText.Of(NskNative.nsk_library_isa());

        public string Name => Kept(NskText.Of(NskNative.nsk_model_name(Handle)));
        /// <summary>Hash of all ports: models of equal signature can replace each other.</summary>
        public ulong Signature => Kept(NskNative.nsk_model_signature(Handle));
        public int VariantCount => Kept(NskNative.nsk_model_variant_count(Handle));
        /// <summary>Maximum number of rows of a batch; 0 where the variant computes one fixed shape.</summary>
        public int MaxBatch(int variant = 0) => Kept(NskNative.nsk_model_max_batch(Handle, variant));

        /// <summary>Number of the variant of this name, -1 when there is none.</summary>
        public int FindVariant(string name)
        {
            fixed (byte* text = NskText.Bytes(name)) return Kept(NskNative.nsk_model_find_variant(Handle, text));
        }

        /// <summary>Value that the converter stored under a key; null when there is none.</summary>
        public string Metadata(string key)
        {
            fixed (byte* text = NskText.Bytes(key)) return Kept(NskText.Of(NskNative.nsk_model_metadata(Handle, text)));
        }

        public NskPort[] Inputs(int variant = 0) { return Ports(false, variant); }
        public NskPort[] Outputs(int variant = 0) { return Ports(true, variant); }

        /// <summary>How an input wants its images: order of colours, mean and deviation as far as the model has them.</summary>
        public NskImageSettings ImageSettings(int input = 0, int variant = 0)
        {
            NskImageSettings how;
            NskException.Check(NskNative.nsk_model_image_settings(Handle, variant, input, out how, NskImageSettings.Bytes), Handle, variant);
            return Kept(how);
        }

        /// <summary>Bytes of memory that a session needs, exactly.</summary>
        public ulong RequiredBytes(int variant = 0, int lanes = 1)
        {
            ulong bytes;
            NskException.Check(NskNative.nsk_arena_required_bytes(Handle, variant, lanes, out bytes), Handle, variant);
            GC.KeepAlive(this);
            return bytes;
        }

        /// <summary>Frees the file as soon as no session uses it.</summary>
        public void Dispose()
        {
            if (Interlocked.Exchange(ref m_disposed, 1) != 0) return;
            GC.SuppressFinalize(this);
            if (Handle != IntPtr.Zero) NskNative.nsk_model_close(Handle);  // no model: perhaps no library either
            Handle = IntPtr.Zero;
            Release();
        }

        internal void Retain() { Interlocked.Increment(ref m_users); }
        internal void Release()
        {
            if (Interlocked.Decrement(ref m_users) == 0) FreeAll();
        }

        /// <summary>Returns what native calls gave: until here, the collector keeps the model and its file.</summary>
        private T Kept<T>(T result)
        {
            GC.KeepAlive(this);
            return result;
        }

        private NskPort[] Ports(bool outputs, int variant)
        {
            int count = outputs ? NskNative.nsk_model_output_count(Handle, variant) : NskNative.nsk_model_input_count(Handle, variant);
            NskPort[] ports = new NskPort[Math.Max(0, count)];
            for (int i = 0; i < ports.Length; ++i)
            {
                NskNativePort port;
                int number = i;
                NskStatus status = outputs ? NskNative.nsk_model_output(Handle, variant, i, out port, PortBytes) : NskNative.nsk_model_input(Handle, variant, i, out port, PortBytes);
                NskException.Check(status, Handle, variant);
                ports[i] = new NskPort(port, label => outputs ? NskText.Of(NskNative.nsk_model_label(Handle, variant, number, label)) : "");
            }
            return Kept(ports);
        }

        private static UIntPtr PortBytes => new UIntPtr((uint)Marshal.SizeOf(typeof(NskNativePort)));

        private void FreeAll()
        {
            if (m_file != null) m_file.Free();
            if (m_memory != null) m_memory.Free();
        }
    }
}
