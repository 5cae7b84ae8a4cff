// SPDX-License-Identifier: MIT
#pragma once
/// What a source model says of itself beside its network: texts for people, labels, how images become numbers.
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nsk::tool {

/// Of an input or output. Texts are UTF-8 without control characters.
struct port_facts {
  std::string description;
  std::string color;                   ///< of an image: "rgb", "grey" or nothing
  std::vector<float> mean, deviation;  ///< of an image: x = (level - mean) / deviation; one, or one per channel
  std::vector<std::string> labels;     ///< of an output's classes
};

struct model_facts {
  std::map<std::string, std::string> about;  ///< "name", "description", "version", "author", "license"
  std::map<std::string, port_facts> ports;   ///< by the source's names
  std::vector<std::string> warnings;         ///< what was left out, and why
  std::vector<std::string> notes;            ///< what was chosen where the source leaves it open
  std::map<std::string, std::string> twins;  ///< nodes with a name of their own in place of one that another node has
  std::set<std::string> files;               ///< paths of the files beside the model that hold some of its data
};

}
