// SPDX-License-Identifier: MIT
// Words of the two buffers as floats.
float weight_at(uint i) { return AS_FLOAT(W[i]); }
float arena_at(uint i) { return AS_FLOAT(A[i]); }
void set_arena(uint i, float v) { A[i] = AS_UINT(v); }
