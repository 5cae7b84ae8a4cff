// SPDX-License-Identifier: MIT
// The OpenGL device in the middle of a game's own state.
#include <netsuke/image.hpp>

#include "../gl_support.hpp"

using namespace test;

namespace {

gl_functions load_functions() {
  static egl_functions egl;
  REQUIRE(egl.load());
  gl_functions gl;
  REQUIRE(gl.load([](const char* name) { return reinterpret_cast<void*>(egl.GetProcAddress(name)); }));
  return gl;
}

/// What a game may have set, wherever the device could rely on a default.
class foreign_state {
 public:
  explicit foreign_state(const gl_functions& functions) : gl(functions) {
    gl.GenBuffers(2, m_buffer);
    gl.GenTextures(1, &m_texture);
    gl.GenSamplers(1, &m_sampler);
    for (const GLuint b : m_buffer) {
      gl.BindBuffer(GL_COPY_WRITE_BUFFER, b);
      gl.BufferData(GL_COPY_WRITE_BUFFER, 1 << 16, nullptr, GL_STATIC_DRAW);
    }
    // Filters that a texture without mipmaps is incomplete for, and a comparison that colours do not have.
    gl.SamplerParameteri(m_sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, m_texture);
    gl.TexStorage2D(GL_TEXTURE_2D, 3, GL_RGBA8, 16, 16);
  }
  ~foreign_state() {
    gl.DeleteBuffers(2, m_buffer);
    gl.DeleteTextures(1, &m_texture);
    gl.DeleteSamplers(1, &m_sampler);
    for (const GLenum name : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_PIXELS, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS})
      gl.PixelStorei(name, 0);
  }
  foreign_state(const foreign_state&) = delete;
  foreign_state& operator=(const foreign_state&) = delete;

  void set() {
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, m_texture);
    gl.BindSampler(0, m_sampler);
    gl.BindImageTexture(0, m_texture, 1, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    gl.ActiveTexture(GL_TEXTURE3);
    gl.BindTexture(GL_TEXTURE_2D, m_texture);
    for (GLuint i = 0; i < 4; ++i) gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, i, m_buffer[0]);
    gl.BindBufferBase(GL_UNIFORM_BUFFER, 0, m_buffer[1]);
    for (const GLenum target :
         {GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER})
      gl.BindBuffer(target, m_buffer[0]);
    for (const GLenum name : {GL_UNPACK_ROW_LENGTH, GL_PACK_ROW_LENGTH}) gl.PixelStorei(name, 37);
    for (const GLenum name : {GL_UNPACK_SKIP_PIXELS, GL_PACK_SKIP_PIXELS}) gl.PixelStorei(name, 2);
    gl.UseProgram(0);
  }

 private:
  const gl_functions& gl;
  GLuint m_buffer[2] = {0, 0}, m_texture = 0, m_sampler = 0;
};

/// The arena after a frame went from a texture through the network, and the frame read back.
struct run_result {
  aligned_bytes arena;
  std::vector<std::uint8_t> frame;
};

/// Calls `disturb` before every call of the device or the session that a game would make.
template <class Device, class F>
run_result run_network(Device& device, F&& disturb) {
  constexpr int side = 8;
  std::vector<std::uint8_t> frame(side * side * 4);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(i * 37 % 251);
  const aligned_bytes file = make_cnn().plan.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  disturb();
  headless<Device> net(device);
  nsk::gpu::plan_settings how;
  how.texture_inputs = true;
  REQUIRE(net.open(model, 0, how));
  typename Device::texture shown;
  disturb();
  REQUIRE(device.create_texture(side, side, shown));
  disturb();
  REQUIRE(device.write(shown, frame.data()));
  disturb();
  REQUIRE(net.session().write_input(device.begin(), 0, shown, side, side, {}));
  disturb();
  REQUIRE(net.session().record(device.begin()));
  disturb();
  REQUIRE(device.submit());
  run_result r{aligned_bytes(net.plan().required_arena_bytes()), std::vector<std::uint8_t>(frame.size())};
  disturb();
  REQUIRE(device.read(net.arena(), 0, r.arena.data(), r.arena.size()));
  disturb();
  REQUIRE(device.read(shown, r.frame.data()));
  CHECK(r.frame == frame);
  device.destroy(shown);
  return r;
}

}

TEST_CASE("OpenGL: a game's own state changes no bit of an inference") {
  auto* const device = gl();
  if (!device) return;
  const run_result wanted = run_network(*device, [] {});
  const gl_functions functions = load_functions();
  foreign_state state(functions);
  const run_result got = run_network(*device, [&] { state.set(); });
  CHECK(std::memcmp(wanted.arena.data(), got.arena.data(), wanted.arena.size()) == 0);
  CHECK(device->messages.empty());
}

TEST_CASE("OpenGL: a device uses the context that a game has made current") {
  auto* const device = gl();
  if (!device) return;
  const run_result wanted = run_network(*device, [] {});
  static egl_functions egl;
  REQUIRE(egl.load());
  gl_device second(gl_language::glsl_430);
  REQUIRE(second.open_current([](const char* name) { return reinterpret_cast<void*>(egl.GetProcAddress(name)); }) ==
          "");
  CHECK(second.language() == device->language());
  const run_result got = run_network(second, [] {});
  CHECK(std::memcmp(wanted.arena.data(), got.arena.data(), wanted.arena.size()) == 0);
}

TEST_CASE("OpenGL: more dispatches than there are slots for constants") {
  auto* const device = gl();
  if (!device) return;
  both<shared_pipelines<gl_test_device>> net(*device);
  REQUIRE(net.open(make_cnn().plan) == "");
  net.fill_inputs(3);
  net.copy_arena();
  for (int i = 0; i < 700; ++i) REQUIRE(net.gpu().session().record(device->begin()));
  CHECK(net.run().relative() <= 1e-5);
}

TEST_CASE("OpenGL: what cannot be made has a status, and a reason where a compiler has one") {
  auto* const device = gl();
  if (!device) return;
  gl_device::buffer huge;
  const nsk::gpu::status s = device->create_buffer(std::size_t{1} << 50, false, huge);
  CHECK(s.code() == nsk::gpu::status_code::out_of_memory);
  CHECK(huge.handle == 0);
  nsk::gpu::pipeline_key unknown;
  unknown.kernel = static_cast<nsk::gpu::kernel>(255);
  gl_device::pipeline made = 0;
  CHECK(device->create_pipeline(unknown, made).code() == nsk::gpu::status_code::pipeline_refused);
  CHECK(made == 0);
  CHECK(device->messages.size() == 1);
  device->messages.clear();
}
