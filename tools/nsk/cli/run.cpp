// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

#include <netsuke/core/flags.hpp>

#include "cli/commands.hpp"
#include "cli/length_options.hpp"
#include "gpu/device.hpp"
#include "io/files.hpp"
#include "io/layout.hpp"
#include "engine/model_file.hpp"
#include "cli/options.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"
#include "inspect/trace.hpp"
#include "suggest.hpp"

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

shape_t with_time(const shape_t& shape, int steps) {
  shape_t result = {steps};
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

/// Where the rows of a port's batch are in the source's axes: axis, rows that it has, rows that are wanted.
struct row_range {
  std::size_t axis = 0;
  std::int64_t all = 1, wanted = 1;

  row_range(const port_view& port, bool nhwc, int batch, int rows) {
    const tensor_info t = port.tensor();
    if (rows == 0 || t.batch() == 0) return;
    const shape_t shape = nhwc ? engine_shape_of(port) : source_shape_of(port);
    const auto axes = port.source_axes();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      axis = nhwc || axes.empty() ? d : static_cast<std::size_t>(axes[d]);
      if (shape[axis] > 1) break;
    }
    all = batch;
    wanted = rows;
  }
  shape_t of(shape_t shape) const {
    if (all != wanted) shape[axis] = shape[axis] / all * wanted;
    return shape;
  }
  /// Copies the elements that two arrays have both, of which one has all rows and the other those that are wanted.
  void copy(const array& from, array& to) const {
    if (all == wanted) return void(to.data = from.data);
    const auto block = [&](const array& a) {
      std::size_t bytes = size_of(a.type);
      for (std::size_t d = axis; d < a.shape.size(); ++d) bytes *= static_cast<std::size_t>(a.shape[d]);
      return bytes;
    };
    const std::size_t source = block(from), target = block(to);
    for (std::size_t i = 0; i * source < from.data.size(); ++i)
      std::memcpy(&to.data[i * target], &from.data[i * source], std::min(source, target));
  }
};

/// What an input holds in every run: a file with one array for all, or with as many as there are runs.
class input_sequence {
 public:
  input_sequence(const port_view& port, const std::string& path, const run_options& o, int batch)
      : m_port(port), m_nhwc(o.nhwc), m_rows(port, o.nhwc, batch, o.batch), m_given(read_npy(path)) {
    const element wanted = element_of(port.type());
    const bool has_all =
        m_given.shape == shape_of_all() || (o.steps > 1 && m_given.shape == with_time(shape_of_all(), o.steps));
    if (has_all) m_rows = row_range(port, o.nhwc, batch, 0);
    const shape_t shape = shape_of_one();
    m_changes = o.steps > 1 && m_given.shape == with_time(shape, o.steps);
    if (m_given.type == wanted && (m_changes || m_given.shape == shape)) return;
    const bool type_differs = m_given.type != wanted;
    const std::string times = o.steps > 1 ? " or, for every run, " + to_string(with_time(shape, o.steps)) : "";
    refuse("input '" + std::string(port.name()) + "' is " + name_of(wanted) + " " + to_string(shape) + times +
           ", but '" + path + "' holds " + name_of(m_given.type) + " " + to_string(m_given.shape) + ". " +
           (type_differs ? "Save it with array.astype(numpy." + std::string(name_of(wanted)) + ")."
                         : "Give an array of that shape" +
                               std::string(m_nhwc ? "" : " (the source model's axes; --nhwc takes the engine's)") +
                               ", or convert the model for another shape with --input." +
                               transposition_cure(m_given.shape, shape)));
  }
  bool changes() const { return m_changes; }
  /// Writes what run `step` reads, in the engine's layout.
  void write(int step, std::byte* to) const {
    array one(m_given.type, shape_of_one()), all(m_given.type, shape_of_all());
    const std::size_t bytes = one.data.size();
    std::memcpy(one.data.data(), m_given.data.data() + (m_changes ? static_cast<std::size_t>(step) * bytes : 0), bytes);
    m_rows.copy(one, all);
    const array laid = m_nhwc ? all : to_engine(m_port, all);
    std::memcpy(to, laid.data.data(), laid.data.size());
  }

