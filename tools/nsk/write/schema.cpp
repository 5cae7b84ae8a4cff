// SPDX-License-Identifier: MIT
#include "write/schema.hpp"
#include <netsuke/format/impl/flatbuffers_assert.hpp>
#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>
#include "write/generated/schema_bytes.hpp"

namespace nsk::tool {

std::string enumerator_name(const std::string& enumeration, int value) {
  const auto* enums = reflection::GetSchema(schema_bytes)->enums();
  const reflection::Enum* found = enums->LookupByKey(("nsk.format." + enumeration).c_str());
  const reflection::EnumVal* named = found == nullptr ? nullptr : found->values()->LookupByKey(std::int64_t{value});
  return named == nullptr ? "" : named->name()->str();
}

}
