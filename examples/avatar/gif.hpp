// SPDX-License-Identifier: MIT
#pragma once
/// Writes animated GIFs (GIF89a): one palette for all frames, and LZW.
///
///   save_gif("clip.gif", frames, 4);     // images of one size, 4 hundredths of a second each, in a loop
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#include "avatar/palette.hpp"

namespace example {
namespace impl {

/// LZW with codes of 9 to 12 bits, in blocks of at most 255 bytes.
class lzw {
 public:
  explicit lzw(std::vector<std::uint8_t>& out) : m_out(out), m_next(4096 * 256) { reset(); }
  void add(std::uint8_t value) {
    if (m_prefix < 0) {
      m_prefix = value;
      return;
    }
    std::uint16_t& known = m_next[static_cast<std::size_t>(m_prefix) * 256 + value];
    if (known != 0) {
      m_prefix = known;
      return;
    }
    write(m_prefix);
    known = static_cast<std::uint16_t>(m_codes);
    if (m_codes == 1 << m_bits) ++m_bits;
    if (++m_codes == 4096) reset();
    m_prefix = value;
  }
  void finish() {
    write(m_prefix);
    if (m_codes == 1 << m_bits) ++m_bits;  // the reader counts this code, too
    write(257);
    if (m_held_bits > 0) put(static_cast<std::uint8_t>(m_held));
    flush();
    m_out.push_back(0);
  }

 private:
  void reset() {
    write(256);
    std::fill(m_next.begin(), m_next.end(), std::uint16_t{0});
    m_codes = 258;
    m_bits = 9;
  }
  void write(int code) {
    m_held |= static_cast<std::uint32_t>(code) << m_held_bits;
    for (m_held_bits += m_bits; m_held_bits >= 8; m_held_bits -= 8, m_held >>= 8U)
      put(static_cast<std::uint8_t>(m_held));
  }
  void put(std::uint8_t byte) {
    m_block.push_back(byte);
    if (m_block.size() == 255) flush();
  }
  void flush() {
    if (m_block.empty()) return;
    m_out.push_back(static_cast<std::uint8_t>(m_block.size()));
    m_out.insert(m_out.end(), m_block.begin(), m_block.end());
    m_block.clear();
  }
  std::vector<std::uint8_t>& m_out;
  std::vector<std::uint16_t> m_next;  ///< the code of a known sequence and one value more; 0: none
  std::vector<std::uint8_t> m_block;
  std::uint32_t m_held = 0;
  int m_held_bits = 0, m_bits = 9, m_codes = 0, m_prefix = -1;
};

/// A colour moved by up to half the distance of neighbouring colours, in a pattern of 4 x 4 pixels: gradients have no
/// steps.
inline std::array<std::uint8_t, 3> dithered(const std::uint8_t* rgb, int x, int y) {
  constexpr int pattern[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  const int move = (pattern[y & 3][x & 3] - 8) / 2;
  std::array<std::uint8_t, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(std::clamp(rgb[c] + move, 0, 255));
  return out;
}

}  // namespace impl

/// Writes images of one size as an animation that begins anew at its end; ends the program when it cannot.
inline void save_gif(const std::string& path, const std::vector<image>& frames, int hundredths) {
  const palette colors(frames);
  std::vector<std::uint8_t> out;
  const auto text = [&](const char* s, std::size_t n) { out.insert(out.end(), s, s + n); };
  const auto number = [&](int n) {
    out.push_back(static_cast<std::uint8_t>(n));
    out.push_back(static_cast<std::uint8_t>(n >> 8));
  };
  text("GIF89a", 6);
  number(frames.at(0).width);
  number(frames[0].height);
  text("\xf7\0\0", 3);  // a palette of 256 colours
  for (std::size_t k = 0; k < 256; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      out.push_back(k < colors.colors().size() ? static_cast<std::uint8_t>(colors.colors()[k][c]) : 0);
  text("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);  // again and again
  for (const image& f : frames) {
    text("\x21\xf9\x04\0", 4);
    number(hundredths);
    text("\0\0\x2c\0\0\0\0", 7);
    number(f.width);
    number(f.height);
    text("\0\x08", 2);
    impl::lzw data(out);
    for (int y = 0; y < f.height; ++y)
      for (int x = 0; x < f.width; ++x) data.add(colors(impl::dithered(f.at(x, y), x, y).data()));
    data.finish();
  }
  out.push_back(0x3b);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail("cannot write " + path);
  const bool written = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  if (std::fclose(file) != 0 || !written) fail("cannot write " + path);
}

}  // namespace example
