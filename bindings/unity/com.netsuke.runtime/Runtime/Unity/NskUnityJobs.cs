// SPDX-License-Identifier: MIT
using System;
using Unity.Collections.LowLevel.Unsafe;
using Unity.Jobs;

namespace Netsuke
{
    /// <summary>Jobs on the worker threads of Unity. Unity schedules jobs from the main thread alone: run the session there.</summary>
    public sealed class NskUnityJobs : NskJobs
    {
        private struct Lanes : IJobParallelFor
        {
            [NativeDisableUnsafePtrRestriction] public IntPtr Function, Context;

            public void Execute(int number) { new NskJob(Function, Context).Run(number); }
        }

        protected override void ParallelFor(int count, NskJob job)
        {
            new Lanes { Function = job.Function, Context = job.Context }.Schedule(count, 1).Complete();
        }
    }
}