 private:
  shape_t shape_of_all() const { return m_nhwc ? engine_shape_of(m_port) : source_shape_of(m_port); }
  shape_t shape_of_one() const { return m_rows.of(shape_of_all()); }
  port_view m_port;
  bool m_nhwc;
  row_range m_rows;
  array m_given;
  bool m_changes = false;
};

/// Collects what every run leaves in an output.
class output_sequence {
 public:
  output_sequence(const port_view& port, const run_options& o, int batch)
      : m_port(port),
        m_nhwc(o.nhwc),
        m_rows(port, o.nhwc, batch, o.batch),
        m_all(element_of(port.type()), o.steps > 1 ? with_time(shape_of_one(), o.steps) : shape_of_one()) {}
  /// With lengths that steps have counted there is one run.
  void read(int step, const std::byte* from, length_values lengths) {
    array one(m_all.type, engine_shape_of(m_port, lengths));
    std::memcpy(one.data.data(), from, one.data.size());
    const array laid = m_nhwc ? one : to_source(m_port, one, lengths);
    array rows(laid.type, m_rows.of(laid.shape));
    m_rows.copy(laid, rows);
    if (lengths != nullptr) m_all = array(rows.type, rows.shape);
    std::memcpy(m_all.data.data() + static_cast<std::size_t>(step) * rows.data.size(), rows.data.data(),
                rows.data.size());
  }
  const array& all() const { return m_all; }

 private:
  shape_t shape_of_one() const { return m_rows.of(m_nhwc ? engine_shape_of(m_port) : source_shape_of(m_port)); }
  port_view m_port;
  bool m_nhwc;
  row_range m_rows;
  array m_all;
};

std::vector<input_sequence> read_inputs(const model& m, int variant, const run_options& o) {
  const auto given = named_values("--input", o.inputs, "NAME=FILE.npy");
  std::vector<std::string> known;
  for (int i = 0; i < m.input_count(variant); ++i) known.push_back(m.input(i, variant).name());
  for (const auto& [name, path] : given)
    if (std::find(known.begin(), known.end(), name) == known.end())
      misuse("--input: the model has no input '" + name + "'." + did_you_mean(name, known) + " It has " +
             (known.empty() ? "none" : describe_inputs(m, variant)) + "." + state_cure(m, variant, name));
  std::vector<input_sequence> inputs;
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    const auto found = given.find(port.name());
    if (found == given.end())
      refuse("input '" + std::string(port.name()) + "' is missing: give --input '" + port.name() +
             "=FILE.npy'. The model has " + describe_inputs(m, variant) + ".");
    inputs.emplace_back(port, found->second, o, m.variant(variant).batch());
  }
  return inputs;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Whether Windows takes the name for a device, whatever follows its first dot.
bool names_a_device(const std::string& name) {
  static const std::set<std::string> devices = {"con", "prn", "aux", "nul"};
  const std::string stem = lower_case(name.substr(0, name.find('.')));
  const bool numbered = stem.size() == 4 && (stem.rfind("com", 0) == 0 || stem.rfind("lpt", 0) == 0);
  return devices.count(stem) != 0 || (numbered && stem[3] >= '0' && stem[3] <= '9');
}

/// Returns the name of a file for an output on any system: none that is hidden or a device.
std::string safe_file_name(const std::string& output) {
  std::string name = file_name_of(output);
  if (name.empty() || name[0] == '.' || names_a_device(name)) name = ("_" + name).substr(0, max_file_name);
  return name;
}

/// File names of the outputs, without their ending; names that become equal, in small letters, get a number. Those that
/// are too long are cut.
std::vector<std::string> output_names(const model& m, int variant) {
  std::set<std::string> used;
  std::vector<std::string> names;
  for (int i = 0; i < m.output_count(variant); ++i) {
    const std::string base = safe_file_name(m.output(i, variant).name());
    std::string name = base;
    for (int n = 2; !used.insert(lower_case(name)).second; ++n) name = base + "_" + std::to_string(n);
    names.push_back(name);
  }
  return names;
}

