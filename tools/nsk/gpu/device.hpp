// SPDX-License-Identifier: MIT
#pragma once
/// Devices that `nsk run`, `check` and `bench` take in place of the CPU. Each is compiled in a file of its own, from
/// its header in examples/devices and the template in gpu/device_session.hpp, and opened when the program runs.
#include <netsuke/model/model.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/model_file.hpp"
#include "gpu/halves.hpp"

namespace nsk::tool {

/// What a device records of a variant, and what it calls itself.
struct device_facts {
  std::string driver;     ///< "llvmpipe (LLVM 15.0.6, 256 bits)"
  bool software = false;  ///< a program on the CPU, whose times say nothing about GPUs
  std::string variant;
  int dispatches = 0, barriers = 0, pipelines = 0, steps = 0, cpu_steps = 0;
  half_options halves;
};

/// A variant of a model on a device. Inputs and outputs are memory of the tool, which run() copies.
class device_runner : public inference {
 public:
  virtual const device_facts& facts() const = 0;
  /// Whether the plan has a shader for the step; the CPU runs the others.
  virtual bool has_shader(int step) const = 0;
  /// Whether the arena of the device holds a tensor as 16-bit floats: packed from the start of its buffer on.
  virtual bool is_half(const tensor_info& t) const = 0;
  /// An earlier step that the dispatch of `step` computes as well and that has none of its own, -1 where there is none.
  virtual int merged_into(int step) const = 0;
  /// Gives every state its initial value.
  virtual void reset() = 0;
  /// Copies bytes to the arena, and from it.
  virtual void write(std::size_t offset, const std::byte* from, std::size_t bytes) = 0;
  virtual void read(std::size_t offset, std::byte* to, std::size_t bytes) = 0;
  /// Runs the dispatches of a step alone.
  virtual void run_step(int step) = 0;
  /// Microseconds of the last run: of the device, 0 where it cannot tell, and of recording.
  virtual double device_us() const = 0;
  virtual double recording_us() const = 0;
};

/// What to open. `rows` of a batch: 0 for all; `halves` as in gpu::plan_settings.
struct device_request {
  const model_file& file;
  int variant = 0, rows = 0;
  half_options halves;
};

/// Opens a device by its name and a variant on it. Misuse: an unknown name, a device that this build or this machine
/// lacks, with what to install. Refuses what has no GPU plan, and what the device refuses. Steps without a shader run
/// on the CPU.
std::unique_ptr<device_runner> open_device(const std::string& name, const device_request& request);
/// "vulkan, gl, ...", as messages and the help list them; `with_null`: also the one that computes nothing.
std::string device_names(bool with_null = true);

/// Number of the variant of this name; where none is given, of the first one with the profile "gpu", else of the first.
int device_variant_of(const model& m, const std::string& name);

/// Facts as JSON: "device", "driver", "software", "variant", "steps_on_cpu", "half_activations", "half_weights".
nlohmann::json device_json(const std::string& name, const device_facts& facts);
/// "vulkan    llvmpipe (...), a software driver: ..." and what is recorded: one line for each.
std::string device_text(const std::string& name, const device_facts& facts);

/// Misuse where an option is given that --device leaves nothing to do for: pairs of a name and whether it is given.
void refuse_beside_device(const std::vector<std::pair<const char*, bool>>& options);

/// Misuse of 16-bit floats without `required`.
void refuse_without(const std::string& required, bool is_given, const half_options& halves);

/// Misuse of the device that computes nothing; `command` is what would have to show results.
void refuse_null_device(const std::string& device, const char* command);

}
