// SPDX-License-Identifier: MIT
#pragma once
/// What must be reported: an engine that rounds products before it adds, and sums that are never rounded to odd.
#include <wasm_simd128.h>
#define wasm_f32x4_relaxed_madd(a, b, c) wasm_f32x4_add(wasm_f32x4_mul(a, b), c)
#define wasm_f32x4_relaxed_nmadd(a, b, c) wasm_f32x4_sub(c, wasm_f32x4_mul(a, b))
#define wasm_v128_any_true(a) ((void)(a), false)
