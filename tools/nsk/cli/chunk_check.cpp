// SPDX-License-Identifier: MIT
#include "cli/chunk_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/chunk_options.hpp"
#include "cli/length_options.hpp"
#include "engine/engine.hpp"
#include "engine/values.hpp"
#include "errors.hpp"
#include "io/layout.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

using arrays = std::map<std::string, array>;

/// A runner of a file for chunks, whose ports have the layout of the file for chunks of one length.
class chunk_player {
 public:
  chunk_player(const model_file& file, const chunked_source& source)
      : m_file(file),
        m_source(source),
        m_runner(choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0)),
        m_axes(chunks::signal_axes_of(source.net)) {}

  /// Samples [from, to) of a signal; the outputs in the source's axes.
  arrays run(const arrays& signal, std::int64_t from, std::int64_t to) {
    const variant_view all = m_file.view.variant(), one = ports_of(to - from).variant();
    if (m_has_length) m_runner->set_length(m_source.wanted.name, static_cast<int>(to - from));
    for (int i = 0; i < one.input_count(); ++i) {
      const std::string name = one.input(i).name();
      const auto axis = m_axes.find(name);
      const array& a = signal.at(name);
      const array laid = to_engine(one.input(i), axis == m_axes.end() ? a : chunks::part_of(a, axis->second, from, to));
      std::memcpy(m_runner->input(all.find_input(name.c_str())), laid.data.data(), laid.data.size());
    }
    m_runner->run();
    arrays outputs;
    for (int i = 0; i < one.output_count(); ++i) {
      const port_view port = one.output(i);
      array laid(element_of(port.type()), engine_shape_of(port));
      std::memcpy(laid.data.data(), m_runner->output(all.find_output(port.name())), laid.data.size());
      outputs[port.name()] = to_source(port, laid);
    }
    return outputs;
  }

 private:
  const model& ports_of(std::int64_t length) {
    m_has_length = m_source.net.step < m_source.wanted.chunk;
    if (!m_has_length) return m_file.view;
    auto found = m_fixed.find(length);
    if (found == m_fixed.end())
      found = m_fixed.emplace(length, fixed_to(m_file, {{m_source.wanted.name, length}}, "the plan")).first;
    return found->second.view;
  }

  const model_file& m_file;
  const chunked_source& m_source;
  std::unique_ptr<runner> m_runner;
  std::map<std::string, std::size_t> m_axes;
  std::map<std::int64_t, model_file> m_fixed;
  bool m_has_length = false;
};

/// What the file for the whole signal gives.
arrays run_whole(const variant_source& v, const chunks::whole_model& m, const arrays& signal,
                 const compile_options& options) {
  variant_source whole = v;
  whole.g = m.g;
  whole.states = m.states;
  whole.lengths = {};
  whole.at = nullptr;
  const std::vector<std::byte> bytes = compile({whole}, options);
  const model_file file = open_model(bytes, "the file for the whole signal");
  const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0);
  give_inputs(*runner, file.view.variant(), signal);
  runner->run();
  arrays outputs;
  for (int i = 0; i < file.view.output_count(); ++i)
    outputs[file.view.output(i).name()] = output_of(*runner, file.view.variant(), i);
  return outputs;
}

/// The largest difference of two arrays of one shape, as a share of the largest magnitude.
double difference_of(const array& a, const array& b) {
  double largest = 0, farthest = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = a.number(i), y = b.number(i);
    largest = std::max(largest, std::fabs(y));
    if (x != y && !(std::isnan(x) && std::isnan(y))) farthest = std::max(farthest, std::max(std::fabs(x - y), 1e-30));
  }
  return largest > 0 ? farthest / largest : farthest;
}

/// Runs a signal in chunks and whole. Returns the largest difference of each output.
std::map<std::string, double> differences(const variant_source& v, const model_file& file,
                                          const compile_options& options, std::int64_t samples) {
  const chunked_source& source = *v.chunked;
  const chunks::whole_model whole = source.whole(samples);
  const arrays signal = chunks::random_signal(whole), expected = run_whole(v, whole, signal, options);
  chunk_player player(file, source);
  std::map<std::string, double> found;
  std::int64_t at = 0;
  for (const std::int64_t length : chunks::chunk_lengths(source.net, source.wanted.chunk, samples)) {
    const arrays got = player.run(signal, at, at + length);
    for (const chunks::output& o : source.net.outputs) {
      if (got.count(o.name) == 0 || o.c.how == chunks::relation::still) continue;
      double& farthest = found[o.name];
      if (o.c.how == chunks::relation::timed) {
        const auto [mine, its] = chunks::same_elements(o, got.at(o.name), expected.at(o.name), at, at + length);
        farthest = std::max(farthest, difference_of(mine, its));
      } else if (at + length == samples) {
        farthest = std::max(farthest, difference_of(got.at(o.name), expected.at(o.name)));
      }
    }
    at += length;
  }
  return found;
}

/// Says which outputs have other last digits than those of the file for the whole signal.
void compare_bits(const variant_source& v, const model_file& file, std::int64_t samples, conversion& result) {
  std::string others;
  double farthest = 0;
  for (const auto& [name, difference] : differences(v, file, *result.options, samples)) {
    if (difference > 0) others += (others.empty() ? "'" : ", '") + name + "'";
    farthest = std::max(farthest, difference);
  }
  result.report["notes"].push_back(
      others.empty() ? "in chunks it has the bits of the file for the whole signal"
                     : "in chunks " + others + format_text(" differ by %.1e of the largest magnitude from", farthest) +
                           " the file for the whole signal, which adds up in another order");
}

}

void check_chunks(const convert_options& o, const variant_source& v, const model_file& file, progress_line& progress,
                  conversion& result) {
  constexpr std::uint64_t quick_macs = std::uint64_t{1} << 30;
  constexpr std::int64_t max_chunks = std::int64_t{1} << 20, quick_samples = std::int64_t{1} << 18;
  progress.show("comparing chunks with the whole signal");
  std::uint64_t macs = 1;
  for (int s = 0; s < file.view.variant(0).step_count(); ++s) macs += file.view.variant(0).step(s).macs();
  const auto quick = std::clamp<std::int64_t>(static_cast<std::int64_t>(quick_macs / macs), 1, max_chunks);
  const chunked_source& source = *v.chunked;
  const std::int64_t chunk = source.wanted.chunk,
                     limit = o.check ? chunk * max_chunks : std::min(chunk * quick, std::max(chunk, quick_samples)),
                     samples = chunks::signal_length(source.net, chunk, limit);
  chunks::compare_with_whole(source.net, chunk, source.whole, source.chunk, samples);
  result.report["notes"].push_back("in chunks it computes what the source does, seen over " + std::to_string(samples) +
                                   " samples");
  const bool keeps_states = v.states.size() >= source.net.g.states.size();  // without --no-states
  if (result.options && keeps_states) compare_bits(v, file, samples, result);
}

}
