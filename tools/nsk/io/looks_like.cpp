// SPDX-License-Identifier: MIT
#include "io/looks_like.hpp"

#include <cstring>
#include <string_view>

namespace nsk::tool {
namespace {

struct signature {
  std::size_t offset;
  std::string_view bytes;
  const char* name;
};
constexpr signature signatures[] = {
    {0, "\x89PNG", "a PNG image"},
    {0, "\xff\xd8\xff", "a JPEG image"},
    {0, "GIF8", "a GIF image"},
    {0, "RIFF", "a RIFF file (WAV, WebP)"},
    {0, "PK\x03\x04", "a zip archive (a PyTorch checkpoint, a .npz or a Core ML package)"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0, "\x93NUMPY", "a NumPy array (.npy)"},
    {0, "\x89HDF", "an HDF5 file (Keras)"},
    {4, "TFL3", "a TensorFlow Lite model"},
    {4, "ORTM", "an ONNX Runtime .ort model"},
    {0, "GGUF", "a GGUF model"},
    {0,
     "\x7f"
     "ELF",
     "a program"},
    {0, "%PDF", "a PDF document"},
    {0, "NSKMODEL", "a converted netsuke model (.nsk)"},
    {0, "\x80\x02", "a Python pickle (a PyTorch checkpoint)"},
    {0, "version https://git-lfs", "a Git LFS pointer (run git lfs pull)"},
    {0, "<", "an HTML or XML text"},
    {0, "{", "a JSON text"}};

}

std::string looks_like(const std::byte* bytes, std::size_t size) {
  if (size == 0) return "it is empty";
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const signature& s : signatures)
    if (size >= s.offset && text.compare(s.offset, s.bytes.size(), s.bytes) == 0 && size >= s.offset + s.bytes.size())
      return std::string("it looks like ") + s.name;
  std::string result = "it begins with the bytes";
  for (std::size_t i = 0; i < size && i < 8; ++i) {
    constexpr char digits[] = "0123456789abcdef";
    const auto b = std::to_integer<unsigned>(bytes[i]);
    result += {' ', digits[b >> 4], digits[b & 15]};
  }
  return result;
}

}
