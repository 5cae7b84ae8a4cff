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

/// One file as the input wants it; leading axes of length 1 may be missing.
array read_sample(const std::string& file, const value& input, const image_choices& how) {
  if (is_image_file(file)) return read_image(file, input, how);
  array a = read_npy(file);
  shape_t shape = a.shape;
  while (shape.size() < input.shape.size()) shape.insert(shape.begin(), 1);
  if (shape != input.shape)
    refuse("--calibrate: '" + file + "' has the shape " + to_string(a.shape) + ", but input '" + input.name + "' has " +
           to_string(input.shape) + "." + transposition_cure(a.shape, without_front(input.shape, a.shape.size())));
  array result(input.type, input.shape);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    result.set(i, a.number(i));
    const bool is_float = input.type == element::f32;
    if (is_float ? !std::isfinite(result.number(i)) : result.number(i) != a.number(i))
      refuse("--calibrate: element " + std::to_string(i) + " of '" + file + "' is not finite" +
             (is_float ? ", or beyond float32." : ", or no number that " + std::string(name_of(input.type)) + " has."));
  }
  return result;
}

}

sample_set read_samples(const graph& g, const std::set<std::string>& states, const std::vector<std::string>& places,
                        const image_choices& how) {
  std::vector<const value*> inputs;
  std::vector<std::string> names;
  for (const value_id v : g.inputs) {
    const value& input = g.values[static_cast<std::size_t>(v)];
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
    for (std::size_t i = 0; i < files.size(); ++i) samples[i].emplace(input->name, read_sample(files[i], *input, own));
  }
  return set;
}

}
