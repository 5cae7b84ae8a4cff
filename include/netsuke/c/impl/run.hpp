// SPDX-License-Identifier: MIT
#pragma once
/// Running through the C interface: whole, in parts, tile by tile, with jobs of the caller.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/c/impl/library.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

/// The caller's job system, as sessions want it.
struct c_job_system {
  nsk_jobs jobs;
  template <class F>
  void parallel_for(int count, const F& f) const {
    const nsk_job job = [](void* context, std::int32_t number) { (*static_cast<const F*>(context))(number); };
    jobs.parallel_for(jobs.user, count, job, const_cast<void*>(static_cast<const void*>(&f)));
  }
};

/// Whether the jobs, which are argument `number`, are null or can be used.
inline nsk_status c_check_jobs(const nsk_session* session, const nsk_jobs* jobs, std::int32_t number) {
  if (!c_is_handle(session)) return c_bad_handle();
  if (jobs == nullptr) return {nsk_status_ok, -1};
  if (jobs->parallel_for == nullptr || jobs->lanes < 0 || jobs->lanes > session->net.lanes())
    return c_bad_argument(number);
  return {nsk_status_ok, -1};
}

}
NSK_END

extern "C" {
void nsk_job_call(nsk_job job, void* context, int32_t number) noexcept {
  if (job != nullptr) job(context, number);
}
nsk_status nsk_session_run(nsk_session* session, const nsk_jobs* jobs) noexcept {
  if (const nsk_status s = nsk::impl::c_check_jobs(session, jobs, 1); s.code != 0) return s;
  if (jobs == nullptr) {
    session->net.run();
  } else {
    const nsk::impl::c_job_system own{*jobs};
    nsk::traced_jobs traced(own, session->net.profiler());
    session->net.run(traced, jobs->lanes);
  }
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_run_for_work(nsk_session* session, uint64_t macs, const nsk_jobs* jobs,
                                    int32_t* complete) noexcept {
  if (const nsk_status s = nsk::impl::c_check_jobs(session, jobs, 2); s.code != 0) return s;
  if (complete == nullptr) return nsk::impl::c_bad_argument(3);
  if (jobs == nullptr) {
    *complete = session->net.run_for(nsk::work{macs});
  } else {
    const nsk::impl::c_job_system own{*jobs};
    nsk::traced_jobs traced(own, session->net.profiler());
    *complete = session->net.run_for(nsk::work{macs}, traced, jobs->lanes);
  }
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_run_for_time(nsk_session* session, int64_t microseconds, nsk_clock clock, void* clock_user,
                                    const nsk_jobs* jobs, int32_t* complete) noexcept {
  if (const nsk_status s = nsk::impl::c_check_jobs(session, jobs, 4); s.code != 0) return s;
  if (clock == nullptr) return nsk::impl::c_bad_argument(2);
  if (complete == nullptr) return nsk::impl::c_bad_argument(5);
  const auto now = [clock, clock_user] { return clock(clock_user); };
  const nsk::microseconds budget{microseconds};
  if (jobs == nullptr) {
    *complete = session->net.run_for(budget, now);
  } else {
    const nsk::impl::c_job_system own{*jobs};
    nsk::traced_jobs traced(own, session->net.profiler());
    *complete = session->net.run_for(budget, now, traced, jobs->lanes);
  }
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_restart(nsk_session* session) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  session->net.restart();
  return {nsk_status_ok, -1};
}

int32_t nsk_session_step_count(const nsk_session* session) noexcept {
  return nsk::impl::c_is_handle(session) ? session->net.step_count() : -1;
}
int32_t nsk_session_tile_count(const nsk_session* session, int32_t step_number) noexcept {
  if (!nsk::impl::c_is_handle(session) || step_number < 0 || step_number >= session->net.step_count()) return -1;
  return session->net.tile_count(step_number);
}
nsk_status nsk_session_run_tile(nsk_session* session, int32_t step_number, int32_t tile, int32_t lane) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  if (step_number < 0 || step_number >= session->net.step_count()) return nsk::impl::c_bad_argument(1);
  if (tile < 0 || tile >= session->net.tile_count(step_number)) return nsk::impl::c_bad_argument(2);
  if (lane < 0 || lane >= session->net.lanes()) return nsk::impl::c_bad_argument(3);
  session->net.run_tile(step_number, tile, lane);
  return {nsk_status_ok, -1};
}
nsk_status nsk_session_finish(nsk_session* session) noexcept {
  if (!nsk::impl::c_is_handle(session)) return nsk::impl::c_bad_handle();
  session->net.finish();
  return {nsk_status_ok, -1};
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
