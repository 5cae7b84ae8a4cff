// SPDX-License-Identifier: MIT
// Stands in for the library's begin.hpp where AVX-512 is emulated: no target, because this processor lacks it. The file
// is compiled with -mavx2 -mfma -mf16c -ffp-contract=off.
