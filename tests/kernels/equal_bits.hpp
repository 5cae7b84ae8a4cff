// SPDX-License-Identifier: MIT
#pragma once
/// The same random work through the kernels of two instruction sets: each is compiled in its own file.
#include <string>
#include <vector>

struct bits_case {
  std::string name;
  std::vector<float> result;
};
std::vector<bits_case> results_scalar();
std::vector<bits_case> results_vector();
