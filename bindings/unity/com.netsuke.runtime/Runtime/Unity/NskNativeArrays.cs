// SPDX-License-Identifier: MIT
using Unity.Collections;
using Unity.Collections.LowLevel.Unsafe;

namespace Netsuke
{
    /// <summary>Ports as native arrays, for jobs and meshes and textures. Nothing here allocates managed memory.</summary>
    public static unsafe class NskNativeArrays
    {
        /// <summary>Copies a whole port; the array has the port's bytes.</summary>
        public static void Write<T>(this NskSession session, int input, NativeArray<T> from) where T : struct
        {
            session.WriteBytes(input, (System.IntPtr)from.GetUnsafeReadOnlyPtr(), from.Length * UnsafeUtility.SizeOf<T>());
        }
        public static void Read<T>(this NskSession session, int output, NativeArray<T> to) where T : struct
        {
            session.ReadBytes(output, (System.IntPtr)to.GetUnsafePtr(), to.Length * UnsafeUtility.SizeOf<T>());
        }

        /// <summary>The elements of an input in the session's memory, valid until the session is disposed; not to be disposed.</summary>
        public static NativeArray<T> InputArray<T>(this NskSession session, int input) where T : struct
        {
            return ArrayAt<T>(session.InputPointer(input), session.Input<T>(input).Length);
        }
        /// <summary>The elements of an output, valid from the end of a run until the next one starts; only to be read.</summary>
        public static NativeArray<T> OutputArray<T>(this NskSession session, int output) where T : struct
        {
            return ArrayAt<T>(session.OutputPointer(output), session.Output<T>(output).Length);
        }

        /// <summary>
        /// Samples an image into an input, as the model wants its images: of texture.GetPixelData, or of a read-back from the
        /// GPU. Both are bottom-up.
        /// </summary>
        public static NskImageMap WriteImage<T>(this NskSession session, int input, NativeArray<T> pixels, NskImageFormat format, int row = 0) where T : struct
        {
            return session.WriteImage(input, row, format.At((System.IntPtr)pixels.GetUnsafeReadOnlyPtr(), BytesOf(pixels)), null);
        }
        public static NskImageMap WriteImage<T>(this NskSession session, int input, NativeArray<T> pixels, NskImageFormat format, NskImageSettings how, int row = 0) where T : struct
        {
            return session.WriteImage(input, row, format.At((System.IntPtr)pixels.GetUnsafeReadOnlyPtr(), BytesOf(pixels)), &how);
        }
        /// <summary>Writes an output of numbers from 0 to 1 into an image of its width and height, for texture.SetPixelData or in place.</summary>
        public static void ReadImage<T>(this NskSession session, int output, NativeArray<T> pixels, NskImageFormat format, int row = 0) where T : struct
        {
            session.ReadImage(output, row, format.At((System.IntPtr)pixels.GetUnsafePtr(), BytesOf(pixels)), null);
        }

        private static long BytesOf<T>(NativeArray<T> array) where T : struct { return (long)array.Length * UnsafeUtility.SizeOf<T>(); }

        private static NativeArray<T> ArrayAt<T>(System.IntPtr data, int length) where T : struct
        {
            NativeArray<T> array = NativeArrayUnsafeUtility.ConvertExistingDataToNativeArray<T>((void*)data, length, Allocator.None);
#if ENABLE_UNITY_COLLECTIONS_CHECKS
            NativeArrayUnsafeUtility.SetAtomicSafetyHandle(ref array, AtomicSafetyHandle.GetTempUnsafePtrSliceHandle());
#endif
            return array;
        }
    }
}
