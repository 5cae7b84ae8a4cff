// SPDX-License-Identifier: MIT
#pragma once
/// Private to lower/: one lowering of a program, and what one round asks of the next.
///
/// Layout is tracked by strides, not by inserted transpositions: a value is a view of a storage, and a transposition,
/// slice, reshape or broadcast is another view. Operations that need channels last, a border of zeros or a place inside
/// a concatenation say so in `decisions`; the program is lowered again until nobody asks for more. What strides cannot
/// express becomes a Copy step with a reason.
#include <array>
#include <map>
#include <optional>
#include <set>
#include "passes/lower/lower.hpp"
#include "passes/lower/views.hpp"

namespace nsk::tool {

/// Place of a value inside a concatenation or an interleaving.
struct embedding {
  int parent = no_value;  ///< value that the concatenation produces
  int axis = 0;
  std::int64_t start = 0;
  bool contiguous = false;  ///< the part is one dense block of the parent, laid out in the part's own axes
  int phase = -1;           ///< of an interleaving: number of the part; `axis` and `start` mean nothing
  int rows = 1, columns = 1;
};

/// What later operations asked of the storage of a value; found by one lowering, obeyed by the next.
struct decision {
  std::optional<axis_order> order;
  nsk::halo border{};
  bool dense = false;  ///< somebody needs it without a border
  std::optional<embedding> embed;
  int output = -1;  ///< it is the block of this model output
  bool never_output = false;
};

/// One lowering of a program under given decisions. Private to lower/.
/// Weights as the kernels read them, by operation: packed once for all rounds of lowering.
using packed_weights = std::map<const operation*, std::vector<float>>;

class lowerer {
 public:
  /// With `orders_only` nobody is granted a border or a place in another block: orders are still being found.
  lowerer(const program& p, const lower_options& o, std::map<int, decision> d, bool orders_only, packed_weights& packed)
      : m_program(p), m_options(o), m_orders_only(orders_only), m_decisions(std::move(d)), m_packed(packed) {}
  plan run();
  const std::map<int, decision>& decisions() const { return m_decisions; }

 private:
  /// The packed weights of `o`, which pack() makes in the first round.
  template <class Pack>
  const std::vector<float>& packed_once(const operation& o, Pack&& pack) {
    const auto [at, is_new] = m_packed.try_emplace(&o);
    if (is_new) at->second = pack();
    return at->second;
  }

  /// What a storage was made for. `fixed`: its order follows from the operation that writes it and cannot be asked for.
  struct root {
    int owner = no_value;
    int row_axis = -1, column_axis = -1;
    nsk::halo border{};
    view whole;
    bool fixed = false;
  };

  // lower.cpp: storages and views
  void place_inputs();
  void place_outputs();
  void place_states();
  const decision& decided(int v) const;
  decision& ask(int v) { return m_decisions[v]; }
  /// Storage for the result `v`, in `order` unless decided otherwise.
  view allocate(int v, axis_order order, bool fixed = false);
  view new_storage(int owner, const std::string& name, const shape_t& shape, const axis_order& order,
                   const nsk::halo& border, storage_kind kind, dtype type = dtype::float32);
  dtype type_of(int v) const { return dtype_of_element(m_program.values[static_cast<std::size_t>(v)].type); }
  dtype type_of(const view& v) const { return m_plan.storages[static_cast<std::size_t>(v.storage)].type; }
  view constant_view(int v, const axis_order& order);
  view place_of(int v);  ///< view of an already lowered value; constants in row-major order
  /// Asks that `axis` of the view becomes the innermost one of its storage.
  void ask_innermost(const view& v, std::size_t axis);
  void ask_border(const view& v, int row_axis, int column_axis, const nsk::halo& border);
  void ask_dense(const view& v);
  /// The view, or a copy of it with `axis` innermost, every stride positive and nothing repeated.
  view with_innermost(const view& v, std::size_t axis, const operation& o);
  view copied(const view& v, const axis_order& order, const operation& o, const std::string& suffix,
              const std::string& reason);

