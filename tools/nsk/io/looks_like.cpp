// SPDX-License-Identifier: MIT
#include "io/looks_like.hpp"

#include <cstring>
#include <string_view>

namespace nsk::tool {
namespace {

struct signature {
  std::size_t offset;
  std::string_view bytes;
  const char *name, *cure;  ///< what to do where a source model was wanted; none for those that are one
};
constexpr const char* image_cure =
    "Give the model first; images are samples: nsk quantize MODEL --calibrate FOLDER, or become arrays for nsk run";
constexpr const char* torch_cure = "Export it: torch.onnx.export(model, inputs, 'model.onnx')";
constexpr signature signatures[] = {
    {0, "\x89PNG", "a PNG image", image_cure},
    {0, "\xff\xd8\xff", "a JPEG image", image_cure},
    {0, "GIF8", "a GIF image", image_cure},
    {0, "RIFF", "a RIFF file (WAV, WebP)", "Give the model first; images and sounds become arrays for nsk run"},
    {0, "PK\x03\x04", "a zip archive (a PyTorch checkpoint, a .npz or a Core ML package)",
     "Unpack it, or export the model that it holds as ONNX"},
    {0, "\x1f\x8b", "a gzip archive", "Unpack it first: gunzip"},
    {0, "\x93NUMPY", "a NumPy array (.npy)",
     "Give the model first; arrays are inputs: nsk run MODEL.nsk --input NAME=FILE.npy"},
    {0, "\x89HDF", "an HDF5 file (Keras)", "Export it: tf.lite.TFLiteConverter.from_keras_model(model).convert()"},
    {4, "TFL3", "a TensorFlow Lite model", nullptr},
    {4, "ORTM", "an ONNX Runtime .ort model", "Convert the .onnx that it was made from"},
    {0, "GGUF", "a GGUF model", "Export the model as ONNX"},
    {0, "\177ELF", "a program", "Give an ONNX or TensorFlow Lite model"},
    {0, "%PDF", "a PDF document", "Give an ONNX or TensorFlow Lite model"},
    {0, "NSKMODEL", "a converted netsuke model (.nsk)",
     "It needs no conversion: nsk inspect shows it, nsk run runs it; to change it convert its source again"},
    {0, "\x80\x02", "a Python pickle (a PyTorch checkpoint)", torch_cure},
    {0, "version https://git-lfs", "a Git LFS pointer", "Fetch the file itself: git lfs pull"},
    {0, "<", "an HTML or XML text", "Download the file itself: this is a page about it"},
    {0, "{", "a JSON text", nullptr}};

/// The signature that the bytes have; null where they have none.
const signature* signature_of(const std::byte* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const signature& s : signatures)
    if (size >= s.offset + s.bytes.size() && text.compare(s.offset, s.bytes.size(), s.bytes) == 0) return &s;
  return nullptr;
}

}

std::string no_source_model(const std::byte* bytes, std::size_t size) {
  const signature* const s = signature_of(bytes, size);
  return s != nullptr && s->cure != nullptr ? "is " + std::string(s->name) + ", no source model. " + s->cure : "";
}

std::string looks_like(const std::byte* bytes, std::size_t size) {
  if (size == 0) return "it is empty";
  if (const signature* const s = signature_of(bytes, size)) return std::string("it looks like ") + s->name;
  std::string result = "it begins with the bytes";
  for (std::size_t i = 0; i < size && i < 8; ++i) {
    constexpr char digits[] = "0123456789abcdef";
    const auto b = std::to_integer<unsigned>(bytes[i]);
    result += {' ', digits[b >> 4], digits[b & 15]};
  }
  return result;
}

}
