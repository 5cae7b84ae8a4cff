// SPDX-License-Identifier: MIT
// The classes NetsukeModel and NetsukeSession of Godot, and the entry point.
#include "classes.hpp"

using namespace godot_api;

namespace {

// --- NetsukeModel ---

const nsk_model* handle(void* self) {
  const auto& opened = static_cast<model_object*>(self)->opened;
  return opened ? opened->model : nullptr;
}

void model_open(void* self, const void* const* arguments, void* result) {
  const bytes file(arguments[0]);
  auto opened = std::make_shared<opened_file>();
  const nsk_status s = opened->open(file.data, file.count);
  if (s.code == 0) static_cast<model_object*>(self)->opened = std::move(opened);
  put(result, line_of(s, nullptr).c_str());
}
void model_inputs(void* self, const void* const*, void* result) {
  put(result, std::int64_t{nsk_model_input_count(handle(self), 0)});
}
void model_outputs(void* self, const void* const*, void* result) {
  put(result, std::int64_t{nsk_model_output_count(handle(self), 0)});
}
using port_function = decltype(&nsk_model_input);
void put_shape(port_function of, const nsk_model* model, const void* const* arguments, void* result) {
  nsk_port port = {};
  of(model, 0, index(arguments[0]), &port, sizeof port);  // without such a port the shape is empty
  put_ints(result, port.shape, static_cast<std::size_t>(port.rank));
}
void put_name(port_function of, const nsk_model* model, const void* const* arguments, void* result) {
  nsk_port port = {};
  of(model, 0, index(arguments[0]), &port, sizeof port);
  put(result, port.name != nullptr ? port.name : "");
}
void model_input_shape(void* self, const void* const* a, void* r) { put_shape(nsk_model_input, handle(self), a, r); }
void model_output_shape(void* self, const void* const* a, void* r) { put_shape(nsk_model_output, handle(self), a, r); }
void model_input_name(void* self, const void* const* a, void* r) { put_name(nsk_model_input, handle(self), a, r); }
void model_output_name(void* self, const void* const* a, void* r) { put_name(nsk_model_output, handle(self), a, r); }
void model_steps(void* self, const void* const*, void* result) {
  put(result, std::int64_t{nsk_model_step_count(handle(self), 0)});
}
nsk_step step_of(void* self, const void* const* arguments) {
  nsk_step step = {};
  nsk_model_step(handle(self), 0, index(arguments[0]), &step, sizeof step);  // without such a step there is no text
  return step;
}
void model_step_name(void* self, const void* const* arguments, void* result) {
  const nsk_step step = step_of(self, arguments);
  put(result, step.name != nullptr ? step.name : "");
}
void model_step_operator(void* self, const void* const* arguments, void* result) {
  const nsk_step step = step_of(self, arguments);
  put(result, step.op_name != nullptr ? step.op_name : "");
}

const method model_methods[] = {
    {"open", string_type, {{"file", bytes_type, nullptr}}, model_open},
    {"input_count", int_type, {}, model_inputs},
    {"output_count", int_type, {}, model_outputs},
    {"input_shape", ints_type, {{"input", int_type, nullptr}}, model_input_shape},
    {"output_shape", ints_type, {{"output", int_type, nullptr}}, model_output_shape},
    {"input_name", string_type, {{"input", int_type, nullptr}}, model_input_name},
    {"output_name", string_type, {{"output", int_type, nullptr}}, model_output_name},
    {"step_count", int_type, {}, model_steps},
    {"step_name", string_type, {{"step", int_type, nullptr}}, model_step_name},
    {"step_operator", string_type, {{"step", int_type, nullptr}}, model_step_operator},
};

// --- NetsukeSession ---

session_object& of(void* self) { return *static_cast<session_object*>(self); }
void say(void* self, nsk_status s, void* result) { say(s, of(self).model(), result); }

void session_start(void* self, const void* const* arguments, void* result) {
  const auto* const model = object_of<model_object>(arguments[0]);
  if (model == nullptr || !model->opened)
    return put(result, "bad_handle: start takes a NetsukeModel whose open() returned \"\"");
  say(self, of(self).start(model->opened), result);
}
void session_write(void* self, const void* const* arguments, void* result) {
  const floats values(arguments[1]);
  static const float none = 0;  // an empty array has no address
  say(self,
      nsk_session_write(of(self).session, index(arguments[0]), values.data != nullptr ? values.data : &none,
                        values.count * sizeof(float)),
      result);
}
/// Pixels of an Image: get_data() and get_format().
void session_write_image(void* self, const void* const* arguments, void* result) {
  const bytes pixels(arguments[1]);
  const std::int32_t width = index(arguments[2]), height = index(arguments[3]);
  const std::int64_t format = number(arguments[4]);  // Image.FORMAT_L8, FORMAT_RGB8, FORMAT_RGBA8
  const int pixel_bytes = format == 0 ? 1 : format == 4 ? 3 : format == 5 ? 4 : 0;
  if (pixel_bytes == 0)
    return put(result, "bad_argument: the image's format is not L8, RGB8 or RGBA8: call Image.convert");
  const std::int64_t stride = std::int64_t{width} * pixel_bytes;
  if (width < 1 || height < 1 || static_cast<std::int64_t>(pixels.count) / height < stride)
    return put(result, "wrong_size: there are fewer bytes than the image's width, height and format need");
  const nsk_image image = {const_cast<std::uint8_t*>(pixels.data),
                           stride,
                           width,
                           height,
                           pixel_bytes == 1   ? nsk_pixel_grey8
                           : pixel_bytes == 3 ? nsk_pixel_rgb8
                                              : nsk_pixel_rgba8,
                           0};
  say(self, nsk_session_write_image(of(self).session, index(arguments[0]), 0, &image, nullptr, 0, nullptr), result);
}
void session_run(void* self, const void* const*, void* result) {
  const nsk_status s = nsk_session_run(of(self).session, nullptr);
  of(self).complete = s.code == 0;
  say(self, s, result);
}
void session_run_for(void* self, const void* const* arguments, void* result) {
  std::int32_t complete = 0;
  const nsk_status s = nsk_session_run_for_time(of(self).session, number(arguments[0]), now<std::chrono::microseconds>,
                                                nullptr, nullptr, &complete);
  of(self).complete = complete != 0;
  say(self, s, result);
}
void session_complete(void* self, const void* const*, void* result) { put(result, of(self).complete); }
void session_read(void* self, const void* const* arguments, void* result) {
  const void* data = nullptr;
  std::uint64_t count = 0;
  nsk_port port = {};
  const std::int32_t output = index(arguments[0]);
  const bool good = nsk_session_output(of(self).session, output, &data, &count).code == 0 &&
                    nsk_model_output(of(self).model(), 0, output, &port, sizeof port).code == 0 &&
                    port.type == nsk_type_float32;
  put_floats(result, data, good ? static_cast<std::size_t>(port.elements) : 0);
}
void session_save(void* self, const void* const*, void* result) {
  std::string states(static_cast<std::size_t>(nsk_session_state_bytes(of(self).session)), '\0');
  const bool good = nsk_session_save(of(self).session, &states[0], states.size()).code == 0;
  put_bytes(result, states.data(), good ? states.size() : 0);
}
void session_restore(void* self, const void* const* arguments, void* result) {
  const bytes states(arguments[0]);
  say(self, nsk_session_load(of(self).session, states.data, states.count), result);
}
void session_reset(void* self, const void* const*, void* r) { say(self, nsk_session_reset(of(self).session), r); }
void session_selftest(void* self, const void* const*, void* r) { say(self, nsk_session_selftest(of(self).session), r); }
void session_seed(void* self, const void* const* arguments, void* result) {
  say(self, nsk_session_seed(of(self).session, static_cast<std::uint64_t>(number(arguments[0])), 0), result);
}
void session_set_rows(void* self, const void* const* arguments, void* result) {
  say(self, nsk_session_set_batch(of(self).session, index(arguments[0])), result);
}
void session_watch(void* self, const void* const* arguments, void* result) {
  const auto* const trace = object_of<trace_object>(arguments[0]);
  if (trace == nullptr || !trace->opened)
    return put(result, "bad_handle: watch takes a NetsukeTrace whose start() returned \"\"");
  say(self, of(self).watch(trace->opened), result);
}
void session_unwatch(void* self, const void* const*, void* result) { say(self, of(self).unwatch(), result); }
void session_step_nanoseconds(void* self, const void* const* arguments, void* result) {
  const std::vector<std::int64_t>& sums = of(self).nanoseconds;
  const std::int64_t step = number(arguments[0]);
  const bool good = step >= 0 && step < static_cast<std::int64_t>(sums.size());
  put(result, good ? sums[static_cast<std::size_t>(step)] : std::int64_t{-1});
}

const method session_methods[] = {
    {"start", string_type, {{"model", object_type, "NetsukeModel"}}, session_start},
    {"write", string_type, {{"input", int_type, nullptr}, {"values", floats_type, nullptr}}, session_write},
    {"write_image",
     string_type,
     {{"input", int_type, nullptr},
      {"pixels", bytes_type, nullptr},
      {"width", int_type, nullptr},
      {"height", int_type, nullptr},
      {"format", int_type, nullptr}},
     session_write_image},
    {"run", string_type, {}, session_run},
    {"run_for", string_type, {{"microseconds", int_type, nullptr}}, session_run_for},
    {"is_complete", bool_type, {}, session_complete},
    {"read", floats_type, {{"output", int_type, nullptr}}, session_read},
    {"save", bytes_type, {}, session_save},
    {"restore", string_type, {{"states", bytes_type, nullptr}}, session_restore},
    {"reset", string_type, {}, session_reset},
    {"selftest", string_type, {}, session_selftest},
    {"seed", string_type, {{"key", int_type, nullptr}}, session_seed},
    {"set_rows", string_type, {{"rows", int_type, nullptr}}, session_set_rows},
    {"watch", string_type, {{"trace", object_type, "NetsukeTrace"}}, session_watch},
    {"unwatch", string_type, {}, session_unwatch},
    {"step_nanoseconds", int_type, {{"step", int_type, nullptr}}, session_step_nanoseconds},
};

// --- registration ---

void initialize(void*, GDExtensionInitializationLevel level) {
  if (level != GDEXTENSION_INITIALIZATION_SCENE) return;
  register_object<model_object>(model_methods);
  register_object<session_object>(session_methods);
  register_batcher();
  register_logs();
}
void deinitialize(void*, GDExtensionInitializationLevel level) {
  if (level != GDEXTENSION_INITIALIZATION_SCENE) return;
  for (const char* name :
       {trace_object::name, run_log_object::name, batcher_object::name, session_object::name, model_object::name}) {
    const string_name own(name);
    godot.unregister_class(godot.library, at(own.block));
  }
}

}

#if defined(_WIN32)
#define NSK_GODOT_EXPORT __declspec(dllexport)
#else
#define NSK_GODOT_EXPORT __attribute__((visibility("default")))
#endif

extern "C" NSK_GODOT_EXPORT GDExtensionBool netsuke_godot_init(GDExtensionInterfaceGetProcAddress get,
                                                               GDExtensionClassLibraryPtr library,
                                                               GDExtensionInitialization* initialization) {
  if (!godot.load(get, library)) return 0;
  initialization->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
  initialization->userdata = nullptr;
  initialization->initialize = initialize;
  initialization->deinitialize = deinitialize;
  return 1;
}