  // emit.cpp: tensors and steps
  int constant_floats(const std::string& name, const std::vector<float>& values, int packing = 0);
  int constant_ints(const std::string& name, const std::vector<std::int32_t>& values);
  /// Tensor of a view whose physical dimensions are `axes` (-1: a dimension of length 1).
  int tensor(const view& v, const std::vector<int>& axes, const std::string& name, bool border = true);
  /// Tensors of views of one shape with merged dimensions; first the output's, in the output's physical order.
  /// `barrier` is an axis that is merged with no other; its position in the result is returned.
  int joint_tensors(const std::vector<view>& views, const std::vector<std::string>& names, std::vector<int>& tensors,
                    int barrier = -1);
  plan_step& step(op kind, const operation& o, std::vector<int> inputs, int output);
  nsk::halo border_of(const view& v, int row_axis, int column_axis) const;
  void copy_step(const view& from, const view& to, const std::string& name, const std::string& result,
                 const std::string& reason = {});
  void fill_step(const view& to, float value, const std::string& name, const std::string& result);

  // gemm.cpp
  void lower_conv(const operation& o, const conv_parameters& c);
  void lower_dense(const operation& o, const dense_parameters& d);
  void lower_mat_mul(const operation& o);
  conv_algorithm choose_algorithm(const operation& o, const conv_parameters& c, const view& x, const view& y) const;
  // window.cpp
  void lower_pool(const operation& o, const pool_parameters& p);
  void lower_resize(const operation& o, const resize_parameters& r);
  void lower_pad(const operation& o, const pad_parameters& p);
  // elementwise.cpp
  void lower_unary(const operation& o);
  void lower_binary(const operation& o, const binary_parameters& b);
  std::vector<int> elementwise_tensors(const operation& o);
  void lower_reduce(const operation& o, const reduce_parameters& r);
  /// One step: y, of the rank of x, where `reduced` axes have the length 1. `names` are those of x and y.
  void reduce_step(const operation& o, reduce_kind kind, const view& x, const view& y, const std::vector<char>& reduced,
                   const std::array<std::string, 2>& names);
  void lower_softmax(const operation& o, const softmax_parameters& s);
  void set_epilogue(plan_step& s, const post_operation& post);
  // shape.cpp
  void lower_reshape(const operation& o, const reshape_parameters& r);
  void lower_slice(const operation& o, const slice_parameters& s);
  void lower_concat(const operation& o, const concat_parameters& c);
  void lower_interleave(const operation& o, const interleave_parameters& i);
  // index.cpp
  /// Returns whether `o` is one of them.
  [[nodiscard]] bool lower_typed(const operation& o);
  plan_step& lower_along(const operation& o, op kind, int axis);
  void lower_gather(const operation& o, const gather_parameters& g);
  void lower_suppression(const operation& o, const non_max_suppression_parameters& s);
  void lower_layer_normalization(const operation& o, const layer_normalization_parameters& l);
  void lower_local_response_normalization(const operation& o, const local_response_normalization_parameters& l);
  void lower_random(const operation& o, const random_parameters& r);
  void lower_trees(const operation& o, const tree_parameters& t);

  // recurrent.cpp
  void lower_recurrent(const operation& o, const recurrent_parameters& r);

  void bind(int v, view where) { m_views[v] = std::move(where); }
  const std::string& name_of_value(int v) const { return m_program.values[static_cast<std::size_t>(v)].name; }

  const program& m_program;
  lower_options m_options;
  bool m_orders_only;
  std::map<int, decision> m_decisions;
  packed_weights& m_packed;
  plan m_plan;
  std::map<int, view> m_views;
  std::map<int, root> m_roots;  ///< by storage
  /// Constants that were laid out, by value and order: however many steps read one, it is there once.
  std::map<std::pair<int, axis_order>, std::shared_ptr<std::vector<std::byte>>> m_laid;
};

}
