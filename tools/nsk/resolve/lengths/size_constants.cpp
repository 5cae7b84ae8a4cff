// SPDX-License-Identifier: MIT
#include "resolve/lengths/size_constants.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "errors.hpp"
#include "resolve/lengths/length_origins.hpp"
#include "resolve/lengths/size_numbers.hpp"
#include "resolve/lengths/size_readings.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_numbers = 64;                    // different ones of a constant that are looked at
constexpr std::size_t few_operands = 16, few_weights = 4;  // different numbers each of which counts alone
constexpr std::size_t max_said = 6;                        // nodes or numbers that a message describes

std::string text_of(double number) { return to_string(number, 9); }

/// A number of a constant that a length explains, and where it is.
struct finding {
  double number;
  std::vector<size_reading> readings;
  std::vector<std::int64_t> places;
};

/// A constant operand or attribute of a node.
struct operand {
  std::size_t input = 0;
  std::string attribute;  ///< empty: the operand counts
  array numbers;
  std::vector<bool> own;  ///< elements that are as they were in the source
  number_role role = number_role::operand;
  number_kind kind = kind_of(numbers);
  std::vector<finding> found{};
};

std::string sentence_of(const finding& f) {
  std::string text = text_of(f.number);
  for (std::size_t i = 0; i < f.readings.size(); ++i)
    text += (i == 0 ? " may be " : ", or ") + f.readings[i].text + " and become " + text_of(f.readings[i].now);
  return text;
}

/// Whether the numbers that were found in an operand count beside `others` that no length explains.
bool count_beside(const operand& o, std::size_t others) {
  const std::size_t all = others + o.found.size();
  const bool is_operand = o.role == number_role::operand, is_coarse = o.kind.rounding > 1e-6;
  if (all <= (is_operand && !is_coarse ? few_operands : few_weights)) return true;
  return is_operand ? o.found.size() * 4 >= all : others == 0;
}

/// An element of an operand, by its place in a list of them.
struct found_place {
  std::size_t operand;
  std::int64_t element;
  const finding* found;
};

std::vector<found_place> places_in(const std::vector<operand>& found) {
  std::vector<found_place> places;
  for (std::size_t o = 0; o < found.size(); ++o)
    for (const finding& f : found[o].found)
      for (const std::int64_t i : f.places) places.push_back({o, i, &f});
  std::sort(places.begin(), places.end(), [](const found_place& a, const found_place& b) {
    return std::tie(a.operand, a.element) < std::tie(b.operand, b.element);
  });
  return places;
}

class constant_settler : graph_pair {
 public:
  constant_settler(const graph& g, const graph& exported, const constant_choices& choices)
      : graph_pair(exported, g), m_choices(choices), m_origins(*this), m_readings(*this, m_origins.sums()) {}
  settled_constants run();

 private:
  struct doubt {
    std::string name, text, option;
  };
  std::vector<bool> own_elements(value_id v) const;
  std::vector<operand> operands_of(const node& n) const;
  bool is_certain(const node& n, const operand& o, double number, const std::vector<size_reading>& readings) const;
  void find(const node& n, operand& o, bool plain_too) const;
  bool find_multiples(operand& o, const std::map<double, std::size_t>& some) const;
  std::vector<operand> find_all(const node& n, const std::vector<operand>& operands) const;
  void settle(const std::string& who, const std::string& name, const std::vector<operand>& found);
  double number_for(const std::string& name, const finding& f, std::size_t place, std::size_t count);
  void say(const std::string& who, const std::string& name, const std::vector<operand>& found);
  void require_kept(const std::string& name, const std::string& text);
  [[noreturn]] void refuse_all() const;

  const constant_choices& m_choices;
  length_origins m_origins;
  size_readings m_readings;
  settled_constants m_settled;
  std::vector<doubt> m_doubts;
};

