// SPDX-License-Identifier: MIT
// The functions of netsuke/c/netsuke.h, as they are there. Only blittable types cross: nothing is marshalled or allocated.
using System;
using System.Runtime.InteropServices;

namespace Netsuke
{
    /// <summary>Result of a native call: 0 is success, Where the port, step or argument at fault.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskStatus
    {
        public int Code;
        public int Where;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativePort
    {
        public IntPtr Name, Shape, SourceShape, Mean, Deviation, Color;
        public ulong Elements, Bytes;
        public int Type, Rank, SourceRank, NormalisationCount, LabelCount, Reserved;
    }

    /// <summary>The struct nsk_jobs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativeJobs
    {
        public IntPtr ParallelFor, User;
        public int Lanes;
    }

    internal static unsafe class NskNative
    {
#if (UNITY_IOS || UNITY_TVOS || UNITY_WEBGL) && !UNITY_EDITOR
        private const string Library = "__Internal";
#else
        private const string Library = "netsuke_c";
#endif
        public const uint Version = 1;

        [DllImport(Library)] public static extern NskStatus nsk_check_library(uint version);
        [DllImport(Library)] public static extern IntPtr nsk_status_name(int code);
        [DllImport(Library)] public static extern UIntPtr nsk_status_format(NskStatus status, IntPtr model, int variant, byte* text, UIntPtr textBytes);
        [DllImport(Library)] public static extern IntPtr nsk_library_version();
        [DllImport(Library)] public static extern IntPtr nsk_library_isa();
        [DllImport(Library)] public static extern UIntPtr nsk_arena_alignment();

        [DllImport(Library)] public static extern UIntPtr nsk_model_required_bytes();
        [DllImport(Library)] public static extern UIntPtr nsk_prepare_required_bytes(IntPtr file, UIntPtr fileBytes);
        [DllImport(Library)] public static extern NskStatus nsk_prepare(IntPtr file, UIntPtr fileBytes, IntPtr memory, UIntPtr memoryBytes);
        [DllImport(Library)] public static extern NskStatus nsk_model_open(IntPtr memory, UIntPtr memoryBytes, IntPtr file, UIntPtr fileBytes, uint options, out IntPtr model);
        [DllImport(Library)] public static extern NskStatus nsk_model_close(IntPtr model);
        [DllImport(Library)] public static extern IntPtr nsk_model_name(IntPtr model);
        [DllImport(Library)] public static extern ulong nsk_model_signature(IntPtr model);
        [DllImport(Library)] public static extern int nsk_model_variant_count(IntPtr model);
        [DllImport(Library)] public static extern int nsk_model_find_variant(IntPtr model, byte* name);
        [DllImport(Library)] public static extern int nsk_model_input_count(IntPtr model, int variant);
        [DllImport(Library)] public static extern int nsk_model_output_count(IntPtr model, int variant);
        [DllImport(Library)] public static extern int nsk_model_max_batch(IntPtr model, int variant);
        [DllImport(Library)] public static extern NskStatus nsk_model_input(IntPtr model, int variant, int input, out NskNativePort port, UIntPtr portBytes);
        [DllImport(Library)] public static extern NskStatus nsk_model_output(IntPtr model, int variant, int output, out NskNativePort port, UIntPtr portBytes);
        [DllImport(Library)] public static extern IntPtr nsk_model_label(IntPtr model, int variant, int output, int label);
        [DllImport(Library)] public static extern IntPtr nsk_model_metadata(IntPtr model, byte* key);
        [DllImport(Library)] public static extern NskStatus nsk_arena_required_bytes(IntPtr model, int variant, int lanes, out ulong bytes);

        [DllImport(Library)] public static extern UIntPtr nsk_session_required_bytes();
        [DllImport(Library)] public static extern NskStatus nsk_session_open(IntPtr memory, UIntPtr memoryBytes, IntPtr model, int variant, IntPtr arena, UIntPtr arenaBytes, out IntPtr session);
        [DllImport(Library)] public static extern NskStatus nsk_session_close(IntPtr session);
        [DllImport(Library)] public static extern int nsk_session_lanes(IntPtr session);
        [DllImport(Library)] public static extern void nsk_job_call(IntPtr job, IntPtr context, int number);
        [DllImport(Library)] public static extern NskStatus nsk_session_input(IntPtr session, int input, out IntPtr data, out ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_output(IntPtr session, int output, out IntPtr data, out ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_write(IntPtr session, int input, IntPtr data, ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_read(IntPtr session, int output, IntPtr data, ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_set_batch(IntPtr session, int rows);
        [DllImport(Library)] public static extern NskStatus nsk_session_run(IntPtr session, NskNativeJobs* jobs);
        [DllImport(Library)] public static extern NskStatus nsk_session_run_for_work(IntPtr session, ulong macs, NskNativeJobs* jobs, out int complete);
        [DllImport(Library)] public static extern NskStatus nsk_session_run_for_time(IntPtr session, long microseconds, IntPtr clock, IntPtr user, NskNativeJobs* jobs, out int complete);
        [DllImport(Library)] public static extern NskStatus nsk_session_restart(IntPtr session);
        [DllImport(Library)] public static extern ulong nsk_session_state_bytes(IntPtr session);
        [DllImport(Library)] public static extern NskStatus nsk_session_save(IntPtr session, IntPtr snapshot, ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_load(IntPtr session, IntPtr snapshot, ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_reset(IntPtr session);
        [DllImport(Library)] public static extern NskStatus nsk_session_seed(IntPtr session, ulong key, uint firstRow);
        [DllImport(Library)] public static extern uint nsk_session_flags(IntPtr session);
        [DllImport(Library)] public static extern NskStatus nsk_session_selftest(IntPtr session);
    }
}
