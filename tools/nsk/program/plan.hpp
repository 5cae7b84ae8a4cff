// SPDX-License-Identifier: MIT
#pragma once
/// The plan as the file stores it, before it is bytes: storages (buffers), tensors that view them, and steps. `lower`
/// makes it, `plan_tiles` and `plan_memory` complete it, `write_model` writes it. Field meanings are those of
/// schema/netsuke.fbs.
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/tensor.hpp>
#include "graph/array.hpp"
#include "graph/facts.hpp"
#include "program/step_params.hpp"

namespace nsk::tool {

/// What panels of weights may have in place of float32: float16, or int8 with a scale for each output channel.
enum class weight_format : std::uint8_t { floats, fp16, w8 };

/// What Winograd's weights are made of (pack/winograd.hpp), by their place in the weights section.
using winograd_kernels = std::map<std::int64_t, std::shared_ptr<const std::vector<float>>>;

enum class storage_kind { constant, arena, input, output, state };

/// One block of memory. Lengths are in elements of `type` until plan_memory gives bytes and offsets.
struct plan_storage {
  storage_kind kind = storage_kind::arena;
  dtype type = dtype::float32;
  std::string name;
  std::int64_t elements = 0;
  int index = 0;                                       ///< number of the model input, output or state
  bool lasts = false;                                  ///< an arena block that is read behind the last step
  std::shared_ptr<const std::vector<std::byte>> data;  ///< constants
  std::shared_ptr<const std::vector<float>> kernels;   ///< what Winograd's weights are made of (pack/winograd.hpp)
  int first_step = -1, last_step = -1;                 ///< first writer, last reader
  int buffer = -1;  ///< set by plan_memory: storages that share memory share a buffer
};

inline bool same_border(const nsk::halo& a, const nsk::halo& b) {
  return a.top == b.top && a.left == b.left && a.bottom == b.bottom && a.right == b.right;
}

/// A length of the file: one that a run chooses, or the element of the tensor `counted`, or, with `divide`, (times *
/// length[of] + length[also] + plus) / divide; without the second where it is -1.
struct plan_length {
  std::string name;
  std::int64_t minimum = 1, bound = 0, step = 1;
  int of = 0;
  std::int64_t times = 1, plus = 0, divide = 0;
  int also = -1, counted = -1;
};
/// Part of a number of a tensor: coefficient times up to three lengths (255: none).
struct plan_term {
  int number = 0;
  std::int64_t coefficient = 0;
  int a = 255, b = 255, c = 255;
};

struct plan_tensor {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::int32_t> shape;
  std::vector<std::int64_t> strides;  ///< elements
  int storage = 0;
  std::int64_t offset = 0;  ///< elements from the storage's start to index 0
  nsk::halo border{};
  nsk::packing arrangement = nsk::packing::plain;
  int batch = 0;  ///< part of the first dimension longer than 1 that one row of a batch has; 0: no rows
  std::vector<plan_term> terms = {};  ///< of the numbers that follow lengths, by rising number
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int32_t d : shape) n *= d;
    return n;
  }
};

struct plan_tile {
  std::uint32_t rows = 0, pixels = 0, channels = 0, count = 1;
};

/// One step. Its operator is that of its parameters.
struct plan_step {
  step_params p;
  std::string name;
  std::vector<int> inputs, outputs;  ///< tensors
  epilogue_params e;
  plan_tile tile;
  std::int64_t macs = 0, scratch_bytes = 0;
  std::string layout_reason;  ///< why a copy that only changes the layout is there; empty for every other step

  op kind() const { return p.kind(); }
};

struct plan_port {
  std::string name;
  int tensor = 0;
  shape_t source_shape;
  std::vector<int> source_axes;  ///< source axis of each physical dimension
  port_facts facts = {};
};

/// Memory that lasts from run to run: what `next` holds at the end of a run, `tensor` holds in the next one; in the
/// first one it holds `initial`, a constant, or zeros (-1).
struct plan_state {
  std::string name;
  int tensor = 0, next = 0, initial = -1;
};

/// A block of the arena or of the weights section with a lifetime in steps.
struct plan_buffer {
  storage_kind kind = storage_kind::arena;
  int index = 0;
  std::int64_t offset = 0, bytes = 0;
  int first_step = 0, last_step = 0;
};

/// What a variant for GPUs says in its profile; that of one for CPUs is empty.
inline constexpr const char* gpu_profile = "gpu";

struct plan {
  std::string name;
  std::vector<plan_storage> storages;
  std::vector<plan_tensor> tensors;
  std::vector<plan_step> steps;
  std::vector<plan_port> inputs, outputs;
  std::vector<plan_state> states;
  std::vector<plan_buffer> buffers;
  std::vector<std::string> streamed;  ///< runs of operations that are computed in bands of rows, for people
  std::int64_t arena_bytes = 0, lane_bytes = 0;
  int batch = 0;                      ///< maximum number of rows of a batch; 0: fixed shapes
  std::vector<plan_length> lengths;   ///< that runs choose, and those that follow from them
  std::int64_t compared_choices = 0;  ///< values of the lengths that were compared with this plan
  /// Values among them that were not lowered: axes have one position or none there.
  std::vector<std::vector<std::int64_t>> short_choices;
  /// Values among these that are to be computed: the graph is another one there.
  std::vector<std::vector<std::int64_t>> unknown_choices;
  bool gpu = false;  ///< planned for a GPU: steps near each other run at the same time where their bytes are apart

  plan_tensor& tensor(int i) { return tensors[static_cast<std::size_t>(i)]; }
  const plan_tensor& tensor(int i) const { return tensors[static_cast<std::size_t>(i)]; }
};

/// Returns how many of the multiply-accumulates that a convolution counts pass in the time of one, compared with a
/// direct convolution.
constexpr std::int64_t algorithm_gain(conv_algorithm a) {
  return a == conv_algorithm::winograd4 ? 3 : a == conv_algorithm::winograd2 ? 2 : 1;
}

}
