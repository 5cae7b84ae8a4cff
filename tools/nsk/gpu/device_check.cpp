// SPDX-License-Identifier: MIT
#include "gpu/device_check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "errors.hpp"
#include "graph/float16.hpp"
#include "io/layout.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

/// The bytes of a buffer of the arena, as far as they are copied: in whole words.
struct block {
  std::size_t offset, bytes;
  explicit block(const tensor_info& t)
      : offset(static_cast<std::size_t>(t.buffer_offset())),
        bytes((static_cast<std::size_t>(t.buffer_bytes()) + 3) / 4 * 4) {}
};

/// Copies the buffer of a tensor to the device, as the CPU has it now.
void copy_buffer(const tensor_info& t, runner& cpu, device_runner& device) {
  const block b(t);
  device.write(b.offset, cpu.tensor(t.index()) - t.offset(), b.bytes);
}

/// Copies the buffers of a step's operands to the device, as the CPU has them now.
void copy_operands(const step_view& s, runner& cpu, device_runner& device) {
  std::set<int> copied;
  const auto copy = [&](const tensor_info& t) {
    if (t.where() != storage::constant && copied.insert(t.buffer()).second) copy_buffer(t, cpu, device);
  };
  for (int i = 0; i < s.input_count(); ++i) copy(s.input(i));
  for (int i = 0; i < s.output_count(); ++i) copy(s.output(i));
}

/// Reads the buffer of a tensor; 16-bit floats become float32, at the places of their elements.
std::vector<std::byte> buffer_of(const tensor_info& t, device_runner& device) {
  const block b(t);
  std::vector<std::byte> bytes(b.bytes);
  if (!device.is_half(t)) {
    device.read(b.offset, bytes.data(), b.bytes);
    return bytes;
  }
  std::vector<std::uint16_t> halves(b.bytes / 4 + 1);
  device.read(b.offset, reinterpret_cast<std::byte*>(halves.data()), (b.bytes / 2 + 3) / 4 * 4);
  for (std::size_t i = 0; i < b.bytes / 4; ++i) {
    const float number = float_from_half(halves[i]);
    std::memcpy(bytes.data() + 4 * i, &number, sizeof number);
  }
  return bytes;
}

double largest_of(const tensor_info& t, runner& cpu) {
  return t.type() == dtype::float32 ? largest_of(dense(t, cpu.tensor(t.index())), element::f32) : 0;
}

/// Largest magnitude of what a step adds up, 0 where it adds nothing up: where a sum is small beside that, its rounding
/// is a share of that (check/measure.hpp). To be asked before the step, which may run in place.
double largest_term(const step_view& s, runner& cpu) {
  static const std::set<op> products = {op::conv_2d, op::depthwise_conv_2d, op::fully_connected, op::mat_mul},
                            sums = {op::binary, op::reduce, op::pool_2d, op::resize_2d};
  double largest = 0;
  if (products.count(s.op()) != 0) largest = largest_of(s.input(0), cpu) * largest_of(s.input(1), cpu);
  if (products.count(s.op()) == 0 && sums.count(s.op()) == 0) return 0;
  for (int i = 0; i < s.input_count(); ++i) largest = std::max(largest, largest_of(s.input(i), cpu));
  return largest;
}

comparison compare_tensor(const tensor_info& t, runner& cpu, device_runner& device, double terms = 0) {
  const std::vector<std::byte> bytes = buffer_of(t, device);
  comparison c = measure(dense(t, bytes.data() + t.offset()), dense(t, cpu.tensor(t.index())), terms);
  c.name = t.name();
  return c;
}

comparison compare_output(const port_view& port, const std::byte* got, const std::byte* wanted) {
  array a(element_of(port.type()), engine_shape_of(port)), b = a;
  std::memcpy(a.data.data(), got, a.data.size());
  std::memcpy(b.data.data(), wanted, b.data.size());
  comparison c = measure(a, b);
  c.name = port.name();
  return c;
}

void add_row(text_table& table, const comparison& c, double tolerance) {
  table.add({c.step < 0 ? "output" : std::to_string(c.step), format_text("%.2e", c.relative),
             format_text("%.2e", c.max_error), format_text("%.3g", c.largest),
             c.name + (c.relative > tolerance ? "  <- past the tolerance" : "")},
            c.relative > tolerance);
}

json row(const comparison& c) {
  json result = {{"name", c.name}, {"relative_error", c.relative}, {"max_error", c.max_error}};
  result["largest_magnitude"] = c.largest;
  if (c.step < 0) return result;
  result["step"] = c.step;
  result["step_name"] = c.step_name;
  return result;
}

/// Runs a step on the device and compares what it wrote.
void add_step(const step_view& s, int step, runner& cpu, device_runner& device, double terms,
              std::vector<comparison>& to) {
  device.run_step(step);
  for (int i = 0; i < s.output_count(); ++i) {
    to.push_back(compare_tensor(s.output(i), cpu, device, terms));
    to.back().step = step;
    to.back().step_name = s.name();
  }
}

