// SPDX-License-Identifier: MIT
/// What a session asks of settings, job systems, clocks and elements, as the compiler sees it: each way to be wrong is
/// distinguished, and what the library can use is not refused. The guard `sentences` reads what compilers print.
#include <doctest/doctest.h>
#include <netsuke/all_ops.hpp>

namespace {
using nsk::default_settings;
using nsk::impl::is_clock;
using nsk::impl::is_job_system;
using nsk::impl::settings_fault;
using nsk::impl::settings_fault_of;

struct never_defined;
struct empty {};
class derived_in_private : default_settings {};
struct other_ops : default_settings {
  using ops = nsk::all_functions;
};
struct other_functions : default_settings {
  using functions = nsk::all_ops;
};
struct winograd_as_number : default_settings {
  static constexpr int winograd = 1;
};
struct winograd_as_member : default_settings {
  bool winograd = true;
};
struct no_bindable_port : default_settings {
  static constexpr int bindable_ports = 0;
};
struct ports_as_member : default_settings {
  int bindable_ports = 4;
};
template <class Profiler>
struct profiled : default_settings {
  using profiler = Profiler;
};
struct no_end {
  void begin(int) {}
};
struct named_steps {
  void begin(const char*) {}
  void end(const char*) {}
};
struct made_of_int {
  explicit made_of_int(int) {}
  void begin(int) {}
  void end(int) {}
};
static_assert(settings_fault_of<int>() == settings_fault::no_class);
static_assert(settings_fault_of<never_defined>() == settings_fault::no_class);
static_assert(settings_fault_of<empty>() == settings_fault::ops);
static_assert(settings_fault_of<derived_in_private>() == settings_fault::ops);
static_assert(settings_fault_of<other_ops>() == settings_fault::ops);
static_assert(settings_fault_of<other_functions>() == settings_fault::functions);
static_assert(settings_fault_of<winograd_as_number>() == settings_fault::winograd);
static_assert(settings_fault_of<winograd_as_member>() == settings_fault::winograd);
static_assert(settings_fault_of<no_bindable_port>() == settings_fault::bindable_ports);
static_assert(settings_fault_of<ports_as_member>() == settings_fault::bindable_ports);
static_assert(settings_fault_of<profiled<int>>() == settings_fault::profiler);
static_assert(settings_fault_of<profiled<no_end>>() == settings_fault::profiler);
static_assert(settings_fault_of<profiled<named_steps>>() == settings_fault::profiler);
static_assert(settings_fault_of<profiled<made_of_int>>() == settings_fault::profiler);

struct counts {
  static void begin(int) {}
  int end(const int& step) { return step; }
};
struct no_base {
  using ops = nsk::op_list<nsk::op::copy>;
  using functions = nsk::function_list<>;
  using profiler = counts;
  static const bool winograd = false;
  static constexpr unsigned bindable_ports = 1;
};
static_assert(settings_fault_of<no_base>() == settings_fault::none);
static_assert(settings_fault_of<nsk::all_settings>() == settings_fault::none);

struct pool {
  template <class F>
  static int parallel_for(long count, F f) {
    for (int i = 0; i < count; ++i) f(i);
    return 0;
  }
};
struct any_callable {  // as std::function<void(int)> is
  template <class F, class = decltype(std::declval<F&>()(0))>
  any_callable(const F&) {}
};
struct pool_of_callables {
  void parallel_for(unsigned, const any_callable&) {}
};
struct range_pool {
  template <class F>
  void parallel_for(int, int, const F&) {}
};
struct pointer_pool {
  void parallel_for(int, void (*)(int)) {}
};
class private_pool {
  template <class F>
  void parallel_for(int, const F&) {}
};
static_assert(is_job_system<pool> && is_job_system<const pool&> && is_job_system<pool_of_callables&>);
static_assert(!is_job_system<int> && !is_job_system<pool*> && !is_job_system<empty&> && !is_job_system<range_pool>);
static_assert(!is_job_system<pointer_pool> && !is_job_system<private_pool>);

struct ticks {
  explicit operator std::int64_t() const { return 1; }
};
template <class T>
using returning = T (*)();
static_assert(is_clock<returning<nsk::microseconds>> && is_clock<returning<const nsk::microseconds&>>);
static_assert(is_clock<returning<double>&> && is_clock<returning<unsigned>> && is_clock<returning<ticks>>);
static_assert(!is_clock<int> && !is_clock<returning<void>> && !is_clock<returning<bool>> &&
              !is_clock<returning<empty>>);
static_assert(!is_clock<returning<std::int64_t*>> && !is_clock<std::int64_t (*)(int)> && !is_clock<never_defined&>);

static_assert(nsk::impl::is_budget<const nsk::microseconds&> && nsk::impl::is_budget<nsk::work>);
static_assert(!nsk::impl::is_budget<int> && !nsk::impl::is_budget<double&>);

static_assert(nsk::is_element_type<float> && nsk::is_element_type<const std::int64_t> && nsk::is_element_type<bool>);
static_assert(!nsk::is_element_type<double> && !nsk::is_element_type<unsigned> && !nsk::is_element_type<void>);
static_assert(nsk::dtype_of<std::int8_t>() == nsk::dtype::int8 && nsk::dtype_of<bool>() == nsk::dtype::boolean);

TEST_CASE("session: types that it can use compile") {
  nsk::session<no_base> net;
  CHECK(net.status().code() == nsk::status_code::not_open);
  CHECK(net.lanes() == 0);
}
}
