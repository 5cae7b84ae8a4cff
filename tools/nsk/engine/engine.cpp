// SPDX-License-Identifier: MIT
#include "engine/engine.hpp"

#include <cstring>

#include "errors.hpp"
#include "io/system/program.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
#if defined(__x86_64__) || defined(_M_X64)
const engine* const engines[] = {&avx512_engine(), &vector_engine(), &scalar_engine()};
#else
const engine* const engines[] = {&vector_engine(), &scalar_engine()};
#endif

std::vector<std::string> known_engines() {
  std::vector<std::string> names;
  for (const engine* candidate : engines) names.push_back(candidate->name);
  return names;
}
}

std::string engine_names() { return joined(known_engines()); }

const engine& choose_engine(const std::string& isa) {
  for (const engine* candidate : engines) {
    if (isa.empty() ? !candidate->supported() : isa != candidate->name) continue;
    if (!candidate->supported())
      misuse("--isa " + isa + ": this machine cannot run it. Leave the option out, or use --isa scalar.");
    return *candidate;
  }
  misuse("--isa " + isa + ": no such instruction set. This build has: " + engine_names() + "." +
         did_you_mean(isa, known_engines()));
}

void aligned_bytes::release::operator()(std::byte* p) const { free_pages(p); }

aligned_bytes::aligned_bytes(std::size_t size) : m_size(size) {
  m_data.reset(static_cast<std::byte*>(allocate_pages(size)));
  if (!m_data) refuse("not enough memory for " + std::to_string(size) + " bytes.");
}

aligned_bytes::aligned_bytes(const std::vector<std::byte>& bytes) : aligned_bytes(bytes.size()) {
  if (!bytes.empty()) std::memcpy(m_data.get(), bytes.data(), bytes.size());
}

}