/// Elements that a constant had in the source: at the same place, or anywhere where its shape is another one.
std::vector<bool> constant_settler::own_elements(value_id v) const {
  const array& a = *at(v).constant;
  std::vector<bool> own(static_cast<std::size_t>(a.count()), true);
  const value* was = before(v);
  if (was == nullptr) return own;
  if (!was->constant) return std::vector<bool>(own.size(), false);
  const array& old = *was->constant;
  if (old.data == a.data) return own;
  std::set<double> numbers;
  for (std::int64_t i = 0; old.shape != a.shape && i < old.count(); ++i) numbers.insert(old.number(i));
  for (std::int64_t i = 0; i < a.count(); ++i)
    own[static_cast<std::size_t>(i)] =
        old.shape == a.shape ? old.number(i) == a.number(i) : numbers.count(a.number(i)) != 0;
  return own;
}

std::vector<operand> constant_settler::operands_of(const node& n) const {
  std::vector<operand> found;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == no_value || !at(n.inputs[i]).constant) continue;
    const value& v = at(n.inputs[i]);
    const bool is_number = is_float(v.type) || is_integer(v.type), is_byte = size_of(v.type) == 1;
    const bool finds = n.op.rfind("Gather", 0) == 0 || n.op.rfind("Scatter", 0) == 0;
    number_role role = role_of(n, i);
    if (finds && i == 1 && !indexes_changed_axis(n)) role = number_role::shape;
    if (n.op.rfind("Gather", 0) == 0 && i == 0) role = number_role::weights;
    if (!is_number || role == number_role::shape || (is_byte && role == number_role::weights)) continue;
    found.push_back({i, "", *v.constant, own_elements(n.inputs[i]), role});
  }
  for (const std::string& name : length_attributes(n.op)) {
    if (const auto* number = n.find<float>(name)) found.push_back({0, name, make_floats({1}, {*number}), {true}});
    if (const auto* number = n.find<std::int64_t>(name)) found.push_back({0, name, make_ints({1}, {*number}), {true}});
  }
  return found;
}

/// Whether a plain number stands where a length would: a factor that is one, or beside a sum or an index of lengths.
bool constant_settler::is_certain(const node& n, const operand& o, double number,
                                  const std::vector<size_reading>& readings) const {
  const auto is = [&](auto test) { return std::any_of(readings.begin(), readings.end(), test); };
  if ((n.op == "Mul" || n.op == "Div") && is([](const size_reading& r) { return r.direct; })) return true;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == no_value || (o.attribute.empty() && i == o.input)) continue;
    const length_origin& from = m_origins.of(n.inputs[i]);
    if (from.index && is([](const size_reading& r) { return r.rank == 0; })) return true;
    for (const auto& sum : from.sums)
      if (size_readings::is_made_of(std::abs(number), sum.first, std::max(1e-6, o.kind.rounding))) return true;
  }
  return false;
}

/// Finds the numbers of an operand that follow a length; none where it has too many others.
void constant_settler::find(const node& n, operand& o, bool plain_too) const {
  std::map<double, std::size_t> places;  // of numbers in o.found; there is none at o.found.size()
  constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::size_t others = 0;
  for (std::int64_t i = 0; i < o.numbers.count() && places.size() < max_numbers; ++i) {
    const double number = o.numbers.number(i);
    if (!o.own[static_cast<std::size_t>(i)] || number == 0 || !std::isfinite(number)) continue;
    const auto [place, is_new] = places.emplace(number, nowhere);
    if (is_new) {
      const auto readings = m_readings.of(number, o.kind);
      const bool is_plain = is_plain_number(number, the_graph(), o.kind.rounding) && !plain_too;
      const bool counts = !readings.empty() && (!is_plain || is_certain(n, o, number, readings));
      if (counts) place->second = o.found.size(), o.found.push_back({number, readings, {}});
      if (!counts && !is_plain) ++others;
    }
    if (place->second != nowhere) o.found[place->second].places.push_back(i);
  }
  if (others > 0 && find_multiples(o, places)) return;
  if (!count_beside(o, others)) o.found.clear();
}

