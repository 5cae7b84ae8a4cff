// SPDX-License-Identifier: MIT
using System;
using System.Threading;

namespace Netsuke
{
    /// <summary>
    /// Jobs on threads of its own: for programs without a job system. The calling thread works, too, so that a session of
    /// four lanes wants three. Between steps they wait a few microseconds awake, then asleep. To be disposed.
    /// </summary>
    public sealed class NskThreads : NskJobs
    {
        private const int SpinsAwake = 100;

        private readonly object m_lock = new object();
        private readonly Thread[] m_threads;
        private NskJob m_job;
        private volatile int m_next, m_count, m_left;  // written under the lock: jobs taken, jobs, jobs that have not returned
        private bool m_stop;

        public NskThreads(int threads)
        {
            if (threads < 0) throw new ArgumentOutOfRangeException(nameof(threads));
            m_threads = new Thread[threads];
            for (int i = 0; i < threads; ++i)
            {
                m_threads[i] = new Thread(Work) { IsBackground = true, Name = "netsuke " + i };
                m_threads[i].Start();
            }
        }

        protected override void ParallelFor(int count, NskJob job)
        {
            bool taken;
            lock (m_lock)
            {
                taken = m_left == 0;
                if (taken)
                {
                    m_job = job;
                    m_count = m_left = count;
                    m_next = 0;
                    Monitor.PulseAll(m_lock);
                }
            }
            if (!taken)  // another session has the threads
            {
                for (int i = 0; i < count; ++i) job.Run(i);
                return;
            }
            RunJobs();
            for (int i = 0; i < SpinsAwake && m_left > 0; ++i) Thread.SpinWait(20);
            lock (m_lock)
            {
                while (m_left > 0) Monitor.Wait(m_lock);
            }
        }

        protected override void Dispose(bool disposing)
        {
            if (disposing)
            {
                lock (m_lock)
                {
                    m_stop = true;
                    Monitor.PulseAll(m_lock);
                }
                foreach (Thread thread in m_threads) thread.Join();
            }
            base.Dispose(disposing);
        }

        private bool Take(out int number, out NskJob job)
        {
            lock (m_lock)
            {
                job = m_job;
                number = m_next;
                if (m_next >= m_count) return false;
                m_next = number + 1;
                return true;
            }
        }

        private void RunJobs()
        {
            int number;
            NskJob job;
            while (Take(out number, out job))
            {
                job.Run(number);
                lock (m_lock)
                {
                    m_left = m_left - 1;
                    if (m_left == 0) Monitor.PulseAll(m_lock);
                }
            }
        }

        private void Work()
        {
            for (;;)
            {
                RunJobs();
                for (int i = 0; i < SpinsAwake && m_next >= m_count; ++i) Thread.SpinWait(20);
                lock (m_lock)
                {
                    while (m_next >= m_count && !m_stop) Monitor.Wait(m_lock);
                    if (m_stop) return;
                }
            }
        }
    }
}
