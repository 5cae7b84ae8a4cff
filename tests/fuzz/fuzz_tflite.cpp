// SPDX-License-Identifier: MIT
// TensorFlow Lite files through the converter; with libFuzzer: fuzz_tflite -rss_limit_mb=2048 corpus
#include "convert.hpp"
#include "mutate_tflite.hpp"
#include "mutator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::verdict(fuzz::convert(data, size, fuzz::source::tflite));
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maximum,
                                               unsigned seed) {
  return fuzz::mutate_in_place(data, size, maximum, seed, fuzz::mutate_tflite);
}
