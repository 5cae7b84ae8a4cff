// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>
#include <doctest/doctest.h>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/kernels/dense/mat_mul.hpp>
#include <netsuke/kernels/product/pack_panels.hpp>
#include "support.hpp"

namespace {

/// Weights [k][n] as the packer of the tests wants them: [n][k].
std::vector<float> transposed(const std::vector<float>& b, int k, int n) {
  std::vector<float> t(b.size());
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j) t[static_cast<std::size_t>(j) * k + i] = b[static_cast<std::size_t>(i) * n + j];
  return t;
}

nsk::tensor_view view_of(float* data, std::initializer_list<int> shape) {
  nsk::tensor_view v;
  v.data = reinterpret_cast<std::byte*>(data);
  v.rank = static_cast<std::uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), v.shape);
  std::ptrdiff_t stride = 1;
  for (int d = v.rank - 1; d >= 0; --d) {
    v.stride[d] = stride;
    stride *= v.shape[d];
  }
  return v;
}

/// A dense layer against the reference, and its bits with panels one by one and with rows one by one.
void check_product(int m, int n, int k) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  random_floats next(static_cast<std::uint32_t>(m * 1000 + n));
  const std::vector<float> a = next.many(static_cast<std::size_t>(m) * k),
                           b = next.many(static_cast<std::size_t>(k) * n), bias = next.many(n);
  aligned_floats input(a.size()), packed(nsk::panel_floats(n, k));
  std::copy(a.begin(), a.end(), input.data());
  pack(transposed(b, k, n).data(), bias.data(), n, k, packed.data());
  placed output(1, 1, m, n, {{}, 0, 1, 1});
  nsk::tensor_view out = output.view(), in = view_of(input.data(), {1, 1, m, k});
  nsk::kernels::fully_connected({in, out, packed.data(), {}}, {0, 1, 0, m, 0, n}, nullptr);
  CHECK(output.damage() == "");
  const oracle::result expected = oracle::multiply(a, b, bias, m, k, n);
  const std::vector<float> got = output.dense();
  CHECK(oracle::error_units(got, expected.value, expected.magnitude) < 2 + std::sqrt(k));

  placed single(1, 1, m, n, {{}, 0, 1, 1});  // panels one by one: the same bits
  nsk::kernels::fully_connected<with_paths<nsk::all_functions>>({in, single.view(), packed.data(), {}},
                                                                {0, 1, 0, m, 0, n}, nullptr);
  CHECK(single.damage() == "");
  CHECK(same_bits(single.dense(), got));

  placed split(1, 1, m, n, {{}, 0, 1, 1});  // rows one by one, channels in blocks: the same bits
  for (int r = m - 1; r >= 0; --r)
    for (int c = 0; c < n; c += 48)
      nsk::kernels::fully_connected({in, split.view(), packed.data(), {}}, {0, 1, r, r + 1, c, std::min(c + 48, n)},
                                    nullptr);
  CHECK(split.damage() == "");
  CHECK(same_bits(split.dense(), got));
}

}

TEST_CASE("fully_connected: every number of rows and channels around the tiles") {
  for (int m : {1, 2, 3, 4, 5, 6, 7, 12, 13, 200})
    for (int n : {1, 3, 4, 7, 8, 15, 16, 17, 24, 31, 32, 40, 48, 63, 64, 65, 72, 100, 128, 136})
      for (int k : {1, 5, 64}) check_product(m, n, k);
}

TEST_CASE("fully_connected: every height of a tile, and matrices that are prefetched") {
  for (int m = 1; m < 42; ++m)
    for (int n : {8, 32, 48, 80}) check_product(m, n, 7);
  for (int m : {1, 2, 6, 7, 9, 10, 13, 14, 19, 49, 97})
    for (int n : {48, 64, 160}) check_product(m, n, 1031);
}

TEST_CASE("fully_connected: few outputs have the bits of panels, with a residual and any function") {
  using functions = nsk::function_list<nsk::function::identity, nsk::function::prelu, nsk::function::tanh>;
  using panels = with_paths<functions>;
  using few = with_paths<functions, nsk::fast_path::few_outputs>;
  random_floats next(31);
  for (int n : {1, 2, 3, 4})
    for (int k : {1, 19, 64, 300})
      for (nsk::function f : {nsk::function::identity, nsk::function::prelu, nsk::function::tanh})
        for (bool adds : {false, true}) {
          const int rows = 3, pixels = 61;
          placed input(2, rows, pixels, k, {{1, 1, 1, 1}, 0, 2, 3}), residual(2, rows, pixels, n, {{}, 0, 1, 4});
          input.set(next.many(static_cast<std::size_t>(2 * rows * pixels) * k));
          residual.set(next.many(static_cast<std::size_t>(2 * rows * pixels) * n));
          const std::vector<float> matrix = next.many(static_cast<std::size_t>(k) * n), bias = next.many(n),
                                   slope = next.many(static_cast<std::size_t>(n) + 16);
          aligned_floats packed(nsk::panel_floats(n, k));
          pack(matrix.data(), bias.data(), n, k, packed.data());
          nsk::epilogue e;
          e.fn = f;
          e.slope = slope.data();
          e.residual = adds ? residual.view().as<float>() : nullptr;
          std::copy(residual.strides(), residual.strides() + 4, e.residual_stride);
          placed output(2, rows, pixels, n, {{1, 0, 2, 1}, 3, 1, 1}), expected = output;
          nsk::kernels::fully_connected<panels>({input.view(), expected.view(), packed.data(), e},
                                                {0, 2 * rows, 0, pixels, 0, n}, nullptr);
          nsk::kernels::fully_connected<few>({input.view(), output.view(), packed.data(), e},
                                             {2, 2 * rows, 0, pixels, 0, n}, nullptr);
          nsk::kernels::fully_connected<few>({input.view(), output.view(), packed.data(), e}, {0, 2, 0, 40, 0, n},
                                             nullptr);
          nsk::kernels::fully_connected<few>({input.view(), output.view(), packed.data(), e}, {0, 2, 40, pixels, 0, n},
                                             nullptr);
          CHECK(output.damage() == "");
          CHECK(same_bits(output.dense(), expected.dense()));
        }
}

