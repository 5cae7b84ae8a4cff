// SPDX-License-Identifier: MIT
// host EXTENSION MODEL.nsk IMAGE.nsk AGENTS.nsk RECURRENT.nsk: loads the extension as Godot does, and calls its classes
// by variants and by values. Prints the hash of the outputs of MODEL for each way and time step. IMAGE takes and gives
// images, AGENTS has a batch, RECURRENT has one and a recurrent state.
#include <dlfcn.h>
#include <cstdlib>
#include <new>
#include "script.hpp"

using namespace fake_godot;

void batches(const char* agents, const char* recurrent, const char* image);
void logs(const char* path);

/// The aligned memory of the extension. It is overwritten when it is given back: what reads it later is found out.
void* operator new(std::size_t bytes, std::align_val_t) {
  auto* const block = static_cast<unsigned char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  std::memcpy(block, &bytes, sizeof bytes);
  return block + 64;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  if (memory == nullptr) return;
  auto* const block = static_cast<unsigned char*>(memory) - 64;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  for (std::size_t i = 0; i < bytes; ++i) static_cast<volatile unsigned char*>(memory)[i] = 0xee;
  std::free(block);
}

namespace {

void time_steps(const char* path, int way) {
  by_values = way % 2 == 1;
  object *const model = make_object("NetsukeModel"), *const net = make_object("NetsukeSession");
  must(model, "open", script_value(file_of(path)));
  must(net, "start", script_value(model));
  const std::size_t inputs = elements(model, "input_shape"), outputs = elements(model, "output_shape");
  require(!call(model, "input_name", nullptr, script_value(std::int64_t{0})).text().empty(), "the name of an input");
  free_object(model);  // the session keeps the file
  std::vector<std::uint8_t> states;
  for (std::uint32_t step = 0; step < 3; ++step) {
    must(net, "write", script_value(std::int64_t{0}), script_value(inputs_of(inputs, 1000 * step)));
    int slices = 0;
    if (way < 2) {
      must(net, "run");
    } else {
      do must(net, "run_for", script_value(std::int64_t{0})), ++slices;
      while (call(net, "is_complete", nullptr).number() == 0);
    }
    require(way < 2 || slices > 1, "one slice");
    const std::vector<float> values = call(net, "read", nullptr, script_value(std::int64_t{0})).floats();
    require(values.size() == outputs, "the length of an output");
    std::printf("hash %d %u %016llx\n", way, step, static_cast<unsigned long long>(hash_of(values)));
    if (step == 0) states = call(net, "save", nullptr).items();
  }
  const std::vector<float> last = call(net, "read", nullptr, script_value(std::int64_t{0})).floats();
  must(net, "restore", script_value(states));
  for (std::uint32_t step = 1; step < 3; ++step) {
    must(net, "write", script_value(std::int64_t{0}), script_value(inputs_of(inputs, 1000 * step)));
    must(net, "run");
  }
  require(call(net, "read", nullptr, script_value(std::int64_t{0})).floats() == last, "states that were restored");
  must(net, "selftest");
  must(net, "reset");
  must(net, "seed", script_value(std::int64_t{5}));
  free_object(net);
}

/// A frame in bytes is the frame in floats.
void images(const char* path) {
  object *const model = make_object("NetsukeModel"), *const net = make_object("NetsukeSession");
  must(model, "open", script_value(file_of(path)));
  must(net, "start", script_value(model));
  const int width = 24, height = 16;
  std::vector<std::uint8_t> pixels(width * height * 4);
  std::vector<float> floats;
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if (i % 4 < 3) floats.push_back(static_cast<float>(pixels[i]) * (1.0f / 255));
  const script_value zero(std::int64_t{0}), wide(std::int64_t{width}), high(std::int64_t{height}),
      rgba(std::int64_t{5});
  must(net, "write", zero, script_value(floats));
  must(net, "run");
  const std::vector<float> expected = call(net, "read", nullptr, zero).floats();
  must(net, "reset");
  must(net, "write", zero, script_value(std::vector<float>(floats.size())));
  must(net, "write_image", zero, script_value(pixels), wide, high, rgba);
  must(net, "run");
  require(call(net, "read", nullptr, zero).floats() == expected && !expected.empty(), "the answer to an image");
  refused("wrong_size", net, "write_image", zero, script_value(pixels), wide, script_value(std::int64_t{17}), rgba);
  refused("wrong_size", net, "write_image", zero, script_value(pixels), script_value(std::int64_t{-1}), high, rgba);
  refused("bad_argument", net, "write_image", zero, script_value(pixels), wide, high, script_value(std::int64_t{7}));
  refused("no_such_port", net, "write_image", script_value(std::int64_t{1} << 40), script_value(pixels), wide, high,
          rgba);
  refused("rows_out_of_range", net, "set_rows", script_value(std::int64_t{2}));
  free_object(net);
  free_object(model);
}

void misuse(const char* path) {
  object *const model = make_object("NetsukeModel"), *const net = make_object("NetsukeSession");
  object foreign = {"Node", nullptr, nullptr};
  const script_value zero(std::int64_t{0});
  refused("bad_magic", model, "open", script_value(std::vector<std::uint8_t>(100)));
  refused("too_short", model, "open", script_value(std::vector<std::uint8_t>()));
  refused("bad_handle", net, "start", script_value(model));
  refused("bad_handle", net, "start", script_value(net));
  refused("bad_handle", net, "start", script_value(&foreign));
  refused("bad_handle", net, "run");
  require(call(model, "input_count", nullptr).number() == -1 && call(net, "read", nullptr, zero).items().empty(),
          "nothing is open");
  must(model, "open", script_value(file_of(path)));
  must(net, "start", script_value(model));
  refused("bad_handle", net, "start", script_value(net));  // it has a file, and is no model
  refused("wrong_size: port 0 (input '", net, "write", zero, script_value(std::vector<float>(3)));
  refused("wrong_size", net, "write", zero, script_value(std::vector<float>()));
  refused("no_such_port", net, "write", script_value(std::int64_t{-1}), script_value(std::vector<float>(3)));
  refused("wrong_size", net, "restore", script_value(std::vector<std::uint8_t>(3)));
  require(call(net, "read", nullptr, script_value(std::int64_t{7})).items().empty(), "an output that is none");
  require(call(model, "output_name", nullptr, script_value(std::int64_t{7})).text().empty(),
          "the name of an output that is none");
  if (!by_values) {  // Godot checks what scripts with types hand over
    int error = 0;
    call(net, "write", &error, zero);
    require(error == GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS, "too few arguments");
    call(net, "run", &error, zero);
    require(error == GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS, "too many arguments");
    call(net, "write", &error, zero, zero);
    require(error == GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT, "an argument of another type");
  }
  free_object(net);
  free_object(model);
}

}  // namespace

