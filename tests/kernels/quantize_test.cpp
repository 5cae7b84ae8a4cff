// SPDX-License-Identifier: MIT
// quantize, dequantize, byte_table and quantized_binary: both types, halves, ends of the range, special numbers,
// layouts, tiles.
#include <netsuke/kernels/int8/byte_table.hpp>
#include <netsuke/kernels/int8/quantize.hpp>
#include <netsuke/kernels/int8/quantized_binary.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;

/// The number that stands for x, in double precision but for the division.
int stored_number(float x, const nsk::quantize_params& p) {
  const float units = x / p.scale;
  if (std::isnan(units)) return p.low;
  const double y = std::nearbyint(static_cast<double>(units)) + p.zero;
  return static_cast<int>(y < p.low ? p.low : y > p.high ? p.high : y);
}
int byte_of(tail::tensor& t, const std::vector<int>& i) {
  return t.view().type == dtype::int8 ? int{t.at<std::int8_t>(i)} : int{t.at<std::uint8_t>(i)};
}
void set_byte(tail::tensor& t, const std::vector<int>& i, int bits) {
  t.at<std::uint8_t>(i) = static_cast<std::uint8_t>(bits);
}

const std::vector<std::vector<int>> k_byte_shapes = {{1},   {15},    {16},         {17},
                                                     {300}, {7, 33}, {2, 3, 5, 9}, {2, 2, 3, 2, 17}};

}  // namespace

TEST_CASE("quantize: rounds halves to even, saturates, stores NaN as the lower end") {
  tail::random r(61);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<int>& shape : k_byte_shapes)
    for (const dtype type : {dtype::uint8, dtype::int8})
      for (const float scale : {1.0f, 0.0123f, 1.3e30f, 1.2e-38f}) {
        const int offset = type == dtype::int8 ? -128 : 0, low = r.between(0, 40), high = r.between(200, 255);
        const nsk::quantize_params p{scale, r.between(0, 255) + offset, low + offset, high + offset};
        tail::tensor in(shape, tail::typed_layout(r, shape.size(), dtype::float32)),
            out(shape, tail::typed_layout(r, shape.size(), type));
        int count = 0;
        oracle::for_each_index(shape, [&](const std::vector<int>& i) {
          const float half = static_cast<float>(r.between(-300, 300)) + 0.5f, wide = r.real(400);
          const float special[] = {infinity, -infinity, std::nanf(""), -0.0f, 3.4e38f, -3.4e38f, 1e-40f};
          const int kind = count++ % 9;
          in.at<float>(i) = kind == 0 ? special[r.below(7)] : (kind < 5 ? half : wide) * scale;
        });
        tail::run_checked(r, out, [&](const nsk::tile_range& t) {
          nsk::kernels::quantize({p, in.view(), out.view()}, t, nullptr);
        });
        int wrong = 0;
        oracle::for_each_index(
            shape, [&](const std::vector<int>& i) { wrong += byte_of(out, i) != stored_number(in.at<float>(i), p); });
        CHECK(wrong == 0);
      }
}

TEST_CASE("dequantize: every byte of both types") {
  tail::random r(62);
  for (const std::vector<int>& shape : k_byte_shapes)
    for (const dtype type : {dtype::uint8, dtype::int8}) {
      const nsk::dequantize_params p{0.37f, r.between(0, 255) + (type == dtype::int8 ? -128 : 0)};
      tail::tensor in(shape, tail::typed_layout(r, shape.size(), type)),
          out(shape, tail::typed_layout(r, shape.size(), dtype::float32));
      int count = r.below(256);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { set_byte(in, i, count++ % 256); });
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::dequantize({p, in.view(), out.view()}, t, nullptr);
      });
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        CHECK(out.at<float>(i) == static_cast<float>(byte_of(in, i) - p.zero) * p.scale);
      });
    }
}

TEST_CASE("byte_table: every byte of both types, in place") {
  tail::random r(63);
  std::uint8_t table[256];
  for (std::uint8_t& b : table) b = static_cast<std::uint8_t>(r.below(256));
  for (const std::vector<int>& shape : k_byte_shapes)
    for (const dtype type : {dtype::uint8, dtype::int8}) {
      tail::tensor in(shape, tail::typed_layout(r, shape.size(), type)),
          out(shape, tail::typed_layout(r, shape.size(), type));
      int count = r.below(256);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { set_byte(in, i, count++ % 256); });
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::byte_table({in.view(), out.view(), table, false}, t, nullptr);
      });
      oracle::for_each_index(
          shape, [&](const std::vector<int>& i) { CHECK(out.at<std::uint8_t>(i) == table[in.at<std::uint8_t>(i)]); });
      nsk::kernels::byte_table({in.view(), in.view(), table, false}, tail::whole(in.view()), nullptr);
      oracle::for_each_index(
          shape, [&](const std::vector<int>& i) { CHECK(in.at<std::uint8_t>(i) == out.at<std::uint8_t>(i)); });
    }
}

