// SPDX-License-Identifier: MIT
// integer_mat_mul: both types, layouts, one matrix for all, tiles; sums wrap.
#include <netsuke/kernels/int8/integer_mat_mul.hpp>
#include "tail_fixture.hpp"

namespace {

template <class T>
void check_products(tail::random& r, const std::vector<int>& sizes, bool shared) {
  const int batch = sizes[0], rows = sizes[1], depth = sizes[2], columns = sizes[3];
  const auto type = nsk::dtype_of<T>();
  tail::tensor a({batch, rows, depth}, tail::typed_layout(r, 3, type)),
      b({batch, depth, columns}, tail::typed_layout(r, 3, type)),
      out({batch, rows, columns}, tail::typed_layout(r, 3, type));
  const auto fill = [&](tail::tensor& t, const std::vector<int>& shape) {
    oracle::for_each_index(shape, [&](const std::vector<int>& i) {
      const auto low = static_cast<std::uint64_t>(r.bits()), high = static_cast<std::uint64_t>(r.bits());
      t.at<T>(i) = static_cast<T>(high << 32 | low);
    });
  };
  fill(a, {batch, rows, depth});
  fill(b, {batch, depth, columns});
  nsk::kernels::integer_mat_mul_args args{{}, a.view(), b.view(), out.view()};
  if (shared) args.b.stride[0] = 0;
  tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::integer_mat_mul(args, t, nullptr); });
  oracle::for_each_index({batch, rows, columns}, [&](const std::vector<int>& i) {
    std::uint64_t sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += static_cast<std::uint64_t>(a.at<T>({i[0], i[1], k})) *
             static_cast<std::uint64_t>(b.at<T>({shared ? 0 : i[0], k, i[2]}));
    CHECK(out.at<T>(i) == static_cast<T>(sum));
  });
}

}  // namespace

TEST_CASE("integer_mat_mul: both types, layouts, shared matrices, tiles") {
  tail::random r(41);
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{1, 1, 1, 1}, {2, 3, 4, 5}, {1, 7, 19, 33}, {3, 5, 2, 17}, {1, 3, 9, 600}})
    for (const bool shared : {false, true}) {
      check_products<std::int32_t>(r, sizes, shared);
      check_products<std::int64_t>(r, sizes, shared);
    }
}
