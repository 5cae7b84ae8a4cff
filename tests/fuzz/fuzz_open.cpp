// SPDX-License-Identifier: MIT
// Entry point for libFuzzer: clang++ -fsanitize=fuzzer,address,undefined fuzz_open.cpp, then ./fuzz_open corpus/
#include "exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(fuzz::exercise(data, size));
  return 0;
}
