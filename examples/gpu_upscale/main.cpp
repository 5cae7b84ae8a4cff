// SPDX-License-Identifier: MIT
// A game renders a scene at half the resolution; a network doubles every frame on the GPU, texture to texture.
//   gpu_upscale MODEL.nsk [--budget MMAC] [--frames N]                               a window; space: network or
//   bilinear gpu_upscale MODEL.nsk --frames N -o PREFIX [--device gl|gles] [--budget MMAC]    no window:
//   PREFIX_0001.png ...
// The model's input is the scene's size: nsk convert upscaler_x2.onnx -o m.nsk --gpu --input frame=1x3x180x320
// --budget: million multiply-accumulates of the network per frame; an inference then takes several frames.
#include <cstdlib>
#include "gpu_upscale/scene.hpp"
#include "gpu_upscale/upscaler.hpp"
#include "support/command_line.hpp"
#include "support/image.hpp"
#if defined(EXAMPLE_HAS_SDL2)
#include "gpu_upscale/window.hpp"
#endif

using namespace example;

struct options {
  std::string model, prefix, device;
  int frames;  ///< 0: until the window is closed
  nsk::work budget;
};

static options read_options(int argc, char** argv) {
  const command_line given(argc, argv,
                           "gpu_upscale MODEL.nsk [--budget MMAC] [--frames N]\n"
                           "       gpu_upscale MODEL.nsk --frames N -o PREFIX [--device gl|gles] [--budget MMAC]",
                           {"--budget", "--frames", "-o", "--device"}, 1, 1);
  const int frames = std::atoi(given.value("--frames", "0").c_str());
  const double budget = std::atof(given.value("--budget", "0").c_str());
  const options o{given.words()[0],
                  given.value("-o", ""),
                  given.value("--device", "gl"),
                  frames,
                  {budget > 0 ? static_cast<std::uint64_t>(budget * 1e6) : std::numeric_limits<std::uint64_t>::max()}};
  if (!o.prefix.empty() && o.frames <= 0) fail("gpu_upscale: images (-o) need a number of frames (--frames)");
  return o;
}

/// Textures of a frame: the scene, and behind it the network.
template <class Device>
struct renderer {
  Device& device;
  scene game;
  texture_upscaler<Device> network;
  typename Device::texture low{};

  renderer(Device& d, gl_functions::finder find, const nsk::model& model)
      : device(d), game(find, d.language()), network(d, model) {
    must(device.create_texture(static_cast<std::uint32_t>(network.width()),
                               static_cast<std::uint32_t>(network.height()), low));
  }
  ~renderer() { device.destroy(low); }
  renderer(const renderer&) = delete;
  renderer& operator=(const renderer&) = delete;
};

template <class Device>
void save_texture(Device& device, const typename Device::texture& from, const std::string& path) {
  image out(static_cast<int>(from.width), static_cast<int>(from.height));
  std::vector<std::uint8_t> rgba(out.rgb.size() / 3 * 4);
  must(device.read(from, rgba.data()));
  for (std::size_t i = 0; i < out.rgb.size(); ++i) out.rgb[i] = rgba[i / 3 * 4 + i % 3];
  save_png(path, out);
}

/// Renders frames without a window and writes the scene and what the network makes of it, when it is complete.
template <class Device>
void write_frames(renderer<Device>& r, const options& o) {
  int dispatches = 0, uploads = 0, read_backs = 0, complete = 0;
  for (int frame = 0, shown = 0; frame < o.frames; ++frame) {
    char number[16];
    std::snprintf(number, sizeof number, "_%04d.png", frame + 1);
    r.device.count = {};
    r.game.render(r.low, frame / 30.0);
    const bool starts = r.network.starts();
    const bool done = r.network.record(r.device.begin(), r.low, o.budget);
    must(r.device.submit());
    dispatches += r.device.count.dispatches;
    uploads += r.device.count.uploads;
    read_backs += r.device.count.read_backs;
    if (starts) shown = frame + 1, save_texture(r.device, r.low, o.prefix + "_low" + number);
    if (!done) continue;
    std::snprintf(number, sizeof number, "_%04d.png", shown);
    save_texture(r.device, r.network.result(), o.prefix + number);
    ++complete;
  }
  std::printf(
      "%s%s: %d frames of %d x %d, %d of them enlarged; between the textures %d dispatches, %d uploads, %d "
      "read-backs\n",
      r.device.name(), r.device.is_software() ? " (software)" : "", o.frames, r.network.width(), r.network.height(),
      complete, dispatches, uploads, read_backs);
}

static void run_without_window(const options& o, const nsk::model& model) {
  static egl_functions egl;
  if (!egl.load()) fail("there is no EGL library (libEGL.so.1)");
  if (o.device != "gl" && o.device != "gles") fail("gpu_upscale: the scene is rendered by gl or gles");
  counted_device<gl_device> device(o.device == "gl" ? gl_language::glsl_430 : gl_language::essl_310);
  if (const std::string missing = device.open(); !missing.empty()) fail(missing);
  renderer r(
      device, [](const char* name) { return reinterpret_cast<void*>(egl.GetProcAddress(name)); }, model);
  write_frames(r, o);
}

#if defined(EXAMPLE_HAS_SDL2)
/// The game loop: render, record the network's share, show, and never wait for the GPU.
static void run_in_window(const options& o, const nsk::model& model) {
  const nsk::span<const std::int32_t> shape = model.variant().input(0).shape();
  window w("netsuke", 4 * shape[2], 4 * shape[1]);
  counted_device<gl_device> device;
  if (const std::string missing = device.open_current(window::find); !missing.empty()) fail(missing);
  renderer r(device, window::find, model);
  gpu_timer timer(window::find);
  bool with_network = true, complete = false;
  device.count = {};
  for (int frame = 0; o.frames == 0 || frame < o.frames; ++frame) {
    bool pressed = false;
    if (!w.handle_events(pressed)) break;
    with_network = with_network != pressed;
    r.game.render(r.low, w.seconds());
    if (with_network) {
      timer.begin();
      complete = r.network.record(device.begin(), r.low, o.budget) || complete;
      timer.end();
    }
    int width = 0, height = 0;
    w.size(width, height);
    r.game.show(with_network && complete ? r.network.result() : r.low, width, height);
    w.swap();
    if (frame % 15 == 14) {
      char title[160];
      std::snprintf(title, sizeof title, "netsuke: %d x %d, %s, %.2f ms of the GPU per frame (space: %s)%s",
                    r.network.width(), r.network.height(), with_network ? "network" : "bilinear", timer.milliseconds(),
                    with_network ? "bilinear" : "network", device.is_software() ? " - software driver" : "");
      w.set_title(title);
    }
  }
  std::printf("%s: %d dispatches, %d uploads, %d read-backs\n", device.name(), device.count.dispatches,
              device.count.uploads, device.count.read_backs);
}
#else
static void run_in_window(const options&, const nsk::model&) {
  fail("gpu_upscale was built without SDL2 (libsdl2-dev) and has no window; write images: --frames 3 -o out/upscaled");
}
#endif

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const memory_block file = read_file(o.model);
  nsk::model model;
  if (const nsk::status s = nsk::open(file, model); !s) fail(o.model + ": " + s.message());
  check_upscaler(model.variant(), o.model);
  o.prefix.empty() ? run_in_window(o, model) : run_without_window(o, model);
}
