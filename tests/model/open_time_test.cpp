// SPDX-License-Identifier: MIT
// Opening takes no longer than the bytes of a file allow: lists that many tables share, and parts that are compared
// with all others.
#include <doctest/doctest.h>
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <vector>
#include "costly_plans.hpp"
#include "shared_lists.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::row_order;

constexpr std::size_t megabyte = std::size_t{1} << 20;
#if defined(__OPTIMIZE__) || defined(NDEBUG)
constexpr double max_ms_per_megabyte = 50;
#else
constexpr double max_ms_per_megabyte = 500;
#endif

nsk::status open_file(const test::aligned_bytes& file) {
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

/// Minimum processor time of some attempts, in milliseconds.
double time_of_open(const test::aligned_bytes& file) {
  double minimum = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    static_cast<void>(open_file(file));
    minimum = std::min(minimum, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return minimum;
}

/// Units that verification takes from a budget of `maximum`.
std::uint64_t work_of(const test::aligned_bytes& file, std::uint64_t maximum) {
  nsk::impl::file_sections sections;
  REQUIRE(nsk::impl::read_header({file.data(), file.size()}, false, sections));
  nsk::impl::work_budget work(maximum);
  nsk::model_view view;
  static_cast<void>(
      nsk::impl::verify_sections<nsk::all_ops, nsk::impl::narrow_weights<true, true>>(sections, work, view));
  return maximum - work.left();
}

struct maker {
  std::string name;
  std::function<test::aligned_bytes(std::size_t)> of_size;
};

/// Every file of a megabyte opens, or is refused, in time, and all of them together take at most twice as long as those
/// of half a megabyte. The rest of the factor is the clock's.
void check_times(const std::vector<maker>& makers) {
  double whole = 0, half = 0;
  for (const maker& m : makers) {
    const test::aligned_bytes file = m.of_size(megabyte);
    double ms = time_of_open(file);
    for (int again = 0; again < 5 && ms > max_ms_per_megabyte; ++again) ms = std::min(ms, time_of_open(file));
    CHECK_MESSAGE(ms <= max_ms_per_megabyte, m.name << ": " << file.size() << " bytes");
    whole += ms;
    half += time_of_open(m.of_size(megabyte / 2));
  }
  MESSAGE("1 MB each: " << whole << " ms for " << makers.size() << " files, 0.5 MB each: " << half << " ms");
  CHECK(whole <= 2.2 * half + 2);
}

/// A plan of so many parts that the file has about the size that is asked for.
maker costly(const std::string& name, std::function<test::aligned_bytes(std::uint32_t)> of_count) {
  return {name, [of_count](std::size_t bytes) {
            const std::size_t few = of_count(64).size(), more = of_count(128).size();
            return of_count(static_cast<std::uint32_t>(64 * bytes / (more - few)));
          }};
}

std::vector<maker> costly_plans() {
  std::vector<maker> makers{costly("buffers", test::buffers_of_one_lifetime),
                            costly("in place", test::steps_in_place),
                            costly("resizes", test::resizes_with_one_table),
                            costly("forests", test::tree_ensembles_of_one_table),
                            costly("variants", test::variants_of_one_table),
                            costly("inputs", [](std::uint32_t n) { return test::inputs_with_common_lists(n, 64); })};
  for (const row_order order : {row_order::of_concatenation, row_order::with_gaps, row_order::scattered}) {
    makers.push_back(costly("writers", [order](std::uint32_t n) { return test::writers_of_one_buffer(n, order); }));
    makers.push_back(costly("readers", [order](std::uint32_t n) { return test::readers_of_many_writers(n, order); }));
  }
  return makers;
}

TEST_CASE("open: the lists and texts of the schema are these") {
  // What a new one makes slow beside open (rebind, nsk inspect, nsk json) is to be looked at before it is added here.
  const std::vector<std::string> known{"Block.data",
                                       "CheckVector.inputs",
                                       "CheckVector.outputs",
                                       "KeyValue.key",
                                       "KeyValue.value",
                                       "Length.name",
                                       "Model.metadata",
                                       "Model.name",
                                       "Model.producer",
                                       "Model.variants",
                                       "Port.color",
                                       "Port.deviation",
                                       "Port.labels",
                                       "Port.mean",
                                       "Port.name",
                                       "Port.source_axes",
                                       "Port.source_shape",
                                       "Quantization.scale",
                                       "Quantization.zero_point",
                                       "Recurrent.functions",
                                       "Recurrent.parameters",
                                       "State.name",
                                       "Step.inputs",
                                       "Step.name",
                                       "Step.outputs",
                                       "Tensor.name",
                                       "Tensor.shape",
                                       "Tensor.strides",
                                       "Tensor.terms",
                                       "Variant.buffers",
                                       "Variant.checks",
                                       "Variant.inputs",
                                       "Variant.lengths",
                                       "Variant.name",
                                       "Variant.outputs",
                                       "Variant.profile",
                                       "Variant.states",
                                       "Variant.steps",
                                       "Variant.tensors"};
  std::vector<std::string> found;
  for (const test::list_field& f : test::list_fields()) found.push_back(f.name());
  std::sort(found.begin(), found.end());
  CHECK(found == known);
}

TEST_CASE("open: each visit of a list is paid for") {
  constexpr std::uint64_t plenty = std::uint64_t{1} << 40;
  for (const test::list_field& f : test::list_fields()) {
    if (f.lists_on_path() == 0) continue;  // of the model itself: there is one
    for (const test::sharing how : test::all_sharings) {
      const std::size_t bytes = how == test::sharing::nested ? 1024 : 8192;
      const test::shared_list_writer writer(f, how);
      CAPTURE(f.name());
      CAPTURE(static_cast<int>(how));
      // Twice the file is four times the visits: without a limit this is what opening would do.
      CHECK(work_of(writer.write(2 * bytes), plenty) >= 3 * work_of(writer.write(bytes), plenty));
      CHECK(open_file(writer.write(megabyte / 4)).code() == status_code::too_complex);
    }
  }
}

TEST_CASE("open: a megabyte of shared lists takes at most 50 ms, and twice what half of it takes") {
  std::vector<maker> makers;
  for (const test::list_field& f : test::list_fields())
    for (const test::sharing how : test::all_sharings)
      makers.push_back(
          {f.name(), [f, how](std::size_t bytes) { return test::shared_list_writer(f, how).write(bytes); }});
  check_times(makers);
}

TEST_CASE("open: a megabyte of parts that are compared with each other takes at most 50 ms") {
  check_times(costly_plans());
}

TEST_CASE("open: what valid files share and compare is no reason to refuse them") {
  CHECK(open_file(test::buffers_of_one_lifetime(2500)));
  CHECK(open_file(test::outputs_of_one_step_each(5000)));
  CHECK(open_file(test::writers_of_one_buffer(20000, row_order::of_concatenation)));
  CHECK(open_file(test::writers_of_one_buffer(20000, row_order::with_gaps)));
  CHECK(open_file(test::writers_of_one_buffer(400, row_order::scattered)));
  CHECK(open_file(test::readers_of_many_writers(20000, row_order::of_concatenation)));
  CHECK(open_file(test::readers_of_many_writers(400, row_order::with_gaps)));
  CHECK(open_file(test::resizes_with_one_table(200)));
  CHECK(open_file(test::tree_ensembles_of_one_table(100)));
  CHECK(open_file(test::variants_of_one_table(100)));
  CHECK(open_file(test::inputs_with_common_lists(16, 1000)));
}

}
