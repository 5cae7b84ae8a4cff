// SPDX-License-Identifier: MIT
#include "io/npy.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "errors.hpp"

namespace {

using namespace nsk::tool;
namespace fs = std::filesystem;

struct temporary_folder {
  fs::path path = fs::path(NSK_TEST_BINARY_DIR) / "npy_test";
  temporary_folder() { fs::create_directories(path); }
  ~temporary_folder() { fs::remove_all(path); }
};

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(dictionary.size());
  bytes += '\0';
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + dictionary + data;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

array read(const fs::path& folder, const std::string& bytes) {
  std::ofstream(folder / "a.npy", std::ios::binary) << bytes;
  return read_npy(folder / "a.npy");
}

std::string refusal(const fs::path& folder, const std::string& bytes) {
  try {
    read(folder, bytes);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}

TEST_CASE("arrays survive a round trip") {
  const temporary_folder folder;
  for (element t : {element::f32, element::f64, element::i8, element::u8, element::i16, element::u16, element::i32,
                    element::u32, element::i64, element::u64, element::boolean}) {
    for (const shape_t& shape : {shape_t{}, shape_t{3}, shape_t{2, 3}, shape_t{0, 5}}) {
      array a(t, shape);
      for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i % 2));
      write_npy(folder.path / "r.npy", a);
      const array b = read_npy(folder.path / "r.npy");
      CHECK(b.type == t);
      CHECK(b.shape == shape);
      CHECK(b.data == a.data);
    }
  }
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);  // no temporary file is left
}

TEST_CASE("what NumPy writes is read: versions, Fortran order, float16, scalars") {
  const temporary_folder folder;
  const array plain =
      read(folder.path, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", raw<float>({1, 2})));
  CHECK(plain.shape == shape_t{2, 1});
  CHECK(plain.number(1) == 2);
  // Column by column: [[1, 2, 3], [4, 5, 6]].
  const array fortran = read(folder.path, npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
                                              raw<std::int64_t>({1, 4, 2, 5, 3, 6}), 2));
  for (std::int64_t i = 0; i < 6; ++i) CHECK(fortran.integer(i) == i + 1);
  const array half =
      read(folder.path, npy("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", raw<std::uint16_t>({0xc100})));
  CHECK(half.type == element::f32);
  CHECK(half.number(0) == -2.5);
  CHECK(read(folder.path, npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\x07")).integer(0) == 1);
}

TEST_CASE("damaged files are refused with the reason") {
  const temporary_folder folder;
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", raw<float>({1, 2, 3, 4}));
  CHECK(refusal(folder.path, good).empty());
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO("length " << length);
    CHECK(!refusal(folder.path, good.substr(0, length)).empty());
  }
  CHECK(contains(refusal(folder.path, good.substr(0, good.size() - 1)),
                 "truncated: shape [2,2] of float32 takes 16 bytes, the file holds 15"));
  CHECK(contains(refusal(folder.path, good + "x"), "too long"));
  CHECK(contains(refusal(folder.path, "\x89PNG\r\n\x1a\n"), "PNG image"));
  CHECK(contains(refusal(folder.path, npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "aaaa")),
                 "'>f4' are not supported"));
  CHECK(
      contains(refusal(folder.path, npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "aaaa")),
               "records"));
  CHECK(contains(refusal(folder.path,
                         npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999), }", "")),
                 "2^40"));
  CHECK(contains(refusal(folder.path, npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", "aaaa")),
                 "True or False"));
  CHECK_THROWS_AS(read_npy(folder.path / "none.npy"), error);
}

TEST_CASE("writing where nothing can be written leaves nothing and says so") {
  const temporary_folder folder;
  CHECK_THROWS_AS(write_npy(folder.path / "missing" / "a.npy", make_floats({1}, {1})), error);
  CHECK(fs::is_empty(folder.path));
  if (fs::exists("/dev/full")) CHECK_THROWS_AS(write_npy("/dev/full", make_floats({1}, {1})), error);
}
