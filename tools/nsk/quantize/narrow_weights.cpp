// SPDX-License-Identifier: MIT
#include "quantize/narrow_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <netsuke/model/open.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>
#include "engine/model_file.hpp"
#include "errors.hpp"
#include "status_text.hpp"
#include "graph/float16.hpp"
#include "shrink/matrices.hpp"
#include "shrink/numbers.hpp"

namespace nsk::tool {
namespace {

/// The source nodes in the name of a step: "conv+relu", and what follows a '#' is the converter's.
std::vector<std::string> nodes_of(const std::string& step) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= step.size();) {
    const std::size_t end = std::min(step.find('+', at), step.size());
    const std::string part = step.substr(at, end - at);
    names.push_back(part.substr(0, part.find('#')));
    at = end + 1;
  }
  return names;
}

/// Whether a step has weights that are rounded.
bool has_panels(const step_view& s) {
  return impl::takes_half_weights(s.op()) && s.input(1).arrangement() != packing::plain;
}
bool is_narrow(const step_view& s) { return s.input(1).type() != dtype::float32; }
bool is_winograd(const step_view& s) { return s.input(1).arrangement() != packing::panels; }

/// Calls f for each such step of the variants for CPUs.
template <class F>
void for_each_layer(const model& m, F&& f) {
  for (int i = 0; i < m.variant_count(); ++i) {
    const variant_view v = m.variant(i);
    for (int k = 0; v.profile() != std::string(gpu_profile) && k < v.step_count(); ++k)
      if (has_panels(v.step(k))) f(v.step(k));
  }
}

bool has_any(const std::set<std::string>& rounded, const step_view& s) {
  const std::vector<std::string> names = nodes_of(s.name());
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return rounded.count(n) != 0; });
}

/// Whether the float32 weights of a step are numbers of the format.
bool has_numbers_of(weight_format format, const step_view& s, const compiled_file& file, const model& m) {
  const tensor_info w = s.input(1);
  const std::uint64_t place = w.buffer_offset() + w.offset();
  const float* from = reinterpret_cast<const float*>(m.weights().data() + place);
  const bool winograd = is_winograd(s);
  if (winograd) {
    const auto kernels = file.kernels.find(static_cast<std::int64_t>(place));
    if (kernels == file.kernels.end()) return false;
    from = kernels->second->data();
  }
  for (const packed_matrix& matrix : matrices_of(s)) {
    const std::int64_t depth = (winograd ? 9 : 1) * matrix.depth;
    const auto are = [&](stored_number n) { return are_numbers(n, from, matrix.channels, depth); };
    const bool bytes = format == weight_format::w8, halves = !bytes || depth <= max_half_depth;
    if (!(bytes && are(stored_number::byte)) && !(halves && are(stored_number::scaled_float16))) return false;
    from += panel_floats(matrix.channels, depth);
  }
  return true;
}

/// Nodes of `rounded` whose weights are others in the file.
kept_layers scaled_layers(weight_format format, const std::set<std::string>& rounded, const compiled_file& file,
                          const model& m) {
  kept_layers result;
  for_each_layer(m, [&](const step_view& s) {
    if (is_narrow(s) || !has_any(rounded, s) || has_numbers_of(format, s, file, m)) return;
    for (const std::string& name : nodes_of(s.name()))
      if (rounded.count(name) != 0) result.emplace(name, "scaled by other constants of the model");
  });
  return result;
}

/// Bytes that weights of float16 and int8 save.
std::int64_t saved_bytes(const model& m) {
  std::int64_t bytes = 0;
  for (int k = 0; k < m.variant(0).step_count(); ++k) {
    const step_view s = m.variant(0).step(k);
    if (impl::has_half_weights(s)) bytes += static_cast<std::int64_t>(s.input(1).bytes());
    if (impl::has_int8_weights(s)) bytes += 3 * static_cast<std::int64_t>(s.input(1).bytes());
  }
  return bytes;
}
/// Bytes that the weights of a file would have as float32.
std::int64_t float_bytes(const model& m) { return static_cast<std::int64_t>(m.weights().size()) + saved_bytes(m); }

