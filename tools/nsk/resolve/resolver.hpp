// SPDX-License-Identifier: MIT
#pragma once
/// Private to infer.cpp and unroll.cpp: the state of one resolution (infer.hpp).
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
#include "resolve/folder.hpp"
#include "resolve/infer.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool {

/// Nodes of a resolved graph, and its inputs or outputs: the passes look at pairs of them.
inline constexpr std::size_t most_nodes = 20'000, most_ports = 1024;

/// The shape as the source gives it, symbols included: "[batch,3,?,?]".
std::string source_shape_text(const value& v);

class resolver {
 public:
  resolver(graph& g, const input_options& options)
      : m_graph(g), m_options(options), m_folder(g, constant_elements(g), options.trusted) {}
  void run();

 private:
  value& at(value_id v) { return m_graph.values[static_cast<std::size_t>(v)]; }

  // infer.cpp: outputs and inputs, then nodes in order
  void choose_outputs();
  void drop_missing_outputs();
  void check_name(const std::string& name, const char* option) const;
  void bind_inputs();
  void check_size() const;
  void compare_declared();
  void bind_shape(value& v, const shape_t& shape);
  void set_constant(value& v, double number);
  void infer(node n);
  void bound_suppression(node& n);
  void narrow_doubles();

  // open_lengths.cpp: lengths of inputs that the source leaves open
  void bind_open_lengths();
  template <class LengthOf>
  void choose_shape(value& v, LengthOf length_of);
  [[noreturn]] void refuse_dynamic(const value& v) const;
  std::string missing_shapes() const;

  // dequantize.cpp: numbers that the source stores as integers
  struct stored_numbers {
    value_id from = no_value;  ///< the real numbers, where they are known
    value_id scale = no_value, zero = no_value;
    double low = 0, high = 0;
  };
  /// Puts operators on floats in the place of `n`, where it is one on stored integers. Returns whether it was.
  bool dequantize(const node& n);
  void dequantize_product(const node& n);
  void follow_stored(const node& n);
  value_id stored(const node& n, value_id x, std::size_t scale, std::size_t zero, value_id result);
  value_id real(const node& n, std::size_t i, std::size_t scale, std::size_t zero, std::int64_t axis);
  value_id quantisation(const node& n, std::size_t i, const shape_t& shape, std::int64_t axis, double otherwise);
  value_id number(const node& n, const char* suffix, double v);
  value_id placed(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                  const std::map<std::string, attribute>& attributes = {});
  /// Makes `v` output `i` of the node.
  void give(const node& n, std::size_t i, value_id v);

  // unroll.cpp: nodes with graphs inside, whose nodes take their place
  using names = std::map<std::string, std::string>;

  /// A loop that is being unrolled, iteration by iteration.
  struct unrolling {
    struct slice {
      value_id from = no_value;
      std::size_t axis = 0;
      bool backwards = false;
    };
    struct collected {
      std::vector<value_id> parts;
      std::size_t axis = 0;
      bool backwards = false;
    };
    node n;
    std::shared_ptr<graph> body;
    std::int64_t iteration = 0, count = 0;
    bool counts = false;  ///< the body begins with the number of the iteration and the condition (Loop)
    value_id condition = no_value;
    std::vector<value_id> carried;
    std::vector<slice> slices;
    std::vector<collected> results;
  };

  static bool is_control_flow(const node& n);
  void inline_body(const node& n);
  void inline_branch(const node& n);
  void select_branch(const node& n);
  void require_same_shapes(node& n);
  unrolling begin_loop(const node& n);
  unrolling begin_scan(const node& n);
  /// Places the next iteration, or the results behind the last one.
  void continue_loop(const std::string& name);
  bool goes_on(const unrolling& u);
  void place_iteration(unrolling& u);
  void place_results(const unrolling& u);
  void place_collection(const unrolling& u, const unrolling::collected& c, const std::string& name, value_id output);

  /// Puts the nodes of a graph in the place of `n`: its inputs are the values given, its outputs become `outputs`.
  void place_graph(const node& n, const graph& inner, const std::vector<value_id>& inputs,
                   const std::vector<value_id>& outputs, const std::string& prefix);
  /// Counts what takes the place of nodes; refuses more than 64 MiB.
  void charge(std::size_t bytes, const std::string& name);
  value_id adopt(const value& v, const std::string& prefix, names& renamed);
  node adopt(const node& n, const std::string& prefix, const std::vector<value_id>& ids, const names& renamed);
  /// A node of our own in the place of `n`.
  static node helper(const node& n, const char* op, const std::string& suffix, std::vector<value_id> inputs,
                     value_id output);
  value_id new_value(const node& n, const std::string& suffix);
  value_id new_constant(const node& n, const std::string& suffix, array a);

  graph& m_graph;
  const input_options& m_options;
  folder m_folder;
  std::size_t m_placed = 0;     ///< bytes, about, of what took the place of nodes with graphs inside
  std::vector<node> m_waiting;  ///< last first
  std::unordered_map<std::string, value_id> m_ids;
  std::set<std::string> m_node_names;
  std::map<std::string, unrolling> m_unrolling;  ///< by name of the node
  std::map<value_id, stored_numbers> m_stored;
  bool m_own_arithmetic = false;  ///< nodes that stand in the place of one on stored integers
  std::int64_t m_streams = 0;     ///< nodes so far that draw random numbers
};

}
