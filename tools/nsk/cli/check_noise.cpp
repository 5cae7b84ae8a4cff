// SPDX-License-Identifier: MIT
#include "cli/check_noise.hpp"

#include <exception>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/integer_io.hpp"
#include "cli/options.hpp"
#include "errors.hpp"
#include "io/npy.hpp"
#include "check/noise.hpp"
#include "check/random_inputs.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

using stored_ports = std::map<std::string, stored_port>;

/// The ports that are stored integers, as nsk quantize noted them.
stored_ports stored_ports_of(const model& m, const std::string& path) {
  stored_ports ports;
  for (const auto& [name, text] : recorded(m, integer_port_key(""))) {
    try {
      ports.emplace(name, port_from(text));
    } catch (const std::exception& e) {
      refuse("'" + path + "': what the integers of '" + name + "' mean is damaged (" + e.what() +
             "). Quantise the model anew");
    }
  }
  return ports;
}

/// What the file gets, and what the source gets, which knows floats alone.
struct inputs_of_both {
  std::map<std::string, array> file, source;
};

/// Gives an input to both. Floats for a port of integers are rounded for the file alone.
void give(inputs_of_both& inputs, const std::string& name, const array& a, const stored_ports& ports) {
  const auto port = ports.find(name);
  const bool is_stored = port != ports.end();
  inputs.source[name] = is_stored && !is_float(a.type) ? real_of(a, port->second) : a;
  inputs.file[name] = is_stored && is_float(a.type) ? stored_as(a, port->second) : a;
}

inputs_of_both inputs_for(const check_options& o, const graph& g, const model& m, int variant,
                          const stored_ports& ports) {
  inputs_of_both inputs;
  std::vector<std::string> known;
  random_choice choice{o.seed, 0, recorded_ranges(m)};
  choice.plain = true;
  for (const auto& [name, a] : random_inputs(g, m, choice, variant)) {
    give(inputs, name, a, ports);
    known.push_back(name);
  }
  for (const auto& [name, path] : named_values("--input", o.inputs, "NAME=FILE.npy")) {
    const auto wanted = inputs.file.find(name);
    if (wanted == inputs.file.end())
      misuse("--input: the model has no input '" + name + "'." + did_you_mean(name, known) + " It has " +
             quoted(known) + ".");
    const array given = read_npy(path);
    const bool fits = given.type == wanted->second.type || (ports.count(name) != 0 && is_float(given.type));
    if (given.shape != wanted->second.shape || !fits)
      refuse("input '" + name + "' is " + name_of(wanted->second.type) + " " + to_string(wanted->second.shape) +
             ", but '" + path + "' holds " + name_of(given.type) + " " + to_string(given.shape) + ".");
    give(inputs, name, given, ports);
  }
  return inputs;
}

nlohmann::json noise_json(const check_options& o, const std::vector<port_noise>& noise) {
  nlohmann::json j = {{"outputs", nlohmann::json::array()}};
  for (const port_noise& p : noise) j["outputs"].push_back({{"name", p.name}, {"db", p.decibels}});
  if (o.min_db) j["min_db"] = *o.min_db;
  return j;
}

std::string noise_text(const check_options& o, const model& m, const std::vector<port_noise>& noise) {
  std::string text;
  for (const port_noise& p : noise)
    text += format_text("%8.1f dB of signal to noise  %s\n", p.decibels, p.name.c_str());
  if (o.inputs.empty() && m.input_count() > 0)
    text += "on " + describe_random({o.seed, 0, recorded_ranges(m)}, m.input(0).name()) +
            "; --input NAME=FILE.npy says more of a network's own numbers\n";
  return text + (o.min_db ? format_text("at least %g dB are wanted\n", *o.min_db)
                          : std::string("--min-db X makes it a check: exit code 3 below X\n"));
}

}

exit_code check_noise(const check_options& o, const graph& g, const model_file& file, int variant, runner& r,
                      command_files& files) {
  if (!o.report.empty()) misuse("--report shows the errors of steps, and this file is compared in dB. Leave it out.");
  const stored_ports ports = stored_ports_of(file.view, o.model);
  const inputs_of_both inputs = inputs_for(o, g, file.view, variant, ports);
  const std::vector<port_noise> noise =
      noise_of(g, inputs.source, file.view, r, inputs.file, variant, [&](const std::string& name, const array& a) {
        const auto port = ports.find(name);
        return port == ports.end() ? a : real_of(a, port->second);
      });
  if (!o.json.empty()) files.write(o.json, noise_json(o, noise).dump(2) + "\n");
  files.commit();
  const bool good = !o.min_db || noise.empty() || noise.front().decibels >= *o.min_db;
  if (!o.quiet || !good) print(noise_text(o, file.view, noise));
  if (!good)
    throw error(exit_code::check_failed,
                "check FAILED: '" + noise.front().name + "' has " + format_text("%.1f", noise.front().decibels) +
                    " dB of signal to noise, below --min-db " + format_text("%g", *o.min_db) +
                    ". More of the model's layers as floats (nsk quantize --keep, --max-drop) bring it nearer");
  return exit_code::good;
}

}
