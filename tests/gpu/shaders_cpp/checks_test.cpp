// SPDX-License-Identifier: MIT
// What the C++ form of shaders notices: accesses outside a buffer, threads that disturb each other, threads that leave
// their group alone.
#include "../shader_device.hpp"

using namespace test;
using nsk_shader::uint;
using nsk_shader::uint3;

namespace {

/// Runs a function as a kernel of some groups on an arena of 16 words; returns what was reported.
std::vector<std::string> reports_of(void (*thread)(uint3, uint3), bool waits = false, uint groups = 1) {
  nsk_shader::memory arena(64);
  nsk_shader::A.bind(&arena);
  nsk_shader::A4.bind(&arena);
  nsk_shader::W.bind(&arena);
  std::uint32_t no_constants = 0;
  nsk_shader::memory_report() = {};
  nsk_shader::run_dispatch({thread, &no_constants, 0, waits}, &no_constants, 0, {groups, 1, 1});
  const std::vector<std::string> lines = nsk_shader::memory_report().lines;
  nsk_shader::memory_report() = {};
  return lines;
}
bool says(const std::vector<std::string>& lines, const char* what) {
  for (const std::string& line : lines) {
    if (line.find(what) != std::string::npos) return true;
  }
  return false;
}

uint shared_sum[64];

}

TEST_CASE("shaders as C++: accesses outside a buffer are reported") {
  CHECK(reports_of([](uint3, uint3 l) {
          if (l.x < 16) nsk_shader::A[l.x] = l.x;
        }).empty());
  CHECK(says(reports_of([](uint3, uint3 l) {
               if (l.x == 16) nsk_shader::A[l.x] = 1u;
             }),
             "A[16] of 16 is written"));
  CHECK(says(reports_of([](uint3, uint3 l) {
               if (l.x == 0) static_cast<void>(nsk_shader::float4(nsk_shader::A4[4]));
             }),
             "A4[4] of 4 is read"));
  CHECK(says(reports_of([](uint3, uint3 l) {
               if (l.x == 0) static_cast<void>(nsk_shader::W[~0u]);
             }),
             "W[4294967295] of 16 is read"));
  nsk_shader::texture small{2, 1, std::vector<std::uint8_t>(8)};
  nsk_shader::fetch(&small, 2, 0);
  nsk_shader::store(&small, 0, -1, {0, 0, 0, 0});
  CHECK(says(nsk_shader::memory_report().lines, "texel (2, 0) is read"));
  CHECK(says(nsk_shader::memory_report().lines, "texel (0, -1) is written"));
  nsk_shader::memory_report() = {};
}

TEST_CASE("shaders as C++: threads that disturb each other are reported") {
  CHECK(says(reports_of([](uint3, uint3) { nsk_shader::A[3] = 1u; }), "writes what another one writes"));
  CHECK(says(reports_of([](uint3, uint3 l) {
               if (l.x < 8) nsk_shader::A[l.x] = nsk_shader::A[l.x + 1] + 1u;
             }),
             "writes what another one reads"));
  CHECK(says(reports_of([](uint3, uint3 l) {
               if (l.x < 8) nsk_shader::A[l.x + 1] = nsk_shader::A[l.x] + 1u;
             }),
             "reads what another one writes"));
  // In place, every thread its own word; and all read one word.
  CHECK(reports_of([](uint3, uint3 l) {
          if (l.x < 15) nsk_shader::A[l.x] = nsk_shader::A[l.x] + nsk_shader::A[15];
        }).empty());
}

TEST_CASE("shaders as C++: threads of a group wait for each other") {
  const auto kernel = [](uint3, uint3 l) {
    shared_sum[l.x] = l.x;
    nsk_shader::wait_for_group();
    const uint other = shared_sum[63 - l.x];
    nsk_shader::wait_for_group();
    shared_sum[l.x] = other;
    nsk_shader::wait_for_group();
    if (l.x == 0) nsk_shader::A[0] = shared_sum[1];
  };
  CHECK(reports_of(kernel, true).empty());
  CHECK(shared_sum[0] == 63);
  CHECK(shared_sum[63] == 0);
  CHECK(says(reports_of(
                 [](uint3, uint3 l) {
                   if (l.x < 32) nsk_shader::wait_for_group();
                 },
                 true),
             "a thread has ended while others of its group wait"));
}

TEST_CASE("shaders as C++: a kernel with a wrong constant is noticed") {
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  shared_pipelines<shader_device>& device = *shaders();
  headless<shared_pipelines<shader_device>> net(device);
  REQUIRE(net.open(model));
  device.report_fails = false;
  device.reports = 0;
  const nsk::gpu::dispatch_view first = net.plan().dispatch(0);
  std::vector<std::uint32_t> constants(first.constants.begin(), first.constants.end());
  constants[4] += 1u << 20;  // y: the output's place
  device.dispatch(device.begin(), net.plan().pipelines()[static_cast<std::size_t>(first.pipeline)], constants.data(),
                  static_cast<int>(constants.size()), first.groups);
  CHECK(device.reports > 0);
  device.report_fails = true;
}