int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
  const auto entry = reinterpret_cast<GDExtensionInitializationFunction>(dlsym(library, "netsuke_godot_init"));
  GDExtensionInitialization how = {};
  const auto old_godot = [](const char*) -> GDExtensionInterfaceFunctionPtr { return nullptr; };
  require(entry(old_godot, nullptr, &how) == 0, "a Godot that lacks functions");
  require(entry(get_function, nullptr, &how) == 1, "the entry point");
  for (int level = how.minimum_initialization_level; level < GDEXTENSION_MAX_INITIALIZATION_LEVEL; ++level)
    how.initialize(how.userdata, static_cast<GDExtensionInitializationLevel>(level));
  require(classes.size() == 5, "five classes");
  for (int way = 0; way < 4; ++way) time_steps(arguments[2], way);
  for (const bool how_called : {false, true}) {
    by_values = how_called;
    images(arguments[3]);
    misuse(arguments[2]);
    batches(arguments[4], arguments[5], arguments[3]);
    logs(arguments[2]);
  }
  for (int level = GDEXTENSION_MAX_INITIALIZATION_LEVEL; level-- > how.minimum_initialization_level;)
    how.deinitialize(how.userdata, static_cast<GDExtensionInitializationLevel>(level));
  require(classes.empty(), "classes stay");
  require(living == 0, "values that were not given back: " + std::to_string(living));
  return failures != 0;
}
