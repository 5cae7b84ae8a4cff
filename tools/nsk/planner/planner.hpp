// SPDX-License-Identifier: MIT
#pragma once
/// What a lowered plan lacks: rows of a batch, tiles of its steps, and addresses of its storages.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "program/plan.hpp"

namespace nsk::tool {

/// Sets plan::batch and plan_tensor::batch of a lowered plan whose inputs named in `inputs` have `rows` rows (at least
/// 2) along their first source axis. Refuses, naming the step and the reason, where a row of a result would depend on
/// another row of an input, or where rows are not one behind the other in memory.
void bind_batch(plan& p, int rows, const std::set<std::string>& inputs);

/// Lets steps whose results only one side of a choice reads run where that side is chosen: a boolean of the network
/// decides (If, Where), and the side computes enough to be worth it. Their outputs follow a length that the plan
/// counts, 1 or 0. Plans with a batch stay as they are.
void stop_branches(plan& p);

/// Chooses the tile of every step: at most `max_macs` multiply-accumulates (or a comparable amount of memory traffic)
/// each, cut so that rows and weights of a tile are read from the nearest caches. Sets scratch_bytes and
/// plan::lane_bytes.
void plan_tiles(plan& p, std::int64_t max_macs);

/// The weights section: constants of all variants of a model, identical ones once.
struct constant_pool {
  std::vector<std::byte> bytes;
  std::map<std::string, std::int64_t> known;  ///< content -> offset
  winograd_kernels kernels;
};

/// Of every storage, the last step that reads it on a GPU although another one does so in the file, -1 where there is
/// none: the 1 x 1 convolution whose dispatch computes the depthwise convolution before it as well. Such a storage is
/// kept until then in plans for GPUs.
std::vector<int> steps_that_need_inputs(const plan& p);

/// Gives every storage its buffer and offset: element-wise results in the place of operands that end, then lifetimes
/// packed greedily by size. Large ones are placed, where that costs no byte, such that lanes which share every buffer
/// half and half find their own halves in their own caches. Fills plan::buffers and plan::arena_bytes, and adds
/// constants that are not in `pool` yet.
void plan_memory(plan& p, constant_pool& pool);

}
