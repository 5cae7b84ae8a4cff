// SPDX-License-Identifier: MIT
#include "convert.hpp"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>
#include <netsuke/format/file_header.hpp>
#include <netsuke/model/open.hpp>
#include <netsuke/prepare.hpp>
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "resolve/states.hpp"
#include "import/onnx/import.hpp"
#include "import/tflite/import.hpp"
#include "compile/compile.hpp"
#include "quantize/narrow_weights.hpp"
#include "shrink/shrink.hpp"
#include "write/file.hpp"

namespace fuzz {
namespace {

using nsk::tool::graph;

graph import(const std::vector<std::byte>& bytes, source from, bool dequantize) {
  if (from == source::onnx) return nsk::tool::import_onnx(bytes.data(), bytes.size(), "nowhere", "model");
  nsk::tool::tflite_options options;
  options.dequantize = dequantize;
  static const char other_function[] = "decode";  // the second one of the seeds that have two
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const char* const found = std::search(text, text + bytes.size(), other_function, std::end(other_function) - 1);
  if (found != text + bytes.size()) options.signature = other_function;
  return nsk::tool::import_tflite(bytes.data(), bytes.size(), "model", options);
}

/// Memory as games align it; ends where the bytes do.
struct aligned {
  explicit aligned(std::size_t n) {
    void* p = nullptr;
    if (posix_memalign(&p, 64, n != 0 ? n : 1) != 0) std::abort();
    data = static_cast<std::byte*>(p);
  }
  ~aligned() { std::free(data); }
  aligned(const aligned&) = delete;
  aligned& operator=(const aligned&) = delete;
  std::byte* data;
};

void check_small(const std::vector<std::byte>& small, const std::vector<std::byte>& file) {
  const nsk::span<const std::byte> bytes{small.data(), small.size()};
  const std::size_t size = nsk::required_bytes(bytes);
  if (size != file.size()) give_up("a small file expands to another length");
  const aligned memory(size);
  const nsk::status s = nsk::prepare(bytes, {memory.data, size});
  if (!s) give_up(std::string("what was made small does not expand: ") + s.name() + ": " + s.message());
  if (std::memcmp(memory.data, file.data(), size) != 0) give_up("a small file expands to other bytes");
}

}

generator choices_of(const std::uint8_t* data, std::size_t size) {
  return generator{nsk::content_hash({reinterpret_cast<const std::byte*>(data), size})};
}

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

void check_message(const std::string& message) {
  if (message.empty()) give_up("a refusal says nothing");
  for (const char c : message)
    if (static_cast<unsigned char>(c) < 0x20) give_up("a refusal holds control characters: " + message);
}

void open_result(const std::vector<std::byte>& file) {
  const aligned memory(file.size());
  std::memcpy(memory.data, file.data(), file.size());
  nsk::model m;
  const nsk::status s = nsk::open({memory.data, file.size()}, m);
  if (!s) give_up(std::string("what was converted does not open: ") + s.name() + ": " + s.message());
}

bool convert(const std::uint8_t* data, std::size_t size, source from) {
  std::vector<std::byte> bytes(size);  // ends where the model does, as the sanitizer sees it
  if (size != 0) std::memcpy(bytes.data(), data, size);
  generator random = choices_of(data, size);
  nsk::tool::input_options given;
  given.dequantize = random.one_in(2);
  nsk::tool::compile_options options;
  static const nsk::tool::weight_format formats[] = {nsk::tool::weight_format::floats, nsk::tool::weight_format::floats,
                                                     nsk::tool::weight_format::fp16, nsk::tool::weight_format::w8};
  options.weights = formats[random.below(4)];
  if (random.one_in(4)) {  // caches of a few hundred bytes, in which everything that can be is streamed
    options.streams.second_level = static_cast<std::int64_t>(1 + random.below(2000));
    options.streams.last_level = static_cast<std::int64_t>(1 + random.below(8000));
    options.streams.begin_step = 0;
  }
  nsk::tool::compiled_file made;
  try {
    std::vector<nsk::tool::variant_source> variants;
    variants.push_back({"default", import(bytes, from, given.dequantize), {}});
    nsk::tool::resolve(variants[0].g, given);
    variants[0].states = nsk::tool::states_of(variants[0].g, {});
    made = options.weights == nsk::tool::weight_format::floats
               ? nsk::tool::compile_file(variants, options)
               : nsk::tool::compile_with_narrow_weights(variants, options).file;
    open_result(made.bytes);
    if (random.one_in(32)) check_small(nsk::tool::shrink(made.bytes, made.kernels, random.one_in(2)), made.bytes);
  } catch (const nsk::tool::error& e) {
    check_message(e.what());
    return false;
  }
  return true;
}

}
