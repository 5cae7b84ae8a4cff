// SPDX-License-Identifier: MIT
using System;
using System.Text;

namespace Netsuke
{
    /// <summary>A native call that did not succeed: the message says the cause and what to do.</summary>
    public sealed class NskException : Exception
    {
        /// <summary>Code of enum nsk_status_code, and its name for logs ("wrong_version").</summary>
        public int Code { get; }
        public string Name { get; }
        /// <summary>Number of the step, port or argument at fault, -1 when there is none.</summary>
        public int Where { get; }

        internal NskException(NskStatus status)
            : base(NskText.Of(NskNative.nsk_status_name(status.Code)) + ": " + NskText.Of(NskNative.nsk_status_text(status.Code)) +
                   (status.Where < 0 ? "" : " (where: " + status.Where + ")"))
        {
            Code = status.Code;
            Name = NskText.Of(NskNative.nsk_status_name(status.Code));
            Where = status.Where;
        }

        internal static void Check(NskStatus status)
        {
            if (status.Code != 0) throw new NskException(status);
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

        /// <summary>The bytes of a name, with a zero behind them.</summary>
        public static byte[] Bytes(string text)
        {
            byte[] bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }
    }
}
