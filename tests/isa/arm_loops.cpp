// SPDX-License-Identifier: MIT
// The inner tiles that AArch64 takes, one function each, for arm_loops.py: as high as kernels make them.
#include <netsuke/kernels/int8/quantized_gemm.hpp>
#include <netsuke/kernels/product/gemm_panel.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
namespace {
using none = function_list<>;

template <int Width, bool Far, class Weight>
const char* instance(int n, const gemm_runs& runs, const gemm_panel<Weight>& p, const tile_row* row,
                     const register_epilogue<none>& e) {
  return gemm_tiles<gemm_tile_rows<Width>(), Width, Far, none, Weight>(n, runs, p, row, e);
}
template <class Products, int Vectors>
void instance(int n, const quad_runs& runs, const quad_panel& p, const quad_row* row, const quad_store& store) {
  quad_tiles<Products, quad_tile_rows<Products, Vectors>(), Vectors>(n, runs, p, row, store);
}
}

/// Each of the tiles, so that none is left out.
struct arm_tiles {
  const char* (*near_16)(int, const gemm_runs&, const gemm_panel<float>&, const tile_row*,
                         const register_epilogue<none>&) = instance<16, false, float>;
  decltype(near_16) far_16 = instance<16, true, float>;
  decltype(near_16) near_24 = instance<24, false, float>, near_8 = instance<8, false, float>;
  const char* (*half_16)(int, const gemm_runs&, const gemm_panel<half_bits>&, const tile_row*,
                         const register_epilogue<none>&) = instance<16, false, half_bits>;
  void (*native_16)(int, const quad_runs&, const quad_panel&, const quad_row*,
                    const quad_store&) = instance<dot4_native, 4>;
  decltype(native_16) native_8 = instance<dot4_native, 2>, narrow_16 = instance<dot4_narrow, 4>,
                      narrow_8 = instance<dot4_narrow, 2>, exact_16 = instance<exact_quads, 4>;
};
arm_tiles all_arm_tiles() { return {}; }
}
}
NSK_END
