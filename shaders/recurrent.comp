// SPDX-License-Identifier: MIT
// The recurrence of an RNN, GRU or LSTM layer in one direction: a group computes all time steps of one row. MODE:
// nsk::recurrent_kind. The products of h and the recurrent weights, which are in panels, are in group memory; h is,
// too, and c is in the last row of the output.
#include "portable.h"
#include "bindings.h"
CONSTANTS(NSK_RECURRENT_CONSTANTS)
#include "memory.h"
#include "panels.h"
#include "gates.h"
GROUP_SHARED float product[2704];     // max_hidden of the lowering is 672: four gates, and three more
GROUP_SHARED float last_state[672];   // h
GROUP_SHARED float reset_state[672];  // what the reset gate of a gru leaves of it
#define LENGTHS_IN_WEIGHTS 128u
bool has(uint flag) { return (pc.flags & flag) != 0u; }
// One number of an initial state, which may be in the weights section.
float initial_at(uint i, uint flag) { return has(flag) ? weight_at(i) : arena_at(i); }
float clipped(float x) { return pc.clip > 0.0 ? min(max(x, -pc.clip), pc.clip) : x; }
float gate_f(float x) { return gate_function(pc.functions & 15u, pc.a0, pc.b0, clipped(x)); }
float gate_g(float x) { return gate_function((pc.functions >> 4) & 15u, pc.a1, pc.b1, clipped(x)); }
float gate_h(float x) { return gate_function((pc.functions >> 8) & 15u, pc.a2, pc.b2, x); }

// Channels of `weights` times h, or times what the reset gate leaves of it, four at a time into group memory.
void multiply(uint weights, uint channels, uint first, bool of_reset, uint lane) {
  for (uint quad = lane; quad < (channels + 3u) / 4u; quad += 64u) {
    uint3 panel = panel_of(weights, quad, channels, pc.hidden);
    float4 acc = W4[panel.x];
    for (uint k = 0u; k < pc.hidden; ++k) {
      float v = of_reset ? reset_state[k] : last_state[k];
      acc = FMA(SPLAT(v), W4[panel.x + (k + 1u) * panel.y], acc);
    }
    uint at = first + quad * 4u;
    product[at] = acc.x;
    product[at + 1u] = acc.y;
    product[at + 2u] = acc.z;
    product[at + 3u] = acc.w;
  }
}
float gate_argument(uint x, uint gate, uint j) {
  return arena_at(x + gate * pc.hidden + j) + product[gate * pc.hidden + j];
}
float seen(uint gate, uint j, float argument, float c) {
  return has(4u) ? FMA(weight_at(pc.peephole + gate * pc.hidden + j), c, argument) : argument;
}
float lstm_cell(uint x, uint c_at, uint j, float before) {
  float enters = gate_f(seen(0u, j, gate_argument(x, 0u, j), before));
  float stays = has(8u) ? 1.0 - enters : gate_f(seen(2u, j, gate_argument(x, 2u, j), before));
  float c = FMA(stays, before, enters * gate_g(gate_argument(x, 3u, j)));
  if (pc.cell_clip > 0.0) c = min(max(c, -pc.cell_clip), pc.cell_clip);
  set_arena(c_at + j, c);
  return gate_f(seen(1u, j, gate_argument(x, 1u, j), c)) * gate_h(c);
}
KERNEL {
  uint row = GROUP.x + GROUP.y * 65535u, lane = LOCAL.x;
  bool exists = row < pc.rows;
  uint x = pc.x + row * pc.x_row, y = pc.y + row * pc.y_row, last_h = y + pc.time_steps * pc.y_time;
  uint last_c = last_h + pc.y_time, h0 = pc.h + row * pc.h_row, c0 = pc.c + row * pc.c_row, steps = pc.time_steps;
  if (has(16u)) {
    int given = AS_INT(has(LENGTHS_IN_WEIGHTS) ? W[pc.lengths + row] : A[pc.lengths + row]);
    steps = uint(clamp(given, 0, int(pc.time_steps)));
  }
  if (!exists) steps = 0u;
  if (exists) {
    for (uint i = lane; i < pc.hidden; i += 64u) {
      last_state[i] = initial_at(h0 + i, 32u);
      if (MODE == 2u) set_arena(last_c + i, initial_at(c0 + i, 64u));
    }
  }
  BARRIER;
  for (uint t = 0u; t < pc.time_steps; ++t) {
    uint at = has(1u) ? steps - 1u - t : t, from = x + at * pc.x_time, to = y + at * pc.y_time;
    bool goes_on = t < steps;
    if (goes_on) multiply(pc.w, pc.channels, 0u, false, lane);
    BARRIER;
    if (MODE == 1u && !has(2u)) {
      if (goes_on) {
        for (uint r = lane; r < pc.hidden; r += 64u) reset_state[r] = gate_f(gate_argument(from, 1u, r)) * last_state[r];
      }
      BARRIER;
      if (goes_on) multiply(pc.w_hidden, pc.hidden, pc.reset_product, true, lane);
      BARRIER;
    }
    if (goes_on) {
      for (uint j = lane; j < pc.hidden; j += 64u) {
        float h = 0.0;
        if (MODE == 0u) h = gate_f(gate_argument(from, 0u, j));
        if (MODE == 1u) {
          float update = gate_f(gate_argument(from, 0u, j)), added = arena_at(from + 2u * pc.hidden + j);
          if (has(2u)) added = FMA(gate_f(gate_argument(from, 1u, j)), product[2u * pc.hidden + j], added);
          else added += product[pc.reset_product + j];
          h = FMA(update, last_state[j], (1.0 - update) * gate_g(added));
        }
        if (MODE == 2u) h = lstm_cell(from, last_c, j, arena_at(last_c + j));
        last_state[j] = h;
        set_arena(to + j, h);
      }
    }
    BARRIER;
  }
  if (!exists) return;
  for (uint k = lane; k < pc.hidden; k += 64u) {
    set_arena(last_h + k, last_state[k]);
    for (uint rest = steps; rest < pc.time_steps; ++rest) set_arena(y + rest * pc.y_time + k, 0.0);
  }
}