/// How many rows meet the weights of a step at once.
std::int64_t rows_at_once(const step_view& s) {
  const tensor_info y = s.output();
  return s.op() == op::recurrent ? y.shape()[0] : y.elements() / y.shape()[y.rank() - 1];
}
/// Steps that narrow weights make slower, where float32 weights up to `kept_weights` bytes stay in the caches.
std::set<std::string> slower_steps(const model& m, weight_format format, std::int64_t kept_weights) {
  // float16 is widened once for all rows of a tile, int8 for each register tile
  const std::int64_t few_rows = format == weight_format::fp16 ? 32 : 16;
  std::set<std::string> result;
  if (kept_weights == 0) return result;
  const bool stays = float_bytes(m) <= kept_weights;
  for_each_layer(m, [&](const step_view& s) {
    if (!is_narrow(s)) return;
    if (rows_at_once(s) <= few_rows ? stays : format == weight_format::w8) result.insert(s.name());
  });
  return result;
}

/// Whether kernels read rounded weights as float32.
bool has_wide_weights(const model& m, const std::set<std::string>& rounded) {
  bool found = false;
  for_each_layer(m, [&](const step_view& s) { found = found || (!is_narrow(s) && has_any(rounded, s)); });
  return found;
}

std::string first_names(const kept_layers& layers) {
  constexpr std::size_t max_named = 8;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, reason] : layers)
    if (++count <= max_named) text += (count > 1 ? ", '" : "'") + name + "' (" + reason + ")";
  if (count > max_named) text += " and " + std::to_string(count - max_named) + " others";
  return text;
}

/// Whether a step is a convolution that keeps float16 in a file of int8.
bool has_few_weights(const step_view& s) {
  const std::vector<packed_matrix> matrices = matrices_of(s);
  return !impl::takes_int8_weights(s.op()) && std::all_of(matrices.begin(), matrices.end(), [&](packed_matrix w) {
    return (is_winograd(s) ? 9 : 1) * w.depth <= max_half_depth;
  });
}

/// How many layers of the first variant have the format, which of them kernels read as float32, and which have not.
std::string note_of(const model& m, const std::set<std::string>& rounded, const kept_layers& kept,
                    const std::set<std::string>& slower, weight_format format) {
  int narrow = 0, few = 0, all = 0, winograd = 0, faster = 0, others = 0;
  kept_layers left;  // a recurrent layer is two steps
  for (int k = 0; k < m.variant(0).step_count(); ++k) {
    const step_view s = m.variant(0).step(k);
    if (!has_panels(s)) continue;
    ++all;
    if (is_narrow(s) || has_any(rounded, s)) {
      ++(format == weight_format::w8 && has_few_weights(s) ? few : narrow);
      if (!is_narrow(s)) ++(is_winograd(s) ? winograd : slower.count(s.name()) != 0 ? faster : others);
      continue;
    }
    const std::string name = nodes_of(s.name()).front();
    const auto reason = kept.find(name);
    left.emplace(name, reason != kept.end() ? reason->second : "no weights of the source");
  }
  std::string note = std::string("weights are ") + (format == weight_format::w8 ? "int8" : "float16") + " in " +
                     std::to_string(narrow) + " of " + std::to_string(all) + " layers";
  if (few != 0)
    note +=
        ", float16 in " + std::to_string(few) + " with at most " + std::to_string(max_half_depth) + " for each channel";
  const auto add = [&](int count, const char* why) {
    if (count != 0) note += "; nsk::prepare makes float32 of " + std::to_string(count) + why;
  };
  add(winograd, " for Winograd's algorithms");
  add(faster, " that caches keep, which is faster");
  add(others, format == weight_format::w8 ? " convolutions" : " with a channel that needs a scale");
  if (!left.empty()) note += "; float32 in " + first_names(left);
  return note;
}

constexpr char kept_prefix[] = "float32.";
constexpr char named_layers[] = "but float32.NAME";

