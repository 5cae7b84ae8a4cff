// SPDX-License-Identifier: MIT
// parts IMAGE.nsk AGENTS.nsk: images, batches, logs and traces through the C interface give what the C++ library gives.
// IMAGE takes and gives images, AGENTS has a batch.
#include <cstring>
#include <netsuke/netsuke.hpp>
#include <netsuke/image.hpp>
#include <netsuke/log.hpp>
#include "support.h"

namespace {

int failures = 0;

void equal(bool same, const char* what, int line) {
  if (same) return;
  ++failures;
  std::fprintf(stderr, "parts.cpp:%d: differs: %s\n", line, what);
}
#define EQUAL(condition) equal((condition), #condition, __LINE__)

constexpr int frame_width = 37, frame_height = 29;
std::uint8_t frame[frame_height][frame_width][4];

nsk_image frame_of(std::int32_t format, int bytes) {
  return {frame, std::int64_t{frame_width} * bytes, frame_width, frame_height, format, 0};
}
nsk::image_view view_of(const nsk_image& image) {
  return {static_cast<const std::uint8_t*>(image.pixels), image.width, image.height,
          static_cast<std::ptrdiff_t>(image.stride), static_cast<nsk::pixel_format>(image.format)};
}
void fill_frame() {
  std::uint32_t number = 1;
  for (auto& row : frame)
    for (auto& pixel : row)
      for (std::uint8_t& level : pixel)
        level = static_cast<std::uint8_t>((number = number * 1664525u + 1013904223u) >> 24);
}

bool same_map(const nsk_image_map& map, const nsk::image_map& expected) {
  const nsk::affine &a = expected.image_from_tensor, &b = expected.tensor_from_image;
  const double wanted[] = {a.xx, a.xy, a.x0, a.yx, a.yy, a.y0, b.xx, b.xy, b.x0, b.yx, b.yy, b.y0};
  return std::memcmp(&map, wanted, sizeof wanted) == 0;
}

struct settings_pair {
  nsk_image_settings c;
  nsk::image_settings cpp;
};
settings_pair settings_of(int which) {
  settings_pair how = {};
  MUST(nsk_default_image_settings(&how.c, sizeof how.c));
  if (which == 0) return how;
  how.cpp.region = nsk::image_region::rotated(15, 12, 24, 18, 0.3f);
  how.cpp.fit = which == 1 ? nsk::image_fit::letterbox : nsk::image_fit::crop;
  how.cpp.edge = nsk::image_edge::fill;
  how.cpp.mirrored = which == 2;
  how.cpp.order = which == 1 ? nsk::channel_order::bgr : nsk::channel_order::grey;
  how.cpp.scale = nsk::channel_scale::standardized({0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.4f});
  how.cpp.fill[0] = 40;
  how.c.whole = 0;
  how.c.centre_x = 15, how.c.centre_y = 12, how.c.width = 24, how.c.height = 18, how.c.angle = 0.3f;
  how.c.fit = which == 1 ? nsk_fit_letterbox : nsk_fit_crop;
  how.c.edge = nsk_edge_fill;
  how.c.mirrored = which == 2 ? 1 : 0;
  how.c.order = which == 1 ? nsk_order_bgr : nsk_order_grey;
  std::memcpy(how.c.scale, how.cpp.scale.scale, sizeof how.c.scale);
  std::memcpy(how.c.offset, how.cpp.scale.offset, sizeof how.c.offset);
  how.c.fill[0] = 40;
  return how;
}

void tensors() {
  static float by_c[20 * 17 * 3], by_cpp[20 * 17 * 3];
  for (int which = 0; which < 3; ++which) {
    const settings_pair how = settings_of(which);
    for (std::int32_t format = nsk_pixel_rgba8; format <= nsk_pixel_grey8; ++format) {
      const nsk_image image = frame_of(format, nsk::pixel_bytes(static_cast<nsk::pixel_format>(format)));
      nsk_image_map map, without_rows;
      for (std::int32_t begin : {0, 9})  // two calls, as two jobs would
        MUST(nsk_image_to_tensor(&image, &how.c, sizeof how.c, by_c, 20 * 17 * 3, 20, 17, begin, begin == 0 ? 9 : 20,
                                 &map));
      MUST(nsk_image_to_tensor(&image, &how.c, sizeof how.c, nullptr, 0, 20, 17, 3, 3, &without_rows));
      const nsk::image_map expected = nsk::image_to_tensor(view_of(image), how.cpp, by_cpp, 20, 17);
      EQUAL(std::memcmp(by_c, by_cpp, sizeof by_c) == 0);
      EQUAL(same_map(map, expected) && same_map(without_rows, expected));
    }
  }
}

void images() {
  std::uint8_t by_c[11][13][4], by_cpp[11][13][4];
  static float levels[11 * 13 * 3];
  for (int i = 0; i < 11 * 13 * 3; ++i) levels[i] = static_cast<float>(i % 97) / 90 - 0.05f;
  std::memset(by_c, 7, sizeof by_c);
  std::memset(by_cpp, 7, sizeof by_cpp);
  nsk_tensor_settings how;
  nsk::tensor_settings expected;
  MUST(nsk_default_tensor_settings(&how, sizeof how));
  how.alpha = nsk_alpha_keep;
  expected.alpha = nsk::image_alpha::keep;
  const nsk_image image = {by_c, 13 * 4, 13, 11, nsk_pixel_bgra8, 0};
  MUST(nsk_tensor_to_image(levels, 11 * 13 * 3, &how, sizeof how, &image, 0, 11));
  nsk::tensor_to_image(levels, expected, {&by_cpp[0][0][0], 13, 11, 13 * 4, nsk::pixel_format::bgra8});
  EQUAL(std::memcmp(by_c, by_cpp, sizeof by_c) == 0 && by_c[5][5][3] == 7);
}

/// A frame into a session and out of it.
void session_images(const nsk_model* model) {
  nsk_session* const net = open_session(model, 1);
  nsk_port in, out;
  MUST(nsk_model_input(model, 0, 0, &in, sizeof in));
  MUST(nsk_model_output(model, 0, 0, &out, sizeof out));
  const std::int32_t height = out.shape[1], width = out.shape[2];
  const nsk_image image = frame_of(nsk_pixel_bgra8, 4);
  nsk_image_settings how;
  nsk_image_map map;
  void* data = nullptr;
  const void* result = nullptr;
  std::uint64_t bytes = 0;
  MUST(nsk_model_image_settings(model, 0, 0, &how, sizeof how));
  EQUAL(how.order == nsk_order_rgb && how.whole == 1 && how.scale[0] == 1.0f / 255);
  MUST(nsk_session_write_image(net, 0, 0, &image, nullptr, 0, &map));
  MUST(nsk_session_input(net, 0, &data, &bytes));
  float* const expected = static_cast<float*>(memory_of(static_cast<std::size_t>(bytes)));
  const nsk::image_map own =
      nsk::image_to_tensor(view_of(image), nsk::image_settings(), {expected, static_cast<std::size_t>(in.elements)},
                           in.shape[1], in.shape[2]);
  EQUAL(std::memcmp(data, expected, static_cast<std::size_t>(bytes)) == 0 && same_map(map, own));
  MUST(nsk_session_run(net, nullptr));
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
  auto* const by_c = static_cast<std::uint8_t*>(memory_of(pixels));
  auto* const by_cpp = static_cast<std::uint8_t*>(memory_of(pixels));
  const nsk_image target = {by_c, std::int64_t{width} * 3, width, height, nsk_pixel_rgb8, 0};
  MUST(nsk_session_read_image(net, 0, 0, nullptr, 0, &target));
  MUST(nsk_session_output(net, 0, &result, &bytes));
  nsk::tensor_to_image({static_cast<const float*>(result), static_cast<std::size_t>(out.elements)},
                       nsk::tensor_settings(),
                       {by_cpp, width, height, std::ptrdiff_t{width} * 3, nsk::pixel_format::rgb8});
  EQUAL(std::memcmp(by_c, by_cpp, pixels) == 0);
}

std::int64_t ticks(void* user) { return *static_cast<std::int64_t*>(user) += 1500; }

void one_after_the_other(void*, std::int32_t count, nsk_job job, void* context) {
  for (std::int32_t i = 0; i < count; ++i) job(context, i);
}

/// A batcher's answers are those of single runs, in the order of asking; rows ask again and carry nothing over.
void batches(const nsk_model* model) {
  constexpr std::int32_t agents = 11, output = 4;
  const nsk_batcher_options how = {nullptr, 0, agents, agents, 0};
  std::uint64_t bytes = 0;
  nsk_batcher* crowd = nullptr;
  nsk_port in, out;
  MUST(nsk_model_input(model, 0, 0, &in, sizeof in));
  MUST(nsk_model_output(model, 0, output, &out, sizeof out));
  EQUAL(in.rows == 8 && out.rows == 8);
  MUST(nsk_batcher_required_bytes(model, 0, &how, sizeof how, &bytes));
  MUST(nsk_batcher_open(memory_of(static_cast<std::size_t>(bytes)), static_cast<std::size_t>(bytes), model, 0, &how,
                        sizeof how, &crowd));
  nsk_session *const net = open_session(model, 1), *const one = open_session(model, 1);
  MUST(nsk_session_set_batch(one, 1));
  float row[13], answer[2];
  EQUAL(nsk_batcher_row_bytes(crowd) == sizeof row);
  const auto see = [&row](int agent) {
    for (int i = 0; i < 13; ++i) row[i] = static_cast<float>((agent * 13 + i) * 37 % 101) / 101 - 0.5f;
  };
  for (std::int32_t agent = agents; agent-- > 0;) {
    see(agent);
    MUST(nsk_batcher_ask(crowd, agent, row, sizeof row));
  }
  EQUAL(nsk_batcher_ask(crowd, 3, row, sizeof row).code == nsk_status_already_waiting);
  EQUAL(nsk_batcher_standing(crowd, 3) == nsk_agent_waiting);
  const nsk_jobs jobs = {one_after_the_other, nullptr, 0};
  MUST(nsk_batcher_run(crowd, net, &jobs));
  EQUAL(nsk_batcher_served(crowd) == 8 && nsk_batcher_served_agent(crowd, 0) == agents - 1);
  std::int32_t rows = 0, complete = 0;
  MUST(nsk_batcher_gather(crowd, net, &rows));
  while (complete == 0) MUST(nsk_session_run_for_work(net, 1, nullptr, &complete));
  MUST(nsk_batcher_scatter(crowd, net));
  EQUAL(rows == 3 && nsk_batcher_served(crowd) == 3 && nsk_batcher_served_agent(crowd, 2) == 0);
  void* input = nullptr;
  const void* result = nullptr;
  MUST(nsk_session_input(one, 0, &input, &bytes));
  for (std::int32_t agent = 0; agent < agents; ++agent) {
    see(agent);
    std::memcpy(input, row, sizeof row);
    MUST(nsk_session_run(one, nullptr));
    MUST(nsk_session_output(one, output, &result, &bytes));
    MUST(nsk_batcher_read(crowd, agent, output, answer, sizeof answer));
    EQUAL(nsk_batcher_standing(crowd, agent) == nsk_agent_answered);
    EQUAL(std::memcmp(answer, result, sizeof answer) == 0);
  }
  MUST(nsk_batcher_run(crowd, net, nullptr));  // no agent waits
  MUST(nsk_batcher_close(crowd));
}

/// The line of a log, with the times of the C++ library's.
void logs(const nsk_model* model) {
  alignas(8) static std::byte block[nsk::run_log::required_bytes(16)];
  nsk::run_log expected({block, sizeof block});
  nsk_run_log* log = nullptr;
  const std::size_t bytes = nsk_run_log_required_bytes(16);
  MUST(nsk_run_log_open(memory_of(bytes), bytes, &log));
  for (int i = 0; i < 40; ++i) {
    const std::int64_t time = (i * 7919) % 1000 + 1;
    expected.slice(time, i % 3 != 0);
    MUST(nsk_run_log_slice(log, time, i % 3 != 0));
  }
  for (int percent : {1, 50, 95, 100}) EQUAL(nsk_run_log_percentile(log, percent) == expected.percentile(percent));
  EQUAL(nsk_run_log_worst_slice(log) == expected.worst_slice() && nsk_run_log_runs(log) == expected.runs());
  char by_c[2049], by_cpp[2048];
  const std::size_t size = nsk_run_log_line(log, by_c, sizeof by_c);
  const nsk::span<const char> line = expected.line(by_cpp);
  EQUAL(size == line.size() && std::memcmp(by_c, line.data(), size) == 0 && by_c[size] == 0);
  EQUAL(nsk_run_log_line(log, by_c, 20) == 0 && by_c[0] == 0);
  MUST(nsk_run_log_describe(log, model, 0, 2));
  std::uint64_t arena = 0;
  MUST(nsk_arena_required_bytes(model, 0, 2, &arena));
  char wanted[64];
  std::snprintf(wanted, sizeof wanted, "\"arena_bytes\":%llu,", static_cast<unsigned long long>(arena));
  nsk_run_log_line(log, by_c, sizeof by_c);
  EQUAL(std::strstr(by_c, wanted) != nullptr && std::strstr(by_c, nsk_model_name(model)) != nullptr);
  MUST(nsk_run_log_clear(log));
  EQUAL(nsk_run_log_runs(log) == 0);
}

/// A watched session: bits stay, steps and lanes have their bars, sums are the times of the clock.
void watched(const nsk_model* model) {
  static char text[1 << 16];
  nsk_trace* trace = nullptr;
  nsk_session* const net = open_session(model, 2);
  const std::int32_t steps = nsk_model_step_count(model, 0);
  auto* const sums = static_cast<std::int64_t*>(memory_of(static_cast<std::size_t>(steps) * 8));
  std::int64_t time = 0;
  MUST(nsk_trace_open(memory_of(nsk_trace_required_bytes()), nsk_trace_required_bytes(), text, sizeof text, "parts",
                      &trace));
  const nsk_watch watch = {ticks, &time, trace, sums, steps - 1, 0};
  const nsk_jobs jobs = {one_after_the_other, nullptr, 0};
  MUST(nsk_session_watch(net, &watch, sizeof watch));
  MUST(nsk_session_run(net, nullptr));
  for (std::int32_t i = 0; i + 1 < steps; ++i) EQUAL(sums[i] == 1500);
  EQUAL(sums[steps - 1] == 0);  // there is no sum for it
  MUST(nsk_session_run(net, &jobs));
  for (std::int32_t i = 0; i + 1 < steps; ++i) EQUAL(sums[i] > 1500);
  MUST(nsk_session_watch(net, nullptr, 0));
  const std::int64_t before = time;
  MUST(nsk_session_run(net, &jobs));
  EQUAL(time == before);
  MUST(nsk_trace_add_stage(trace, nsk_stage_output, 1000, 2500));
  MUST(nsk_trace_add(trace, "a \"name\"", "game", 9, 1, 2));
  MUST(nsk_trace_name_track(trace, 9, "ninth"));
  const char* json = nullptr;
  std::size_t size = 0;
  MUST(nsk_trace_finish(trace, &json, &size));
  std::printf("%.*s", static_cast<int>(size), json);
  EQUAL(nsk_trace_dropped(trace) == 0);
  MUST(nsk_trace_restart(trace, "again"));
  MUST(nsk_trace_finish(trace, &json, &size));
  EQUAL(size < 200 && json == text);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  fill_frame();
  const nsk_model *const image = open_model(argv[1]), *const agents = open_model(argv[2]);
  tensors();
  images();
  session_images(image);
  batches(agents);
  logs(image);
  watched(image);
  return failures != 0;
}
