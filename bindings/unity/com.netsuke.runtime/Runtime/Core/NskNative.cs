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
        public int Type, Rank, SourceRank, NormalisationCount, LabelCount, Rows;
    }

    /// <summary>The struct nsk_image.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativeImage
    {
        public IntPtr Pixels;
        public long Stride;
        public int Width, Height, Format, Reserved;
    }

    /// <summary>The structs nsk_recurrent_pair and nsk_batcher_options.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativePair
    {
        public IntPtr Input, Output;
    }
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativeOptions
    {
        public IntPtr States;
        public int StateCount, Agents, Slots, Reserved;
    }

    /// <summary>The structs nsk_watch and nsk_step.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativeWatch
    {
        public IntPtr Clock, ClockUser, Trace, StepNanoseconds;
        public int Steps, Reserved;
    }
    [StructLayout(LayoutKind.Sequential)]
    internal struct NskNativeStep
    {
        public IntPtr Name, Operator;
        public ulong Macs, Bytes;
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
#if !UNITY_EDITOR && (UNITY_IOS || UNITY_TVOS || UNITY_WEBGL || UNITY_GAMECORE || UNITY_PS4 || UNITY_PS5 || UNITY_SWITCH || (UNITY_ANDROID && ENABLE_IL2CPP))
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
        [DllImport(Library)] public static extern NskStatus nsk_session_set_length(IntPtr session, byte* name, int value);
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

        [DllImport(Library)] public static extern NskStatus nsk_default_image_settings(out NskImageSettings how, UIntPtr howBytes);
        [DllImport(Library)] public static extern NskStatus nsk_default_tensor_settings(out NskTensorSettings how, UIntPtr howBytes);
        [DllImport(Library)] public static extern NskStatus nsk_model_image_settings(IntPtr model, int variant, int input, out NskImageSettings how, UIntPtr howBytes);
        [DllImport(Library)] public static extern NskStatus nsk_session_write_image(IntPtr session, int input, int row, NskNativeImage* image, NskImageSettings* how, UIntPtr howBytes, out NskImageMap map);
        [DllImport(Library)] public static extern NskStatus nsk_session_read_image(IntPtr session, int output, int row, NskTensorSettings* how, UIntPtr howBytes, NskNativeImage* image);

        [DllImport(Library)] public static extern NskStatus nsk_batcher_required_bytes(IntPtr model, int variant, NskNativeOptions* how, UIntPtr howBytes, out ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_open(IntPtr memory, UIntPtr memoryBytes, IntPtr model, int variant, NskNativeOptions* how, UIntPtr howBytes, out IntPtr batcher);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_close(IntPtr batcher);
        [DllImport(Library)] public static extern ulong nsk_batcher_row_bytes(IntPtr batcher);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_ask(IntPtr batcher, int agent, IntPtr row, ulong rowBytes);
        [DllImport(Library)] public static extern int nsk_batcher_standing(IntPtr batcher, int agent);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_output(IntPtr batcher, int agent, int output, out IntPtr data, out ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_recurrent_states(IntPtr batcher, int agent, out IntPtr data, out ulong bytes);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_reset(IntPtr batcher, int agent);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_gather(IntPtr batcher, IntPtr session, out int rows);
        [DllImport(Library)] public static extern NskStatus nsk_batcher_scatter(IntPtr batcher, IntPtr session);
        [DllImport(Library)] public static extern int nsk_batcher_served_agent(IntPtr batcher, int row);

        [DllImport(Library)] public static extern UIntPtr nsk_run_log_required_bytes(int runs);
        [DllImport(Library)] public static extern NskStatus nsk_run_log_open(IntPtr memory, UIntPtr memoryBytes, out IntPtr log);
        [DllImport(Library)] public static extern NskStatus nsk_run_log_close(IntPtr log);
        [DllImport(Library)] public static extern NskStatus nsk_run_log_describe(IntPtr log, IntPtr model, int variant, int lanes);
        [DllImport(Library)] public static extern NskStatus nsk_run_log_slice(IntPtr log, long nanoseconds, int complete);
        [DllImport(Library)] public static extern ulong nsk_run_log_runs(IntPtr log);
        [DllImport(Library)] public static extern long nsk_run_log_percentile(IntPtr log, int percent);
        [DllImport(Library)] public static extern long nsk_run_log_worst_slice(IntPtr log);
        [DllImport(Library)] public static extern UIntPtr nsk_run_log_line(IntPtr log, byte* text, UIntPtr textBytes);
        [DllImport(Library)] public static extern NskStatus nsk_run_log_clear(IntPtr log);

        [DllImport(Library)] public static extern UIntPtr nsk_trace_required_bytes();
        [DllImport(Library)] public static extern NskStatus nsk_trace_open(IntPtr memory, UIntPtr memoryBytes, IntPtr text, UIntPtr textBytes, byte* process, out IntPtr trace);
        [DllImport(Library)] public static extern NskStatus nsk_trace_close(IntPtr trace);
        [DllImport(Library)] public static extern NskStatus nsk_trace_add_stage(IntPtr trace, int stage, long begin, long end);
        [DllImport(Library)] public static extern NskStatus nsk_trace_add(IntPtr trace, byte* name, byte* category, int track, long begin, long end);
        [DllImport(Library)] public static extern NskStatus nsk_trace_name_track(IntPtr trace, int track, byte* name);
        [DllImport(Library)] public static extern NskStatus nsk_trace_finish(IntPtr trace, out IntPtr json, out UIntPtr bytes);
        [DllImport(Library)] public static extern NskStatus nsk_trace_restart(IntPtr trace, byte* process);
        [DllImport(Library)] public static extern ulong nsk_trace_dropped(IntPtr trace);
        [DllImport(Library)] public static extern NskStatus nsk_session_watch(IntPtr session, NskNativeWatch* watch, UIntPtr watchBytes);
        [DllImport(Library)] public static extern int nsk_model_step_count(IntPtr model, int variant);
        [DllImport(Library)] public static extern NskStatus nsk_model_step(IntPtr model, int variant, int number, out NskNativeStep step, UIntPtr stepBytes);
    }
}
