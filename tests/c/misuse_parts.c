/* SPDX-License-Identifier: MIT */
/* misuse_parts IMAGE.nsk AGENTS.nsk: what a caller can get wrong with images, batches, logs and traces gives its
 * status, and changes nothing. */
#include "expect.h"

enum { width = 48, height = 32 };
static unsigned char pixels[height][width][4];

static nsk_image good_image(void) {
  nsk_image image;
  image.pixels = pixels;
  image.stride = 4 * width;
  image.width = width;
  image.height = height;
  image.format = nsk_pixel_rgba8;
  image.reserved = 0;
  return image;
}

/* Each field of an image that can be wrong. */
static void wrong_images(nsk_session* net) {
  nsk_image image = good_image();
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, NULL, NULL, 0, NULL));
  image.pixels = NULL;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image = good_image();
  image.width = 0;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image = good_image();
  image.height = (1 << 22) + 1;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image = good_image();
  image.stride = 4 * width - 1;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image.stride = -image.stride;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image = good_image();
  image.format = nsk_pixel_grey8 + 1;
  EXPECT(bad_argument, 3, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  image.format = -1;
  EXPECT(bad_argument, 5, nsk_session_read_image(net, 0, 0, NULL, 0, &image));
}

static void images(const nsk_model* model, nsk_session* net) {
  nsk_image image = good_image();
  nsk_image_settings how;
  nsk_tensor_settings back;
  void* data;
  uint64_t bytes;
  MUST(nsk_model_image_settings(model, 0, 0, &how, sizeof how));
  EXPECT(bad_handle, -1, nsk_model_image_settings(NULL, 0, 0, &how, sizeof how));
  EXPECT(bad_variant, 4, nsk_model_image_settings(model, 4, 0, &how, sizeof how));
  EXPECT(no_such_port, 2, nsk_model_image_settings(model, 0, 2, &how, sizeof how));
  EXPECT(bad_argument, 3, nsk_model_image_settings(model, 0, 0, NULL, sizeof how));
  EXPECT(bad_argument, 4, nsk_model_image_settings(model, 0, 0, &how, sizeof how - 1));
  EXPECT(bad_argument, 0, nsk_default_image_settings(NULL, sizeof how));
  EXPECT(bad_argument, 1, nsk_default_tensor_settings(&back, 3));
  MUST(nsk_default_tensor_settings(&back, sizeof back));
  EXPECT(bad_handle, -1, nsk_session_write_image(NULL, 0, 0, &image, NULL, 0, NULL));
  EXPECT(no_such_port, 1, nsk_session_write_image(net, 1, 0, &image, NULL, 0, NULL));
  EXPECT(bad_argument, 2, nsk_session_write_image(net, 0, 1, &image, NULL, 0, NULL));
  EXPECT(bad_argument, 2, nsk_session_write_image(net, 0, -1, &image, NULL, 0, NULL));
  EXPECT(bad_argument, 5, nsk_session_write_image(net, 0, 0, &image, &how, sizeof how - 4, NULL));
  how.order = nsk_order_grey;
  EXPECT(no_image, 0, nsk_session_write_image(net, 0, 0, &image, &how, sizeof how, NULL));
  how.order = nsk_order_bgra + 1;
  EXPECT(bad_argument, 4, nsk_session_write_image(net, 0, 0, &image, &how, sizeof how, NULL));
  how.order = nsk_order_rgb;
  how.fit = -1;
  EXPECT(bad_argument, 4, nsk_session_write_image(net, 0, 0, &image, &how, sizeof how, NULL));
  how.fit = nsk_fit_stretch;
  how.whole = 2;
  EXPECT(bad_argument, 4, nsk_session_write_image(net, 0, 0, &image, &how, sizeof how, NULL));
  how.whole = 0;
  how.width = how.height = -1; /* no region: the fill */
  MUST(nsk_session_write_image(net, 0, 0, &image, &how, sizeof how, NULL));
  MUST(nsk_session_input(net, 0, &data, &bytes));
  EXPECT_EQUAL(((float*)data)[5], 0.0f);
  MUST(nsk_session_bind_input(net, 0, data, bytes + nsk_over_read_bytes()));
  EXPECT(is_bound, 0, nsk_session_write_image(net, 0, 0, &image, NULL, 0, NULL));
  MUST(nsk_session_bind_input(net, 0, NULL, 0));
  wrong_images(net);

  EXPECT(no_such_port, 3, nsk_session_read_image(net, 3, 0, NULL, 0, &image));
  EXPECT(bad_argument, 2, nsk_session_read_image(net, 0, 1, NULL, 0, &image));
  back.order = nsk_order_rgba;
  EXPECT(no_image, 0, nsk_session_read_image(net, 0, 0, &back, sizeof back, &image));
  back.order = nsk_order_rgb;
  back.alpha = 2;
  EXPECT(bad_argument, 3, nsk_session_read_image(net, 0, 0, &back, sizeof back, &image));
  image.height = height - 1;
  EXPECT(wrong_image_size, 0, nsk_session_read_image(net, 0, 0, NULL, 0, &image));
}

