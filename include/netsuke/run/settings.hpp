// SPDX-License-Identifier: MIT
#pragma once
/// Settings as a type: what a session is able to run. Code of operators that are not listed is not instantiated, so it
/// is not linked.
///
///     struct face_settings : nsk::default_settings {
///       using ops = nsk::op_list<nsk::op::conv_2d, nsk::op::depthwise_conv_2d, nsk::op::pool_2d, nsk::op::copy>;
///     };
///     nsk::session<face_settings> net(model, memory);
///
/// `nsk inspect --settings model.nsk` prints the type that a model needs.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/kinds.hpp>
#include <netsuke/format/op.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/core/profile.hpp>

NSK_BEGIN
/// Networks of float convolutions, dense layers and activations; all_settings in all_ops.hpp has the rest: integers,
/// comparisons, indices, selection of boxes.
struct default_settings {
  using ops = op_list<op::conv_2d, op::depthwise_conv_2d, op::fully_connected, op::pack_panels, op::mat_mul,
                      op::pool_2d, op::unary, op::binary, op::copy, op::fill, op::resize_2d, op::reduce, op::softmax,
                      op::layer_normalization>;
  using functions = all_functions;
  /// Whether convolutions may use Winograd's algorithms; without them a program is some 50 KiB smaller.
  static constexpr bool winograd = true;
  /// Kinds of op::reduce, and of op::pool_2d on floats; a mean is a sum with a division, and one kernel does both.
  /// Others are refused. Each kind of reduction is some 9 KiB, each of pooling some 5.
  using reduce_kinds = all_reduce_kinds;
  using pool_kinds = all_pool_kinds;
  /// Fast paths of layers, some 5 to 10 KiB each. Steps of others run the general way, more slowly and with the same
  /// bits.
  using paths = all_paths;
  /// Whether registers of 64 bytes take 32 or 48 columns of a matrix together, some 14 KiB, and whether weights of
  /// matrices above 192 KiB are prefetched, some 9. Without them such matrices are multiplied more slowly, with the
  /// same bits.
  static constexpr bool panel_pairs = true, prefetch_weights = true;
  /// Whether weights may be float16 (`nsk convert --weights fp16`), which takes kernels of their own.
  static constexpr bool half_weights = false;
  /// Whether weights of dense and recurrent layers may be int8 (`nsk quantize --format w8`).
  static constexpr bool int8_weights = false;
  /// Whether int8 weights of stored integers may be other than pair-safe, as those of sources that are quantised often
  /// are; `nsk quantize` writes pair-safe ones. Without them a program with such layers is some 19 KiB smaller.
  static constexpr bool unsafe_quads = true;
  /// Whether such weights may be stored less an offset, as those of uint8 are: some 17 KiB.
  static constexpr bool weight_offsets = true;
  /// Whether files may have lengths that a run chooses (`nsk convert --bound`): some 4 KiB, most of them in nsk::open.
  static constexpr bool lengths = true;
  /// Called around steps: core/profile.hpp.
  using profiler = no_profiler;
  /// Inputs and outputs with a number below this can be bound to memory of the caller; each costs one pointer in the
  /// session.
  static constexpr int bindable_ports = 16;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