/// Runs the CPU, and every step on the bytes that the CPU has before it.
void compare_steps(const variant_view& v, runner& cpu, device_runner& device, std::vector<comparison>& found) {
  double terms = 0;
  const auto prepare = [&](int step) {
    if (step == v.step_count() || !device.has_shader(step)) return;
    if (const int merged = device.merged_into(step); merged >= 0) copy_operands(v.step(merged), cpu, device);
    copy_operands(v.step(step), cpu, device);
    terms = largest_term(v.step(step), cpu);
  };
  prepare(0);
  cpu.run_steps([&](int step) {
    if (device.has_shader(step)) add_step(v.step(step), step, cpu, device, terms, found);
    prepare(step + 1);
  });
}

/// Runs both side by side from the inputs; what has no shader is the CPU's.
void compare_along(const variant_view& v, runner& cpu, device_runner& device, std::vector<comparison>& found) {
  device.reset();
  for (int i = 0; i < v.input_count(); ++i) copy_buffer(v.input(i).tensor(), cpu, device);
  cpu.run_steps([&](int step) {
    const step_view s = v.step(step);
    if (device.has_shader(step)) return add_step(s, step, cpu, device, 0, found);
    for (int i = 0; i < s.output_count(); ++i) copy_buffer(s.output(i), cpu, device);
  });
}

}

device_comparison compare_with_cpu(const model& m, int variant, runner& cpu, device_runner& device) {
  const variant_view v = m.variant(variant);
  device_comparison result;
  result.halves = device.facts().halves.any();
  result.device_steps = device.facts().steps - device.facts().cpu_steps;
  for (int i = 0; i < v.input_count(); ++i) std::memcpy(device.input(i), cpu.input(i), v.input(i).bytes());
  constexpr std::uint64_t key = 1;
  cpu.seed(key);
  device.seed(key);
  (result.halves ? compare_along : compare_steps)(v, cpu, device, result.steps);
  device.seed(key);
  device.reset();
  device.run();
  for (int i = 0; i < v.output_count(); ++i)
    result.outputs.push_back(compare_output(v.output(i), device.output(i), cpu.output(i)));
  for (int i = 0; i < v.state_count(); ++i) result.outputs.push_back(compare_tensor(v.state(i).tensor(), cpu, device));
  sort_worst_first(result.outputs);
  sort_worst_first(result.steps);
  return result;
}

std::string device_comparison::failed_output_text() const {
  const comparison& worst = outputs.front();
  return format_text("output '%s' is %.1e of its largest magnitude off (tolerance %.0e)", printable(worst.name).c_str(),
                     worst.relative, output_tolerance());
}

std::string device_comparison_text(const device_comparison& c, std::size_t rows) {
  text_table table({">step", ">max / largest", ">max error", ">largest", "tensor"});
  for (const comparison& o : c.outputs) add_row(table, o, c.output_tolerance());
  for (std::size_t i = 0; i < c.steps.size() && i < rows; ++i)
    add_row(table, c.steps[i], c.halves ? std::numeric_limits<double>::infinity() : device_comparison::step_tolerance);
  std::string text = table.text();
  if (c.steps.size() > rows) text += format_text("(the worst %zu of %zu results of steps)\n", rows, c.steps.size());
  if (c.halves)
    return text + format_text(
                      "check %s: %d steps along one run, worst error %.2e of the largest magnitude; "
                      "%zu outputs and states, worst %.2e, tolerance %.0e with 16-bit floats\n",
                      c.good() ? "passed" : "FAILED", c.device_steps, c.worst_step(), c.outputs.size(),
                      c.worst_output(), c.output_tolerance());
  return text + format_text(
                    "check %s: %d steps on the CPU's inputs, worst error %.2e of the largest magnitude, "
                    "tolerance %.0e; %zu outputs and states, worst %.2e, tolerance %.0e\n",
                    c.good() ? "passed" : "FAILED", c.device_steps, c.worst_step(), device_comparison::step_tolerance,
                    c.outputs.size(), c.worst_output(), c.output_tolerance());
}

json device_comparison_json(const device_comparison& c, const std::string& name, const device_facts& facts) {
  json result = device_json(name, facts);
  result["passed"] = c.good();
  result["steps_on_device"] = c.device_steps;
  result["step_tolerance"] = c.halves ? json(nullptr) : json(device_comparison::step_tolerance);
  result["output_tolerance"] = c.output_tolerance();
  result["worst_step_error"] = c.worst_step();
  result["worst_output_error"] = c.worst_output();
  result["outputs"] = json::array();
  result["steps"] = json::array();
  for (const comparison& o : c.outputs) result["outputs"].push_back(row(o));
  for (const comparison& s : c.steps) result["steps"].push_back(row(s));
  return result;
}

}