static void tensors(void) {
  static float tensor[4 * 4 * 3];
  nsk_image image = good_image();
  nsk_image_settings how;
  nsk_tensor_settings back;
  const uint64_t all = 4 * 4 * 3;
  MUST(nsk_default_image_settings(&how, sizeof how));
  MUST(nsk_default_tensor_settings(&back, sizeof back));
  EXPECT(bad_argument, 0, nsk_image_to_tensor(NULL, &how, sizeof how, tensor, all, 4, 4, 0, 4, NULL));
  EXPECT(bad_argument, 1, nsk_image_to_tensor(&image, NULL, sizeof how, tensor, all, 4, 4, 0, 4, NULL));
  EXPECT(bad_argument, 3, nsk_image_to_tensor(&image, &how, sizeof how, NULL, all, 4, 4, 0, 4, NULL));
  EXPECT(bad_argument, 3,
         nsk_image_to_tensor(&image, &how, sizeof how, (float*)(void*)((char*)tensor + 1), all, 4, 4, 0, 4, NULL));
  EXPECT(bad_argument, 4, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all - 1, 4, 4, 0, 1, NULL));
  EXPECT(bad_argument, 5, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all, 0, 4, 0, 0, NULL));
  EXPECT(bad_argument, 6, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all, 4, -4, 0, 4, NULL));
  EXPECT(bad_argument, 7, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all, 4, 4, -1, 4, NULL));
  EXPECT(bad_argument, 8, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all, 4, 4, 0, 5, NULL));
  EXPECT(bad_argument, 8, nsk_image_to_tensor(&image, &how, sizeof how, tensor, all, 4, 4, 2, 1, NULL));
  image.width = image.height = 4;
  EXPECT(bad_argument, 0, nsk_tensor_to_image(NULL, all, &back, sizeof back, &image, 0, 4));
  EXPECT(bad_argument, 1, nsk_tensor_to_image(tensor, all - 1, &back, sizeof back, &image, 0, 4));
  EXPECT(bad_argument, 2, nsk_tensor_to_image(tensor, all, NULL, sizeof back, &image, 0, 4));
  EXPECT(bad_argument, 3, nsk_tensor_to_image(tensor, all, &back, 1, &image, 0, 4));
  EXPECT(bad_argument, 4, nsk_tensor_to_image(tensor, all, &back, sizeof back, NULL, 0, 4));
  EXPECT(bad_argument, 6, nsk_tensor_to_image(tensor, all, &back, sizeof back, &image, 0, 5));
}

static nsk_batcher_options good_options(void) {
  nsk_batcher_options how;
  memset(&how, 0, sizeof how);
  how.agents = 4;
  how.slots = 2;
  return how;
}

