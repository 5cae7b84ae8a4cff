// SPDX-License-Identifier: MIT
#pragma once
/// An image in SVG, written element by element. Lengths are pixels, y grows downwards.
#include <string>
#include <string_view>

namespace nsk::tool {

/// Returns text with the characters that XML reserves replaced; control characters become spaces, bytes that are no
/// UTF-8 U+FFFD.
std::string xml_text(std::string_view text);

/// Shade of a hue in [0, 360): "#aabbcc". Lightness and saturation in [0, 1].
std::string shade(double hue, double saturation, double lightness);

class svg_page {
 public:
  /// `style` is CSS for the classes that the elements name.
  explicit svg_page(std::string style) : m_style(std::move(style)) {}

  /// A rectangle; `attributes` are written as they are (class="...", fill="..."). With a title, a viewer shows it on
  /// hover.
  void rect(double x, double y, double width, double height, const std::string& attributes,
            const std::string& title = {});
  void line(double x1, double y1, double x2, double y2, const std::string& attributes);
  void circle(double x, double y, double radius, const std::string& attributes, const std::string& title = {});
  void path(const std::string& data, const std::string& attributes);
  /// Text at a base line. Width estimates of text: about 0.6 of the font size per character.
  void text(double x, double y, const std::string& words, const std::string& attributes);

  /// The whole file.
  std::string done(double width, double height) const;

 private:
  std::string m_style, m_body;
};

/// A round step for an axis of `length` with about `wanted` marks: 1, 2 or 5 times a power of ten.
double axis_step(double length, int wanted);

}