/// Lets the file say which layers that could have the format keep float32. Returns whether it says so already.
bool name_kept(std::map<std::string, std::string>& metadata, weight_format format, const kept_layers& kept,
               const std::set<std::string>& roundable) {
  const std::map<std::string, std::string> before = metadata;
  metadata[rounded_key(format)] = named_layers;
  for (const auto& [name, reason] : kept)
    if (roundable.count(name) != 0) metadata[kept_prefix + name] = reason;
  return metadata == before;
}

/// Which layers a file says to keep float32, with the reasons; nothing where it does not say.
std::optional<kept_layers> named_kept(const model& m, weight_format format) {
  kept_layers named;
  bool says = false;
  for (const auto& [rest, text] : recorded(m, rounded_key(format)))
    says = says || (rest.empty() && text == named_layers);
  for (const auto& [name, reason] : recorded(m, kept_prefix)) named.emplace(name, reason);
  return says ? std::optional(named) : std::nullopt;
}

/// Nodes with weights that can be rounded.
std::set<std::string> roundable_nodes(const std::vector<variant_source>& variants) {
  std::set<std::string> names;
  for (const variant_source& v : variants)
    for (const node& n : v.g.nodes)
      if (has_weights(v.g, n)) names.insert(n.name);
  return names;
}

/// The variants with rounded weights, for all values of their lengths; `done` gets which those are, and what keeps its
/// own.
std::vector<variant_source> rounded_variants(const std::vector<variant_source>& variants, const kept_layers& kept,
                                             weight_format format, rounded_weights& done) {
  std::vector<variant_source> rounded = variants;
  for (variant_source& v : rounded) {
    const auto known = std::make_shared<rounded_constants>();
    const rounded_weights found = round_weights(v.g, kept, format, *known);
    done.nodes.insert(found.nodes.begin(), found.nodes.end());
    done.declined.insert(found.declined.begin(), found.declined.end());
    if (v.at)
      v.at = [at = v.at, kept, format, known](const length_choice& values) {
        variant_source x = at(values);
        static_cast<void>(round_weights(x.g, kept, format, *known));
        return x;
      };
    if (!v.exported) continue;
    const auto exported = std::make_shared<graph>(*v.exported);
    static_cast<void>(round_weights(*exported, kept, format));
    v.exported = exported;
  }
  return rounded;
}

}

const char* rounded_key(weight_format format) { return format == weight_format::w8 ? "byte_weights" : "half_weights"; }

kept_layers float_layers(const model& m, weight_format format) {
  if (const auto named = named_kept(m, format)) return *named;
  kept_layers result;
  for_each_layer(m, [&](const step_view& s) {
    for (const std::string& name : nodes_of(s.name()))
      if (!is_narrow(s)) result.emplace(name, "float32");
  });
  return result;
}

narrow_file compile_with_narrow_weights(std::vector<variant_source>& variants, const compile_options& options) {
  compile_options how = options;
  how.compares_lengths = false;
  narrow_file result;
  result.kept = options.float_weights;
  const std::set<std::string> roundable = roundable_nodes(variants);
  for (;;) {
    rounded_weights done;
    std::vector<variant_source> rounded = rounded_variants(variants, result.kept, options.weights, done);
    result.kept.insert(done.declined.begin(), done.declined.end());
    result.file = compile_file(rounded, how);
    model m;
    if (const status s = open({result.file.bytes.data(), result.file.bytes.size()}, m); !s)
      refuse(status_text(s) + ".");
    const kept_layers scaled = scaled_layers(options.weights, done.nodes, result.file, m);
    result.kept.insert(scaled.begin(), scaled.end());
    const std::set<std::string> slower = slower_steps(m, options.weights, options.kept_weights);
    how.wide_steps.insert(slower.begin(), slower.end());
    const bool is_said =
        !has_wide_weights(m, done.nodes) || name_kept(how.metadata, options.weights, result.kept, roundable);
    const bool settled = scaled.empty() && slower.empty() && is_said;
    if (!settled) continue;
    how.compares_lengths = true;
    if (!variants[0].lengths.empty()) result.file = compile_file(rounded, how);
    result.note = note_of(m, done.nodes, result.kept, how.wide_steps, options.weights);
    variants = std::move(rounded);
    return result;
  }
}

}