static void options(const nsk_model* agents, const nsk_model* image) {
  nsk_recurrent_pair pair;
  nsk_batcher_options how = good_options();
  uint64_t bytes = 0;
  size_t size;
  void* memory;
  nsk_batcher* crowd;
  MUST(nsk_batcher_required_bytes(agents, 0, &how, sizeof how, &bytes));
  size = (size_t)bytes;
  memory = memory_of(size + 64);
  EXPECT(bad_handle, -1, nsk_batcher_required_bytes(NULL, 0, &how, sizeof how, &bytes));
  EXPECT(bad_variant, 1, nsk_batcher_required_bytes(agents, 1, &how, sizeof how, &bytes));
  EXPECT(bad_argument, 2, nsk_batcher_required_bytes(agents, 0, NULL, sizeof how, &bytes));
  EXPECT(bad_argument, 3, nsk_batcher_required_bytes(agents, 0, &how, sizeof how - 1, &bytes));
  EXPECT(bad_argument, 4, nsk_batcher_required_bytes(agents, 0, &how, sizeof how, NULL));
  MUST(nsk_batcher_required_bytes(image, 0, &how, sizeof how, &bytes));
  EXPECT_EQUAL(bytes, 0u);
  EXPECT(no_rows, -1, nsk_batcher_open(memory, size, image, 0, &how, sizeof how, &crowd));
  EXPECT_EQUAL(crowd == NULL, 1);
  EXPECT(bad_argument, 0, nsk_batcher_open(NULL, size, agents, 0, &how, sizeof how, &crowd));
  EXPECT(misaligned_memory, -1, nsk_batcher_open((char*)memory + 16, size, agents, 0, &how, sizeof how, &crowd));
  EXPECT(too_little_memory, -1, nsk_batcher_open(memory, size - 1, agents, 0, &how, sizeof how, &crowd));
  EXPECT(too_little_memory, -1, nsk_batcher_open(memory, 0, agents, 0, &how, sizeof how, &crowd));
  EXPECT(bad_argument, 6, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, NULL));
  how.recurrent_state_count = 1;
  EXPECT(bad_argument, 4, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, &crowd));
  how.recurrent_states = &pair;
  pair.input = "obs_0";
  pair.output = NULL;
  EXPECT(bad_argument, 4, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, &crowd));
  pair.output = "nothing";
  EXPECT(no_such_port, -1, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, &crowd));
  how.recurrent_state_count = 129;
  EXPECT(bad_argument, 4, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, &crowd));
  how = good_options();
  how.slots = 0;
  EXPECT(no_rows, -1, nsk_batcher_open(memory, size, agents, 0, &how, sizeof how, &crowd));
}

