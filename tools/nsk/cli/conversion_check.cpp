// SPDX-License-Identifier: MIT
#include "cli/conversion_check.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/chunk_check.hpp"
#include "cli/length_options.hpp"
#include "cli/options.hpp"
#include "edit/parts.hpp"
#include "engine/engine.hpp"
#include "engine/values.hpp"
#include "errors.hpp"
#include "check/compare.hpp"
#include "check/counted_lengths.hpp"
#include "check/random_inputs.hpp"
#include "check/row_check.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t sampled_elements = 1 << 14;  // of each step, where --check does not ask for all

/// Refuses to record more than a file may hold.
void require_recordable(const model& m) {
  std::size_t bytes = 0;
  for (int variant = 0; variant < m.variant_count(); ++variant) {
    for (int i = 0; i < m.input_count(variant); ++i) bytes += m.input(i, variant).bytes();
    for (int i = 0; i < m.output_count(variant); ++i) bytes += m.output(i, variant).bytes();
  }
  if (bytes > max_recorded_bytes)
    refuse("--embed-check would record " + bytes_text(static_cast<double>(bytes)) +
           " of inputs and outputs in the file, at most " + bytes_text(static_cast<double>(max_recorded_bytes)) +
           " are possible. Record a variant with smaller shapes, or leave it to nsk check.");
}

/// The source of a variant of the file: those for GPUs come behind the others, in their order.
const variant_source& source_of(const std::vector<variant_source>& variants, int variant) {
  return variants[static_cast<std::size_t>(variant) % variants.size()];
}

/// Why the file is not compared with its source; empty where it is. Without --check, what takes long is left out: a
/// minute of evaluation, or gigabytes.
std::string check_declined(const convert_options& o, const model& m) {
  constexpr std::uint64_t max_macs = std::uint64_t{1} << 34;
  constexpr std::int64_t max_elements = std::int64_t{1} << 27;
  if (o.skips_check) return "--no-check";
  if (o.check) return "";
  std::uint64_t macs = 0;
  std::int64_t elements = 0;
  for (int i = 0; i < m.variant_count(); ++i)
    for (int s = 0; s < m.variant(i).step_count(); ++s) {
      macs += m.variant(i).step(s).macs();
      elements += m.variant(i).step(s).output().elements();
    }
  if (macs <= max_macs && elements <= max_elements) return "";
  return "the model is large; --check compares it all the same, which may take minutes and gigabytes";
}

/// Compares the rows of variants that have more of them than the source with the source's own; notes what it found.
void check_rows(const std::vector<variant_source>& variants, const model_file& file, conversion& result) {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const variant_source& v = variants[i];
    const std::string found =
        v.exported ? compare_rows(*v.exported, v.g, file.view, static_cast<int>(i), 1) : std::string();
    if (!found.empty()) result.report["notes"].push_back((variants.size() > 1 ? v.name + ": " : "") + found);
  }
}

/// Refuses rows that are not compared because no option said whether to.
void require_own_rows(const std::vector<variant_source>& variants) {
  for (const variant_source& v : variants)
    if (v.exported && has_other_rows(*v.exported, v.g))
      refuse(
          "--input adds rows to a large model, and where they go is certain only when they are compared. Add --check, "
          "which may take minutes and gigabytes, or --no-check");
}

/// Refuses a file whose run counts other lengths than the evaluator.
void require_counts(runner& r, const variant_view& v, const std::vector<chosen_length>& lengths,
                    const length_choice& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!lengths[i].counted) continue;
    const std::int64_t found = output_of(r, v, v.find_output(lengths[i].name.c_str())).integer(0);
    if (found != values[i])
      refuse("'" + lengths[i].name + "' is " + std::to_string(found) + " where it should be " +
             std::to_string(values[i]) + ": please report this with the model");
  }
}

