// SPDX-License-Identifier: MIT
#include "shrink/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "graph/float16.hpp"

namespace nsk::tool {
namespace {

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
bool is_zero(float x) { return bits_of(x) == 0; }

/// A panel without the columns that fill it up: biases, and rows of weights that are `width` apart.
struct panel {
  const float *bias, *rows;
  std::int64_t width, used, depth;

  float at(std::int64_t k, std::int64_t c) const { return rows[k * width + c]; }
};

template <class F>
void for_each_panel(const float* from, std::int64_t channels, std::int64_t depth, F&& f) {
  for (std::int64_t p = 0; p < panel_count(channels); ++p) {
    const std::int64_t width = width_of_panel(channels, p), used = std::min(width, channels - p * panel_width);
    f(panel{from, from + width, width, used, depth});
    from += width * (depth + 1);
  }
}

bool is_half(float x) {
  return std::isfinite(x) && bits_of(float_from_half(half_from_double(static_cast<double>(x)))) == bits_of(x);
}

/// How the weights of one channel are stored numbers: (byte - zero) * scale, or float16 * scale.
struct scaled_channel {
  float scale, zero = 0;
  bool can_be_centred = true;  ///< the numbers fit a zero of 128

  /// The byte that gives `x`; nothing where none does.
  std::optional<std::uint8_t> byte_of(float x) const {
    const float b = std::nearbyint(x / scale) + zero;
    if (!(b >= 0 && b <= 255) || bits_of((b - zero) * scale) != bits_of(x)) return std::nullopt;
    return static_cast<std::uint8_t>(b);
  }
};

/// Weights of a channel that are whole numbers times `scale`, within 255 of each other.
std::optional<scaled_channel> with_scale(const panel& p, std::int64_t c, float scale) {
  float low = 0, high = 0;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const float x = p.at(k, c), number = std::nearbyint(x / scale) + 0.0f;  // never -0, which bytes do not have
    if (bits_of(number * scale) != bits_of(x)) return std::nullopt;
    low = std::min(low, number);
    high = std::max(high, number);
    if (high - low > 255) return std::nullopt;
  }
  return scaled_channel{scale, -low, low >= -128 && high <= 127};
}

/// The largest weight is a whole number of at most 255 times the scale, rounded: each such scale is tried, with its
/// neighbours.
std::optional<scaled_channel> as_bytes(const panel& p, std::int64_t c) {
  constexpr int max_number = 255;
  float largest = 0;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    if (!std::isfinite(p.at(k, c))) return std::nullopt;
    largest = std::max(largest, std::fabs(p.at(k, c)));
  }
  if (largest == 0) return with_scale(p, c, 1);
  for (int number = 1; number <= max_number; ++number) {
    const float scale = largest / static_cast<float>(number);
    for (const float s : {scale, std::nextafter(scale, 0.0f), std::nextafter(scale, largest)}) {
      if (!(s >= std::numeric_limits<float>::min())) continue;
      if (const auto found = with_scale(p, c, s)) return found;
    }
  }
  return std::nullopt;
}

/// What `of` gives for each channel; nothing where it gives nothing for one.
template <class Of>
std::optional<std::vector<scaled_channel>> every_channel(const float* panels, std::int64_t channels, std::int64_t depth,
                                                         Of&& of) {
  std::vector<scaled_channel> found;
  bool all = true;
  for_each_panel(panels, channels, depth, [&](const panel& p) {
    for (std::int64_t c = 0; all && c < p.used; ++c) {
      const std::optional<scaled_channel> channel = of(p, c);
      all = channel.has_value();
      if (all) found.push_back(*channel);
    }
  });
  if (!all) return std::nullopt;
  return found;
}

/// Gives all channels the zero 128 where that fits each of them. Returns whether it does.
bool centre(std::vector<scaled_channel>& channels) {
  if (!std::all_of(channels.begin(), channels.end(), [](const scaled_channel& c) { return c.can_be_centred; }))
    return false;
  for (scaled_channel& c : channels) c.zero = 128;
  return true;
}

/// A channel as float16 times a power of two; nothing where a weight would not come back.
std::optional<scaled_channel> as_halves(const panel& p, std::int64_t c) {
  float largest = 0;
  for (std::int64_t k = 0; k < p.depth; ++k) largest = std::max(largest, std::fabs(p.at(k, c)));
  const auto fits = [&](float scale) {
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const float x = p.at(k, c);
      if (!is_half(x / scale) || bits_of(x / scale * scale) != bits_of(x)) return false;
    }
    return true;
  };
  if (fits(1)) return scaled_channel{1};
  if (!(largest >= min_scaled && std::isfinite(largest))) return std::nullopt;
  const float scale = scale_of_halves(largest);
  return fits(scale) ? std::optional(scaled_channel{scale}) : std::nullopt;
}

/// What tells the sizes of storages apart.
struct facts {
  std::uint64_t weights = 0, zeros = 0, mask_bytes = 0;
  bool halves = true;
};

