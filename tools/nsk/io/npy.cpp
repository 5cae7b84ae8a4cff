// SPDX-License-Identifier: MIT
#include "io/npy.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <utility>

#include "io/files.hpp"
#include "io/new_files.hpp"
#include "errors.hpp"
#include "graph/float16.hpp"
#include "io/layout.hpp"
#include "io/looks_like.hpp"

namespace nsk::tool {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_size = 6, longest_header = 64 * 1024, max_dimensions = 32;

/// What the header's Python dictionary says.
struct npy_header {
  std::string descr;
  bool fortran_order = false;
  shape_t shape;
};

/// Reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }.
class header_parser {
 public:
  header_parser(std::string text, std::string file) : m_text(std::move(text)), m_file(std::move(file)) {}

  npy_header parse() {
    npy_header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else
        broken("unknown key '" + key + "'");
      accept(',');
    }
    if (!has_descr || !has_order || !has_shape) broken("a key is missing");
    return header;
  }

 private:
  [[noreturn]] void broken(const std::string& why) const { refuse(m_file + ": damaged .npy header (" + why + ")"); }
  void skip() {
    while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n')) ++m_at;
  }
  bool accept(char c) {
    skip();
    if (m_at >= m_text.size() || m_text[m_at] != c) return false;
    ++m_at;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken(std::string("expected '") + c + "'");
  }

  std::string quoted() {
    skip();
    const char quote = m_at < m_text.size() ? m_text[m_at] : ' ';
    if (quote == '[') refuse(m_file + ": records are not supported; save one plain array");
    if (quote != '\'' && quote != '"') broken("expected a quoted string");
    const std::size_t end = m_text.find(quote, m_at + 1);
    if (end == std::string::npos) broken("a string has no end");
    std::string text = m_text.substr(m_at + 1, end - m_at - 1);
    m_at = end + 1;
    return text;
  }

  bool boolean() {
    skip();
    for (const bool value : {true, false}) {
      const std::string word = value ? "True" : "False";
      if (m_text.compare(m_at, word.size(), word) == 0) {
        m_at += word.size();
        return value;
      }
    }
    broken("expected True or False");
  }

  shape_t tuple() {
    shape_t shape;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t d = 0;
      const std::size_t first = m_at;
      for (; m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9'; ++m_at) {
        if (m_at - first > 15) broken("a dimension is too large");
        d = d * 10 + (m_text[m_at] - '0');
      }
      if (m_at == first) broken("expected a dimension");
      shape.push_back(d);
      if (shape.size() > max_dimensions) broken("more than 32 dimensions");
      accept(',');
    }
    return shape;
  }

  std::string m_text, m_file;
  std::size_t m_at = 0;
};

struct named_type {
  const char* descr;
  element type;
};
constexpr named_type types[] = {{"<f2", element::f16}, {"<f4", element::f32}, {"<f8", element::f64},
                                {"|i1", element::i8},  {"|u1", element::u8},  {"<i2", element::i16},
                                {"<u2", element::u16}, {"<i4", element::i32}, {"<u4", element::u32},
                                {"<i8", element::i64}, {"<u8", element::u64}, {"|b1", element::boolean}};

element type_of(std::string descr, const std::string& file) {
  if (descr == "<i1" || descr == "<u1" || descr == "<b1") descr[0] = '|';
  for (const named_type& t : types)
    if (descr == t.descr) return t.type;
  refuse(file + ": elements of type '" + descr +
         "' are not supported. Convert before saving, for example x.astype(numpy.float32)");
}

/// Makes row-major elements of column-major ones.
array from_fortran(array a) {
  std::reverse(a.shape.begin(), a.shape.end());
  std::vector<int> axes(a.shape.size());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return permuted(a, axes);
}

}

array read_npy(const std::string& file) {
  const std::vector<std::byte> bytes = read_file(file, "input", max_array_bytes);
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(std::to_integer<std::uint8_t>(bytes[i])); };
  if (bytes.size() < magic_size || std::memcmp(bytes.data(), magic, magic_size) != 0)
    refuse(file + ": not a .npy file (" + looks_like(bytes.data(), bytes.size()) + "). Save inputs with numpy.save");
  if (bytes.size() < 12) refuse(file + ": truncated .npy header");
  const std::size_t version = at(6);
  if (version < 1 || version > 3)
    refuse(file + ": .npy format version " + std::to_string(version) + " is not supported; save again with numpy.save");
  const std::size_t start = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? at(8) + (at(9) << 8) : at(8) + (at(9) << 8) + (at(10) << 16) + (at(11) << 24);
  if (length > longest_header) refuse(file + ": damaged .npy header (it claims " + std::to_string(length) + " bytes)");
  if (bytes.size() - start < length) refuse(file + ": truncated .npy header");
  const npy_header header =
      header_parser(std::string(reinterpret_cast<const char*>(bytes.data()) + start, length), file).parse();

  const element type = type_of(header.descr, file);
  const std::size_t have = bytes.size() - start - length;
  const auto expected = static_cast<std::size_t>(checked_count(header.shape, file)) * size_of(type);
  if (have != expected)
    refuse(file + ": " + (have < expected ? "truncated" : "too long") + ": shape " + to_string(header.shape) + " of " +
           name_of(type) + " takes " + std::to_string(expected) + " bytes, the file holds " + std::to_string(have));
  array result(type, header.shape);
  if (have != 0) std::memcpy(result.data.data(), bytes.data() + start + length, have);
  if (type == element::boolean)
    for (std::byte& b : result.data) b = b != std::byte{0} ? std::byte{1} : std::byte{0};
  if (header.fortran_order) result = from_fortran(std::move(result));
  if (type != element::f16) return result;
  array wide(element::f32, header.shape);
  for (std::int64_t i = 0; i < wide.count(); ++i) wide.as<float>()[i] = float_from_half(result.as<std::uint16_t>()[i]);
  return wide;
}

std::string npy_bytes(const std::string& path, const array& a) {
  const char* descr = nullptr;
  for (const named_type& t : types)
    if (t.type == a.type) descr = t.descr;
  if (descr == nullptr) refuse(path + ": an array of " + name_of(a.type) + " cannot be written as .npy");
  std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t d : a.shape) header += std::to_string(d) + (a.shape.size() == 1 ? "," : ", ");
  if (a.shape.size() > 1) header.resize(header.size() - 2);
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(magic, magic_size);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(a.data.data()), static_cast<std::size_t>(a.count()) * size_of(a.type));
  return bytes;
}

void write_npy(const std::string& path, const array& a) {
  new_files file;
  file.add(path, npy_bytes(path, a));
  file.commit();
}

}
