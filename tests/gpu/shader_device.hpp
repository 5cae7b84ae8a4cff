// SPDX-License-Identifier: MIT
#pragma once
/// A device for nsk::gpu whose shaders are C++: no driver, every access checked. Lists run while they are recorded.
#include <memory>

#include <doctest/doctest.h>

#include "shader_runtime.hpp"
#include "support.hpp"

namespace test {

/// The kernels as C++, by number: shader_bodies.cpp.
nsk_shader::kernel_body body_of(nsk::gpu::kernel k);

class shader_device {
 public:
  struct list {};
  using buffer = nsk_shader::memory*;
  struct texture {
    nsk_shader::texture* texels = nullptr;
    std::uint32_t width = 0, height = 0;
  };
  using pipeline = nsk::gpu::pipeline_key;
  using status = nsk::gpu::status;

  bool reversed = false;  ///< threads run from the last to the first

  nsk::gpu::limits limits() const { return {}; }
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) { return made = key, status(); }
  void destroy_pipeline(pipeline) {}
  void bind(list&, const nsk::gpu::bindings<shader_device>& b) {
    nsk_shader::W4.bind(b.weights);
    nsk_shader::W.bind(b.weights);
    nsk_shader::A4.bind(b.arena);
    nsk_shader::A.bind(b.arena);
    nsk_shader::read_texture = b.read_texture.texels;
    nsk_shader::written_texture = b.written_texture.texels;
  }
  void dispatch(list&, const pipeline& p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    nsk_shader::uint* const value[] = {&nsk_shader::FUNCTION, &nsk_shader::RESIDUAL, &nsk_shader::INPUT4,
                                       &nsk_shader::MODE,     &nsk_shader::OUTPUT4,  &nsk_shader::WINDOW,
                                       &nsk_shader::HALVES};
    static_assert(sizeof value / sizeof value[0] == nsk::gpu::specialization_count);
    for (int i = 0; i < nsk::gpu::specialization_count; ++i) *value[i] = p.specialization[i];
    nsk_shader::run_dispatch(body_of(p.kernel), constants, count, {groups[0], groups[1], groups[2]}, reversed);
    nsk_shader::report& found = nsk_shader::memory_report();
    for (const std::string& line : found.lines)
      CHECK_MESSAGE(!report_fails, nsk::gpu::name_of(p.kernel) << ": " << line);
    reports += found.count;
    found = {};
  }
  void barrier(list&) {}
  void copy(list&, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    REQUIRE(from_offset + bytes <= from->size());
    REQUIRE(to_offset + bytes <= to->size());
    std::memcpy(to->data() + to_offset, from->data() + from_offset, bytes);
  }

  bool report_fails = true;  ///< a report fails the test; off where a test wants one
  int reports = 0;

  std::string open() { return {}; }
  const char* name() const { return "C++"; }
  bool is_software() const { return true; }
  status create_buffer(std::size_t bytes, bool, buffer& made) { return made = new nsk_shader::memory(bytes), status(); }
  void destroy(buffer& b) {
    delete b;
    b = nullptr;
  }
  status create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
    made = {new nsk_shader::texture{width, height, std::vector<std::uint8_t>(std::size_t{4} * width * height)}, width,
            height};
    return {};
  }
  void destroy(texture& t) {
    delete t.texels;
    t = {};
  }
  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
    REQUIRE(offset + bytes <= to->size());
    return std::memcpy(to->data() + offset, from, bytes), status();
  }
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
    REQUIRE(offset + bytes <= from->size());
    return std::memcpy(to, from->data() + offset, bytes), status();
  }
  status write(texture& to, const void* rgba) {
    return std::memcpy(to.texels->rgba.data(), rgba, to.texels->rgba.size()), status();
  }
  status read(const texture& from, void* rgba) {
    return std::memcpy(rgba, from.texels->rgba.data(), from.texels->rgba.size()), status();
  }
  list& begin() { return m_list; }
  status submit() { return {}; }
  double microseconds() const { return 0; }

 private:
  list m_list;
};

inline shared_pipelines<shader_device>* shaders() {
  static shared_pipelines<shader_device> device;
  return &device;
}

}
