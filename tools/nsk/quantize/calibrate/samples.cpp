// SPDX-License-Identifier: MIT
#include "quantize/calibrate/samples.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "errors.hpp"
#include "io/layout.hpp"
#include "io/npy.hpp"
#include "io/system/paths.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
namespace fs = std::filesystem;

/// The .npy files or the images of a place, by name.
std::vector<std::string> files_of(const std::string& place) {
  std::error_code failed;
  if (!fs::exists(path_of(place), failed))
    refuse("--calibrate: there is no '" + place + "'. Give a folder of images or .npy files, or one of them.");
  if (!fs::is_directory(path_of(place), failed)) return {place};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_of(place), failed))
    if (const std::string file = utf8_of(entry.path()); entry.path().extension() == ".npy" || is_image_file(file))
      files.push_back(file);
  if (failed) refuse("--calibrate: cannot read '" + place + "': " + failed.message() + ".");
  if (files.empty())
    refuse("--calibrate: there is no .npy file in '" + place +
           "', and no image. Save samples with numpy.save, one file each.");
  std::sort(files.begin(), files.end());
  const auto images = std::count_if(files.begin(), files.end(), is_image_file);
  if (images != 0 && static_cast<std::size_t>(images) != files.size())
    refuse("--calibrate: there are .npy files and images in '" + place + "'. Put them into folders of their own.");
  return files;
}

/// The last `rank` lengths, where those in front of them are 1.
shape_t without_front(const shape_t& shape, std::size_t rank) {
  const std::size_t front = shape.size() - std::min(rank, shape.size());
  const bool ones = std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(front),
                                [](std::int64_t length) { return length == 1; });
  return ones ? shape_t(shape.begin() + static_cast<std::ptrdiff_t>(front), shape.end()) : shape;
}

/// Whether an input whose axes may be `lengths` takes a shape.
bool takes(const value& input, const std::vector<chosen_length>& lengths, const shape_t& shape) {
  bool good = shape.size() == input.shape.size();
  for (std::size_t d = 0; good && d < shape.size(); ++d)
    good = shape[d] == input.shape[d] || length_of_axis(lengths, input, d) >= 0;
  return good;
}

/// One file as the input wants it; leading axes of length 1 may be missing.
array read_sample(const std::string& file, const value& input, const std::vector<chosen_length>& lengths,
                  const image_choices& how) {
  if (is_image_file(file)) return read_image(file, input, how);
  array a = read_npy(file);
  shape_t shape = a.shape;
  while (shape.size() < input.shape.size()) shape.insert(shape.begin(), 1);
  if (!takes(input, lengths, shape))
    refuse("--calibrate: '" + file + "' has the shape " + to_string(a.shape) + ", but input '" + input.name + "' has " +
           to_string(input.shape) + "." + transposition_cure(a.shape, without_front(input.shape, a.shape.size())));
  array result(input.type, shape);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    result.set(i, a.number(i));
    const bool is_float = input.type == element::f32;
    if (is_float ? !std::isfinite(result.number(i)) : result.number(i) != a.number(i))
      refuse("--calibrate: element " + std::to_string(i) + " of '" + file + "' is not finite" +
             (is_float ? ", or beyond float32." : ", or no number that " + std::string(name_of(input.type)) + " has."));
  }
  return result;
}

/// Puts samples with the same lengths together.
void sort_by_lengths(sample_set& set, const variant_source& v) {
  if (v.lengths.empty()) return;
  std::vector<std::pair<length_choice, std::size_t>> order;
  for (std::size_t i = 0; i < set.samples.size(); ++i)
    order.emplace_back(lengths_of(v, set.samples[i], "'" + set.files[i] + "'"), i);
  std::sort(order.begin(), order.end());
  sample_set sorted;
  for (const auto& [lengths, i] : order) {
    sorted.samples.push_back(std::move(set.samples[i]));
    sorted.files.push_back(set.files[i]);
  }
  set.samples = std::move(sorted.samples);
  set.files = std::move(sorted.files);
}

}

