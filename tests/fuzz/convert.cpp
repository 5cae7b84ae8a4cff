// SPDX-License-Identifier: MIT
#include "convert.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/model/open.hpp>
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "resolve/states.hpp"
#include "import/onnx/import.hpp"
#include "import/tflite/import.hpp"
#include "compile/compile.hpp"
#include "write/file.hpp"

namespace fuzz {
namespace {

using nsk::tool::graph;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

graph import(const std::byte* data, std::size_t size, source from) {
  if (from == source::onnx) return nsk::tool::import_onnx(data, size, "nowhere", "model");
  return nsk::tool::import_tflite(data, size, "model", {true});
}

void open(const std::vector<std::byte>& file) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 64, file.size()) != 0) std::abort();
  std::memcpy(memory, file.data(), file.size());
  nsk::model m;
  const nsk::status s = nsk::open({static_cast<const std::byte*>(memory), file.size()}, m);
  std::free(memory);
  if (!s) give_up(std::string("what was converted does not open: ") + s.name() + ": " + s.message());
}

void check_message(const std::string& message) {
  if (message.empty()) give_up("a refusal says nothing");
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 0x20) give_up("a refusal holds control characters: " + message);
}

}

bool convert(const std::uint8_t* data, std::size_t size, source from) {
  std::vector<std::byte> bytes(size);  // ends where the model does, as the sanitizer sees it
  if (size != 0) std::memcpy(bytes.data(), data, size);
  std::vector<std::byte> file;
  try {
    std::vector<nsk::tool::variant_source> variants;
    variants.push_back({"default", import(bytes.data(), size, from), {}});
    nsk::tool::input_options given;
    given.dequantize = size % 8 != 0;  // without it most quantised models are refused where they begin
    nsk::tool::resolve(variants[0].g, given);
    variants[0].states = nsk::tool::states_of(variants[0].g, {});
    file = nsk::tool::compile(variants, {});
  } catch (const nsk::tool::error& e) {
    check_message(e.what());
    return false;
  }
  open(file);
  return true;
}

}
