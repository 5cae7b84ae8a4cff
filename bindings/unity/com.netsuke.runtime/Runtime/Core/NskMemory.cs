// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;

namespace Netsuke
{
    /// <summary>A block of unmanaged memory at a multiple of 64 bytes: handles, files and arenas are in such blocks.</summary>
    internal sealed class NskMemory
    {
        private IntPtr m_block;
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

        public void Free()
        {
            if (m_block != IntPtr.Zero) Marshal.FreeHGlobal(m_block);
            m_block = Address = IntPtr.Zero;
        }
    }
}
