// SPDX-License-Identifier: MIT
#include "cpu_session.hpp"
#include <netsuke/all_ops.hpp>

namespace test {

struct cpu_session::whole {
  nsk::session<nsk::all_settings> session;
};

cpu_session::cpu_session() : m(new whole) {}
cpu_session::cpu_session(const nsk::model& model, nsk::span<std::byte> memory, int variant)
    : m(new whole{{model, memory, variant}}) {}
cpu_session::cpu_session(cpu_session&&) noexcept = default;
cpu_session& cpu_session::operator=(cpu_session&&) noexcept = default;
cpu_session::~cpu_session() = default;

nsk::status cpu_session::status() const { return m->session.status(); }
int cpu_session::input_count() const { return m->session.input_count(); }
int cpu_session::output_count() const { return m->session.output_count(); }
nsk::port_view cpu_session::input_info(int i) const { return m->session.input_info(i); }
nsk::port_view cpu_session::output_info(int i) const { return m->session.output_info(i); }
nsk::span<std::byte> cpu_session::input_bytes(int i) { return m->session.input_bytes(i); }
nsk::span<const std::byte> cpu_session::output_bytes(int i) const { return m->session.output_bytes(i); }
void cpu_session::seed(std::uint64_t key, std::uint32_t first_row) { m->session.seed(key, first_row); }
void cpu_session::run() { m->session.run(); }
int cpu_session::step_count() const { return m->session.step_count(); }
nsk::status cpu_session::set_length(const char* name, int value) { return m->session.set_length(name, value); }
int cpu_session::tile_count(int step) const { return m->session.tile_count(step); }
void cpu_session::run_tile(int step, int tile, int lane) { m->session.run_tile(step, tile, lane); }
void cpu_session::finish() { m->session.finish(); }

}
