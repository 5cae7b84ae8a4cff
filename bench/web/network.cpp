// SPDX-License-Identifier: MIT
// A network as a WebAssembly module without imports, for bench/web.py. The caller writes the file at `heap`, calls
// `required(bytes)`, grows the memory by as much behind the file, and calls `begin`.
#include NSK_SETTINGS_HEADER
#include <new>

#define EXPORT(name) extern "C" __attribute__((export_name(#name), used))

extern "C" unsigned char __heap_base;

using session = nsk::session<NSK_SETTINGS>;

static nsk::model g_model;
alignas(session) static unsigned char g_session[sizeof(session)];
static session& net() { return *std::launder(reinterpret_cast<session*>(g_session)); }

static std::byte* aligned(std::byte* p) {
  return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + 63) & ~std::uintptr_t{63});
}

/// Whether this engine can run the module, and gives the bits of other machines.
EXPORT(supported) int supported() { return nsk::cpu_supports(); }
/// Where the file is to be written.
EXPORT(heap) std::byte* heap() { return aligned(reinterpret_cast<std::byte*>(&__heap_base)); }
/// Returns up to where memory must reach, or 0 where the file is refused.
EXPORT(required) std::size_t required(std::size_t bytes) {
  if (!nsk::open({heap(), bytes}, g_model)) return 0;
  return reinterpret_cast<std::size_t>(aligned(heap() + bytes)) + static_cast<std::size_t>(g_model.required_bytes());
}
EXPORT(begin) int begin(std::size_t bytes) {
  new (g_session) session(g_model, {aligned(heap() + bytes), static_cast<std::size_t>(g_model.required_bytes())});
  return static_cast<int>(net().status().code());
}
EXPORT(input_count) int input_count() { return net().input_count(); }
EXPORT(output_count) int output_count() { return net().output_count(); }
EXPORT(input) std::byte* input(int i) { return net().input_bytes(i).data(); }
EXPORT(input_bytes) std::size_t input_bytes(int i) { return net().input_bytes(i).size(); }
EXPORT(output) const std::byte* output(int i) { return net().output_bytes(i).data(); }
EXPORT(output_bytes) std::size_t output_bytes(int i) { return net().output_bytes(i).size(); }
EXPORT(run) void run() { net().run(); }
