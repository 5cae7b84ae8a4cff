// SPDX-License-Identifier: MIT
#include "lengths/compare_plans.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <netsuke/format/step_view.hpp>
#include <set>

#include "errors.hpp"
#include "lengths/number_terms.hpp"
#include "write/params.hpp"

namespace nsk::tool {
namespace {

const plan_storage& storage_of(const plan& p, const plan_tensor& t) {
  return p.storages[static_cast<std::size_t>(t.storage)];
}

/// Whether two constants have the same elements in the positions that both have.
bool begin_alike(const plan& p, const plan_tensor& s, const plan& q, const plan_tensor& l) {
  const auto &from = storage_of(p, s).data, &to = storage_of(q, l).data;
  const bool as_long = s.shape == l.shape && s.strides == l.strides && s.offset == l.offset;
  if (as_long && (from == to || *from == *to)) return true;
  if (s.arrangement != packing::plain) return false;
  std::vector<std::int32_t> shape = s.shape;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) count *= shape[d] = std::min(shape[d], l.shape[d]);
  const auto size = static_cast<std::size_t>(size_of(s.type));
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t a = s.offset, b = l.offset, rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      a += rest % shape[d] * s.strides[d];
      b += rest % shape[d] * l.strides[d];
    }
    if (std::memcmp(&(*from)[static_cast<std::size_t>(a) * size], &(*to)[static_cast<std::size_t>(b) * size], size) !=
        0)
      return false;
  }
  return true;
}

/// Tables of rows and columns, and the last that inputs of both plans have: those behind the input are its last
/// (kernels/images/resize_2d.hpp).
std::map<int, std::int32_t> resize_tables(const plan& p, const plan& q) {
  std::map<int, std::int32_t> tables;
  for (const plan_step& s : p.steps)
    if (s.kind() == op::resize_2d) {
      const std::vector<std::int32_t>&a = p.tensor(s.inputs[0]).shape, &b = q.tensor(s.inputs[0]).shape;
      tables[s.inputs[1]] = std::min(a[1], b[1]) - 1;
      tables[s.inputs[3]] = std::min(a[2], b[2]) - 1;
    }
  return tables;
}

/// Whether two tables name, up to the last row or column, the same ones.
bool tables_agree(const plan& p, const plan_tensor& s, const plan& q, const plan_tensor& l, std::int32_t last) {
  const auto *from = reinterpret_cast<const std::int32_t*>(storage_of(p, s).data->data()),
             *to = reinterpret_cast<const std::int32_t*>(storage_of(q, l).data->data());
  return std::equal(from, from + std::min(s.shape[0], l.shape[0]), to,
                    [&](std::int32_t a, std::int32_t b) { return std::min(a, last) == std::min(b, last); });
}

void require_alike(const plan_step& a, const plan_step& b, const std::string& with) {
  if (a.kind() != b.kind() || a.name != b.name || a.inputs != b.inputs || a.outputs != b.outputs)
    refuse_length(with + "the model has other steps from '" + b.name + "' on, where it has '" + a.name +
                  "' at the bound");
  if (params_bytes(a) != params_bytes(b))
    refuse_length(with + "step '" + a.name + "' has other parameters than at the bound");
}

void require_alike(const plan& p, const plan_tensor& a, const plan& q, const plan_tensor& b, const std::string& with) {
  const bool alike = a.type == b.type && a.storage == b.storage && a.shape.size() == b.shape.size() &&
                     a.arrangement == b.arrangement && same_border(a.border, b.border) &&
                     storage_of(p, a).kind == storage_of(q, b).kind;
  if (!alike) refuse_length(with + "'" + a.name + "' has another layout than at the bound");
}

}

void refuse_length(const std::string& why) {
  refuse("the lengths of --bound cannot be in one file: " + why + ". The plan must be the same for all of them. " +
         "Convert the model for the lengths that you need, one --variant each, or leave what changes to the game");
}

void require_alike(const plan& bounds, const plan_of_choice& other, const std::vector<chosen_length>& lengths) {
  const plan &p = bounds, &q = other.layout;
  const std::string with = "with " + text_of(lengths, other.values) + " ";
  for (std::size_t i = 0; i < std::min(p.steps.size(), q.steps.size()); ++i)
    require_alike(p.steps[i], q.steps[i], with);
  if (p.steps.size() != q.steps.size() || p.tensors.size() != q.tensors.size() ||
      p.storages.size() != q.storages.size())
    refuse_length(with + "the model has other steps than at the bound");
  const std::map<int, std::int32_t> tables = resize_tables(p, q);
  for (std::size_t i = 0; i < q.tensors.size(); ++i) {
    const plan_tensor &a = p.tensors[i], &b = q.tensors[i];
    require_alike(p, a, q, b, with);
    if (!is_constant(p, a)) continue;
    const auto table = tables.find(static_cast<int>(i));
    if (table == tables.end() ? !begin_alike(q, b, p, a) : !tables_agree(q, b, p, a, table->second))
      refuse_length(with + "constant '" + a.name + "' has other numbers than at the bound");
  }
}

bool is_constant(const plan& p, const plan_tensor& t) { return storage_of(p, t).kind == storage_kind::constant; }

bool has_number(const plan_tensor& t, int number) {
  const auto rank = static_cast<int>(t.shape.size());
  return number == impl::offset_number || number % impl::first_stride_number < rank;
}

