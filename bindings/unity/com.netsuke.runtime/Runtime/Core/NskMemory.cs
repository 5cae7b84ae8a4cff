// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace Netsuke
{
    /// <summary>A block of unmanaged memory at a multiple of 64 bytes: handles, files and arenas are in such blocks.</summary>
    internal sealed class NskMemory
    {
        private IntPtr m_block;
        private int m_users = 1;
        public IntPtr Address { get; private set; }
        public ulong Bytes { get; }

        public NskMemory(ulong bytes)
        {
            const long alignment = 64;
            Bytes = bytes;
            m_block = Marshal.AllocHGlobal(new IntPtr(checked((long)bytes + alignment)));
            long at = m_block.ToInt64();
            Address = new IntPtr((at + alignment - 1) / alignment * alignment);
        }

        public UIntPtr Size => new UIntPtr(Bytes);

        /// <summary>For blocks with several users: the last one to release it frees it.</summary>
        public void Retain() { Interlocked.Increment(ref m_users); }
        public void Release()
        {
            if (Interlocked.Decrement(ref m_users) == 0) Free();
        }

        public void Free()
        {
            if (m_block != IntPtr.Zero) Marshal.FreeHGlobal(m_block);
            m_block = Address = IntPtr.Zero;
        }
    }
}