/// Refuses a file that computes other bits with its lengths set than the file of those lengths, which is `fixed`, does.
/// That has the ports with elements.
void require_same_bits(runner& r, const variant_view& all, const variant_source& v, const length_choice& values,
                       const variant_view& one, runner& alone, const std::map<std::string, array>& inputs) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!v.lengths[i].counted) r.set_length(v.lengths[i].name, static_cast<int>(values[i]));
  give_inputs(alone, one, inputs);
  for (int i = 0; i < one.input_count(); ++i)
    std::memcpy(r.input(all.find_input(one.input(i).name())), alone.input(i), one.input(i).bytes());
  for (runner* const each : {&r, &alone}) {
    each->reset();
    each->seed(1);
    each->run();
  }
  require_counts(r, all, v.lengths, values);
  for (int i = 0; i < one.output_count(); ++i)
    if (std::memcmp(r.output(all.find_output(one.output(i).name())), alone.output(i), one.output(i).bytes()) != 0)
      refuse("output '" + std::string(one.output(i).name()) + "' has other bits with " + text_of(v.lengths, values) +
             " than the file of that alone: please report this with the model");
}

/// The graph of a file of some values of the lengths: inputs without elements are none of its.
graph without_empty_inputs(graph g) {
  const auto is_empty = [&](value_id v) { return count_of(g.at(v).shape) == 0; };
  g.inputs.erase(std::remove_if(g.inputs.begin(), g.inputs.end(), is_empty), g.inputs.end());
  return g;
}

/// Values of the lengths for which a file is computed: the smallest, one between, and those of which nothing is known.
std::vector<length_choice> computed_choices(const std::vector<chosen_length>& lengths,
                                            const std::vector<length_choice>& unknown) {
  std::vector<length_choice> within;
  for (const length_choice& values : compared_choices(lengths))
    if (are_within(lengths, values)) within.push_back(values);
  std::vector<length_choice> computed = {within.back(), within[within.size() / 2]};
  if (has_counted(lengths)) computed.push_back(bounds_of(lengths));
  computed.insert(computed.end(), unknown.begin(), unknown.end());
  std::sort(computed.begin(), computed.end());
  computed.erase(std::unique(computed.begin(), computed.end()), computed.end());
  return computed;
}

/// Refuses a file whose steps do not fit each other at one of the values of its lengths for which nothing was lowered;
/// of very many, it looks at some, of large files at fewer: each is a copy of the file.
void require_short_lengths(const std::vector<chosen_length>& lengths, const model_file& file,
                           const std::vector<length_choice>& choices) {
  constexpr std::size_t few = 16, many = 256, copied_bytes = std::size_t{1} << 31;
  const std::size_t count = std::min(choices.size(), std::clamp(copied_bytes / file.bytes.size(), few, many));
  for (std::size_t i = 0; i < count; ++i) {
    const length_choice& values = choices[i * choices.size() / count];
    try {
      static_cast<void>(fixed_to(file, named(lengths, values), "the plan with " + text_of(lengths, values)));
    } catch (const no_fixed_form&) {
      continue;
    } catch (const error& e) {
      refuse("the lengths of --bound cannot be in one file: " + std::string(e.what()) +
             ". A larger minimum has no such value");
    }
  }
}

/// What is compared with a variant of a file for some values of its lengths.
class lengths_check {
 public:
  lengths_check(const convert_options& o, const variant_source& v, const model_file& file, int variant,
                progress_line& progress, conversion& result)
      : m_options(o),
        m_source(v),
        m_file(file),
        m_number(variant),
        m_variant(file.view.variant(variant)),
        m_progress(progress),
        m_result(result),
        m_lengths(v.lengths) {
    for (std::size_t i = 0; i < m_lengths.size(); ++i)  // the plan may have no result for fewer
      m_lengths[i].minimum = m_variant.length(static_cast<int>(i)).minimum();
  }

  /// The lengths with the limits that the file has.
  const std::vector<chosen_length>& lengths() const { return m_lengths; }

  /// Compares the file of these values, and the bits of a run that chooses them.
  void compare_at(const length_choice& values) {
    const graph g = without_empty_inputs(m_source.at(values).g);
    const model_file fixed = fixed_to(m_file, named(m_lengths, values), m_options.output);
    const auto alone = open(fixed), whole = open(m_file);
    take(compare_on_random(g, fixed.view, *alone, m_result.random, {}, tell(), m_number, sampled()));
    require_same_bits(*whole, m_variant, m_source, values, fixed.view.variant(m_number), *alone,
                      random_inputs(g, fixed.view, m_result.random, m_number));
  }