/// Says where outputs are whose file has another name.
void print_other_names(const model& m, int variant, const std::vector<std::string>& names,
                       const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string output = m.output(static_cast<int>(i), variant).name();
    if (output != names[i])
      std::printf("output '%s'%s is in %s\n", shortened(printable(output), 60).c_str(),
                  output.size() > max_file_name ? ", whose name is too long for a file," : "", paths[i].c_str());
  }
}

/// The variant that the options choose, opened: on the CPU, or on a device, of which a line is printed.
struct opened {
  int variant = 0;
  std::unique_ptr<runner> cpu;
  std::unique_ptr<device_runner> device;
  inference& net() const {
    if (device) return *device;
    return *cpu;
  }

  opened(const model_file& file, const run_options& o) {
    const model& m = file.view;
    if (o.device.empty()) {
      variant = variant_of(m, o.variant);
      cpu = choose_engine(o.isa).open(file.bytes.data(), file.bytes.size(), o.lanes, variant);
      return;
    }
    refuse_beside_device({{"--isa", !o.isa.empty()}, {"--lanes", o.lanes != 1}, {"--trace", !o.trace.empty()}});
    refuse_null_device(o.device, "run");
    variant = device_variant_of(m, o.variant);
    device = open_device(o.device, {file, variant, o.batch, o.halves});
    if (!o.quiet) print(device_text(o.device, device->facts()));
  }
};

}

exit_code run(const run_options& o, command_files& files) {
  refuse_without("--device", !o.device.empty(), o.halves);
  stage_clock stages;
  const model_file file = open_model_at(o.model, o.lengths);
  const model& m = file.view;
  const opened with(file, o);
  const int variant = with.variant;
  inference& net = with.net();
  stages.end("open");

  if (o.steps > 1 && counts_lengths(m.variant(variant)))
    refuse("--steps: results of '" + o.model + "' have another number of rows in each run. Leave --steps out, and " +
           "run it for each input");
  const std::vector<std::string> names = output_names(m, variant);
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(o.output_directory + "/" + name + ".npy");
  for (const std::string& path : paths) files.add_output("a file of --output-dir", path);
  if (!o.quiet) print_other_names(m, variant, names, paths);
  const std::vector<input_sequence> inputs = read_inputs(m, variant, o);
  std::vector<output_sequence> outputs;
  for (int i = 0; i < m.output_count(variant); ++i)
    outputs.emplace_back(m.output(i, variant), o, m.variant(variant).batch());
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].write(0, net.input(static_cast<int>(i)));
  net.seed(o.seed);
  if (with.cpu && o.batch != 0) with.cpu->set_batch(o.batch);
  stages.end("input");

  std::vector<step_event> events;
  const double start = stages.now();
  for (int step = 0; step < o.steps; ++step) {
    for (std::size_t i = 0; step > 0 && i < inputs.size(); ++i)
      if (inputs[i].changes()) inputs[i].write(step, net.input(static_cast<int>(i)));
    if (o.trace.empty()) {
      net.run();
    } else {
      events.clear();
      with.cpu->run(events);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].read(step, net.output(static_cast<int>(i)), net.lengths());
  }
  stages.end("inference");
  if (with.cpu && (with.cpu->flags() & nsk::index_clamped) != 0)
    std::fprintf(stderr,
                 "nsk: warning: an index is outside its axis, or a loop of '%s' would run longer than it has "
                 "rounds for: the nearest was taken.\n",
                 printable(o.model).c_str());
  if (with.cpu && (with.cpu->flags() & nsk::length_clamped) != 0)
    std::fprintf(stderr,
                 "nsk: warning: a step counted more or fewer results than '%s' has rows for: these outputs are "
                 "not the model's.\n",
                 printable(o.model).c_str());

  for (std::size_t i = 0; i < outputs.size(); ++i) files.write(paths[i], npy_bytes(paths[i], outputs[i].all()));
  stages.end("output");
  if (!o.trace.empty()) files.write(o.trace, trace_json(m, events, start, stages.events()));
  files.commit();
  return exit_code::good;
}

}