static void batches(const nsk_model* agents, nsk_session* other) {
  const nsk_batcher_options how = good_options();
  float row[13] = {0}, answer[2];
  const void* part;
  void* states;
  uint64_t bytes;
  int32_t rows;
  nsk_batcher* crowd;
  nsk_session* const net = open_session(agents, 1);
  /* The handle's alignment is more than that of the memory: it is found at either. */
  int at;
  MUST(nsk_batcher_required_bytes(agents, 0, &how, sizeof how, &bytes));
  for (at = 0; at < 128; at += 64) {
    char* const block = (char*)memory_of((size_t)bytes + 192);
    MUST(nsk_batcher_open(block + at, (size_t)bytes, agents, 0, &how, sizeof how, &crowd));
  }
  EXPECT(bad_handle, -1, nsk_batcher_ask(NULL, 0, row, sizeof row));
  EXPECT(bad_handle, -1, nsk_batcher_ask((nsk_batcher*)(void*)net, 0, row, sizeof row));
  EXPECT(bad_argument, 2, nsk_batcher_ask(crowd, 0, NULL, sizeof row));
  EXPECT(wrong_size, -1, nsk_batcher_ask(crowd, 0, row, sizeof row - 4));
  EXPECT(no_such_agent, 4, nsk_batcher_ask(crowd, 4, row, sizeof row));
  EXPECT_EQUAL(nsk_batcher_row_bytes(NULL), 0u);
  EXPECT_EQUAL(nsk_batcher_standing(crowd, 4), -1);
  EXPECT_EQUAL(nsk_batcher_standing(crowd, 0), nsk_agent_idle);
  MUST(nsk_batcher_ask(crowd, 0, row, sizeof row));
  MUST(nsk_batcher_ask(crowd, 1, row, sizeof row));
  EXPECT(already_waiting, 1, nsk_batcher_ask(crowd, 1, row, sizeof row));
  EXPECT(queue_full, 2, nsk_batcher_ask(crowd, 2, row, sizeof row));
  EXPECT(other_ports, -1, nsk_batcher_run(crowd, other, NULL));
  EXPECT(bad_handle, -1, nsk_batcher_run(crowd, NULL, NULL));
  EXPECT(bad_argument, 2, nsk_batcher_gather(crowd, net, NULL));
  MUST(nsk_batcher_gather(crowd, net, &rows));
  EXPECT_EQUAL(rows, 2);
  MUST(nsk_session_run(net, NULL));
  EXPECT(other_ports, -1, nsk_batcher_scatter(crowd, other));
  MUST(nsk_batcher_scatter(crowd, net));
  EXPECT_EQUAL(nsk_batcher_served_agent(crowd, 2), -1);
  EXPECT(no_such_agent, 9, nsk_batcher_read(crowd, 9, 4, answer, sizeof answer));
  EXPECT(no_such_port, 5, nsk_batcher_read(crowd, 0, 5, answer, sizeof answer));
  EXPECT(not_of_a_row, 0, nsk_batcher_read(crowd, 0, 0, answer, sizeof answer));
  EXPECT(wrong_size, 4, nsk_batcher_read(crowd, 0, 4, answer, sizeof answer + 4));
  EXPECT(bad_argument, 3, nsk_batcher_read(crowd, 0, 4, NULL, sizeof answer));
  EXPECT(bad_argument, 3, nsk_batcher_output(crowd, 0, 4, NULL, &bytes));
  EXPECT(bad_argument, 4, nsk_batcher_output(crowd, 0, 4, &part, NULL));
  MUST(nsk_batcher_recurrent_states(crowd, 0, &states, &bytes));
  EXPECT_EQUAL(bytes, 0u);
  EXPECT(no_such_agent, -1, nsk_batcher_recurrent_states(crowd, -1, &states, &bytes));
  EXPECT(no_such_agent, 7, nsk_batcher_reset(crowd, 7));
  MUST(nsk_batcher_reset(crowd, 0));
  MUST(nsk_batcher_close(crowd));
  EXPECT(bad_handle, -1, nsk_batcher_close(crowd));
  EXPECT_EQUAL(nsk_batcher_served(crowd), -1);
}

static int64_t midnight(void* user) {
  (void)user;
  return 0;
}