  /// Compares runs whose steps count lengths: on inputs as they come, and on those that choose nothing. The others are
  /// those of `values`.
  void compare_counting(const length_choice& values) {
    const graph_at at = [&](const length_choice& chosen) { return m_source.at(chosen).g; };
    const model_file shapes = shape_of_inputs(values);
    for (const fullness f : {fullness::usual, fullness::none}) {
      random_choice random = m_result.random;
      random.chosen = f;
      try {
        compare_counted(counted_on_random(at, m_lengths, values, shapes.view, 0, random, {}));
      } catch (const undefined_result&) {
        if (f == fullness::usual) throw;
      }
    }
  }

  /// Compares the first so many results, on inputs that have more of them.
  void compare_first_results(const length_choice& values) {
    if (m_counted.count(values) != 0) return;
    const graph g = without_empty_inputs(m_source.at(values).g);
    const model_file fixed = fixed_to(m_file, named(m_lengths, values), m_options.output);
    const auto alone = open(fixed);
    random_choice random = m_result.random;
    for (;;) {
      try {
        return take(compare(g, fixed.view, *alone, random_inputs(g, fixed.view, random, m_number), tell(), m_number,
                            sampled()));
      } catch (const error& e) {
        if (e.code != exit_code::refused) throw;
        if (++random.attempt == max_counting_attempts) throw undefined_result(e.what());
      }
    }
  }

 private:
  std::unique_ptr<runner> open(const model_file& f) const {
    return choose_engine("").open(f.bytes.data(), f.bytes.size(), 1, m_number);
  }
  std::function<void(const std::string&)> tell() const {
    return [this](const std::string& what) { m_progress.show(what); };
  }
  std::int64_t sampled() const { return m_options.check ? all_elements : sampled_elements; }
  void take(comparison_report found) const {
    if (!m_result.comparison || found.prevails_over(*m_result.comparison, conversion_tolerance))
      m_result.comparison = std::move(found);
  }
  /// The file of the chosen lengths among `values`, for the shapes of its inputs.
  model_file shape_of_inputs(length_choice values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (m_lengths[i].counted) values[i] = std::max(m_variant.length(static_cast<int>(i)).minimum(), 1);
    return fixed_to(m_file, named(m_lengths, values), m_options.output);
  }
  void choose(runner& r, const length_choice& values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!m_lengths[i].counted) r.set_length(m_lengths[i].name, static_cast<int>(values[i]));
  }
  void compare_counted(const counted_network& network) {
    m_counted.insert(network.values);
    const auto whole = open(m_file);
    choose(*whole, network.values);
    take(compare(without_empty_inputs(network.g), m_file.view, *whole, network.inputs, tell(), m_number, sampled()));
    require_counts(*whole, m_variant, m_lengths, network.values);
    if (std::find(network.values.begin(), network.values.end(), 0) != network.values.end()) return;
    const model_file fixed = fixed_to(m_file, named(m_lengths, network.values), m_options.output);
    require_same_bits(*whole, m_variant, m_source, network.values, fixed.view.variant(m_number), *open(fixed),
                      network.inputs);
  }

  const convert_options& m_options;
  const variant_source& m_source;
  const model_file& m_file;
  int m_number;
  variant_view m_variant;
  progress_line& m_progress;
  conversion& m_result;
  std::vector<chosen_length> m_lengths;
  std::set<length_choice> m_counted;  ///< values that runs have counted
};

/// Compares a variant with lengths with its source for some of their values.
void check_lengths(const convert_options& o, const variant_source& v, const model_file& file, int variant,
                   progress_line& progress, conversion& result) {
  lengths_check check(o, v, file, variant, progress, result);
  const bool counts = has_counted(v.lengths);
  const std::vector<length_choice> computed =
      computed_choices(check.lengths(), counts ? std::vector<length_choice>() : result.unknown_choices);
  for (const length_choice& values : computed) counts ? check.compare_counting(values) : check.compare_at(values);
  for (const length_choice& values : counts ? result.unknown_choices : std::vector<length_choice>())
    check.compare_first_results(values);
  if (variant > 0) return;
  result.report["notes"].push_back("computed at " + std::to_string(computed.size() + 1) + " values of the lengths");
}

