// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;

namespace Netsuke
{
    /// <summary>Bytes of a pixel in the order in which they are in memory; A is alpha. RGBA32 of Unity is Rgba.</summary>
    public enum NskPixelFormat { Rgba, Bgra, Rgb, Bgr, Grey }
    /// <summary>Channels of a tensor, in order.</summary>
    public enum NskChannelOrder { Grey, Rgb, Bgr, Rgba, Bgra }
    /// <summary>How a region gets into a tensor of another shape: stretched; whole, with bars of the fill; cropped until it fills the tensor.</summary>
    public enum NskImageFit { Stretch, Letterbox, Crop }
    /// <summary>What a region shows where it leaves the image.</summary>
    public enum NskImageEdge { Repeat, Fill }
    /// <summary>What becomes of an image's alpha where the tensor has none: 255, or what was there.</summary>
    public enum NskImageAlpha { Opaque, Keep }

    /// <summary>How the pixels of an image are in memory.</summary>
    public struct NskImageFormat
    {
        public int Width, Height;
        /// <summary>Bytes from a row to the next one in memory; 0 for rows without a gap.</summary>
        public int RowBytes;
        public NskPixelFormat Format;
        /// <summary>Whether the lowest row comes first, as in Unity's textures.</summary>
        public bool BottomUp;

        public NskImageFormat(int width, int height, NskPixelFormat format, bool bottomUp = false, int rowBytes = 0)
        {
            Width = width;
            Height = height;
            Format = format;
            BottomUp = bottomUp;
            RowBytes = rowBytes;
        }

        /// <summary>The image at `pixels`, which has so many bytes; throws ArgumentException where that is too little.</summary>
        internal unsafe NskNativeImage At(IntPtr pixels, long bytes)
        {
            int pixelBytes = Format == NskPixelFormat.Grey ? 1 : Format == NskPixelFormat.Rgb || Format == NskPixelFormat.Bgr ? 3 : 4;
            long row = (long)Width * pixelBytes, stride = RowBytes == 0 ? row : RowBytes;
            if (Width < 1 || Height < 1 || stride < row || bytes < stride * (Height - 1) + row)
                throw new ArgumentException("the block is too small for an image of " + Width + " x " + Height + " pixels of " + Format + ": it has " + bytes + " bytes");
            byte* first = (byte*)pixels + (BottomUp ? stride * (Height - 1) : 0);
            return new NskNativeImage { Pixels = (IntPtr)first, Stride = BottomUp ? -stride : stride, Width = Width, Height = Height, Format = (int)Format };
        }
    }

    /// <summary>A number for each channel of a tensor, in its order.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NskChannels
    {
        public float First, Second, Third, Fourth;

        public NskChannels(float first, float second, float third, float fourth)
        {
            First = first;
            Second = second;
            Third = third;
            Fourth = fourth;
        }
        public static NskChannels All(float value) { return new NskChannels(value, value, value, value); }
    }

    /// <summary>
    /// What to take of an image, and how its levels [0, 255] become numbers: level * Scale + Offset. Begin with
    /// NskModel.ImageSettings, which knows what the model wants, or with Default.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NskImageSettings
    {
        public NskChannels Scale, Offset;
        /// <summary>Levels of what is outside of the image.</summary>
        public NskChannels Fill;
        /// <summary>The region in pixels of the image, x to the right and y down, where Whole is false; Angle is in radians, clockwise.</summary>
        public float CentreX, CentreY, Width, Height, Angle;
        private int m_whole;
        public NskImageFit Fit;
        public NskImageEdge Edge;
        public NskChannelOrder Order;
        private int m_mirrored;

        /// <summary>Whether the region is the whole image.</summary>
        public bool Whole
        {
            get { return m_whole != 0; }
            set { m_whole = value ? 1 : 0; }
        }
        /// <summary>Whether left and right change places.</summary>
        public bool Mirrored
        {
            get { return m_mirrored != 0; }
            set { m_mirrored = value ? 1 : 0; }
        }

        /// <summary>Shows a region, which may be rotated and may leave the image.</summary>
        public void Show(float centreX, float centreY, float width, float height, float angle = 0)
        {
            Whole = false;
            CentreX = centreX;
            CentreY = centreY;
            Width = width;
            Height = height;
            Angle = angle;
        }

        /// <summary>The whole image, stretched, rgb, levels as [0, 1].</summary>
        public static NskImageSettings Default
        {
            get
            {
                NskImageSettings how;
                NskException.Check(NskNative.nsk_default_image_settings(out how, Bytes));
                return how;
            }
        }
        internal static UIntPtr Bytes => new UIntPtr((uint)Marshal.SizeOf(typeof(NskImageSettings)));
    }

    /// <summary>How numbers become levels: number * Scale + Offset, clamped to [0, 255] and rounded.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NskTensorSettings
    {
        public NskChannels Scale, Offset;
        public NskChannelOrder Order;
        public NskImageAlpha Alpha;

        /// <summary>Rgb from [0, 1], alpha 255.</summary>
        public static NskTensorSettings Default
        {
            get
            {
                NskTensorSettings how;
                NskException.Check(NskNative.nsk_default_tensor_settings(out how, Bytes));
                return how;
            }
        }
        internal static UIntPtr Bytes => new UIntPtr((uint)Marshal.SizeOf(typeof(NskTensorSettings)));
    }

    public struct NskPoint
    {
        public float X, Y;
    }

    /// <summary>Where the pixels of a tensor are in the image, and the other way round; y counts down from the upper edge.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NskImageMap
    {
        private NskAffine m_imageFromTensor, m_tensorFromImage;

        public NskPoint ToImage(float x, float y) { return m_imageFromTensor.Apply(x, y); }
        public NskPoint ToTensor(float x, float y) { return m_tensorFromImage.Apply(x, y); }
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NskAffine
    {
        private double m_xx, m_xy, m_x0, m_yx, m_yy, m_y0;

        public NskPoint Apply(float x, float y) { return new NskPoint { X = (float)(m_xx * x + m_xy * y + m_x0), Y = (float)(m_yx * x + m_yy * y + m_y0) }; }
    }

    /// <summary>Images of a session. Nothing here allocates managed memory.</summary>
    public static unsafe class NskImages
    {
        /// <summary>Samples an image into an input, as the model wants its images; `row` of a batch. Tells where its pixels are.</summary>
        public static NskImageMap WriteImage(this NskSession session, int input, ReadOnlySpan<byte> pixels, NskImageFormat format, int row = 0)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(pixels)) return session.WriteImage(input, row, format.At((IntPtr)data, pixels.Length), null);
        }
        /// <summary>Samples what the settings say.</summary>
        public static NskImageMap WriteImage(this NskSession session, int input, ReadOnlySpan<byte> pixels, NskImageFormat format, NskImageSettings how, int row = 0)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(pixels)) return session.WriteImage(input, row, format.At((IntPtr)data, pixels.Length), &how);
        }
        /// <summary>Writes an output of numbers from 0 to 1 into an image of its width and height.</summary>
        public static void ReadImage(this NskSession session, int output, Span<byte> pixels, NskImageFormat format, int row = 0)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(pixels)) session.ReadImage(output, row, format.At((IntPtr)data, pixels.Length), null);
        }
        public static void ReadImage(this NskSession session, int output, Span<byte> pixels, NskImageFormat format, NskTensorSettings how, int row = 0)
        {
            fixed (byte* data = &MemoryMarshal.GetReference(pixels)) session.ReadImage(output, row, format.At((IntPtr)data, pixels.Length), &how);
        }
    }
}
