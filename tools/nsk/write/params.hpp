// SPDX-License-Identifier: MIT
#pragma once
/// From the structs of format/params.hpp to the tables of a file: the inverse of their `of`.
#include "program/plan.hpp"
#include "write/generated/netsuke_builders.hpp"

namespace nsk::tool {

/// Writes the table of a step's operator, with its epilogue where the operator has one. Refuses numbers that a file
/// cannot hold.
flatbuffers::Offset<void> write_params(flatbuffers::FlatBufferBuilder& b, const plan_step& s);
/// The bytes of that table, by which steps are compared.
std::vector<std::uint8_t> params_bytes(const plan_step& s);

}
