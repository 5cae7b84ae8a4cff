// SPDX-License-Identifier: MIT
#pragma once
/// The vector vocabulary: f32 and i32 of `f32::lanes` numbers, mask of as many answers, and the operations that kernels
/// are written in, with the same names and the same bits on every instruction set.
///
/// - Every operation rounds once, to nearest even. `fma(a, b, c)` is a * b + c and `neg_fma(a, b, c)` is c - a * b,
///   rounded once; nothing else fuses.
/// - `max(a, b)` is `a > b ? a : b` and `min(a, b)` is `a < b ? a : b`: with a NaN, or with zeros of both signs, the
///   result is b.
/// - `clamp(x, low, high)` is min(max(x, low), high). `clamp_result` is the same for an x that is the rounded result of
///   an operation, where `has_plain_bounds(low, high)`: both are numbers, and none is a zero but +0 as the lower one.
/// - `round_even`, `floor`, `ceil`, `trunc` keep the sign of zero. `to_i32` clamps to [-2^31, 2147483520] (NaN gives
///   -2^31), then rounds half to even.
/// - `load` and `store` need no alignment; `load_partial(p, n)` touches n elements and gives 0 in the other lanes,
///   0 <= n <= lanes.
/// - `load_f16` widens half-precision bits, subnormal ones too: exact, whatever mode the processor is in.
/// - `load_low`, `load_f16_low`, `fma_low` and `store_partial_low` do the same in the first 8 lanes; the others, where
///   registers have more, mean nothing and are not stored. `broadcast_low` fills all lanes, for `fma` and `fma_low`.
/// - A quad is four bytes of one lane. `dot4(sum, a, w)` adds a[0] * w[0] + ... + a[3] * w[3] to each lane, a
///   unsigned and w signed, exactly; `dot4_narrow` the same where no two neighbours w[0], w[1] or w[2], w[3] of one
///   sign add up to more than 128 in magnitude; `dot4_native` the same by one instruction, where the machine
///   `has_native_dot4()`. `load_quads` reads a quad per lane, `broadcast_quad` one for all, as an `a` alone. Where
///   `dots_leave_out`, all three are too small by 128 * (w[0] + ... + w[3]), which `add_left_out(sum, w)` adds: it
///   depends on the weights alone, so that one sum serves all rows. What overflows on the way wraps around.
/// - `max_widened_sums`: how many sums of `dot4` and `dot4_narrow` compilers keep in registers beside what these take.
/// - `add_bytes(sum, p)` adds 4 * lanes bytes to the sum of all lanes, in lanes of its own choice.
/// - `interleave_quads(row, quads)` makes quads of the bytes that four rows have for 4 * lanes channels. Channel c is
///   lane `place_of_channel(c) % lanes` of vector `place_of_channel(c) / lanes`; four from a multiple of 4 on are
///   neighbours. `interleave_quads(row, other, quads)` takes the second half of the channels from the beginning of
///   other rows. `store_quads_u8(p, x, to)` stores such numbers as `store16_u8` does, in the order of channels.
/// - `load_u8(p)` and `load_i8(p)` read a byte per lane as a number.
/// - `bytes` is a register of `bytes::lanes` uint8, with `splat_bytes`, `load_bytes`, `store_bytes` and `max`.
/// `look_up(table, x)` is
///   the entry for each byte in a table of 256, as `arrange_table(entries, table)` has arranged it.
/// - `store16_u8(p, x, to)` stores 16 numbers as bytes: rounds half to even, adds to.zero, saturates to [to.low,
///   to.high]; |x| < 2^31, to.low <= to.high.
/// - `to_bytes(x, to)` makes the same of `packed_vectors` vectors (at least 16 numbers), as `packed_bytes` in their
///   order. `store_part<Count, First>(p, b)` stores 8, 16, or 32 where registers have 64 bytes, of these, First a
///   multiple of Count; `store_packed(p, b)` all.
/// - `spread<Size, I>(a)` gives each lane lane I of its own group of Size neighbours, 2, 4 or 8 and fewer than lanes.
/// - `zip(a, b, out)` interleaves two registers, `zip_bytes(a, b, to)` 16 bytes each; `store_zipped(p, a, b, c)` stores
///   three interleaved.
/// - `f64` is `f64::lanes` doubles: `widen(p)` reads as many floats, `add`, `sub` and `scaled(a, factor)` round once,
///   `store_narrowed(p, a)` rounds to floats.
/// - `shift_right` keeps the sign, `shift_right_logical` fills with zeros; `as_i32` and `as_f32` reinterpret bits.
/// - `less`, `less_equal`, `equal` are false on NaN; `select(m, a, b)` is m ? a : b.
/// - `reduce_*` fold the lanes by halves; the result of whole reductions is independent of the width only through
///   generic.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/simd/isa.hpp>
#if defined(NSK_ISA_AVX2)
#include <netsuke/simd/avx2.hpp>
#elif defined(NSK_ISA_AVX512)
#include <netsuke/simd/avx512.hpp>
#elif defined(NSK_ISA_NEON)
#include <netsuke/simd/neon.hpp>
#elif defined(NSK_ISA_WASM)
#include <netsuke/simd/wasm.hpp>
#else
#include <netsuke/simd/scalar.hpp>
#endif
#include <netsuke/simd/generic.hpp>
#include <netsuke/core/restore_macros.hpp>
