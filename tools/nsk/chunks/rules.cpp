// SPDX-License-Identifier: MIT
#include "chunks/rules.hpp"

#include <cstring>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool::chunks {

std::string cure_of(const writer& w) {
  std::string options;
  std::set<value_id> named(w.whole().inputs.begin(), w.whole().inputs.end());
  for (const value_id v : w.current().inputs)
    if (v != no_value && !w.source(v).constant && named.insert(v).second)
      options += " --output-value " + as_word(w.source(v).name);
  if (options.empty()) return "Compute it in the game, from all chunks";
  return "End the model before it (" + options.substr(1) + ") and compute the rest in the game, from all chunks";
}

std::vector<value_id> ids_of(writer& w, const node& n) {
  std::vector<value_id> ids;
  for (const value_id v : n.inputs) ids.push_back(v == no_value ? no_value : w.of(v).id);
  return ids;
}

const flow& signal(writer& w, const node& n, std::size_t i) {
  require_still(w, n, i);
  return w.of(n.inputs[i]);
}

void require_still(writer& w, const node& n, std::size_t i) {
  for (std::size_t k = 0; k < n.inputs.size(); ++k)
    if (k != i && n.reads(k) && w.of(n.inputs[k]).c.how != relation::still)
      w.refuse("its operand '" + w.source(n.inputs[k]).name + "' is not the same for all chunks. " + cure_of(w));
}

std::vector<std::int64_t> integers_of(writer& w, const node& n, std::size_t i) {
  if (!n.reads(i)) return {};
  const value& v = w.source(n.inputs[i]);
  if (!v.constant) w.refuse("'" + v.name + "' is computed at run time, and says where the samples are");
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < v.constant->count(); ++k) numbers.push_back(v.constant->integer(k));
  return numbers;
}

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(counted_from_start(axis, rank));
}

value_id without_time(writer& w, value_id v, std::int64_t axis) {
  const value& x = w.source(v);
  if (axis < 0 || x.shape[static_cast<std::size_t>(axis)] == 1) return w.of(v).id;
  if (!x.constant)
    w.refuse("'" + x.name + "' has an element for each sample, and does not follow the signal. Give its axis the " +
             "signal's name");
  const auto d = static_cast<std::size_t>(axis);
  const std::int64_t length = x.shape[d], inner = count_between(x.shape, d + 1, x.shape.size());
  const std::size_t size = size_of(x.type);
  shape_t shape = x.shape;
  shape[d] = 1;
  array one(x.type, shape);
  for (std::int64_t i = 0; i < x.constant->count(); ++i) {
    const std::byte* const element = x.constant->data.data() + static_cast<std::size_t>(i) * size;
    std::byte* const kept = one.data.data() + static_cast<std::size_t>(i / (inner * length) * inner + i % inner) * size;
    if (i / inner % length == 0) std::memcpy(kept, element, size);
    if (std::memcmp(kept, element, size) != 0)
      w.refuse("the constant '" + x.name + "' has other numbers for each sample, and a chunk does not know where in " +
               "the signal it is. " + cure_of(w));
  }
  return w.constant(std::move(one));
}

void refuse_whole(writer& w, const std::string& what) {
  w.refuse(what + ", and looks ahead to the end of the signal. " + cure_of(w));
}

void keep_course(writer& w, const node& n) {
  require_still(w, n);
  const flow x = w.settled(w.of(n.inputs[0]));
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = x.id;
  w.give(ids, x.c);
}

}
