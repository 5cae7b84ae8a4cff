// SPDX-License-Identifier: MIT
using System;
using System.Runtime.InteropServices;

namespace Netsuke
{
    /// <summary>The jobs of one step: Run(i) for each i computes it, on any threads, in any order.</summary>
    public struct NskJob
    {
        internal readonly IntPtr Function, Context;

        internal NskJob(IntPtr function, IntPtr context)
        {
            Function = function;
            Context = context;
        }

        /// <summary>Computes what is left of the step for one lane. Call it once for each number.</summary>
        public void Run(int number) { NskNative.nsk_job_call(Function, Context, number); }
    }

    /// <summary>
    /// The threads of a game, for sessions with several lanes: NskSession.Run(jobs). Derive it for a job system of your own;
    /// NskThreads has threads of its own, NskUnityJobs takes Unity's. One session at a time runs with an object.
    /// </summary>
    public abstract unsafe class NskJobs : IDisposable
    {
        private GCHandle m_self;
        private Exception m_error;

        protected NskJobs() { m_self = GCHandle.Alloc(this, GCHandleType.Weak); }

        ~NskJobs() { Dispose(false); }

        /// <summary>
        /// Calls job.Run(i) once for each i from 0 to count - 1, and returns when all calls have returned, also where it throws:
        /// the step is then computed on the calling thread, and the exception passed on when the native call has returned.
        /// </summary>
        protected abstract void ParallelFor(int count, NskJob job);

        public void Dispose()
        {
            Dispose(true);
            GC.SuppressFinalize(this);
        }

        protected virtual void Dispose(bool disposing)
        {
            if (m_self.IsAllocated) m_self.Free();
        }

        /// <summary>What the library is given: all lanes of the session, which is why the number is 0.</summary>
        internal NskNativeJobs Native
        {
            get
            {
                if (!m_self.IsAllocated) throw new ObjectDisposedException(GetType().Name);
                return new NskNativeJobs { ParallelFor = s_pointer, User = GCHandle.ToIntPtr(m_self), Lanes = 0 };
            }
        }

        /// <summary>Passes on what ParallelFor has thrown during a native call.</summary>
        internal void ThrowError()
        {
            Exception error = m_error;
            m_error = null;
            if (error != null) throw new InvalidOperationException("NskJobs.ParallelFor has thrown; the calling thread computed its steps: " + error.Message, error);
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void Callback(IntPtr user, int count, IntPtr job, IntPtr context);

        private static readonly Callback s_callback = OnParallelFor;  // kept alive as long as the program
        private static readonly IntPtr s_pointer = Marshal.GetFunctionPointerForDelegate(s_callback);

        [MonoPInvokeCallback(typeof(Callback))]
        private static void OnParallelFor(IntPtr user, int count, IntPtr function, IntPtr context)
        {
            NskJob job = new NskJob(function, context);
            NskJobs jobs = (NskJobs)GCHandle.FromIntPtr(user).Target;
            try
            {
                jobs.ParallelFor(count, job);
            }
            catch (Exception error)  // it cannot pass native code
            {
                jobs.m_error = error;
                for (int i = 0; i < count; ++i) job.Run(i);  // does nothing for what is computed already
            }
        }
    }
}
