// SPDX-License-Identifier: MIT
#pragma once
/// What a session asks of the types that a caller hands over, and the sentence that the compiler prints where one falls
/// short. run/session.hpp asserts them in its public functions, one sentence per mistake: what is wrong, then the cure.
/// Behind a failed assertion the rest compiles with a harmless type, so that no second error buries the first.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <netsuke/run/budget.hpp>
#include <netsuke/run/settings.hpp>

/// The texts are macros because C++17 takes nothing but literals.
#define NSK_IMPL_SETTINGS_CLASS                                                                           \
  "netsuke: the settings of a session are a class that is defined before it: write struct my_settings : " \
  "nsk::default_settings {}; above, or take nsk::default_settings or nsk::all_settings"
#define NSK_IMPL_SETTINGS_OPS                                                                          \
  "netsuke: the settings type has no public list of operators: derive it from nsk::default_settings, " \
  "or add using ops = nsk::op_list<nsk::op::conv_2d, ...>; `nsk inspect --settings` prints the type"
#define NSK_IMPL_SETTINGS_FUNCTIONS                                                                    \
  "netsuke: the settings type has no public list of functions: derive it from nsk::default_settings, " \
  "or add using functions = nsk::function_list<nsk::function::clip, ...>; or nsk::all_functions"
#define NSK_IMPL_SETTINGS_WINOGRAD                                                                \
  "netsuke: the settings type does not say whether it has Winograd's algorithms: derive it from " \
  "nsk::default_settings, or add static constexpr bool winograd = true;"
#define NSK_IMPL_SETTINGS_PORTS                                                          \
  "netsuke: the settings type does not say how many ports can be bound: derive it from " \
  "nsk::default_settings, or add static constexpr int bindable_ports = 16; (1 or more)"
#define NSK_IMPL_SETTINGS_PROFILER                                                                       \
  "netsuke: the profiler of the settings type cannot be called: add using profiler = nsk::no_profiler; " \
  "or a class that needs no arguments to be made and has public void begin(int step) and void end(int step)"
#define NSK_IMPL_JOBS                                                                                  \
  "netsuke: the job system has no parallel_for(count, f): pass an object, not a pointer, with public " \
  "template <class F> void parallel_for(int count, const F& f) that calls f(i) for each i in [0, count)"
#define NSK_IMPL_CLOCK                                                                             \
  "netsuke: the clock does not tell a time: pass something that is called as clock() and returns " \
  "nsk::microseconds or a number of microseconds, such as [] { return nsk::microseconds{my_time()}; }"
#define NSK_IMPL_BUDGET                                                                              \
  "netsuke: no budget of this type exists: call run_for(nsk::microseconds{500}, clock) for a time, " \
  "run_for(nsk::work{1000000}) for the same cut on every machine"

NSK_BEGIN
namespace impl {

template <class T>
struct is_op_list : std::false_type {};
template <std::uint64_t Bits>
struct is_op_list<enum_set<op, Bits>> : std::true_type {};

template <class T>
struct is_function_list : std::false_type {};
template <std::uint64_t Bits>
struct is_function_list<enum_set<function, Bits>> : std::true_type {};

/// Whether the type `Query<T>` exists and is a true constant.
template <template <class> class Query, class T, class = void>
struct meets : std::false_type {};
template <template <class> class Query, class T>
struct meets<Query, T, std::void_t<Query<T>>> : Query<T> {};
/// `Value`, where all of `Expressions` exist.
template <class Value, class... Expressions>
using where_valid = Value;

template <class S>
using is_defined_class = std::bool_constant<std::is_class_v<S> && sizeof(S) != 0>;
template <class S>
using has_ops = is_op_list<typename S::ops>;
template <class S>
using has_functions = is_function_list<typename S::functions>;
template <class S>
using has_winograd = std::is_same<decltype(&S::winograd), const bool*>;
template <class Pointer>
struct points_to_count : std::false_type {};
template <class T>
struct points_to_count<const T*> : std::is_integral<T> {};
template <class S>
struct can_bind : std::bool_constant<(S::bindable_ports > 0 && S::bindable_ports <= std::numeric_limits<int>::max())> {
};
template <class S>
using has_ports = std::conjunction<points_to_count<decltype(&S::bindable_ports)>, can_bind<S>>;
template <class P>
using is_profiler =
    where_valid<std::is_default_constructible<P>, decltype(std::declval<P&>().begin(std::declval<int&>())),
                decltype(std::declval<P&>().end(std::declval<int&>()))>;
template <class S>
using has_profiler = is_profiler<typename S::profiler>;

/// The first requirement that a settings type does not meet.
enum class settings_fault { none, no_class, ops, functions, winograd, bindable_ports, profiler };
template <class S>
constexpr settings_fault settings_fault_of() {
  if constexpr (!meets<is_defined_class, S>::value) {
    return settings_fault::no_class;
  } else {
    return !meets<has_ops, S>::value         ? settings_fault::ops
           : !meets<has_functions, S>::value ? settings_fault::functions
           : !meets<has_winograd, S>::value  ? settings_fault::winograd
           : !meets<has_ports, S>::value     ? settings_fault::bindable_ports
           : !meets<has_profiler, S>::value  ? settings_fault::profiler
                                             : settings_fault::none;
  }
}
/// The settings that a session compiles with: S, or the defaults behind a sentence about S.
template <class S>
using settings_or_default = std::conditional_t<settings_fault_of<S>() == settings_fault::none, S, default_settings>;

/// Has the shape of what a job system is asked to call.
struct example_lane {
  void operator()(int) const {}
};
template <class Jobs>
using runs_lanes = where_valid<std::true_type, decltype(std::declval<Jobs&>().parallel_for(
                                                   std::declval<const int&>(), std::declval<const example_lane&>()))>;
template <class Jobs>
inline constexpr bool is_job_system = meets<runs_lanes, std::remove_reference_t<Jobs>>::value;

template <class Time>
using is_time = std::bool_constant<std::is_same_v<Time, microseconds> ||
                                   (std::is_constructible_v<std::int64_t, Time> && !std::is_same_v<Time, bool>)>;
template <class Clock>
using tells_time = is_time<std::decay_t<decltype(std::declval<Clock&>()())>>;
template <class Clock>
inline constexpr bool is_clock = meets<tells_time, std::remove_reference_t<Clock>>::value;

template <class T>
inline constexpr bool is_budget = std::is_convertible_v<T, microseconds> || std::is_convertible_v<T, work>;
template <class T>
using if_no_budget = std::enable_if_t<!is_budget<T>>;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
