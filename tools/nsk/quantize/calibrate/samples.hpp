// SPDX-License-Identifier: MIT
#pragma once
/// Inputs to calibrate and measure with, from files, and what is wrong or suspicious about them.
#include <map>
#include <set>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "graph/graph.hpp"
#include "graph/input_range.hpp"
#include "quantize/calibrate/images.hpp"

namespace nsk::tool {

/// Inputs of one run, by the source's names and in its axes.
using sample = std::map<std::string, array>;

struct sample_set {
  std::vector<sample> samples;
  std::vector<std::string> files;               ///< of the first input of each sample
  std::map<std::string, image_choices> images;  ///< by input: what became of images
  std::vector<std::string> notes;               ///< for people: how images became numbers
};

/// The lengths of a model with which it takes a sample, in the order of the model's; none where it has none. Refuses
/// samples that no choice of them takes; `file` is the sample's name in messages.
length_choice lengths_of(const variant_source& v, const sample& s, const std::string& file);

/// Reads samples: each of `places` is a directory of .npy files, one of images, or one such file, "NAME=PLACE" for
/// the input of that name. The k-th files of all inputs, by name, are one sample. What `how` leaves open for images,
/// the metadata of the model decides. States have no samples. Samples of a model with lengths have any of their values;
/// those with the same ones stand together. Refuses folders of both kinds, missing and unreadable ones, other shapes
/// and types, other numbers of files for other inputs, and what is not finite; each message names the file.
sample_set read_samples(const variant_source& v, const std::vector<std::string>& places, const image_choices& how);

/// Refuses samples with an index beyond the axis that Gather and its relatives read by it: engine and evaluator would
/// take the nearest element, and no such sample is what the model was trained on. Looks at indices that follow from
/// inputs without convolutions and products. `files` are what the samples were read from; `v` is resolved.
void require_indices(const variant_source& v, const std::vector<sample>& samples,
                     const std::vector<std::string>& files);

/// Returns warnings for people: of a single sample, of samples that are all the same, of float inputs whose numbers
/// hardly vary, which are images with a wrong --mean, --std or --white more often than not, and of numbers outside of
/// what the game says that the input will hold.
std::vector<std::string> warnings_of(const sample_set& set, const image_choices& how, const input_ranges& ranges);

}
