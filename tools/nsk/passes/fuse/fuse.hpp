// SPDX-License-Identifier: MIT
#pragma once
/// Operations that become part of those before or behind them.
#include "program/program.hpp"

namespace nsk::tool {

/// Folds factors and offsets per channel into the weights before them (convolutions and dense layers whose result is
/// scaled or shifted), or behind them (where nothing but one such layer reads the result). Parts of fuse.
void fold_into_producers(program& p);
void fold_into_readers(program& p);

/// Joins what makes real numbers of sums of stored integers with the layers that make the sums. Part of fuse.
void join_integer_sums(program& p);

/// Folds batch normalisation and constant scales into weights, merges activations, residual additions and padding into
/// the operations before them, recognises hard-swish and SiLU, and removes what nothing reads.
void fuse(program& p);
/// Joins what follows bytes in steps on bytes: tables with tables, quantisation and limits with the layers before them,
/// and moves tables behind operations that only move elements.
void join_bytes(program& p);
/// Part of it: lets what moves elements move bytes. Returns whether it changed anything.
bool move_bytes(program& p);
/// Whether a program has steps on bytes, for which GPUs have no shaders.
bool computes_bytes(const program& p);
/// Merges adjacent axes of operations that have more dimensions than the engine's tensors, where they treat these axes
/// alike. Others stay as they are.
void merge_axes(program& p);

/// Cuts rows and columns of kernels that meet nothing but padding.
void crop_windows(program& p);

}