std::int64_t number_of(const plan_tensor& t, int number) {
  if (number == impl::offset_number) return t.offset;
  if (number < impl::first_stride_number) return t.shape[static_cast<std::size_t>(number)];
  return t.strides[static_cast<std::size_t>(number - impl::first_stride_number)];
}

std::int64_t number_at(const plan_tensor& t, int number, const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  bool follows_lengths = false;
  for (const plan_term& x : t.terms) {
    if (x.number != number) continue;
    sum += value_of(x, values);
    follows_lengths = true;
  }
  return follows_lengths ? sum : number_of(t, number);
}

namespace {

/// The first step that would compute from nothing, null where there is none. Sums over nothing are 0 where `sums`.
const plan_step* step_from_nothing(const plan& p, const std::vector<std::int64_t>& values, bool sums) {
  const auto is_empty = [&](int index) {
    const plan_tensor& t = p.tensors[static_cast<std::size_t>(index)];
    bool empty = false;
    for (std::size_t d = 0; d < t.shape.size(); ++d) empty = empty || number_at(t, static_cast<int>(d), values) == 0;
    return empty;
  };
  for (const plan_step& s : p.steps)
    if (!(sums && nsk::impl::takes_nothing(s.kind())) && !is_empty(s.outputs[0]) &&
        std::any_of(s.inputs.begin(), s.inputs.end(), is_empty))
      return &s;
  return nullptr;
}

}

bool is_below_minima(const plan& p, const length_choice& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] < p.lengths[i].minimum) return true;
  return false;
}

namespace {

/// A tensor that would be shorter than nothing or begin before its buffer, null where there is none.
const plan_tensor* negative_tensor(const plan& p, const std::vector<std::int64_t>& values) {
  for (const plan_tensor& t : p.tensors)
    for (const plan_term& x : t.terms) {
      const bool is_stride = x.number >= impl::first_stride_number && x.number < impl::offset_number;
      if (!is_stride && number_at(t, x.number, values) < 0) return &t;
    }
  return nullptr;
}

/// Why a plan has no result for some values of its lengths; empty where it has. A length of 0 that is chosen has a file
/// of its own (edit/fix_lengths.cpp), in which no step sums over nothing.
std::string why_undefined(const plan& p, const std::vector<chosen_length>& lengths, const length_choice& chosen) {
  const std::vector<std::int64_t> values = values_of(p.lengths, chosen);
  bool sums = true;
  for (std::size_t i = 0; i < chosen.size(); ++i) sums = sums && (chosen[i] != 0 || lengths[i].counted);
  if (const plan_tensor* const t = negative_tensor(p, values))
    return "'" + t->name + "' would have fewer elements than none, or others";
  const plan_step* const step = step_from_nothing(p, values, sums);
  return step == nullptr ? "" : "step '" + step->name + "' would compute from nothing";
}

}

bool raises_minima(plan& p, const std::vector<chosen_length>& lengths, const length_choice& chosen, bool may) {
  const std::string why = why_undefined(p, lengths, chosen);
  if (why.empty()) return false;
  bool raises = false;
  for (std::size_t i = 0; may && i < chosen.size(); ++i) {
    length_choice alone = bounds_of(lengths);
    alone[i] = chosen[i];
    if (!lengths[i].counted || why_undefined(p, lengths, alone).empty()) continue;
    p.lengths[i].minimum = std::max(p.lengths[i].minimum, chosen[i] + 1);
    raises = true;
  }
  if (!raises) refuse_length("with " + text_of(lengths, chosen) + " " + why);
  length_choice minima;
  for (std::size_t i = 0; i < chosen.size(); ++i) minima.push_back(p.lengths[i].minimum);
  const std::vector<std::int64_t> low = values_of(p.lengths, minima);
  for (std::size_t i = chosen.size(); i < low.size(); ++i) p.lengths[i].minimum = low[i];
  return true;
}

void require_shown_quotients(const plan& p) {
  std::set<int> shown;
  std::map<int, std::string> followed_by;
  for (const plan_tensor& t : p.tensors)
    for (const plan_term& x : t.terms)
      for (const int l : {x.a, x.b, x.c}) {
        if (l == impl::no_length || p.lengths[static_cast<std::size_t>(l)].divide < 2) continue;
        if (x.number < impl::first_stride_number) shown.insert(l);
        followed_by.emplace(l, t.name);
      }
  for (const auto& [l, name] : followed_by)
    if (shown.count(l) == 0)
      refuse_length("how '" + name + "' is laid out follows a rounded quotient that no shape has, where an axis has " +
                    "one position or none. A larger minimum has no such axes");
}

bool follows(const plan& p, const plan_of_choice& other) {
  const std::vector<std::int64_t> values = values_of(p.lengths, other.values);
  for (std::size_t i = 0; i < p.tensors.size(); ++i) {
    const plan_tensor &t = p.tensors[i], &o = other.layout.tensors[i];
    const int last = is_constant(p, t) ? impl::first_stride_number - 1 : impl::offset_number;
    for (int number = 0; number <= last; ++number) {
      if (!has_number(t, number) || number_at(t, number, values) == number_of(o, number)) continue;
      const bool strides_nothing = number >= impl::first_stride_number && number < impl::offset_number &&
                                   t.shape[static_cast<std::size_t>(number - impl::first_stride_number)] == 1;
      if (!strides_nothing) return false;
    }
  }
  return true;
}

}
