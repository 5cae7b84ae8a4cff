// SPDX-License-Identifier: MIT
// Runs the reference evaluator on an ONNX model, for tests that compare it with other implementations.
//   evaluate_reference [--resolve] MODEL.onnx OUTPUT_DIR [NAME=FILE.npy | --set NAME=VALUE]...
// Writes every output to OUTPUT_DIR/<index>.npy. With --resolve the graph is made static first, as the converter does,
// with the shapes of the given arrays. Exit codes as nsk's: 2 and a message on standard error where the model is
// refused.
#include <cstdio>
#include <filesystem>

#include "resolve/infer.hpp"
#include "import/onnx/import.hpp"
#include "io/npy.hpp"
#include "errors.hpp"
#include "reference/evaluator.hpp"

namespace {

using namespace nsk::tool;

struct arguments {
  bool resolve = false;
  std::string model, output_dir;
  std::map<std::string, array> inputs;
  input_options options;
};

std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos) misuse("expected NAME=..., got '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

arguments parse(int count, char** words) {
  arguments a;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--resolve") {
      a.resolve = true;
    } else if (word == "--set" && i + 1 < count) {
      const auto [name, value] = split(words[++i]);
      a.options.set[name] = {value, {std::stod(value)}};
    } else if (a.model.empty()) {
      a.model = word;
    } else if (a.output_dir.empty()) {
      a.output_dir = word;
    } else {
      const auto [name, file] = split(word);
      a.inputs[name] = read_npy(file);
      a.options.shapes[name] = a.inputs[name].shape;
    }
  }
  if (a.output_dir.empty())
    misuse("usage: evaluate_reference [--resolve] MODEL.onnx OUTPUT_DIR [NAME=FILE.npy | --set NAME=VALUE]...");
  return a;
}

void run(const arguments& a) {
  graph g = import_onnx(std::filesystem::path(a.model));
  if (a.resolve) resolve(g, a.options);
  const std::map<std::string, array> outputs = evaluator(g).run(a.inputs);
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const value& v = g.values[static_cast<std::size_t>(g.outputs[i])];
    write_npy(std::filesystem::path(a.output_dir) / (std::to_string(i) + ".npy"),
              converted(outputs.at(v.name), v.typed ? v.type : outputs.at(v.name).type));
  }
}

}

int main(int count, char** words) {
  try {
    run(parse(count, words));
    return 0;
  } catch (const nsk::tool::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.code);
  }
}
