// SPDX-License-Identifier: MIT
// One build of the engine behind a C function; guards link several of them into one program (two_isa_main.cpp) and look
// at its symbols. Defined from outside: NSK_ISA_*, and NSK_GUARD_FUNCTION, the function's name. NSK_SETTINGS names
// other settings than all, whose header is included on the command line.
#include <cstddef>
#include <cstring>
#include <netsuke/all_ops.hpp>

#if !defined(NSK_SETTINGS)
#define NSK_SETTINGS nsk::all_settings
#endif

extern "C" unsigned long long NSK_GUARD_FUNCTION(const void* file, std::size_t file_bytes, void* memory,
                                                 std::size_t memory_bytes) {
  nsk::model m;
  if (!nsk::cpu_supports()) return 1;
  if (!nsk::open({static_cast<const std::byte*>(file), file_bytes}, m)) return 2;
  nsk::session<NSK_SETTINGS> net(m, {static_cast<std::byte*>(memory), memory_bytes});
  if (!net) return 3;
  for (int i = 0; i < net.input_count(); ++i) std::memset(net.input_bytes(i).data(), 0x3e, net.input_bytes(i).size());
  net.run();
  unsigned long long hash = 1469598103934665603u;
  for (int i = 0; i < net.output_count(); ++i)
    for (const std::byte b : net.output_bytes(i)) hash = (hash ^ static_cast<unsigned long long>(b)) * 1099511628211u;
  return hash;
}
