// SPDX-License-Identifier: MIT
#pragma once
/// Sound: samples of a WAV file as one channel of floats.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>
#include "support/file.hpp"

namespace example {

/// One channel of samples in [-1, 1].
struct sound {
  int rate = 0;  ///< samples per second
  std::vector<float> samples;
};

namespace impl {

/// Reads little-endian numbers of a file, never past its end.
class wave_reader {
 public:
  explicit wave_reader(const memory_block& file) : m_file(file) {}
  std::size_t left() const { return m_file.size() - m_at; }
  template <class T>
  T take() {
    T value{};
    if (left() < sizeof value) fail("the WAV file ends early");
    std::memcpy(&value, m_file.data() + m_at, sizeof value);
    m_at += sizeof value;
    return value;
  }
  void skip(std::size_t bytes) { m_at += bytes < left() ? bytes : left(); }
  const std::byte* here() const { return m_file.data() + m_at; }

 private:
  const memory_block& m_file;
  std::size_t m_at = 0;
};

constexpr std::uint32_t tag(const char (&text)[5]) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

/// How samples are stored.
struct wave_format {
  std::uint16_t coding = 0, channels = 0, bits = 0;
  std::uint32_t rate = 0;
};
constexpr std::uint16_t k_integers = 1, k_floats = 3, k_extended = 0xfffe;

inline wave_format read_format(wave_reader& r, std::size_t bytes) {
  wave_format f;
  if (bytes < 16) fail("the WAV file has a format chunk that is too short");
  f.coding = r.take<std::uint16_t>();
  f.channels = r.take<std::uint16_t>();
  f.rate = r.take<std::uint32_t>();
  r.skip(6);
  f.bits = r.take<std::uint16_t>();
  std::size_t rest = bytes - 16;
  if (f.coding == k_extended && rest >= 10) {
    r.skip(8);
    f.coding = r.take<std::uint16_t>();  // the coding begins the sub-format
    rest -= 10;
  }
  r.skip(rest + bytes % 2);
  const bool known = (f.coding == k_integers && (f.bits == 16 || f.bits == 24 || f.bits == 32)) ||
                     (f.coding == k_floats && f.bits == 32);
  if (!known || f.channels == 0 || f.rate == 0)
    fail("the WAV file is neither 16, 24 or 32 bit integers nor 32 bit floats; convert it, for example with sox");
  return f;
}

/// One sample as a number in [-1, 1].
inline float sample_at(const std::byte* at, const wave_format& f) {
  if (f.coding == k_floats) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, f.bits / 8U);
  const auto whole = static_cast<std::int32_t>(bits << (32U - f.bits));
  return static_cast<float>(whole) / 2147483648.0F;
}

}  // namespace impl

/// Reads a WAV file (PCM of 16, 24 or 32 bits, or floats; channels are averaged). Ends the program when it is another
/// file.
inline sound load_wave(const std::string& path) {
  using impl::tag;
  const memory_block file = read_file(path);
  impl::wave_reader r(file);
  if (file.size() < 12 || r.take<std::uint32_t>() != tag("RIFF") || (r.skip(4), r.take<std::uint32_t>() != tag("WAVE")))
    fail(path + " is no WAV file");
  impl::wave_format format;
  while (r.left() >= 8) {
    const auto name = r.take<std::uint32_t>();
    const std::size_t bytes = r.take<std::uint32_t>();
    if (name == tag("fmt ")) {
      format = impl::read_format(r, bytes);
    } else if (name == tag("data") && format.channels != 0) {
      const std::size_t one = format.bits / 8U, frame = one * format.channels;
      const std::size_t frames = (bytes < r.left() ? bytes : r.left()) / frame;
      sound s;
      s.rate = static_cast<int>(format.rate);
      for (std::size_t i = 0; i < frames; ++i) {
        float sum = 0;
        for (std::size_t c = 0; c < format.channels; ++c)
          sum += impl::sample_at(r.here() + i * frame + c * one, format);
        s.samples.push_back(sum / static_cast<float>(format.channels));
      }
      return s;
    } else {
      r.skip(bytes + bytes % 2);
    }
  }
  fail(path + " holds no samples");
}

/// Returns the sound at another rate, by linear interpolation; going down, samples are averaged first.
inline sound resampled(const sound& s, int rate) {
  if (s.rate == rate || s.samples.empty()) return s;
  const double step = static_cast<double>(s.rate) / rate;
  const auto at = [&](std::ptrdiff_t i) {
    const auto last = static_cast<std::ptrdiff_t>(s.samples.size()) - 1;
    return s.samples[static_cast<std::size_t>(i < 0 ? 0 : i > last ? last : i)];
  };
  const auto reach = static_cast<std::ptrdiff_t>(step / 2);
  sound result;
  result.rate = rate;
  const auto count = static_cast<std::size_t>(static_cast<double>(s.samples.size()) / step);
  for (std::size_t i = 0; i < count; ++i) {
    const double place = static_cast<double>(i) * step;
    const auto whole = static_cast<std::ptrdiff_t>(std::floor(place));
    const auto part = static_cast<float>(place - static_cast<double>(whole));
    float sum = 0;
    for (std::ptrdiff_t k = -reach; k <= reach; ++k) sum += at(whole + k) * (1 - part) + at(whole + k + 1) * part;
    result.samples.push_back(sum / static_cast<float>(2 * reach + 1));
  }
  return result;
}

}  // namespace example
