// SPDX-License-Identifier: MIT
#pragma once
/// A device around another one, for tests that count or leave out what a program asks of it.
#include <netsuke/gpu.hpp>

namespace test {

/// Passes everything on to a device. `Wrapper` derives from it and replaces what it looks at.
template <class Wrapper, class Device>
class forwarding_device {
 public:
  using inner = Device;
  using list = typename inner::list;
  using buffer = typename inner::buffer;
  using texture = typename inner::texture;
  using pipeline = typename inner::pipeline;
  using status = nsk::gpu::status;

  explicit forwarding_device(inner& on) : m_on(on) {}

  nsk::gpu::limits limits() const { return m_on.limits(); }
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) { return m_on.create_pipeline(key, made); }
  void destroy_pipeline(pipeline p) { m_on.destroy_pipeline(p); }
  void bind(list& l, const nsk::gpu::bindings<Wrapper>& b) {
    m_on.bind(l, {b.weights, b.arena, b.read_texture, b.written_texture});
  }
  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    m_on.dispatch(l, p, constants, count, groups);
  }
  void barrier(list& l) { m_on.barrier(l); }
  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    m_on.copy(l, from, from_offset, to, to_offset, bytes);
  }

  status create_buffer(std::size_t bytes, bool seen, buffer& made) { return m_on.create_buffer(bytes, seen, made); }
  status create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
    return m_on.create_texture(width, height, made);
  }
  template <class Resource>
  void destroy(Resource& r) {
    m_on.destroy(r);
  }
  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
    return m_on.write(to, offset, from, bytes);
  }
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
    return m_on.read(from, offset, to, bytes);
  }
  status write(texture& to, const void* rgba) { return m_on.write(to, rgba); }
  status read(const texture& from, void* rgba) { return m_on.read(from, rgba); }
  list& begin() { return m_on.begin(); }
  status submit() { return m_on.submit(); }

 private:
  inner& m_on;
};

}
