// SPDX-License-Identifier: MIT
#include "import/json/fields.hpp"

#include <algorithm>
#include <limits>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

std::string shown(const graph_json& j) {
  return j.is_structured() ? std::string(j.is_array() ? "a list" : "an object")
                           : shortened(j.dump(-1, ' ', false, graph_json::error_handler_t::replace), 60);
}

}

std::int64_t integer_of(const graph_json& j, const std::string& what) {
  const bool fits = j.is_number_integer() && (!j.is_number_unsigned() || j.get<std::uint64_t>() <= INT64_MAX);
  if (!fits) refuse(what + " must be an integer, not " + shown(j));
  return j.get<std::int64_t>();
}

float number_of(const graph_json& j, const std::string& what) {
  if (j.is_number()) return j.get<float>();
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  if (text == infinity_text) return std::numeric_limits<float>::infinity();
  if (text == minus_infinity_text) return -std::numeric_limits<float>::infinity();
  if (text == nan_text) return std::numeric_limits<float>::quiet_NaN();
  refuse(what + " must be a number, \"inf\", \"-inf\" or \"nan\", not " + shown(j));
}

std::string text_of(const graph_json& j, const std::string& what) {
  if (!j.is_string()) refuse(what + " must be a text, not " + shown(j));
  return j.get<std::string>();
}

fields::fields(const graph_json& object, std::string where, const std::vector<std::string>& known)
    : m_object(object), m_where(std::move(where)) {
  if (!object.is_object()) fail("must be an object, not " + shown(object));
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail("has an unknown key '" + shortened(key, 60) + "'." + did_you_mean(key, known) +
           " Its keys: " + quoted(known));
}

void fields::fail(const std::string& why) const { refuse(m_where + " " + why); }

const graph_json* fields::find(const char* key) const {
  const auto found = m_object.find(key);
  return found == m_object.end() ? nullptr : &*found;
}

const graph_json& fields::at(const char* key) const {
  const graph_json* found = find(key);
  if (found == nullptr) fail("lacks the key '" + std::string(key) + "'");
  return *found;
}

std::string fields::text(const char* key) const { return text_of(at(key), m_where + ": '" + std::string(key) + "'"); }

std::string fields::text(const char* key, const std::string& otherwise) const {
  return find(key) == nullptr ? otherwise : text(key);
}

std::vector<const graph_json*> fields::list(const char* key) const {
  std::vector<const graph_json*> elements;
  const graph_json* found = find(key);
  if (found == nullptr) return elements;
  if (!found->is_array()) fail("must have a list as '" + std::string(key) + "', not " + shown(*found));
  for (const graph_json& e : *found) elements.push_back(&e);
  return elements;
}

std::vector<std::string> fields::texts(const char* key) const {
  std::vector<std::string> result;
  for (const graph_json* e : list(key)) result.push_back(text_of(*e, m_where + ": an element of '" + key + "'"));
  return result;
}

std::vector<std::int64_t> fields::integers(const char* key) const {
  std::vector<std::int64_t> result;
  for (const graph_json* e : list(key)) result.push_back(integer_of(*e, m_where + ": an element of '" + key + "'"));
  return result;
}

std::vector<float> fields::numbers(const char* key) const {
  std::vector<float> result;
  for (const graph_json* e : list(key)) result.push_back(number_of(*e, m_where + ": an element of '" + key + "'"));
  return result;
}

std::int64_t fields::integer(const char* key, std::int64_t otherwise) const {
  const graph_json* found = find(key);
  return found == nullptr ? otherwise : integer_of(*found, m_where + ": '" + std::string(key) + "'");
}

}