TEST_CASE("fully_connected: vectors, and many leading dimensions with strides") {
  random_floats next(3);
  const int k = 10, n = 20;
  const std::vector<float> b = next.many(k * n), bias = next.many(n);
  aligned_floats packed(nsk::panel_floats(n, k)), input(2 * 3 * 5 * 2 * k), output(2 * 3 * 5 * n);
  pack(transposed(b, k, n).data(), bias.data(), n, k, packed.data());
  for (std::size_t i = 0; i < input.size(); ++i) input.data()[i] = next();

  nsk::tensor_view vector_in = view_of(input.data(), {k}), vector_out = view_of(output.data(), {n});
  nsk::kernels::fully_connected({vector_in, vector_out, packed.data(), {}}, {0, 1, 0, 1, 0, n}, nullptr);
  oracle::result expected = oracle::multiply({input.data(), input.data() + k}, b, bias, 1, k, n);
  CHECK(oracle::error_units({output.data(), output.data() + n}, expected.value, expected.magnitude) < 5);

  nsk::tensor_view in = view_of(input.data(), {2, 3, 5, 2 * k}), out = view_of(output.data(), {2, 3, 5, n});
  in.shape[3] = k;  // the first half of every line
  nsk::kernels::fully_connected({in, out, packed.data(), {}}, {0, 6, 0, 5, 0, n}, nullptr);
  std::vector<float> a;
  for (int i = 0; i < 30; ++i) a.insert(a.end(), input.data() + i * 2 * k, input.data() + i * 2 * k + k);
  expected = oracle::multiply(a, b, bias, 30, k, n);
  CHECK(oracle::error_units({output.data(), output.data() + output.size()}, expected.value, expected.magnitude) < 5);
}

TEST_CASE("pack_panels: lines, columns and neither contiguous, any number of either") {
  for (int n : {1, 3, 8, 15, 16, 17, 20, 24, 25, 50})
    for (int k : {1, 2, 7, 16, 21, 40})
      for (const auto& [row, column] : {std::pair{n, 1}, {1, k}, {2 * n, 2}}) {
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(row);
        random_floats next(static_cast<std::uint32_t>(n * 100 + k));
        std::vector<float> b = next.many(2 * static_cast<std::size_t>(n) * k), dense;
        for (int i = 0; i < k; ++i)
          for (int j = 0; j < n; ++j) dense.push_back(b[static_cast<std::size_t>(i * row + j * column)]);
        const std::size_t floats = static_cast<std::size_t>(nsk::panel_floats(n, k));
        aligned_floats got(floats), expected(floats);
        std::fill(got.data(), got.data() + floats, -7.0f);
        pack(transposed(dense, k, n).data(), std::vector<float>(n, 0.0f).data(), n, k, expected.data());
        nsk::tensor_view right = view_of(b.data(), {1, k, n}),
                         packed = view_of(got.data(), {1, static_cast<int>(floats)});
        right.stride[1] = row;
        right.stride[2] = column;
        nsk::kernels::pack_panels({right, packed}, {0, 1, 0, 1, 0, packed.shape[1]}, nullptr);
        CHECK(std::equal(got.data(), got.data() + floats, expected.data()));
      }
}