/// Compares every variant with its source on random inputs.
void check_conversion(const convert_options& o, const std::vector<variant_source>& variants, const model_file& file,
                      progress_line& progress, conversion& result) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    check_rows(variants, file, result);
    if (variants[0].chunked) check_chunks(o, variants[0], file, progress, result);
    for (int variant = 0; !has_counted(variants[0].lengths) && variant < file.view.variant_count(); ++variant) {
      const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, variant);
      comparison_report found = compare_on_random(
          source_of(variants, variant).g, file.view, *runner, result.random, {},
          [&](const std::string& what) { progress.show(what); }, variant, o.check ? all_elements : sampled_elements);
      if (!result.comparison || found.prevails_over(*result.comparison, conversion_tolerance))
        result.comparison = std::move(found);
    }
    for (int variant = 0; !variants[0].lengths.empty() && variant < file.view.variant_count(); ++variant)
      check_lengths(o, variants[0], file, variant, progress, result);
  } catch (const undefined_result& e) {
    if (o.check) throw;
    result.comparison.reset();
    result.check_declined = e.what();
    return;
  }
  result.check_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.report["check"] = comparison_json(*result.comparison, conversion_tolerance);
  result.report["check"]["seconds"] = result.check_seconds;
}

}

std::vector<std::byte> with_check_vectors(const model_file& file, const std::vector<variant_source>& variants) {
  require_recordable(file.view);
  model_parts parts = take_apart(file.bytes.data());
  for (int variant = 0; variant < file.view.variant_count(); ++variant) {
    const variant_view v = file.view.variant(variant);
    const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, variant);
    give_inputs(*runner, v,
                random_inputs(source_of(variants, variant).g, file.view, {1, 0, recorded_ranges(file.view)}, variant));
    check_vector recorded;
    for (int i = 0; i < v.input_count(); ++i)
      recorded.inputs.emplace_back(runner->input(i), runner->input(i) + v.input(i).bytes());
    runner->run();
    for (int i = 0; i < v.output_count(); ++i)
      recorded.outputs.emplace_back(runner->output(i), runner->output(i) + v.output(i).bytes());
    embed_check(parts, variant, recorded);
  }
  return put_together(parts);
}

void compare_with_source(const convert_options& o, const std::vector<variant_source>& variants, const model_file& file,
                         progress_line& progress, conversion& result) {
  result.random.ranges = recorded_ranges(file.view);
  result.check_declined = check_declined(o, file.view);
  if (!result.check_declined.empty() && !o.skips_check) require_own_rows(variants);
  require_short_lengths(variants[0].lengths, file, result.short_choices);
  if (result.check_declined.empty()) check_conversion(o, variants, file, progress, result);
  if (!result.comparison && !result.unknown_choices.empty() && !o.skips_check)
    refuse("with " + text_of(variants[0].lengths, result.unknown_choices[0]) +
           " an axis has one position or none, and " + "the model other nodes or numbers; it was not compared there: " +
           result.check_declined + ". A larger minimum has no such value");
  for (const length_choice& values : result.comparison ? std::vector<length_choice>() : result.unknown_choices)
    result.report["warnings"].push_back("with " + text_of(variants[0].lengths, values) + " an axis has one position " +
                                        "or none, and the model other nodes or numbers: results may be wrong there. " +
                                        "--check computes it");
}

std::string check_text(const convert_options& o, const conversion& c) {
  if (!c.comparison) return "not checked: " + c.check_declined + "\n";
  if (o.check) return comparison_text(*c.comparison, conversion_tolerance, 0);
  const double worst = c.comparison->worst();
  const std::string found =
      worst <= conversion_tolerance ? format_text("worst error %.1e of the largest magnitude", worst)
      : c.comparison->worst_local() <= conversion_tolerance / 5
          ? format_text("the model amplifies rounding, or jumps; every step alone is right to %.1e",
                        c.comparison->worst_local())
          : std::string("the model amplifies rounding as far as it is off");
  return "checked against the evaluator: " + found + " (" + time_text(c.check_seconds * 1e6) +
         "; --no-check skips it)\n";
}

}
