// SPDX-License-Identifier: MIT
#pragma once
/// The devices of examples/devices that this machine's headers allow, by name, and a count of what is asked of them.
#include <string>
#include "devices/headless.hpp"
#if __has_include(<vulkan/vulkan.h>)
#include "devices/vulkan.hpp"
#endif
#if __has_include(<EGL/egl.h>) && __has_include(<GL/glcorearb.h>)
#include "devices/gl.hpp"
#endif
#include "support/must.hpp"

namespace example {

/// Returns the number of the variant that nsk convert --gpu adds; 0, which the CPU runs too, where there is none.
inline int gpu_variant(const nsk::model& model) {
  for (int i = 0; i < model.variant_count(); ++i)
    if (std::string(model.variant(i).profile()) == "gpu") return i;
  return 0;
}

/// A device that counts what is recorded, and every byte that passes between the CPU and the device.
template <class Device>
struct counted_device : Device {
  using Device::Device;
  using status = nsk::gpu::status;
  using typename Device::buffer;
  using typename Device::list;
  using typename Device::pipeline;
  using typename Device::texture;

  struct counts {
    int dispatches = 0, barriers = 0, submits = 0, uploads = 0, read_backs = 0;
    std::size_t upload_bytes = 0, read_back_bytes = 0;
  } count;

  void bind(list& l, const nsk::gpu::bindings<counted_device>& b) {
    Device::bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int n, const std::uint32_t (&groups)[3]) {
    ++count.dispatches;
    Device::dispatch(l, p, constants, n, groups);
  }
  void barrier(list& l) {
    ++count.barriers;
    Device::barrier(l);
  }

  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
    return add_upload(bytes), Device::write(to, offset, from, bytes);
  }
  status write(texture& to, const void* rgba) {
    return add_upload(std::size_t{4} * to.width * to.height), Device::write(to, rgba);
  }
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
    return add_read_back(bytes), Device::read(from, offset, to, bytes);
  }
  status read(const texture& from, void* rgba) {
    return add_read_back(std::size_t{4} * from.width * from.height), Device::read(from, rgba);
  }
  status submit() { return ++count.submits, Device::submit(); }

 private:
  void add_upload(std::size_t bytes) {
    ++count.uploads;
    count.upload_bytes += bytes;
  }
  void add_read_back(std::size_t bytes) {
    ++count.read_backs;
    count.read_back_bytes += bytes;
  }
};

/// Opens a device and calls f with it; ends the program where this machine has none of that name.
template <class F>
void with_device(const std::string& name, F&& f) {
  [[maybe_unused]] const auto use = [&f](auto& device) {
    if (const std::string missing = device.open(); !missing.empty()) fail(missing);
    f(device);
  };
#if __has_include(<vulkan/vulkan.h>)
  if (counted_device<vulkan_device> device; name == "vulkan") return use(device);
#endif
#if __has_include(<EGL/egl.h>) && __has_include(<GL/glcorearb.h>)
  if (counted_device<gl_device> device(gl_language::glsl_430); name == "gl") return use(device);
  if (counted_device<gl_device> device(gl_language::essl_310); name == "gles") return use(device);
#endif
  fail("there is no device '" + name +
       "' in this program; the headers of libvulkan-dev bring vulkan, those of libgl-dev and libegl-dev gl and gles");
}

}  // namespace example
