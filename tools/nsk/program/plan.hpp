// SPDX-License-Identifier: MIT
#pragma once
/// The plan as the file stores it, before it is bytes: storages (buffers), tensors that view them, and steps. `lower`
/// makes it, `plan_tiles` and `plan_memory` complete it, `write_model` writes it. Field meanings are those of
/// schema/netsuke.fbs.
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <netsuke/format/params.hpp>
#include <netsuke/core/tensor.hpp>
#include "graph/array.hpp"
#include "graph/facts.hpp"

namespace nsk::tool {

enum class storage_kind { constant, arena, input, output, state };

/// One block of memory. Lengths are in elements of `type` until plan_memory gives bytes and offsets.
struct plan_storage {
  storage_kind kind = storage_kind::arena;
  dtype type = dtype::float32;
  std::string name;
  std::int64_t elements = 0;
  int index = 0;                                 ///< number of the model input, output or state
  bool lasts = false;                            ///< an arena block that is read behind the last step
  std::shared_ptr<std::vector<std::byte>> data;  ///< constants
  int first_step = -1, last_step = -1;           ///< first writer, last reader
  int buffer = -1;                               ///< set by plan_memory: storages that share memory share a buffer
};

struct plan_tensor {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::int32_t> shape;
  std::vector<std::int64_t> strides;  ///< elements
  int storage = 0;
  std::int64_t offset = 0;  ///< elements from the storage's start to index 0
  nsk::halo border{};
  int packing = 0;  ///< nsk::format::Packing
  int batch = 0;    ///< part of the first dimension longer than 1 that one row of a batch has; 0: no rows
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int32_t d : shape) n *= d;
    return n;
  }
};

struct plan_epilogue {
  function fn = function::identity;
  float alpha = 0, beta = 0;
  bool activation_first = false;
  int residual = -1, slope = -1;  ///< positions in plan_step::inputs
};

struct plan_tile {
  std::uint32_t rows = 0, pixels = 0, channels = 0, count = 1;
};

/// Parameters of a recurrent step, as schema/netsuke.fbs names them.
struct plan_recurrent {
  recurrent_kind kind = recurrent_kind::lstm;
  int reverse = 0;
  bool peephole = false, lengths = false, input_forget = false, linear_before_reset = false;
  float clip = 0, cell_clip = 0;
  std::vector<recurrent_function> functions;
  std::vector<float> parameters;
};

/// One step; of the parameters only those of its operator mean anything.
struct plan_step {
  op kind = op::none;
  std::string name;
  std::vector<int> inputs, outputs;  ///< tensors
  plan_epilogue e;
  window w;
  int groups = 1;
  conv_algorithm algorithm = conv_algorithm::direct;
  bool shared_right = false;
  pool_kind pool = pool_kind::max;
  bool count_include_pad = false;
  int pad_bottom = 0, pad_right = 0;
  binary_kind binary = binary_kind::add;
  float value = 0;
  int row_taps = 1, column_taps = 1;
  reduce_kind reduce = reduce_kind::mean;
  int axis = 0;
  bool log = false;
  compare_kind compare = compare_kind::equal;
  arithmetic_kind arithmetic = arithmetic_kind::add;
  arg_reduce_kind arg_reduce = arg_reduce_kind::max;
  bool last = false, smallest = false;  ///< arg_reduce, top_k
  std::uint32_t most_per_class = 0;     ///< non_max_suppression
  float iou_threshold = 0, score_threshold = 0;
  bool center_point_box = false, centre = true;
  float epsilon = 0, alpha = 0, beta = 0, bias = 0;  ///< normalisations
  int size = 1;
  plan_recurrent recurrent;
  random_kind random = random_kind::uniform;
  float scale = 1, offset = 0;
  std::uint32_t stream = 0;
  tree_aggregate aggregate = tree_aggregate::sum;
  plan_tile tile;
  std::int64_t macs = 0, scratch_bytes = 0;
  std::string layout_reason;  ///< why a copy that only changes the layout is there; empty for every other step
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

struct plan {
  std::string name;
  std::vector<plan_storage> storages;
  std::vector<plan_tensor> tensors;
  std::vector<plan_step> steps;
  std::vector<plan_port> inputs, outputs;
  std::vector<plan_state> states;
  std::vector<plan_buffer> buffers;
  std::int64_t arena_bytes = 0, lane_bytes = 0;
  int batch = 0;  ///< most rows of a batch; 0: fixed shapes

  plan_tensor& tensor(int i) { return tensors[static_cast<std::size_t>(i)]; }
  const plan_tensor& tensor(int i) const { return tensors[static_cast<std::size_t>(i)]; }
};

/// Returns how many of the multiply-accumulates that a convolution counts pass in the time of one, compared with a
/// direct convolution.
constexpr std::int64_t algorithm_gain(conv_algorithm a) {
  return a == conv_algorithm::winograd4 ? 3 : a == conv_algorithm::winograd2 ? 2 : 1;
}

}