static void logs(const nsk_model* model, nsk_session* net) {
  const size_t bytes = nsk_run_log_required_bytes(4);
  void* const memory = memory_of(bytes);
  char text[300];
  const char* json;
  size_t size;
  nsk_run_log* log;
  nsk_trace* trace;
  nsk_watch watch;
  nsk_step step;
  EXPECT_EQUAL(nsk_run_log_required_bytes(-5), nsk_run_log_required_bytes(1));
  EXPECT(bad_argument, 0, nsk_run_log_open((char*)memory + 8, bytes, &log));
  EXPECT(bad_argument, 1, nsk_run_log_open(memory, nsk_run_log_required_bytes(1) - 1, &log));
  EXPECT_EQUAL(log == NULL, 1);
  EXPECT(bad_argument, 2, nsk_run_log_open(memory, bytes, NULL));
  MUST(nsk_run_log_open(memory, bytes, &log));
  EXPECT(bad_handle, -1, nsk_run_log_describe(log, NULL, 0, 1));
  EXPECT(bad_variant, 3, nsk_run_log_describe(log, model, 3, 1));
  EXPECT(bad_argument, 3, nsk_run_log_describe(log, model, 0, 0));
  EXPECT_EQUAL(nsk_run_log_line(log, NULL, 10), 0u);
  EXPECT_EQUAL(nsk_run_log_line(NULL, text, sizeof text), 0u);
  MUST(nsk_run_log_close(log));
  EXPECT(bad_handle, -1, nsk_run_log_slice(log, 1, 1));

  EXPECT(bad_argument, 1, nsk_trace_open(memory, 8, text, sizeof text, "p", &trace));
  EXPECT(bad_argument, 2, nsk_trace_open(memory_of(200), 200, NULL, 0, "p", &trace));
  EXPECT(bad_argument, 4, nsk_trace_open(memory_of(200), 200, text, sizeof text, NULL, &trace));
  EXPECT(bad_argument, 5, nsk_trace_open(memory_of(200), 200, text, sizeof text, "p", NULL));
  MUST(nsk_trace_open(memory_of(nsk_trace_required_bytes()), nsk_trace_required_bytes(), text, 10, "p", &trace));
  MUST(nsk_trace_finish(trace, &json, &size));
  EXPECT_EQUAL(size, 0u);
  MUST(nsk_trace_close(trace));
  MUST(nsk_trace_open(memory_of(nsk_trace_required_bytes()), nsk_trace_required_bytes(), text, sizeof text, "p",
                      &trace));
  EXPECT(bad_argument, 1, nsk_trace_add_stage(trace, 3, 0, 1));
  EXPECT(bad_argument, 1, nsk_trace_add(trace, NULL, "", 0, 0, 1));
  EXPECT(bad_argument, 2, nsk_trace_add(trace, "", NULL, 0, 0, 1));
  EXPECT(bad_argument, 3, nsk_trace_add(trace, "", "", -1, 0, 1));
  EXPECT(bad_argument, 2, nsk_trace_name_track(trace, 0, NULL));
  EXPECT(bad_argument, 1, nsk_trace_finish(trace, NULL, &size));
  EXPECT(bad_argument, 1, nsk_trace_restart(trace, NULL));

  memset(&watch, 0, sizeof watch);
  EXPECT(bad_argument, 1, nsk_session_watch(net, &watch, sizeof watch)); /* no clock */
  watch.clock = midnight;
  watch.steps = -1;
  EXPECT(bad_argument, 1, nsk_session_watch(net, &watch, sizeof watch));
  watch.steps = 0;
  EXPECT(bad_argument, 2, nsk_session_watch(net, &watch, sizeof watch - 1));
  EXPECT(bad_handle, -1, nsk_session_watch(NULL, &watch, sizeof watch));
  watch.trace = (nsk_trace*)(void*)net;
  EXPECT(bad_handle, -1, nsk_session_watch(net, &watch, sizeof watch));
  watch.trace = trace;
  MUST(nsk_session_watch(net, &watch, sizeof watch));
  MUST(nsk_trace_close(trace)); /* a closed trace gets nothing */
  MUST(nsk_session_run(net, NULL));
  MUST(nsk_session_watch(net, NULL, 0));
  EXPECT(bad_argument, 2, nsk_model_step(model, 0, nsk_model_step_count(model, 0), &step, sizeof step));
  EXPECT(bad_argument, 3, nsk_model_step(model, 0, 0, NULL, sizeof step));
  EXPECT(bad_argument, 4, nsk_model_step(model, 0, 0, &step, sizeof step - 1));
  EXPECT_EQUAL(nsk_model_step_count(model, 9), -1);
  MUST(nsk_model_step(model, 0, 0, &step, sizeof step));
  EXPECT_EQUAL(step.macs > 0 && step.bytes > 0 && strcmp(step.op_name, "Conv2D") == 0, 1);
}

int main(int argc, char** argv) {
  nsk_model *image, *agents;
  nsk_session* net;
  REQUIRE(argc == 3);
  image = open_model(argv[1]);
  agents = open_model(argv[2]);
  net = open_session(image, 1);
  images(image, net);
  tensors();
  options(agents, image);
  batches(agents, net);
  logs(image, net);
  printf("%d failures\n", failures);
  return failures != 0;
}
