// SPDX-License-Identifier: MIT
#pragma once
/// nsk::session<nsk::all_settings> behind a wall: the programs of this folder compile the kernels of the CPU once, in
/// cpu_session.cpp, and not in each of their files.
#include <memory>
#include <netsuke/netsuke.hpp>

namespace test {

class cpu_session {
 public:
  cpu_session();
  cpu_session(const nsk::model& model, nsk::span<std::byte> memory, int variant = 0);
  cpu_session(cpu_session&&) noexcept;
  cpu_session& operator=(cpu_session&&) noexcept;
  ~cpu_session();

  nsk::status status() const;
  explicit operator bool() const { return static_cast<bool>(status()); }
  int input_count() const;
  int output_count() const;
  nsk::port_view input_info(int i) const;
  nsk::port_view output_info(int i) const;
  nsk::span<std::byte> input_bytes(int i);
  nsk::span<const std::byte> output_bytes(int i) const;
  template <class T>
  nsk::span<T> input(int i) {
    const nsk::span<std::byte> bytes = input_bytes(i);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  nsk::span<const T> output(int i) const {
    const nsk::span<const std::byte> bytes = output_bytes(i);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  void seed(std::uint64_t key, std::uint32_t first_row = 0);
  void run();
  int step_count() const;
  nsk::status set_length(const char* name, int value);
  int tile_count(int step) const;
  void run_tile(int step, int tile, int lane);
  void finish();

 private:
  struct whole;
  std::unique_ptr<whole> m;
};

}
