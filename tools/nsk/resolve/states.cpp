// SPDX-License-Identifier: MIT
#include "resolve/states.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "bounded/lengths.hpp"
#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The name without the first of these affixes that it has: "-x" ends a name, "x-" begins it.
std::string without(const std::string& name, const std::vector<std::string>& affixes) {
  for (const std::string& affix : affixes) {
    const std::string text = affix.front() == '-' ? affix.substr(1) : affix.substr(0, affix.size() - 1);
    if (affix.front() == '-' && ends_with(name, text)) return name.substr(0, name.size() - text.size());
    if (affix.back() == '-' && name.size() > text.size() && name.compare(0, text.size(), text) == 0)
      return name.substr(text.size());
  }
  return name;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Whether a state may be called so, before and after alike.
bool names_a_state(const std::string& stem) {
  if (stem == "h" || stem == "c" || stem == "hx" || stem == "cx") return true;
  for (const char* word : {"state", "hidden", "cell", "memory", "recurrent", "cache"})
    if (stem.find(word) != std::string::npos) return true;
  return false;
}

/// Takes the number off the end of two names that have the same one, "_3" or "3", and something before it.
void drop_number(std::string& a, std::string& b) {
  std::size_t digits = 0;
  while (digits < std::min(a.size(), b.size()) && std::isdigit(static_cast<unsigned char>(a[a.size() - 1 - digits])) &&
         a[a.size() - 1 - digits] == b[b.size() - 1 - digits])
    ++digits;
  const auto ends = [&](const std::string& name) {
    return name.size() > digits + 1 && !std::isdigit(static_cast<unsigned char>(name[name.size() - 1 - digits]));
  };
  if (digits == 0 || !ends(a) || !ends(b)) return;
  for (std::string* name : {&a, &b}) {
    name->resize(name->size() - digits);
    if (name->back() == '_') name->pop_back();
  }
}

/// Whether "state" and "next_state", or its like, may as well be what an agent sees and what it is predicted to see.
bool may_be_observed(const std::string& input, const std::string& stem, const std::string& output) {
  if (input != stem || output.find("next") == std::string::npos) return false;
  for (const char* word : {"hidden", "cell", "memory", "recurrent", "rnn", "lstm", "gru"})
    if (stem.find(word) != std::string::npos) return false;
  return stem.find("state") != std::string::npos;
}

/// Whether two names are those of one state before and after a run.
bool is_plain_pair(const std::string& input, const std::string& output) {
  static const std::vector<std::string> before = {"-_in", "-_prev", "-_old", "-_0", "-0", "past_-", "prev_-", "in_-"};
  static const std::vector<std::string> after = {"-_out",     "-_next", "-_new", "-_n",  "-n",
                                                 "present_-", "next_-", "new_-", "out_-"};
  std::string stem = lower_case(output), from = lower_case(input);
  if (stem != from) drop_number(stem, from);
  const std::string after_stem = without(stem, after);
  if (after_stem == stem || !names_a_state(after_stem) || may_be_observed(from, after_stem, stem)) return false;
  return from == after_stem || without(from, before) == after_stem;
}

/// The inputs that an output is computed from.
std::set<std::string> inputs_behind(const graph& g, const std::string& output) {
  std::set<value_id> read = {g.find(output)};
  for (std::size_t i = g.nodes.size(); i-- > 0;) {
    const node& n = g.nodes[i];
    if (std::none_of(n.outputs.begin(), n.outputs.end(), [&](value_id v) { return read.count(v) != 0; })) continue;
    read.insert(n.inputs.begin(), n.inputs.end());
    for (const std::string& name : captured_names(n)) read.insert(g.find(name));
  }
  std::set<std::string> names;
  for (const value_id v : g.inputs)
    if (read.count(v) != 0) names.insert(g.at(v).name);
  return names;
}

/// Drops pairs that nothing else reaches, directly or by other pairs: a state takes in what a run is given.
void drop_deaf(const graph& g, std::map<std::string, state_link>& found) {
  std::map<std::string, std::set<std::string>> deaf;  // by input: what the output is computed from
  for (const auto& [input, link] : found) deaf[input] = inputs_behind(g, link.output);
  const auto hears = [&](const std::string& name) { return deaf.count(name) == 0; };
  for (bool changes = true; changes;) {
    changes = false;
    for (auto at = deaf.begin(); at != deaf.end();)
      if (std::any_of(at->second.begin(), at->second.end(), hears))
        at = deaf.erase(at), changes = true;
      else
        ++at;
  }
  for (const auto& [input, behind] : deaf) found.erase(input);
}

const value* find_port(const graph& g, const std::vector<value_id>& ports, const std::string& name) {
  for (const value_id v : ports)
    if (g.at(v).name == name) return &g.at(v);
  return nullptr;
}

/// Adds the states that the source itself keeps; without `find` they are ports like all others.
void add_own(const graph& g, bool find, std::map<std::string, state_link>& links, std::set<std::string>& taken) {
  for (const state_link& own : g.states) {
    if (!find && own.initial)
      refuse("the state '" + own.input +
             "' begins with numbers of the model's own, which an input would lose. Convert it without --no-states");
    if (!find) continue;
    if (links.count(own.input) != 0 || !taken.insert(own.output).second)
      misuse("--state: '" + own.input + "' is a state of the model already, fed by '" + own.output + "'.");
    links[own.input] = own;
  }
}

/// " Did you mean 'x'? It has 'x', 'y'."
std::string instead_of(const std::string& name, const graph& g, const std::vector<value_id>& ports) {
  std::vector<std::string> known;
  for (const value_id v : ports) known.push_back(g.at(v).name);
  return did_you_mean(name, known) + " It has " + (known.empty() ? "none" : quoted(known)) + ".";
}

std::string described(const value& v) { return std::string(name_of(v.type)) + " " + to_string(v.shape); }

void check_given(const graph& g, const std::string& input, const std::string& output) {
  const std::string option = "--state " + input + "=" + output + ": ";
  const value *before = find_port(g, g.inputs, input), *after = find_port(g, g.outputs, output);
  if (before == nullptr) misuse(option + "the model has no input '" + input + "'." + instead_of(input, g, g.inputs));
  if (after == nullptr) misuse(option + "the model has no output '" + output + "'." + instead_of(output, g, g.outputs));
  if (before->type != after->type || before->shape != after->shape)
    misuse(option + "the input is " + described(*before) + ", but the output is " + described(*after) +
           "; a state must keep its type and shape.");
}

[[noreturn]] void refuse_bounded(const std::string& input, const std::string& output) {
  refuse("the state '" + input + "' would get '" + output +
         "', of which only as many elements as were chosen are results. Convert with --no-states, and pass them on in "
         "the game");
}

}

