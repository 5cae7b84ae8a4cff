// SPDX-License-Identifier: MIT
#include "cli/integer_io.hpp"

#include <algorithm>

#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// The inputs and outputs of a variant that are no states, by name.
std::map<std::string, const value*> ports_of(const variant_source& v) {
  std::map<std::string, const value*> ports;
  for (const auto* ids : {&v.g.inputs, &v.g.outputs})
    for (const value_id id : *ids) {
      const value& port = v.g.values[static_cast<std::size_t>(id)];
      ports.emplace(port.name, &port);
    }
  for (const state_link& s : v.states) {
    ports.erase(s.input);
    ports.erase(s.output);
  }
  return ports;
}

bool is_input(const variant_source& v, const std::string& name) {
  return std::any_of(v.g.inputs.begin(), v.g.inputs.end(),
                     [&](value_id id) { return v.g.values[static_cast<std::size_t>(id)].name == name; });
}

/// "image=int8" -> image, int8; uint8 where no type is given.
std::pair<std::string, element> parse_port(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos) return {text, element::u8};
  const std::string type = text.substr(sign + 1);
  if (type != "uint8" && type != "int8")
    misuse("--integer-io " + text + ": write it as NAME, NAME=uint8 or NAME=int8, or 'all'.");
  return {text.substr(0, sign), type == "int8" ? element::i8 : element::u8};
}

/// Calls f(element, position along the axis of the port's scales).
template <class F>
void for_each_position(const array& a, const stored_port& port, F f) {
  std::int64_t inner = 1;
  for (std::size_t d = port.axis + 1; d < a.shape.size(); ++d) inner *= a.shape[d];
  const std::int64_t positions = a.shape.empty() ? 1 : a.shape[port.axis];
  for (std::int64_t i = 0; i < a.count(); ++i) f(i, static_cast<std::size_t>(i / inner % positions));
}

}

integer_io integer_io_of(const std::vector<std::string>& wanted, const variant_source& v,
                         const std::map<std::string, image_choices>& images, const image_choices& asked) {
  const std::map<std::string, const value*> ports = ports_of(v);
  std::vector<std::string> known;
  std::map<std::string, element> types;
  for (const auto& [name, port] : ports) known.push_back(name);
  for (const std::string& text : wanted) {
    if (text == "all" && ports.count("all") == 0) {
      for (const auto& [name, port] : ports)
        if (port->type == element::f32) types.emplace(name, element::u8);
      continue;
    }
    const auto [name, type] = parse_port(text);
    const auto port = ports.find(name);
    if (port == ports.end())
      misuse("--integer-io names '" + name + "', which is no input or output of the model." +
             did_you_mean(name, known) + " It has " + quoted(known) + ".");
    if (port->second->type != element::f32)
      misuse("--integer-io: '" + name + "' is " + name_of(port->second->type) + " already. Leave it out.");
    types[name] = type;
  }
  integer_io io;
  for (const auto& [name, type] : types) {
    const auto image = images.find(name);
    const bool levels = image != images.end() || asked.has_numbers();
    if (type == element::u8 && levels && is_input(v, name))
      io.pixels.emplace(name, pixels_of(*ports.at(name), image != images.end() ? image->second : asked));
    else
      io.stored.emplace(name, type);
  }
  return io;
}

array stored_as(const array& numbers, const stored_port& port) {
  array result(port.type, numbers.shape);
  for_each_position(numbers, port, [&](std::int64_t i, std::size_t position) {
    result.set_integer(i, port.nearest(numbers.number(i), position));
  });
  return result;
}

array real_of(const array& integers, const stored_port& port) {
  array result(element::f32, integers.shape);
  for_each_position(integers, port, [&](std::int64_t i, std::size_t position) {
    result.set(i, port.real(integers.number(i), position));
  });
  return result;
}

}
