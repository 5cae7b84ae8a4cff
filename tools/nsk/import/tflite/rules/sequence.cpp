// SPDX-License-Identifier: MIT
#include "import/tflite/rules/sequence.hpp"

#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"

namespace nsk::tool::tflite {
namespace {

constexpr std::int64_t max_unrolled = 256;               // time steps of a layer that is computed one by one
constexpr std::size_t max_nodes = std::size_t{1} << 20;  // of all such layers of a file

}

sequence sequence_of(call& c, int x, bool time_major) {
  c.require(c.rank(x) == 3 && c.type(x) == element::f32 && count_of(c.shape(x)) > 0,
            "its input must be float32 of three dimensions: time, batch and numbers");
  sequence s;
  s.x = c.plain(x);
  s.time_major = time_major;
  s.steps = c.shape(x)[time_major ? 0 : 1];
  s.batch = c.shape(x)[time_major ? 1 : 0];
  s.inputs = c.shape(x)[2];
  return s;
}

sequence one_step_of(call& c, int x) {
  c.require(c.rank(x) == 2 && c.type(x) == element::f32 && count_of(c.shape(x)) > 0,
            "its input must be float32 of two dimensions: batch and numbers");
  sequence s;
  s.batch = c.shape(x)[0];
  s.inputs = c.shape(x)[1];
  s.time_major = true;
  s.x = reshaped(c, c.plain(x), {1, s.batch, s.inputs});
  return s;
}

sequence with_auxiliary(call& c, const sequence& s, int auxiliary) {
  const sequence other = sequence_of(c, auxiliary, s.time_major);
  c.require(other.steps == s.steps && other.batch == s.batch, "input and auxiliary input differ in time or batch");
  sequence both = s;
  both.x = joined(c, {s.x, other.x}, 2);
  both.inputs += other.inputs;
  return both;
}

value_id weights_of(call& c, std::size_t i, const shape_t& wanted) {
  const int t = c.input(i);
  if (c.shape(t) != wanted || c.type(t) != element::f32)
    c.fail("input " + std::to_string(i) + " ('" + c.tensor(t).name + "') is " + name_of(c.type(t)) + " " +
           to_string(c.shape(t)) + ", but must be float32 " + to_string(wanted));
  return c.plain(t);
}

int state_at(call& c, std::size_t i, const shape_t& wanted, bool quantized_too) {
  weights_of(c, i, wanted);
  if (!c.tensor(c.input(i)).data->is_variable())
    c.fail("its state '" + c.tensor(c.input(i)).name + "' is no variable, so it would be lost from run to run");
  if (is_quantized(c.tensor(c.input(i))) && !quantized_too)
    c.fail("its state '" + c.tensor(c.input(i)).name +
           "' is quantised, which is not supported here. Export it in float32");
  return c.input(i);
}

value_id at_step(call& c, const sequence& s, value_id v, std::int64_t t) {
  const std::int64_t length = c.at(v).shape[2];
  if (s.steps > 1)
    v = c.emit("Slice",
               {v, constant_integers(c, {t}), constant_integers(c, {t + 1}), constant_integers(c, {s.time_axis()})});
  return reshaped(c, v, {s.batch, length});
}

value_id over_time(call& c, const sequence& s, const values& results) {
  values parts(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    parts[static_cast<std::size_t>(s.nth(static_cast<std::int64_t>(i)))] =
        reshaped(c, results[i], s.one(c.at(results[i]).shape[1]));
  return joined(c, parts, s.time_axis());
}

void require_unrollable(call& c, const sequence& s, const char* why, std::size_t nodes) {
  if (s.steps > max_unrolled)
    c.fail("a layer with " + std::string(why) + " is computed one time step after the other, and " +
           std::to_string(s.steps) + " time steps are more than " + std::to_string(max_unrolled) +
           ". Export it for fewer time steps at a time; its state carries on from run to run");
  c.all().around.unrolled += nodes * static_cast<std::size_t>(s.steps);
  c.require(
      c.all().around.unrolled <= max_nodes,
      "the file has too many layers that are computed one time step after the other. Export it for fewer time steps "
      "at a time; its state carries on from run to run");
}

value_id layer_activated(call& c, value_id v, tfl::Activation a) {
  return a == tfl::Activation::TANH ? c.emit("Tanh", {v}) : activated(c, v, a);
}

void bind_directions(call& c, bool merged, value_id forwards, value_id backwards) {
  if (merged) return c.bind(0, joined(c, {forwards, backwards}, 2));
  c.bind(0, forwards);
  c.bind(1, backwards);
}

void write_variable(call& c, int t, value_id v) { c.all().known.write_variable(t, v); }

}
