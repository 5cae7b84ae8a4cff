// SPDX-License-Identifier: MIT
using System;

namespace Netsuke
{
    /// <summary>Element types, as enum nsk_type numbers them.</summary>
    public enum NskType { Float32, Float16, Int8, UInt8, Int16, Int32, Int64, Boolean }

    /// <summary>An input or output: dense elements; images are [N, H, W, C].</summary>
    public sealed class NskPort
    {
        public string Name { get; }
        public NskType Type { get; }
        public int[] Shape { get; }
        /// <summary>Shape in the source model.</summary>
        public long[] SourceShape { get; }
        public int Elements { get; }
        public int Bytes { get; }
        /// <summary>"rgb", "bgr", "grey" or "".</summary>
        public string Color { get; }
        /// <summary>Normalisation of images, per channel: x = (u8 - mean) / deviation; empty where the model came without.</summary>
        public float[] Mean { get; }
        public float[] Deviation { get; }
        /// <summary>Rows of a batch, at most; 0 where a run has one value for all rows.</summary>
        public int Rows { get; }
        /// <summary>Names of classes; empty where the model came without.</summary>
        public string[] Labels { get; }

        internal unsafe NskPort(NskNativePort port, Func<int, string> label)
        {
            Name = NskText.Of(port.Name);
            Type = (NskType)port.Type;
            Shape = new int[port.Rank];
            for (int i = 0; i < port.Rank; ++i) Shape[i] = ((int*)port.Shape)[i];
            SourceShape = new long[port.SourceRank];
            for (int i = 0; i < port.SourceRank; ++i) SourceShape[i] = ((long*)port.SourceShape)[i];
            Elements = checked((int)port.Elements);
            Bytes = checked((int)port.Bytes);
            Color = NskText.Of(port.Color);
            Mean = new float[port.NormalisationCount];
            Deviation = new float[port.NormalisationCount];
            for (int i = 0; i < port.NormalisationCount; ++i)
            {
                Mean[i] = ((float*)port.Mean)[i];
                Deviation[i] = ((float*)port.Deviation)[i];
            }
            Rows = port.Rows;
            Labels = new string[port.LabelCount];
            for (int i = 0; i < port.LabelCount; ++i) Labels[i] = label(i);
        }

        /// <summary>Bytes of one element.</summary>
        public int ElementBytes => Elements == 0 ? 0 : Bytes / Elements;
    }
}