facts facts_of(const float* panels, std::int64_t channels, std::int64_t depth) {
  facts f;
  for_each_panel(panels, channels, depth, [&](const panel& p) {
    f.weights += static_cast<std::uint64_t>(p.used * depth);
    f.mask_bytes += static_cast<std::uint64_t>((p.used + 7) / 8 * depth);
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t c = 0; c < p.used; ++c) {
        f.zeros += is_zero(p.at(k, c)) ? 1u : 0u;
        f.halves = f.halves && is_half(p.at(k, c));
      }
  });
  return f;
}

/// Writes numbers in one of the ways.
struct number_writer {
  const small_part& part;
  const std::vector<scaled_channel>& channels;
  std::vector<std::byte>& to;

  void append(const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    to.insert(to.end(), first, first + bytes);
  }
  void number(float x, std::size_t channel) {
    if (part.numbers == stored_number::float32) return append(&x, sizeof x);
    if (size_of(part.numbers) == 1) return to.push_back(std::byte{channels[channel].byte_of(x).value()});
    const float scale = part.numbers == stored_number::scaled_float16 ? channels[channel].scale : 1.0f;
    const std::uint16_t half = half_from_double(static_cast<double>(x / scale));
    append(&half, sizeof half);
  }
  void mask(const panel& p, std::int64_t k) {
    for (std::int64_t first = 0; first < p.used; first += 8) {
      unsigned bits = 0;
      for (std::int64_t c = first; c < std::min(first + 8, p.used); ++c)
        bits |= is_zero(p.at(k, c)) ? 0u : 1u << (c - first);
      to.push_back(static_cast<std::byte>(bits));
    }
  }
  void write(const panel& p, std::size_t first_channel) {
    append(p.bias, static_cast<std::size_t>(p.used) * sizeof(float));
    const auto channel = [&](std::int64_t c) -> const scaled_channel& {
      return channels[first_channel + static_cast<std::size_t>(c)];
    };
    const int heads = heads_of(part.numbers);
    for (std::int64_t c = 0; heads > 1 && c < p.used; ++c) append(&channel(c).scale, sizeof(float));
    for (std::int64_t c = 0; heads > 2 && c < p.used; ++c) append(&channel(c).zero, sizeof(float));
    for (std::int64_t k = 0; k < p.depth; ++k) {
      if (is_sparse(part)) mask(p, k);
      for (std::int64_t c = 0; c < p.used; ++c)
        if (!is_sparse(part) || !is_zero(p.at(k, c))) number(p.at(k, c), first_channel + static_cast<std::size_t>(c));
    }
  }
};

}

bool are_numbers(stored_number number, const float* panels, std::int64_t channels, std::int64_t depth) {
  switch (number) {
    case stored_number::float32: return true;
    case stored_number::float16: return facts_of(panels, channels, depth).halves;
    case stored_number::scaled_float16: return every_channel(panels, channels, depth, as_halves).has_value();
    case stored_number::byte:
    case stored_number::centred_byte: return every_channel(panels, channels, depth, as_bytes).has_value();
  }
  return false;
}

float scale_of_halves(float largest) { return std::ldexp(1.0f, std::ilogb(largest) - 14); }

void store_panels(const float* panels, std::int64_t channels, std::int64_t depth, small_part& part,
                  std::vector<std::byte>& stored) {
  const facts f = facts_of(panels, channels, depth);
  auto bytes = every_channel(panels, channels, depth, as_bytes);
  std::uint64_t min_bytes = std::numeric_limits<std::uint64_t>::max();
  const auto offer = [&](stored_number numbers) {
    const auto heads = static_cast<std::uint64_t>(heads_of(numbers));
    for (const bool sparse : {false, true}) {
      const std::uint64_t weights = sparse ? f.mask_bytes + (f.weights - f.zeros) * size_of(numbers)
                                           : f.weights * size_of(numbers),
                          size = weights + heads * static_cast<std::uint64_t>(channels) * sizeof(float);
      if (size >= min_bytes) continue;
      min_bytes = size;
      part.numbers = numbers;
      part.flags = sparse ? 1 : 0;
    }
  };
  offer(stored_number::float32);
  const auto halves = f.halves ? std::nullopt : every_channel(panels, channels, depth, as_halves);
  if (f.halves) offer(stored_number::float16);
  if (halves) offer(stored_number::scaled_float16);
  if (bytes) offer(centre(*bytes) ? stored_number::centred_byte : stored_number::byte);
  const std::size_t before = stored.size();
  stored.reserve(before + min_bytes);
  const std::vector<scaled_channel> none;
  const auto& scales = size_of(part.numbers) == 1 ? bytes : halves;
  number_writer writer{part, scales ? *scales : none, stored};
  std::size_t first_channel = 0;
  for_each_panel(panels, channels, depth, [&](const panel& p) {
    writer.write(p, first_channel);
    first_channel += static_cast<std::size_t>(p.used);
  });
  part.stored_bytes = stored.size() - before;
}

}
