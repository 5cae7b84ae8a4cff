// SPDX-License-Identifier: MIT
#include "draw/svg.hpp"

#include <algorithm>
#include <cmath>

#include "graph/names.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

/// A length without needless digits.
std::string number(double x) {
  std::string text = format_text("%.1f", x);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

std::string title_of(const std::string& title) { return title.empty() ? "" : "<title>" + xml_text(title) + "</title>"; }

}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : utf8_text(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  // U+FFFE and U+FFFF are UTF-8, but no characters of XML.
  for (std::size_t i = 0; (i = result.find("\xef\xbf", i)) != std::string::npos; i += 3)
    if (result[i + 2] >= '\xbe') result[i + 2] = '\xbd';
  return result;
}

std::string shade(double hue, double saturation, double lightness) {
  const double chroma = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue / 30, 12);
    return static_cast<int>(std::lround(255 * (lightness - chroma * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
  };
  return format_text("#%02x%02x%02x", channel(0), channel(8), channel(4));
}

void svg_page::rect(double x, double y, double width, double height, const std::string& attributes,
                    const std::string& title) {
  m_body += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
            number(height) + "\" " + attributes;
  m_body += title.empty() ? "/>\n" : ">" + title_of(title) + "</rect>\n";
}

void svg_page::line(double x1, double y1, double x2, double y2, const std::string& attributes) {
  m_body += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
            "\" " + attributes + "/>\n";
}

void svg_page::circle(double x, double y, double radius, const std::string& attributes, const std::string& title) {
  m_body += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) + "\" " + attributes +
            ">" + title_of(title) + "</circle>\n";
}

void svg_page::path(const std::string& data, const std::string& attributes) {
  m_body += "<path d=\"" + data + "\" " + attributes + "/>\n";
}

void svg_page::text(double x, double y, const std::string& words, const std::string& attributes) {
  m_body += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + attributes + ">" + xml_text(words) + "</text>\n";
}

std::string svg_page::done(double width, double height) const {
  const std::string w = number(width), h = number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " +
         h + "\">\n<style>\n" + m_style + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         m_body + "</svg>\n";
}

double axis_step(double length, int wanted) {
  const double rough = std::max(length, 1e-30) / std::max(wanted, 1),
               power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

}
