// SPDX-License-Identifier: MIT
// Layer and local response normalisation against double precision; the same bits on every instruction set.
#include <netsuke/kernels/lines/layer_normalization.hpp>
#include <netsuke/kernels/lines/local_response_normalization.hpp>
#include "tail_fixture.hpp"

TEST_CASE("layer_normalization: lengths around sixteen, layouts, without centre, in place") {
  tail::random r(21);
  tail::digest hash;
  for (int n = 1; n <= 70; n += n < 36 ? 1 : 7)
    for (const bool centre : {true, false}) {
      const std::vector<int> shape = {2, 5, n};
      tail::tensor in(shape, tail::random_layout(r, 3, r.coin())), out(shape, tail::random_layout(r, 3, r.coin()));
      in.fill_random(r, 3);
      std::vector<float> scale, bias;
      for (int i = 0; i < n; ++i) scale.push_back(r.real(2)), bias.push_back(r.real());
      const float epsilon = 1e-3f;
      nsk::kernels::layer_normalization_args a{{epsilon, centre}, in.view(), out.view(), scale.data(), bias.data()};
      tail::run_checked(
          r, out, [&](const nsk::tile_range& t) { nsk::kernels::layer_normalization(a, t, nullptr); }, 1, 1, n);
      const oracle::array x = in.read();
      oracle::array want(shape);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        double mean = 0, variance = 0;
        for (int k = 0; centre && k < n; ++k) mean += x({i[0], i[1], k}) / n;
        for (int k = 0; k < n; ++k) variance += (x({i[0], i[1], k}) - mean) * (x({i[0], i[1], k}) - mean) / n;
        const auto c = static_cast<std::size_t>(i[2]);
        want(i) = (x(i) - mean) / std::sqrt(variance + static_cast<double>(epsilon)) * static_cast<double>(scale[c]) +
                  static_cast<double>(bias[c]);
      });
      // a centre that is off by an epsilon of the inputs moves every result by as much, divided by the deviation
      tail::check_close(out, want, 24, n == 1 ? 128 : 4);
      hash.add(out);
      tail::tensor same(shape, {});
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { same.at<float>(i) = in.at<float>(i); });
      nsk::kernels::layer_normalization({{epsilon, centre}, same.view(), same.view(), scale.data(), bias.data()},
                                        tail::whole(same.view()), nullptr);
      bool equal = true;
      oracle::for_each_index(
          shape, [&](const std::vector<int>& i) { equal = equal && same.at<float>(i) == out.at<float>(i); });
      CHECK(equal);
    }
  CHECK(hash.value() == 176779688511655790u);
}

TEST_CASE("layer_normalization: lines whose results are side by side have the bits of others") {
  tail::random r(23);
  for (const int rows : {3, 7, 8, 9, 15, 16, 17, 40})
    for (const int n : {1, 7, 8, 15, 16, 17, 24, 33})
      for (const bool centre : {true, false}) {
        const std::vector<int> shape = {2, rows, n};
        tail::layout plain, columns;
        plain.shift = r.below(16);
        columns.shift = r.below(16);
        columns.order = {0, 2, 1};
        tail::tensor in(shape, plain), out(shape, columns), want(shape, plain);
        in.fill_random(r, 3);
        std::vector<float> scale, bias;
        for (int i = 0; i < n; ++i) scale.push_back(r.real(2)), bias.push_back(r.real());
        nsk::kernels::layer_normalization_args a{{1e-3f, centre}, in.view(), out.view(), scale.data(), bias.data()};
        tail::run_checked(
            r, out, [&](const nsk::tile_range& t) { nsk::kernels::layer_normalization(a, t, nullptr); }, 1, 1, n);
        a.output = want.view();
        nsk::kernels::layer_normalization(a, tail::whole(want.view()), nullptr);
        CAPTURE(rows);
        CAPTURE(n);
        CHECK(tail::same_numbers(shape, out, want));
      }
}

TEST_CASE("local_response_normalization: windows at both edges, odd and even, longer than the line") {
  tail::random r(22);
  tail::digest hash;
  for (int n : {1, 2, 7, 8, 9, 16, 33, 64})
    for (int size : {1, 2, 3, 5, 12, 100}) {
      const std::vector<int> shape = {1, 2, 3, n};
      tail::tensor in(shape, tail::random_layout(r, 4, true)), out(shape, tail::random_layout(r, 4, true));
      in.fill_random(r, 3);
      nsk::kernels::local_response_normalization_args a{{size, 0.3f, 0.75f, 1.5f}, in.view(), out.view()};
      tail::run_checked(
          r, out, [&](const nsk::tile_range& t) { nsk::kernels::local_response_normalization(a, t, nullptr); }, 1, 1,
          n);
      const oracle::array x = in.read();
      oracle::array want(shape);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        double sum = 0;
        for (int k = 0; k < size; ++k) {
          const int c = i[3] - (size - 1) / 2 + k;
          if (c >= 0 && c < n) sum += x({i[0], i[1], i[2], c}) * x({i[0], i[1], i[2], c});
        }
        want(i) = x(i) / std::pow(1.5 + static_cast<double>(0.3f) / size * sum, 0.75);
      });
      tail::check_close(out, want, 8 + size / 4.0);
      hash.add(out);
    }
  CHECK(hash.value() == 13035331053787035135u);
}
