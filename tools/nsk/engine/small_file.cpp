// SPDX-License-Identifier: MIT
#include "engine/small_file.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include <netsuke/prepare.hpp>
#include "engine/engine.hpp"
#include "errors.hpp"
#include "status_text.hpp"

namespace nsk::tool {
namespace {

std::string name_of(const small_part& p) {
  if (p.kind == part_kind::bytes) return "bytes as they are";
  if (is_compressed(p.kind)) return "tables and other constants, compressed";
  const char* const numbers[] = {"float32", "float16", "int8", "int8", "float16"};
  const std::string stored = (is_sparse(p) ? "sparse " : "") + std::string(numbers[static_cast<int>(p.numbers)]);
  if (p.kind == part_kind::panels) return "weights in " + stored;
  return "kernels in " + stored + ", for Winograd's algorithms";
}

}

bool is_small(const std::vector<std::byte>& bytes) {
  file_header h;
  if (bytes.size() < sizeof h) return false;
  std::memcpy(&h, bytes.data(), sizeof h);
  return std::memcmp(h.magic, file_magic, sizeof file_magic) == 0 && (h.features & feature_small) != 0;
}

std::vector<std::byte> expand(const std::vector<std::byte>& small, const std::string& name) {
  return choose_engine("").prepare(small, name);
}

std::vector<small_share> shares_of(const std::vector<std::byte>& small) {
  impl::small_sections sections;
  if (const status s = impl::read_small({small.data(), small.size()}, sections); !s) refuse(status_text(s) + ".");
  std::map<std::string, small_share> shares;
  for (std::int32_t i = 0; i < sections.count(); ++i) {
    const small_part p = sections.part(i);
    small_share& share = shares[name_of(p)];
    share.stored += p.stored_bytes;
    share.bytes += p.bytes;
  }
  std::vector<small_share> result;
  for (auto& [what, share] : shares) {
    share.what = what;
    result.push_back(share);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const small_share& a, const small_share& b) { return a.stored > b.stored; });
  return result;
}

}