TEST_CASE("byte_table: one for each channel, in place") {
  tail::random r(67);
  for (const std::vector<int>& shape : k_byte_shapes)
    for (const dtype type : {dtype::uint8, dtype::int8}) {
      const auto channels = static_cast<std::size_t>(shape.back());
      std::vector<std::uint8_t> tables(256 * channels);
      for (std::uint8_t& b : tables) b = static_cast<std::uint8_t>(r.below(256));
      tail::tensor in(shape, tail::typed_layout(r, shape.size(), type)),
          out(shape, tail::typed_layout(r, shape.size(), type));
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { set_byte(in, i, r.below(256)); });
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::byte_table({in.view(), out.view(), tables.data(), true}, t, nullptr);
      });
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        const std::size_t first = 256 * static_cast<std::size_t>(i.back());
        CHECK(out.at<std::uint8_t>(i) == tables[first + in.at<std::uint8_t>(i)]);
      });
      nsk::kernels::byte_table({in.view(), in.view(), tables.data(), true}, tail::whole(in.view()), nullptr);
      oracle::for_each_index(
          shape, [&](const std::vector<int>& i) { CHECK(in.at<std::uint8_t>(i) == out.at<std::uint8_t>(i)); });
    }
}

TEST_CASE("quantized_binary: what dequantize, an operation and quantize give, in place and broadcast") {
  tail::random r(64);
  for (const std::vector<int>& shape : k_byte_shapes)
    for (const nsk::binary_kind kind : {nsk::binary_kind::add, nsk::binary_kind::sub, nsk::binary_kind::mul}) {
      const int low = r.between(0, 40), high = r.between(200, 255);
      const float scale = kind == nsk::binary_kind::mul ? 3.5f : 0.021f;
      const nsk::quantized_binary_params p{
          kind, 0.0137f, 0.0311f, scale, r.between(0, 255), r.between(0, 255), r.between(0, 255), low, high};
      tail::tensor a(shape, tail::typed_layout(r, shape.size(), dtype::uint8)),
          b(shape, tail::typed_layout(r, shape.size(), dtype::uint8)),
          out(shape, tail::typed_layout(r, shape.size(), dtype::uint8));
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        set_byte(a, i, r.below(256));
        set_byte(b, i, r.below(256));
      });
      nsk::kernels::quantized_binary_args args{p, a.view(), b.view(), out.view()};
      const bool repeats = shape.size() > 1 && r.coin();
      if (repeats) args.b.stride[0] = 0;
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::quantized_binary(args, t, nullptr); });
      const auto expected = [&](const std::vector<int>& i) {
        std::vector<int> j = i;
        if (repeats) j[0] = 0;
        const float x = static_cast<float>(byte_of(a, i) - p.a_zero) * p.a_scale,
                    y = static_cast<float>(byte_of(b, j) - p.b_zero) * p.b_scale;
        const double exact = kind == nsk::binary_kind::add   ? static_cast<double>(x) + static_cast<double>(y)
                             : kind == nsk::binary_kind::sub ? static_cast<double>(x) - static_cast<double>(y)
                                                             : static_cast<double>(x) * static_cast<double>(y);
        return stored_number(static_cast<float>(exact), {p.scale, p.zero, p.low, p.high});
      };
      int wrong = 0;
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { wrong += byte_of(out, i) != expected(i); });
      CHECK(wrong == 0);
      args.output = a.view();
      nsk::kernels::quantized_binary(args, tail::whole(a.view()), nullptr);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { wrong += byte_of(a, i) != byte_of(out, i); });
      CHECK(wrong == 0);
    }
}

TEST_CASE("quantized_binary: sums in fixed point are those of int64, at both ends of multipliers and shifts") {
  tail::random r(65);
  for (int shift = 10; shift <= 31; ++shift)
    for (const int largest : {1 << 21, (1 << 20) + 1, 1023, 0}) {
      const auto multiplier = [&] { return r.coin() ? (r.coin() ? largest : -largest) : r.between(-largest, largest); };
      nsk::quantized_binary_params p;
      p.a_scale = p.b_scale = p.scale = 0;
      p.zero = r.between(0, 255);
      p.low = r.between(0, 30);
      p.high = r.between(220, 255);
      p.a_multiplier = multiplier();
      p.b_multiplier = multiplier();
      p.bias = r.between(-1600000000, 1600000000);
      p.shift = shift;
      const std::vector<int> shape = {256, 256};
      tail::tensor a(shape, tail::typed_layout(r, 2, dtype::uint8)), b(shape, tail::typed_layout(r, 2, dtype::uint8)),
          out(shape, tail::typed_layout(r, 2, dtype::uint8));
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        set_byte(a, i, i[0]);
        set_byte(b, i, i[1]);
      });
      const nsk::kernels::quantized_binary_args args{p, a.view(), b.view(), out.view()};
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::quantized_binary(args, t, nullptr); });
      int wrong = 0;
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        const std::int64_t sum =
            std::int64_t{i[0]} * p.a_multiplier + std::int64_t{i[1]} * p.b_multiplier + std::int64_t{p.bias};
        const std::int64_t step = std::int64_t{1} << shift, below = ((sum % step) + step) % step;
        const std::int64_t y = (sum - below) / step + p.zero;
        wrong += byte_of(out, i) != static_cast<int>(std::clamp<std::int64_t>(y, p.low, p.high));
      });
      CHECK(wrong == 0);
    }
}
