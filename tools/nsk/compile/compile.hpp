// SPDX-License-Identifier: MIT
#pragma once
/// The converter's middle: resolved graphs in, the bytes of a .nsk file out.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include "errors.hpp"
#include "graph/graph.hpp"
#include "lengths/lengths.hpp"
#include "passes/stream/stream.hpp"
#include "program/plan.hpp"

namespace nsk::tool {

/// Returns the name of the variant for GPUs beside one of several `variants` for CPUs: "gpu" beside the only one,
/// "small.gpu" beside "small".
std::string gpu_variant_of(const std::string& variant, std::size_t variants);

struct compile_options {
  bool winograd = true;
  /// Weights of plans for CPUs have this format where that changes none.
  weight_format weights = weight_format::floats;
  /// Nodes whose weights keep float32 whatever `weights` says, each with the reason.
  std::map<std::string, std::string> float_weights;
  /// Layers that read each weight once are given float32 where the network has at most so many bytes of it, which
  /// caches keep (targets.hpp); with int8 all layers that use a weight more often are too. 0: bytes go before speed.
  std::int64_t kept_weights = 0;
  std::set<std::string> wide_steps;  ///< whose weights are float32 whatever `weights` says
  /// Adds a variant for GPUs of every one, behind them: direct convolutions, no borders.
  bool gpu = false;
  /// Machine through whose second-level cache runs of operations are streamed (passes/stream/). Plans for GPUs and for
  /// batches are not.
  stream_target streams;
  /// Longest tile in multiply-accumulates: 100 microseconds at 30 G/s, which a console core reaches.
  std::int64_t max_tile_macs = 3'000'000;
  /// Algorithms of single convolutions, by the name that their steps have. Refused where there is no such step, or
  /// where the algorithm does not fit.
  std::map<std::string, conv_algorithm> algorithms;
  std::set<std::string> kept_layouts;  ///< inputs and outputs that keep the source's order of axes (NCHW)
  std::map<std::string, std::string> metadata;
  bool stops_branches = true;    ///< sides of choices that are not taken are not computed
  bool compares_lengths = true;  ///< every value of lengths is lowered and compared; false for a trial
};

struct chunked_source;

/// One model resolved (resolve/infer.hpp) for the input shapes of a variant.
struct variant_source {
  std::string name;
  graph g;
  std::vector<state_link> states = {};
  int batch = 0;                                    ///< maximum number of rows of a batch; 0: fixed shapes
  std::set<std::string> batched_inputs = {};        ///< inputs whose first axis is the batch
  std::set<std::string> wide_inputs = {};           ///< inputs and states with a few elements that are far larger
  std::set<std::string> unknown_inputs = {};        ///< inputs of which nothing is said (wide_convolutions)
  std::shared_ptr<const graph> exported = nullptr;  ///< for the source's own shapes, where the variant has others
  std::vector<chosen_length> lengths = {};          ///< that runs choose or count; shapes are those of the bounds
  /// Why results whose number is data cannot have as many rows as there can be: it is said where lengths cannot be that
  /// number either. Null where no row is computed for nothing.
  std::shared_ptr<const error> refused_rows = nullptr;
  /// Resolves the model for other values of its lengths.
  std::function<variant_source(const length_choice&)> at = nullptr;
  /// What a network for chunks was made of (cli/chunk_options.hpp); its sums are never split, as with lengths.
  std::shared_ptr<const chunked_source> chunked = nullptr;
};

/// Does `what` to a variant, and to what it is for other values of its lengths.
void change_at_all_lengths(variant_source& v, std::function<void(variant_source&)> what);
/// The network for one choice of its lengths, as a variant without any.
variant_source fixed_source(const variant_source& v, const length_choice& values);

/// A file, and what its small form stores in place of Winograd's weights.
struct compiled_file {
  std::vector<std::byte> bytes;
  winograd_kernels kernels;
  std::vector<std::string> notes, warnings;    ///< on lengths, for people
  std::vector<length_choice> short_choices;    ///< values of the lengths with axes of one position or none
  std::vector<length_choice> unknown_choices;  ///< values of the lengths that are known when they are computed
};

/// Canonicalises, fuses, lowers, tiles, plans memory and writes every variant; constants are shared between them.
/// Refuses what has no kernel; the message names the node.
compiled_file compile_file(const std::vector<variant_source>& variants, const compile_options& options);
/// The bytes of the file alone.
std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options);

}
