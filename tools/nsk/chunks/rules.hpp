// SPDX-License-Identifier: MIT
#pragma once
/// How operators of ONNX are computed chunk by chunk: a function for each, which writes it for one chunk.
#include <map>
#include <string>
#include <vector>

#include "chunks/writer.hpp"

namespace nsk::tool::chunks {

/// Writes a node of which an operand follows the signal. Refuses what would need the whole of it.
using rule = void (*)(writer& w, const node& n);
using rule_table = std::map<std::string, rule>;

// One function per file of rules.
void add_elementwise_rules(rule_table& t);
void add_movement_rules(rule_table& t);
void add_cutting_rules(rule_table& t);
void add_window_rules(rule_table& t);
void add_product_rules(rule_table& t);
void add_axis_rules(rule_table& t);
void add_recurrent_rules(rule_table& t);

/// The operands in the new graph; no_value where there is none.
std::vector<value_id> ids_of(writer& w, const node& n);
/// Operand `i`, which follows the signal. Refuses where it is another one that does.
const flow& signal(writer& w, const node& n, std::size_t i = 0);
/// Refuses operands other than `i` that follow the signal.
void require_still(writer& w, const node& n, std::size_t i = 0);
/// The integers of an operand; none where it is absent. Refuses those that are computed at run time.
std::vector<std::int64_t> integers_of(writer& w, const node& n, std::size_t i);
/// An axis counted from the start.
std::size_t axis_of(std::int64_t axis, std::size_t rank);
/// A still operand that stands beside a timed one: where it has the time axis, `axis`, all its elements along it must
/// be equal, and one of them remains.
value_id without_time(writer& w, value_id v, std::int64_t axis);
/// "End the model before it (--output-value x) and compute the rest in the game": what helps with the current node.
std::string cure_of(const writer& w);
/// Refuses a node that computes over the time axis: `what` says how.
[[noreturn]] void refuse_whole(writer& w, const std::string& what);
/// Copies a node that leaves the time axis where it is, and the order of its elements.
void keep_course(writer& w, const node& n);

}
