// SPDX-License-Identifier: MIT
// What the page calls: faces in an image, and a frame of 320 x 180 pixels enlarged to 640 x 360. Compiled to
// WebAssembly it imports nothing; memory belongs to the page. build.sh compiles it for this machine too, to compare
// hashes.
#include <netsuke/netsuke.hpp>
#include <new>
#include "faces.hpp"
#include "settings.hpp"

#if defined(__wasm__)
#define EXPORT(name) extern "C" __attribute__((export_name(#name), used))
#else
#define EXPORT(name) extern "C"
#endif

namespace {

/// A network that is opened once: model and session in static memory.
template <class Settings>
class network {
 public:
  /// Returns the bytes of memory that begin() wants, aligned to 64, or 0 where the file is refused.
  std::size_t open(const std::byte* file, std::size_t bytes) {
    const nsk::status s = nsk::open({file, bytes}, m_model);
    return s ? static_cast<std::size_t>(m_model.required_bytes()) : 0;
  }
  bool begin(std::byte* memory) {
    const auto* s = new (m_bytes) session(m_model, {memory, static_cast<std::size_t>(m_model.required_bytes())});
    return static_cast<bool>(s->status());
  }
  nsk::session<Settings>& net() { return *std::launder(reinterpret_cast<session*>(m_bytes)); }

 private:
  using session = nsk::session<Settings>;
  nsk::model m_model;
  alignas(session) unsigned char m_bytes[sizeof(session)];
};

constexpr int k_square = 128, k_frame_width = 320, k_frame_height = 180;

network<face_settings> g_detector;
network<upscaler_settings> g_upscaler;
web::face_finder g_finder;

/// FNV-1a of all outputs.
template <class Session>
std::uint64_t hash_of(const Session& net) {
  std::uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < net.output_count(); ++i)
    for (const std::byte b : net.output_bytes(i)) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211u;
  return hash;
}

nsk::image_view view_of(const std::uint8_t* rgba, int width, int height) {
  return {rgba, width, height, std::ptrdiff_t{4} * width, nsk::pixel_format::rgba8};
}

}  // namespace

/// Whether this engine runs the module, with the bits of other machines.
EXPORT(supported) int supported() { return nsk::cpu_supports() ? 1 : 0; }

EXPORT(open_detector) std::size_t open_detector(const std::byte* file, std::size_t bytes) {
  return g_detector.open(file, bytes);
}
EXPORT(begin_detector) int begin_detector(std::byte* memory) { return g_detector.begin(memory); }
EXPORT(open_upscaler) std::size_t open_upscaler(const std::byte* file, std::size_t bytes) {
  return g_upscaler.open(file, bytes);
}
EXPORT(begin_upscaler) int begin_upscaler(std::byte* memory) { return g_upscaler.begin(memory); }

/// Finds faces in an image of RGBA pixels; returns how many. `minimum` is a logit.
EXPORT(find_faces) int find_faces(const std::uint8_t* rgba, int width, int height, float minimum) {
  auto& net = g_detector.net();
  nsk::image_settings how;
  how.fit = nsk::image_fit::letterbox;
  how.scale = nsk::channel_scale::to_symmetric();
  const nsk::image_map map =
      nsk::image_to_tensor(view_of(rgba, width, height), how, net.input<float>(0), k_square, k_square);
  net.run();
  const auto numbers = [&](int i) { return net.output<float>(i).data(); };
  return g_finder.find(numbers(0), numbers(2), numbers(1), numbers(3), map, minimum);
}
/// The faces that find_faces() found, best first: web::face each.
EXPORT(faces) const web::face* faces() { return g_finder.faces(); }
EXPORT(detector_hash) std::uint64_t detector_hash() { return hash_of(g_detector.net()); }

/// Shows the upscaler the middle of an image, shrunk to a frame, and gives that frame as RGBA pixels.
EXPORT(show_frame) void show_frame(const std::uint8_t* rgba, int width, int height, std::uint8_t* frame) {
  auto& net = g_upscaler.net();
  nsk::image_settings how;
  how.fit = nsk::image_fit::crop;
  nsk::image_to_tensor(view_of(rgba, width, height), how, net.input<float>(0), k_frame_height, k_frame_width);
  nsk::tensor_to_image(
      net.input<float>(0), {},
      {frame, k_frame_width, k_frame_height, std::ptrdiff_t{4} * k_frame_width, nsk::pixel_format::rgba8});
}
/// Computes tiles of up to so many multiply-adds, at least one; returns whether the frame is complete.
EXPORT(upscale_some) int upscale_some(int macs) {
  return g_upscaler.net().run_for(nsk::work{static_cast<std::uint64_t>(macs)}) ? 1 : 0;
}
/// Writes the enlarged frame as RGBA pixels.
EXPORT(take_frame) void take_frame(std::uint8_t* frame) {
  nsk::tensor_to_image(
      g_upscaler.net().output<float>(0), {},
      {frame, 2 * k_frame_width, 2 * k_frame_height, std::ptrdiff_t{8} * k_frame_width, nsk::pixel_format::rgba8});
}
EXPORT(upscaler_hash) std::uint64_t upscaler_hash() { return hash_of(g_upscaler.net()); }
