// SPDX-License-Identifier: MIT
// As much of Unity as the package names, so that it compiles and runs without an editor.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace UnityEngine
{
    public class Object { }
    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject, new() { return new T(); }
    }
    public class MonoBehaviour : Object { }
    public static class Debug
    {
        public static void Log(object text) { }
    }
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute { }
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class HideInInspector : Attribute { }
}

namespace Unity.Collections
{
    public enum Allocator { Invalid, None, Temp, TempJob, Persistent }

    public unsafe struct NativeArray<T> : IDisposable where T : struct
    {
        internal IntPtr m_data;
        private bool m_owned;
        public int Length { get; internal set; }

        public NativeArray(int length, Allocator allocator)
        {
            m_data = Marshal.AllocHGlobal(length * Marshal.SizeOf(typeof(T)));
            m_owned = true;
            Length = length;
        }
        public T this[int i]
        {
            get { return new Span<T>((void*)m_data, Length)[i]; }
            set { new Span<T>((void*)m_data, Length)[i] = value; }
        }
        public void Dispose()
        {
            if (m_owned) Marshal.FreeHGlobal(m_data);
            m_owned = false;
        }
    }
}

namespace Unity.Collections.LowLevel.Unsafe
{
    public static unsafe class NativeArrayUnsafeUtility
    {
        public static NativeArray<T> ConvertExistingDataToNativeArray<T>(void* data, int length, Allocator allocator) where T : struct
        {
            return new NativeArray<T> { m_data = (IntPtr)data, Length = length };
        }
        public static void* GetUnsafePtr<T>(this NativeArray<T> array) where T : struct { return (void*)array.m_data; }
        public static void* GetUnsafeReadOnlyPtr<T>(this NativeArray<T> array) where T : struct { return (void*)array.m_data; }
    }
    [AttributeUsage(AttributeTargets.Field)]
    public sealed class NativeDisableUnsafePtrRestrictionAttribute : Attribute { }
    public static class UnsafeUtility
    {
        public static int SizeOf<T>() where T : struct { return MemoryMarshal.AsBytes(new Span<T>(One<T>.Value)).Length; }
        private static class One<T> where T : struct { public static readonly T[] Value = new T[1]; }
    }
}

namespace Unity.Jobs
{
    public interface IJobParallelFor { void Execute(int index); }
    public struct JobHandle
    {
        public void Complete() { }
    }
    public static class IJobParallelForExtensions
    {
        public static JobHandle Schedule<T>(this T job, int length, int batch) where T : struct, IJobParallelFor
        {
            for (int i = length; i-- > 0;) job.Execute(i);
            return new JobHandle();
        }
    }
}

namespace UnityEditor.AssetImporters
{
    [AttributeUsage(AttributeTargets.Class)]
    public sealed class ScriptedImporterAttribute : Attribute
    {
        public ScriptedImporterAttribute(int version, string extension) { }
    }
    public abstract class ScriptedImporter : UnityEngine.Object
    {
        public abstract void OnImportAsset(AssetImportContext context);
    }
    public sealed class AssetImportContext
    {
        public string assetPath;
        public UnityEngine.Object MainObject;
        public readonly List<string> Errors = new List<string>();
        public void LogImportError(string text) { Errors.Add(text); }
        public void LogImportWarning(string text) { Errors.Add(text); }
        public void AddObjectToAsset(string name, UnityEngine.Object o) { }
        public void SetMainObject(UnityEngine.Object o) { MainObject = o; }
    }
}
