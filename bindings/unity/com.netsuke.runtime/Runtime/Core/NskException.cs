// SPDX-License-Identifier: MIT
using System;
using System.Text;

namespace Netsuke
{
    /// <summary>A native call that did not succeed: the message says which step or port is at fault, the cause, and what to do.</summary>
    public sealed class NskException : Exception
    {
        /// <summary>Code of enum nsk_status_code, and its name for logs ("wrong_version").</summary>
        public int Code { get; }
        public string Name { get; }
        /// <summary>Number of the step, port or argument at fault, -1 when there is none; the message says what it counts.</summary>
        public int Where { get; }

        /// <summary>With the handle of a model, the message has the names of its steps and ports.</summary>
        internal NskException(NskStatus status, IntPtr model = default(IntPtr), int variant = 0)
            : base(NskText.Of(NskNative.nsk_status_name(status.Code)) + ": " + NskText.Of(status, model, variant))
        {
            Code = status.Code;
            Name = NskText.Of(NskNative.nsk_status_name(status.Code));
            Where = status.Where;
        }

        internal static void Check(NskStatus status, IntPtr model = default(IntPtr), int variant = 0)
        {
            if (status.Code != 0) throw new NskException(status, model, variant);
        }
    }

    internal static unsafe class NskText
    {
        /// <summary>Copies a text of the library; null stays null.</summary>
        public static string Of(IntPtr text)
        {
            if (text == IntPtr.Zero) return null;
            byte* bytes = (byte*)text;
            int length = 0;
            while (bytes[length] != 0) ++length;
            return Encoding.UTF8.GetString(bytes, length);
        }

        /// <summary>The line of a status.</summary>
        public static string Of(NskStatus status, IntPtr model, int variant)
        {
            byte* line = stackalloc byte[2048];
            NskNative.nsk_status_format(status, model, variant, line, new UIntPtr(2048));
            return Of((IntPtr)line);
        }

        /// <summary>The bytes of a name, with a zero behind them.</summary>
        public static byte[] Bytes(string text)
        {
            byte[] bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }
    }
}