/// Finds that all numbers of an operand, of which `some` are known, are multiples of one that follows a length. Returns
/// whether they are.
bool constant_settler::find_multiples(operand& o, const std::map<double, std::size_t>& some) const {
  std::vector<double> numbers;
  for (const auto& [number, place] : some) numbers.push_back(number);
  const auto is_plain = [&](double unit) { return is_plain_number(unit, the_graph(), o.kind.rounding); };
  const multiples m = m_readings.multiples_in(numbers, o.kind, is_plain);
  if (m.units.empty()) return false;
  const std::string base = m.base == 0 ? "" : text_of(m.base) + " + ";
  std::map<double, finding> found;
  for (std::int64_t i = 0; i < o.numbers.count(); ++i) {
    const double number = o.numbers.number(i), exact = (number - m.base) / m.unit, times = std::round(exact),
                 wide = o.kind.rounding * std::max(std::abs(number), std::abs(m.base)) / m.unit;
    if (!o.own[static_cast<std::size_t>(i)] || (number == 0 && m.base == 0) || !std::isfinite(number)) continue;
    if (std::abs(exact - times) > wide) return false;
    finding& f = found[number];
    f.places.push_back(i);
    if (f.places.size() > 1) continue;
    f.number = number;
    for (const size_reading& unit : m.units) {
      const double now = m.base + (wide < 0.5 ? times : exact) * unit.now;
      f.readings.push_back({number, rounded_alike(now, number, m.base + times * unit.was, o.kind), unit.rank, false,
                            base + text_of(times) + " x (" + unit.text + ")"});
    }
  }
  o.found.clear();
  for (auto& [number, f] : found) o.found.push_back(std::move(f));
  return true;
}

/// The operands that have numbers which follow; plain ones where others have none and the node is to follow.
std::vector<operand> constant_settler::find_all(const node& n, const std::vector<operand>& operands) const {
  const auto choice = m_choices.find(n.name);
  const bool asked = choice != m_choices.end() && choice->second.what != constant_choice::kind::keep;
  for (const bool plain_too : {false, true}) {
    std::vector<operand> found;
    for (operand o : operands) {
      find(n, o, plain_too);
      if (!o.found.empty()) found.push_back(std::move(o));
    }
    if (!found.empty() || !asked) return found;
  }
  return {};
}

/// The new number of one of `count` places. Refuses to follow where there are several ways.
double constant_settler::number_for(const std::string& name, const finding& f, std::size_t place, std::size_t count) {
  const constant_choice& choice = m_choices.at(name);
  const bool follows = choice.what == constant_choice::kind::follow;
  if (!follows && choice.numbers.size() != 1 && choice.numbers.size() != count)
    misuse("--constant " + name + ": it has " + std::to_string(count) +
           " numbers that may follow a length. Give one number for all of them, or one for each.");
  if (follows && f.readings.size() > 1)
    refuse("--constant " + name + "=follow: " + sentence_of(f) + ". Write the number: --constant " +
           as_word(name + "=" + text_of(f.readings[0].now)));
  const double number = follows ? f.readings[0].now : choice.numbers[choice.numbers.size() == 1 ? 0 : place];
  if (place == max_said)
    m_settled.notes.push_back("--constant " + name + ": " + std::to_string(count - place) +
                              " more numbers became others");
  if (place < max_said)
    m_settled.notes.push_back("--constant " + name + ": " + text_of(f.number) + " became " + text_of(number) +
                              (follows ? " (it was " + f.readings[0].text + ")" : ""));
  return number;
}

void constant_settler::say(const std::string& who, const std::string& name, const std::vector<operand>& found) {
  std::string text, numbers;
  bool several = false;
  std::size_t said = 0;
  for (const operand& o : found)
    for (const finding& f : o.found) {
      if (said++ < max_said) text += (said == 1 ? "" : "; ") + sentence_of(f);
      several = several || f.readings.size() > 1;
    }
  if (said > max_said) text += "; and " + std::to_string(said - max_said) + " more numbers";
  for (const found_place& p : places_in(found))
    numbers += (numbers.empty() ? "" : ",") + text_of(p.found->readings[0].now);
  m_doubts.push_back({name, who + ": " + text, as_word(name + "=" + (several ? numbers : "follow"))});
}

