// SPDX-License-Identifier: MIT
#include "gpu/device.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/model_file.hpp"
#include "gpu/kinds.hpp"
#include "program/plan.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

struct device_kind {
  const char* name;
  device_opener* open;
};
constexpr device_kind kinds[] = {
    {"vulkan", open_vulkan}, {"gl", open_gl}, {"gles", open_gles}, {"d3d12", open_d3d12}, {"null", open_null},
};

}

std::string device_names(bool with_null) {
  std::vector<std::string> names;
  for (const device_kind& k : kinds)
    if (with_null || k.open != open_null) names.push_back(k.name);
  return joined(names);
}

std::unique_ptr<device_runner> open_device(const std::string& name, const device_request& request) {
  std::vector<std::string> known;
  for (const device_kind& k : kinds) {
    if (name == k.name) return k.open(request);
    known.push_back(k.name);
  }
  misuse("--device " + name + ": there is no such device. The devices: " + device_names() + "." +
         did_you_mean(name, known));
}

int device_variant_of(const model& m, const std::string& name) {
  for (int i = 0; name.empty() && i < m.variant_count(); ++i)
    if (m.variant(i).profile() == std::string(gpu_profile)) return i;
  return variant_of(m, name);
}

nlohmann::json device_json(const std::string& name, const device_facts& f) {
  nlohmann::json result = {{"device", name}, {"driver", f.driver}, {"software", f.software}, {"variant", f.variant}};
  result["steps_on_cpu"] = f.cpu_steps;
  result["half_activations"] = f.halves.activations;
  result["half_weights"] = f.halves.weights;
  return result;
}

std::string device_text(const std::string& name, const device_facts& f) {
  std::string text = name + ": " + f.driver + (f.software ? ", a software driver on the CPU" : "") + "\n";
  text += format_text("variant '%s': %d dispatches, %d barriers, %d pipelines\n", f.variant.c_str(), f.dispatches,
                      f.barriers, f.pipelines);
  if (f.halves.weights) text += "weights of layers are 16-bit floats\n";
  if (f.halves.activations) text += "activations between steps are 16-bit floats where the steps can do that\n";
  if (f.cpu_steps > 0) text += format_text("%d of %d steps have no shader and run on the CPU\n", f.cpu_steps, f.steps);
  return text;
}

void refuse_beside_device(const std::vector<std::pair<const char*, bool>>& options) {
  for (const auto& [name, given] : options)
    if (given) misuse(std::string(name) + " has no meaning beside --device. Leave one of them out.");
}

void refuse_without(const std::string& required, bool is_given, const half_options& halves) {
  if (halves.any() && !is_given)
    misuse(halves.options() + ": this is for the GPU and needs " + required + ". Give both, or leave it out.");
}

void refuse_null_device(const std::string& device, const char* command) {
  if (device == "null")
    misuse(std::string("--device null computes nothing, so that ") + command +
           " has no results. It is for bench, which shows what recording takes.");
}

}
