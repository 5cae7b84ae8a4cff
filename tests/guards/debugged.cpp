// SPDX-License-Identifier: MIT
// One object of every type that tools/debug shows, for gdb to look at.
#include <netsuke/netsuke.hpp>

__attribute__((noinline)) void stop_here() { __asm__ volatile("" ::: "memory"); }

int main() {
  int values[] = {1, 2, 3};
  float elements[] = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
  std::int8_t bytes[] = {4, 5};
  nsk::span<int> numbers(values), nothing;
  nsk::status good, bad(nsk::status_code::bad_tile, 7);
  nsk::halo around{1, 2, 3, 4};
  nsk::tensor_view image, labels;
  image.data = reinterpret_cast<std::byte*>(elements);
  image.rank = 3;
  image.border = around;
  for (int i = 0; i < 3; ++i) {
    image.shape[i] = i + 1;
    image.stride[i] = i == 0 ? 6 : i == 1 ? 3 : 1;
  }
  labels.data = reinterpret_cast<std::byte*>(bytes);
  labels.type = nsk::dtype::int8;
  labels.rank = 1;
  labels.shape[0] = 2;
  labels.stride[0] = 1;
  nsk::model closed;
  nsk::session<> net;
  stop_here();
  return numbers.size() + nothing.size() == 3 && good && !bad && !closed.is_open() && !net ? 0 : 1;
}
