// SPDX-License-Identifier: MIT
// Damages files at random, but the same way every time, and exercises the result; built with ASan and UBSan.
//   corrupt [--count N] [--plans N] [--seed S] [--truncations] [--write-seeds DIR] FILE...
// --count damages bytes of the files, or without FILE of the sample plans of tests/model. --truncations tries every
// length of every file. --write-seeds stores the sample plans as a start for the corpus and ends. --plans changes
// fields of the sample plans before they are written, so that they are well formed.
#include "../model/scatter_plan.hpp"
#include "../model/tree_ensemble_plan.hpp"
#include "../model/policy_plan.hpp"
#include "mutate_plan.hpp"
#include "exercise.hpp"
#include "../model/recurrent_plan.hpp"
#include "../model/quantized_plan.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {
using bytes = std::vector<std::uint8_t>;

using fuzz::generator;

/// Most damage goes to the table, where the meaning is; some to the header, little to the weights.
std::size_t place(generator& random, const bytes& file) {
  const std::size_t table_end = [&] {
    std::uint64_t end = 0;
    if (file.size() >= 64) std::memcpy(&end, file.data() + 24, 8);
    end += 64;
    return end > 64 && end < file.size() ? static_cast<std::size_t>(end) : file.size();
  }();
  switch (random.below(16)) {
    case 0: return random.below(file.size());
    case 1: return random.below(file.size() < 64 ? file.size() : 64);
    default: return table_end > 64 ? 64 + random.below(table_end - 64) : random.below(file.size());
  }
}

void damage_once(generator& random, bytes& file) {
  const std::size_t at = place(random, file);
  static const std::size_t widths[] = {1, 2, 4, 8};
  const std::size_t width = widths[random.below(4)];
  const std::size_t start = random.below(8) == 0 ? at : at / width * width;
  if (start + width > file.size()) return;
  std::uint64_t value = 0;
  std::memcpy(&value, &file[start], width);
  switch (random.below(6)) {
    case 0: value ^= std::uint64_t{1} << random.below(width * 8); break;
    case 1: value = random(); break;
    case 2: value = fuzz::interesting(random); break;
    case 3: value += fuzz::interesting(random); break;
    case 4: {  // another place's value
      const std::size_t from = place(random, file);
      if (from + width <= file.size()) std::memcpy(&value, &file[from], width);
      break;
    }
    default: value += random.below(2) == 0 ? 1 : ~std::uint64_t{0}; break;
  }
  std::memcpy(&file[start], &value, width);
}

bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "corrupt: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bytes to_bytes(const test::plan_spec& plan) {
  const test::aligned_bytes file = plan.write();
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  return {data, data + file.size()};
}

/// A network whose dense layer has weights of 8 bits.
test::plan_spec with_narrow_weights() {
  test::cnn_sample s = test::make_cnn();
  const std::int64_t bytes = nsk::panel_elements<std::int8_t>(10, 40);
  const std::uint32_t t = s.plan.add_constant("bytes", std::vector<std::int8_t>(static_cast<std::size_t>(bytes), 1),
                                              nsk::format::DataType::int8);
  s.plan.tensors[t].packing = nsk::format::Packing::panels;
  s.plan.steps[test::cnn_sample::dense_step].inputs[1] = t;
  return s.plan;
}

std::vector<test::plan_spec> samples() {
  return {test::make_cnn().plan,
          test::make_mixed(),
          test::make_recurrent(false, true),
          test::make_indices(),
          test::make_lstm(),
          test::make_policy(),
          test::make_tree_ensemble(),
          test::make_scatter(),
          test::quantized::quantize(),
          test::quantized::dequantize(),
          test::quantized::table(),
          test::quantized::convolution(),
          test::quantized::convolution_of_rows(),
          test::quantized::convolution_and_sum(),
          test::quantized::depthwise(),
          test::quantized::pooling(),
          test::quantized::dynamic_range(),
          test::quantized::dynamic_quantize(),
          test::quantized::sums(),
          test::quantized::real_sums(),
          test::quantized::mean(),
          test::quantized::resizing(),
          with_narrow_weights()};
}

int write_seeds(const std::string& folder) {
  static const char* const names[] = {
      "convolutions", "mixed",        "recurrent", "indices",    "lstm",          "policy",
      "forest",       "scatter",      "quantize",  "dequantize", "table",         "quads",
      "rows",         "rows_and_sum", "depthwise", "pooling",    "dynamic_range", "dynamic_quantize",
      "integer_sums", "real_sums",    "mean",      "resizing",   "narrow"};
  for (std::size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const bytes file = to_bytes(samples()[i]);
    std::ofstream(folder + "/" + names[i], std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  return 0;
}

void exercise(const bytes& file, std::map<std::string, long>& verdicts) {
  ++verdicts[fuzz::exercise(file.data(), file.size()).name()];
}

}

int main(int argc, char** argv) {
  long count = 20000, plans = 0;
  generator random{1};
  bool truncations = false;
  std::vector<bytes> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--count" && i + 1 < argc) {
      count = std::atol(argv[++i]);
    } else if (argument == "--plans" && i + 1 < argc) {
      plans = std::atol(argv[++i]);
    } else if (argument == "--write-seeds" && i + 1 < argc) {
      return write_seeds(argv[++i]);
    } else if (argument == "--seed" && i + 1 < argc) {
      random.state = static_cast<std::uint64_t>(std::atoll(argv[++i]));
    } else if (argument == "--truncations") {
      truncations = true;
    } else {
      files.push_back(read_file(argument));
    }
  }
  const std::vector<test::plan_spec> valid = samples();
  if (files.empty()) {
    for (const test::plan_spec& plan : valid) files.push_back(to_bytes(plan));
  }
  std::map<std::string, long> verdicts;
  for (const bytes& file : files) {
    if (!fuzz::exercise(file.data(), file.size())) {
      std::fprintf(stderr, "corrupt: a file does not open before it is damaged\n");
      return 2;
    }
    for (std::size_t n = 0; truncations && n < file.size(); ++n)
      exercise({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)}, verdicts);
  }
  for (long i = 0; i < count; ++i) {
    bytes file = files[random.below(files.size())];
    for (std::size_t k = 1 + random.below(random.below(4) == 0 ? 16 : 3); k-- > 0;) damage_once(random, file);
    exercise(file, verdicts);
  }
  for (long i = 0; i < plans; ++i) {
    test::plan_spec plan = valid[random.below(valid.size())];
    fuzz::mutate_plan(random, plan);
    exercise(to_bytes(plan), verdicts);
  }
  for (const auto& [name, times] : verdicts) std::printf("%8ld %s\n", times, name.c_str());
  return 0;
}
