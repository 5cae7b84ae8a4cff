// SPDX-License-Identifier: MIT
#include "io/files.hpp"

#include <algorithm>

#include "errors.hpp"
#include "io/system/files.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {

constexpr int patience = 10'000;  ///< milliseconds that a pipe may give nothing
constexpr std::size_t read_size = std::size_t{1} << 20;

std::string bytes_of(std::uint64_t bytes) {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  return std::to_string(bytes / mebi) + " MiB";
}

}

std::vector<std::byte> read_file(const std::string& path, std::string_view what, std::uint64_t maximum) {
  const std::string subject = std::string(what) + " '" + path + "'";
  input_file file(path);
  const file_status& found = file.status();
  if (file.error() != 0) refuse("cannot read " + subject + ": " + reason_of(file.error()) + ". Check the path.");
  if (found.kind == file_kind::directory) refuse(subject + " is a directory; give a file.");
  if (found.kind == file_kind::device) refuse(subject + " is a device; give a file.");
  const bool is_file = found.kind == file_kind::regular;
  if (!is_file) maximum = std::min(maximum, max_pipe_bytes);
  const auto too_large = [&] {
    refuse(subject + " has more than " + bytes_of(maximum) +
           (is_file ? ", the maximum of such a file." : ", the maximum of a pipe. Write it to a file first."));
  };
  if (is_file && found.bytes > maximum) too_large();
  std::vector<std::byte> bytes(is_file ? static_cast<std::size_t>(found.bytes) + 1 : 0);  // one more than it should
  for (std::size_t size = 0;;) {
    if (!is_file && !file.await(patience))
      refuse(subject + " is a pipe that gave nothing for " + std::to_string(patience / 1000) +
             " seconds. Write it to a file first.");
    if (size == bytes.size()) bytes.resize(size + read_size);
    std::size_t count = 0;
    if (const int code = file.read(bytes.data() + size, bytes.size() - size, count))
      refuse("cannot read " + subject + ": " + reason_of(code) + ".");
    if (count == 0) {
      bytes.resize(size);
      return bytes;
    }
    size += count;
    if (size > maximum) too_large();
  }
}

std::filesystem::path file_inside(const std::filesystem::path& folder, const std::string& name,
                                  const std::string& what) {
  namespace fs = std::filesystem;
  const fs::path given = path_of(name);
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, failed);
  const fs::path file = fs::weakly_canonical(whole / given, failed);
  const bool inside = std::mismatch(whole.begin(), whole.end(), file.begin(), file.end()).first == whole.end();
  if (given.empty() || given.is_absolute() || !inside)
    refuse(what + " '" + name +
           "' is outside the model's folder. Put the file beside the model and save the model again");
  if (!fs::is_regular_file(file, failed))
    refuse(what + " '" + name + "' is missing. Put it beside the model, in " + utf8_of(whole));
  return file;
}

std::string file_name_of(const std::string& name) {
  std::string result = name.substr(0, max_file_name);
  for (char& c : result) {
    const bool kept =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return result;
}

}