length_choice lengths_of(const variant_source& v, const sample& s, const std::string& file) {
  const auto name_of = [&](std::size_t i) { return "'" + v.lengths[i].name + "'"; };
  length_choice values(v.lengths.size(), -1);
  for (const value_id id : v.g.inputs) {
    const value& input = v.g.at(id);
    const auto given = s.find(input.name);
    for (std::size_t d = 0; given != s.end() && d < input.shape.size(); ++d) {
      const int which = length_of_axis(v.lengths, input, d);
      if (which < 0) continue;
      std::int64_t& value = values[static_cast<std::size_t>(which)];
      const std::int64_t own = given->second.shape[d];
      if (value >= 0 && value != own)
        refuse("--calibrate: " + name_of(static_cast<std::size_t>(which)) + " is " + std::to_string(value) + " and " +
               std::to_string(own) + " in the sample of " + file + ". Give each of its inputs the same length");
      value = own;
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const chosen_length& l = v.lengths[i];
    if (values[i] < 0) values[i] = l.bound;  // an axis of states alone
    if (values[i] < l.minimum || values[i] > l.bound || values[i] % l.step != 0)
      refuse("--calibrate: " + name_of(i) + " is " + std::to_string(values[i]) + " in the sample of " + file +
             ", and may be " + std::to_string(l.minimum) + " to " + std::to_string(l.bound) +
             (l.step > 1 ? " in steps of " + std::to_string(l.step) : std::string()) +
             ". Leave the sample out, or choose another bound");
  }
  if (!v.states.empty() && values != bounds_of(v.lengths))
    refuse("--calibrate: the sample of " + file + " is shorter than the bound, and samples of a model with states " +
           "are one sequence of runs. Give samples of the length of the bound");
  return values;
}

sample_set read_samples(const variant_source& v, const std::vector<std::string>& places, const image_choices& how) {
  const graph& g = v.g;
  std::set<std::string> states;
  for (const state_link& s : v.states) states.insert(s.input);
  std::vector<const value*> inputs;
  std::vector<std::string> names;
  for (const value_id id : g.inputs) {
    const value& input = g.at(id);
    if (states.count(input.name) != 0) continue;
    inputs.push_back(&input);
    names.push_back(input.name);
  }
  sample_set set;
  std::vector<sample>& samples = set.samples;
  std::map<std::string, std::string> given;
  for (const std::string& place : places) {
    const std::size_t sign = place.rfind('=');
    const bool named =
        sign != std::string::npos && std::find(names.begin(), names.end(), place.substr(0, sign)) != names.end();
    if (!named && names.size() != 1)
      misuse("--calibrate " + place + ": the model has the inputs " + quoted(names) + "; write NAME=" + place +
             " for each of them.");
    const std::string name = named ? place.substr(0, sign) : names.front();
    if (!given.emplace(name, named ? place.substr(sign + 1) : place).second)
      misuse("--calibrate: samples of '" + name + "' were given twice.");
  }
  for (const value* input : inputs) {
    const auto place = given.find(input->name);
    if (place == given.end()) misuse("--calibrate: there are no samples of input '" + input->name + "'.");
    const std::vector<std::string> files = files_of(place->second);
    if (samples.empty()) {
      samples.resize(files.size());
      set.files = files;
    }
    if (files.size() != samples.size())
      refuse("--calibrate: input '" + input->name + "' has " + std::to_string(files.size()) + " samples, '" +
             names.front() + "' " + std::to_string(samples.size()) + ". Give each input one file per sample.");
    const auto facts = g.facts.ports.find(input->name);
    const image_choices own = facts != g.facts.ports.end() ? completed(how, facts->second, *input) : how;
    if (is_image_file(files.front())) {
      set.images.emplace(input->name, own);
      set.notes.push_back("images of input '" + input->name + "': " + description_of(own));
    }
    for (std::size_t i = 0; i < files.size(); ++i)
      samples[i].emplace(input->name, read_sample(files[i], *input, v.lengths, own));
  }
  sort_by_lengths(set, v);
  return set;
}

}