void constant_settler::settle(const std::string& who, const std::string& name, const std::vector<operand>& found) {
  if (found.empty()) return;
  const auto choice = m_choices.find(name);
  if (choice == m_choices.end()) return say(who, name, found);
  m_settled.nodes.insert(name);
  if (choice->second.what == constant_choice::kind::keep) return;
  const std::size_t first = m_settled.edits.size();
  for (const operand& o : found) m_settled.edits.push_back({name, o.input, o.attribute, o.numbers});
  const std::vector<found_place> places = places_in(found);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double number = number_for(name, *places[i].found, i, places.size());
    array& to = m_settled.edits[first + places[i].operand].numbers;
    if (is_integer(to.type))
      to.set_integer(places[i].element, static_cast<std::int64_t>(number));
    else
      to.set(places[i].element, number);
  }
}

void constant_settler::refuse_all() const {
  std::string text, options;
  for (std::size_t i = 0; i < m_doubts.size(); ++i) {
    if (i < max_said) text += (i == 0 ? "" : "; ") + m_doubts[i].text;
    options += " --constant " + m_doubts[i].option;
  }
  if (m_doubts.size() > max_said) text += "; and " + std::to_string(m_doubts.size() - max_said) + " more nodes";
  refuse(text + ", for the lengths of --input. Where that is so, add" + options +
         "; where the network has a number of its own, write keep in place of what is behind '=', --constant " +
         as_word(m_doubts[0].name + "=keep"));
}

/// Refuses what may follow a length in a way that is not known.
void constant_settler::require_kept(const std::string& name, const std::string& text) {
  const auto choice = m_choices.find(name);
  if (choice == m_choices.end() || choice->second.what != constant_choice::kind::keep)
    refuse(text + ". Where it is the same for all lengths, add --constant " + as_word(name + "=keep") +
           "; else export the model for these lengths, or leave --input out");
  m_settled.nodes.insert(name);
}

settled_constants constant_settler::run() {
  for (const node& n : the_graph().nodes) {
    settle(describe(the_graph(), n), n.name, find_all(n, operands_of(n)));
    if (n.op == "Gather" && at(n.inputs[0]).constant && m_origins.of(n.inputs[1]).index)
      require_kept(n.name, describe(the_graph(), n) + ": it looks up indices of an axis that changed in a constant");
  }
  for (const value_id v : the_graph().outputs) {
    if (!at(v).constant || (!is_float(at(v).type) && !is_integer(at(v).type))) continue;
    node named;
    named.name = at(v).name;
    for (const std::int64_t length : at(v).shape)
      if (before(v) != nullptr && before(v)->shape == at(v).shape && length > 1 &&
          !m_readings.of(static_cast<double>(length), whole_numbers).empty())
        require_kept(named.name, "output '" + named.name + "' is a constant of the shape " + to_string(at(v).shape) +
                                     ", which may be made of a length that --input changes");
    settle("output '" + named.name + "', a constant", named.name,
           find_all(named, {{0, "", *at(v).constant, own_elements(v)}}));
  }
  if (!m_doubts.empty()) refuse_all();
  return std::move(m_settled);
}

value_id add_constant(graph& g, const constant_edit& e) {
  std::string name = e.node + "/constant_" + std::to_string(e.input);
  while (g.find(name) != no_value) name += "_";
  return g.add_constant(name, e.numbers);
}

}

settled_constants settle_constants(const graph& g, const graph& exported, const constant_choices& choices) {
  return constant_settler(g, exported, choices).run();
}

void apply(const settled_constants& settled, graph& g) {
  for (const constant_edit& e : settled.edits) {
    for (const value_id v : g.outputs)
      if (value& output = g.at(v); output.name == e.node && output.constant)
        output.constant = std::make_shared<const array>(e.numbers);
    for (node& n : g.nodes) {
      if (n.name != e.node) continue;
      if (e.attribute.empty())
        n.inputs[e.input] = add_constant(g, e);
      else if (is_integer(e.numbers.type))
        n.attributes[e.attribute] = e.numbers.integer(0);
      else
        n.attributes[e.attribute] = static_cast<float>(e.numbers.number(0));
    }
  }
  g.facts.notes.insert(g.facts.notes.end(), settled.notes.begin(), settled.notes.end());
}

}
