// SPDX-License-Identifier: MIT
#pragma once
/// Typed access to the objects of a graph's JSON, with messages that say where they are.
#include <string>
#include <vector>

#include "import/json/graph_json.hpp"

namespace nsk::tool {

/// One object of the file. Messages begin with `where`: "g.json: node 3".
class fields {
 public:
  /// Refuses what is no object, and keys that are not among the known ones.
  fields(const graph_json& object, std::string where, const std::vector<std::string>& known);

  const std::string& where() const { return m_where; }
  /// Begins messages otherwise, once more is known: "g.json: node 'conv1' (Conv)".
  void call(std::string where) { m_where = std::move(where); }
  /// The value of a key; null where it is absent.
  const graph_json* find(const char* key) const;
  /// The value of a key that must be there.
  const graph_json& at(const char* key) const;
  std::string text(const char* key) const;
  std::string text(const char* key, const std::string& otherwise) const;
  /// The elements of a list, none where the key is absent.
  std::vector<const graph_json*> list(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<float> numbers(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t otherwise) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  const graph_json& m_object;
  std::string m_where;
};

/// An integer of 64 bits; refuses other numbers and texts. `what` begins the message.
std::int64_t integer_of(const graph_json& j, const std::string& what);
/// A number, or one of the texts for what JSON has no numbers for.
float number_of(const graph_json& j, const std::string& what);
std::string text_of(const graph_json& j, const std::string& what);

}
