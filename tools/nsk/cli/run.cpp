// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstring>
#include <set>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/layout.hpp"
#include "cli/model_file.hpp"
#include "cli/options.hpp"
#include "io/npy.hpp"
#include "report/trace.hpp"

namespace nsk::tool {
namespace {

std::string describe_inputs(const model& m, int variant) {
  std::string text;
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    text += (i ? ", '" : "'") + std::string(port.name()) + "' " + name_of(element_of(port.type())) + " " +
            to_string(source_shape_of(port));
  }
  return text;
}

/// Reads one input file into the layout that the engine wants.
array read_input(const port_view& port, const std::string& path, bool nhwc) {
  const array given = read_npy(path);
  const element wanted = element_of(port.type());
  const shape_t shape = nhwc ? engine_shape_of(port) : source_shape_of(port);
  if (given.type != wanted || given.shape != shape) {
    const bool type_differs = given.type != wanted;
    refuse("input '" + std::string(port.name()) + "' is " + name_of(wanted) + " " + to_string(shape) + ", but '" +
           path + "' holds " + name_of(given.type) + " " + to_string(given.shape) + ". " +
           (type_differs ? "Save it with array.astype(numpy." + std::string(name_of(wanted)) + ")."
                         : "Give an array of that shape" +
                               std::string(nhwc ? "" : " (the source model's axes; --nhwc takes the engine's)") +
                               ", or convert the model for another shape with --input."));
  }
  return nhwc ? given : to_engine(port, given);
}

/// File names of the outputs; names that become equal get a number.
std::vector<std::string> output_files(const model& m, int variant, const std::string& directory) {
  std::set<std::string> used;
  std::vector<std::string> files;
  for (int i = 0; i < m.output_count(variant); ++i) {
    const std::string base = file_name_of(m.output(i, variant).name());
    std::string name = base;
    for (int n = 2; !used.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    files.push_back(directory + "/" + name + ".npy");
  }
  return files;
}

}

exit_code run(const run_options& o) {
  stage_clock stages;
  const model_file file = open_model(o.model);
  const model& m = file.view;
  const int variant = variant_of(m, o.variant);
  const auto runner = choose_engine(o.isa).open(file.bytes.data(), file.bytes.size(), o.lanes, variant);
  stages.end("open");

  auto given = named_values("--input", o.inputs, "NAME=FILE.npy");
  for (int i = 0; i < m.input_count(variant); ++i) {
    const auto found = given.find(m.input(i, variant).name());
    if (found == given.end())
      refuse("input '" + std::string(m.input(i, variant).name()) + "' is missing: give --input '" +
             m.input(i, variant).name() + "=FILE.npy'. The model has " + describe_inputs(m, variant) + ".");
    const array data = read_input(m.input(i, variant), found->second, o.nhwc);
    std::memcpy(runner->input(i), data.data.data(), data.data.size());
    given.erase(found);
  }
  if (!given.empty())
    misuse("--input: the model has no input '" + given.begin()->first + "'. It has " + describe_inputs(m, variant) +
           ".");
  runner->seed(o.seed);
  if (o.batch != 0) runner->set_batch(o.batch);
  make_directory(o.output_directory);
  stages.end("inputs");

  std::vector<step_event> events;
  const double start = stages.now();
  if (o.trace.empty()) {
    runner->run();
  } else {
    runner->run(events);
  }
  stages.end("inference");

  const std::vector<std::string> files = output_files(m, variant, o.output_directory);
  for (int i = 0; i < m.output_count(variant); ++i) {
    const port_view port = m.output(i, variant);
    array data(element_of(port.type()), engine_shape_of(port));
    std::memcpy(data.data.data(), runner->output(i), data.data.size());
    write_npy(files[static_cast<std::size_t>(i)], o.nhwc ? data : to_source(port, data));
  }
  stages.end("outputs");
  if (!o.trace.empty()) write_file(o.trace, trace_json(m, events, start, stages.events()));
  return exit_code::good;
}

}