TEST_CASE("pack_panels and mat_mul: batches, transposed right sides, a shared right side") {
  for (int n : {1, 8, 9, 16, 24, 33, 64})
    for (bool is_transposed : {false, true})
      for (bool shared : {false, true}) {
        CAPTURE(n);
        CAPTURE(is_transposed);
        CAPTURE(shared);
        const int batch = 3, m = 7, k = 12, rights = shared ? 1 : batch;
        random_floats next(static_cast<std::uint32_t>(n));
        std::vector<float> a = next.many(batch * m * k), b = next.many(static_cast<std::size_t>(rights) * k * n);
        aligned_floats panels(static_cast<std::size_t>(rights) * nsk::panel_floats(n, k)), output(batch * m * n);
        nsk::tensor_view right = view_of(b.data(), {rights, k, n});
        std::vector<float> stored = b;
        if (is_transposed) {
          for (int i = 0; i < rights; ++i) {
            const std::vector<float> t = transposed({b.begin() + i * k * n, b.begin() + (i + 1) * k * n}, k, n);
            std::copy(t.begin(), t.end(), stored.begin() + i * k * n);
          }
          right.stride[1] = 1;
          right.stride[2] = k;
        }
        right.data = reinterpret_cast<std::byte*>(stored.data());
        nsk::tensor_view packed = view_of(panels.data(), {rights, static_cast<int>(nsk::panel_floats(n, k))});
        for (int i = rights - 1; i >= 0; --i)
          nsk::kernels::pack_panels({right, packed}, {0, 1, i, i + 1, 0, packed.shape[1]}, nullptr);
        nsk::tensor_view left = view_of(a.data(), {batch, m, k}), out = view_of(output.data(), {batch, m, n});
        nsk::kernels::mat_mul({{shared}, left, out, panels.data(), {}}, {0, batch, 0, m, 0, n}, nullptr);
        for (int i = 0; i < batch; ++i) {
          const int r = shared ? 0 : i;
          const oracle::result expected = oracle::multiply({a.begin() + i * m * k, a.begin() + (i + 1) * m * k},
                                                           {b.begin() + r * k * n, b.begin() + (r + 1) * k * n},
                                                           std::vector<float>(n, 0.0f), m, k, n);
          CHECK(oracle::error_units({output.data() + i * m * n, output.data() + (i + 1) * m * n}, expected.value,
                                    expected.magnitude) < 6);
        }
      }
}

TEST_CASE("gemm: a kernel set says how many panels tiles take, and whether they prefetch") {
  using nsk::kernels::kernels_for;
  using nsk::kernels::pair_panels;
  using nsk::kernels::tile_panels;
  using nsk::kernels::impl::slice_of_panels;
  const int depth = 1000, channels = 64;
  const aligned_floats packed(nsk::panel_floats(channels, depth));
  const nsk::kernels::gemm_weights<float> w{packed.data(), channels, depth, 0};
  const auto all = slice_of_panels<tile_panels, nsk::kernels::all_kernels>(w, 0, 0, channels);
  CHECK(all.panels == tile_panels);
  CHECK(all.columns == tile_panels * nsk::panel_width);
  CHECK(all.prefetch_at != nullptr);
  const auto pair = slice_of_panels<pair_panels, nsk::kernels::all_kernels>(w, 0, 0, channels);
  CHECK(pair.panels == pair_panels);
  CHECK(pair.prefetch_at != nullptr);
  const auto near =
      slice_of_panels<tile_panels, kernels_for<nsk::all_functions, nsk::path_list<>, true, false>>(w, 0, 0, channels);
  CHECK(near.panels == pair_panels);  // four panels are two and two
  CHECK(near.prefetch_at == nullptr);
  const auto single =
      slice_of_panels<1, kernels_for<nsk::all_functions, nsk::path_list<>, false, true>>(w, 0, 0, channels);
  CHECK(single.panels == 1);
  CHECK(single.columns == nsk::panel_width);
  CHECK((single.prefetch_at != nullptr) == (tile_panels == 1));  // tiles that prefetch are as wide as there are
}

TEST_CASE("gemm: panels are taken in threes and pairs, as far as they are whole and in the tile") {
  using nsk::kernels::panels_of_tile;
  using nsk::kernels::whole_panels;
  for (const bool far : {false, true}) {
    CHECK(panels_of_tile(3, 3, far) == 3);
    CHECK(panels_of_tile(7, 3, far) == 3);
    CHECK(panels_of_tile(2, 3, far) == 2);
    CHECK(panels_of_tile(1, 3, far) == 1);
    CHECK(panels_of_tile(0, 3, far) == 0);
    CHECK(panels_of_tile(4, 2, far) == 2);
    CHECK(panels_of_tile(4, 1, far) == 1);
  }
  CHECK(panels_of_tile(4, 3, false) == 2);
  CHECK(panels_of_tile(4, 3, true) == 3);
  CHECK(whole_panels(64, 0, 0, 0, 64) == 4);
  CHECK(whole_panels(72, 0, 0, 0, 72) == 3);  // the last one is 24 wide
  CHECK(whole_panels(72, 0, 3, 0, 72) == 0);
  CHECK(whole_panels(40, 0, 1, 0, 40) == 0);
  CHECK(whole_panels(8, 0, 0, 0, 8) == 0);
  CHECK(whole_panels(96, 0, 1, 16, 64) == 3);  // panels 1 to 3
  CHECK(whole_panels(96, 0, 1, 16, 63) == 2);
  CHECK(whole_panels(96, 0, 1, 17, 64) <= 0);  // begins within the panel
  CHECK(whole_panels(96, 192, 0, 192, 256) == 4);
  CHECK(whole_panels(96, 0, 5, 0, 80) <= 0);
}