std::vector<state_link> states_of(const graph& g, const state_options& options) {
  std::set<std::string> taken;
  std::map<std::string, state_link> links;
  const std::set<std::string> bounded = bounded::bounded_outputs(g);
  for (const auto& [input, output] : options.given) {
    check_given(g, input, output);
    if (!taken.insert(output).second) misuse("--state: output '" + output + "' feeds two inputs.");
    links[input] = {input, output};
  }
  add_own(g, options.find, links, taken);
  std::map<std::string, state_link> found;
  for (const value_id i : g.inputs) {
    const value& before = g.at(i);
    if (!options.find || links.count(before.name) != 0 || before.type != element::f32) continue;
    for (const value_id o : g.outputs) {
      const value& after = g.at(o);
      if (bounded.count(after.name) != 0) continue;
      if (after.type != before.type || after.shape != before.shape || !is_plain_pair(before.name, after.name)) continue;
      if (!taken.insert(after.name).second) continue;
      found[before.name] = {before.name, after.name};
      break;
    }
  }
  for (const auto& [input, link] : links)
    if (bounded.count(link.output) != 0) refuse_bounded(input, link.output);
  drop_deaf(g, found);
  const std::size_t all = links.size() + found.size();
  if (all < g.inputs.size() && all < g.outputs.size()) links.insert(found.begin(), found.end());
  std::vector<state_link> result;
  for (const value_id i : g.inputs) {
    const auto link = links.find(g.at(i).name);
    if (link != links.end()) result.push_back(link->second);
  }
  return result;
}

}
