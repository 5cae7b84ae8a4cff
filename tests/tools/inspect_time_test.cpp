// SPDX-License-Identifier: MIT
// What nsk inspect and nsk json do with a file that opens takes time in proportion to its parts.
#include <doctest/doctest.h>
#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>
#include "../model/costly_plans.hpp"
#include <netsuke/model/open.hpp>
#include <nlohmann/json.hpp>
#include "draw/arena_svg.hpp"
#include "inspect/inspect.hpp"
#include "write/table_json.hpp"

namespace {
namespace format = nsk::format;

/// Variants, and as many reasons for transpositions in the metadata.
test::aligned_bytes variants_with_notes(std::uint32_t count) {
  flatbuffers::FlatBufferBuilder b;
  const test::plan_spec empty;
  const std::vector<flatbuffers::Offset<format::Variant>> variants(count, test::write_variant(b, empty));
  const std::vector<flatbuffers::Offset<format::KeyValue>> notes(
      count, format::CreateKeyValueDirect(b, "transpose.0", "only: two axes change places"));
  b.Finish(format::CreateModelDirect(b, "plan_builder", "sample", 42, &variants, &notes));
  return test::assemble(b.GetBufferPointer(), b.GetSize(), {});
}

/// Tensors with different names in one buffer.
test::aligned_bytes names_in_one_buffer(std::uint32_t count) {
  test::plan_spec p;
  const std::uint32_t buffer = p.add_buffer(format::Storage::arena, 64, 0, 0);
  for (std::uint32_t i = 0; i < count; ++i) p.add_tensor(std::to_string(i), {1}, buffer);
  return p.write();
}

/// Steps whose tiles are as many as a file may have.
test::aligned_bytes steps_of_many_tiles(std::uint32_t count) {
  test::plan_spec p;
  const std::int32_t rows = 1 << 30;
  const std::uint32_t x = p.add_input("x", {1}, count), all = test::add_view(p, x, {rows, 1, 1}, {0, 0, 0});
  for (std::uint32_t i = 0; i < count; ++i)
    p.add_step(format::Operator::Copy, {all}, p.add_dense("y", {rows, 1, 1}, i, i)).tile = {1, 0, 0};
  return p.write();
}

/// Minimum processor seconds of some attempts to print everything about a file.
double time_of_reports(const test::aligned_bytes& file) {
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  double minimum = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    const nlohmann::json report = nsk::tool::inspect(m, file.size());
    const std::size_t printed = report.dump(2).size() + nsk::tool::inspect_text(report, {}).size() +
                                nsk::tool::arena_svg(report).size() +
                                nsk::tool::json_of_table(file.data() + sizeof(nsk::file_header)).dump(1).size();
    CHECK(printed > 0);
    minimum = std::min(minimum, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return minimum;
}

TEST_CASE("inspect and json: twice the parts take twice the time") {
  struct kind {
    const char* name;
    std::uint32_t parts;
    std::function<test::aligned_bytes(std::uint32_t)> make;
  };
  const kind kinds[] = {
      {"notes", 1000, variants_with_notes},
      {"names", 500, names_in_one_buffer},
      {"tiles", 10, steps_of_many_tiles},
      {"outputs", 250, test::outputs_of_one_step_each},
      {"writers", 250,
       [](std::uint32_t n) { return test::writers_of_one_buffer(n, test::row_order::of_concatenation); }},
      {"readers", 250,
       [](std::uint32_t n) { return test::readers_of_many_writers(n, test::row_order::of_concatenation); }},
      {"variants", 25, test::variants_of_one_table},
      {"labels", 10, [](std::uint32_t n) { return test::inputs_with_common_lists(n, 500); }}};
  for (const kind& k : kinds) {
    const test::aligned_bytes once = k.make(k.parts), twice = k.make(2 * k.parts);
    double minimum = time_of_reports(once), maximum = time_of_reports(twice);
    for (int again = 0; again < 4 && maximum > 2.5 * minimum; ++again)
      maximum = std::min(maximum, time_of_reports(twice));
    CHECK_MESSAGE(maximum <= 2.5 * minimum + 0.01, k.name);
    CHECK_MESSAGE(maximum <= 1, k.name);
  }
}

}
