// SPDX-License-Identifier: MIT
#pragma once
/// One lowering of a program, and what one round asks of the next: what operator files use to lower an operation.
///
/// Layout is tracked by strides, not by inserted transpositions: a value is a view of a storage, and a transposition,
/// slice, reshape or broadcast is another view. Operations that need channels last, a border of zeros or a place inside
/// a concatenation say so in `decisions`; the program is lowered again until no step asks for more. What strides cannot
/// express becomes a Copy step with a reason.
#include <array>
#include <map>
#include <optional>
#include <set>
#include "program/plan.hpp"
#include "program/program.hpp"
#include "passes/lower/views.hpp"

namespace nsk::tool {

/// Borders of values, by their numbers in the program.
using value_borders = std::map<int, nsk::halo>;

struct lower_options {
  bool winograd = true;  ///< allow F(4x4, 3x3) and F(2x2, 3x3), whose rounding differs from a direct convolution's
  std::map<std::string, conv_algorithm> algorithms;  ///< wanted for convolutions of that name
  bool joins_in_place = true;                        ///< parts of a concatenation are written where it is
  bool gpu = false;                                  ///< Winograd only where it pays on GPUs
  bool borders = true;                               ///< values that padded convolutions read have zeros around them
  std::set<std::string> kept_layouts;                ///< inputs and outputs that keep the source's order of axes
  weight_format weights = weight_format::floats;     ///< of panels, where that is exact
  std::set<std::string> wide_steps;                  ///< whose panels are float32 whatever `weights` says
  bool splits_reductions = true;                     ///< those of large images are two steps
  value_borders min_borders = {};                    ///< that values have where they have any
  int max_rounds = 64;                               ///< of lowering, until no operation asks for another layout
};

/// The engine's name of an element type; refuses those that it does not have.
dtype dtype_of_element(element t);

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
  bool dense = false;  ///< something needs it without a border
  std::optional<embedding> embed;
  int output = -1;  ///< it is the block of this model output
  bool never_output = false;
};

/// Weights as the kernels read them; of Winograd's algorithms also the kernels that they are made of
/// (pack/winograd.hpp).
struct packed_panels {
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< of float32
  std::shared_ptr<const std::vector<float>> kernels = nullptr;
  /// In narrower formats that were asked for; without bytes where a format does not hold them.
  using narrow_bytes = std::map<weight_format, std::shared_ptr<const std::vector<std::byte>>>;
  std::shared_ptr<narrow_bytes> narrow = std::make_shared<narrow_bytes>();

  explicit packed_panels(const std::vector<float>& panels, std::shared_ptr<const std::vector<float>> made_of = nullptr);
  const float* begin() const { return reinterpret_cast<const float*>(bytes->data()); }
  std::size_t size() const { return bytes->size() / sizeof(float); }
};

/// What the operations of a program pack, once for all rounds of lowering.
class packed_weights {
 public:
  packed_weights() = default;
  /// Operations with the weights of the one of the same number in `p` take what `of` has for that.
  packed_weights(const program& p, const packed_weights& of) : m_like(&p), m_of(&of) {}

  /// What operation `number` packs: pack(), or what was packed before.
  template <class Pack>
  const packed_panels& once(std::size_t number, const operation& o, Pack&& pack) {
    const auto known = m_packed.find(number);
    if (known != m_packed.end()) return known->second;
    const packed_panels* const like = find_like(number, o);
    return m_packed.emplace(number, like != nullptr ? *like : pack()).first->second;
  }

 private:
  const packed_panels* find_like(std::size_t number, const operation& o) const;

  std::map<std::size_t, packed_panels> m_packed;
  const program* m_like = nullptr;
  const packed_weights* m_of = nullptr;
};

/// What a storage was made for. `fixed`: its order follows from the operation that writes it and cannot be asked for;
/// of `rows` only where the last axis stays innermost.
struct storage_root {
  int owner = no_value;
  int row_axis = -1, column_axis = -1;
  nsk::halo border{};
  view whole;
  bool fixed = false, rows = false;
};

/// Which edges of a storage's image the rows of a view touch.
struct touched_edges {
  bool top = false, bottom = false;
};
/// Returns them for a view whose pixels in a row are those of the storage, and whose rows are all of them, or, of one
/// image, some; nothing for other views. The axes are the view's, -1 where it has no rows.
std::optional<touched_edges> edges_of(const storage_root& r, const view& v, int row_axis, int column_axis);

/// One lowering of a program under given decisions: where values are, and the plan so far. Operator files (ops/) and
/// layout operations (layout.cpp) lower one operation each with it.
class lowerer {
 public:
  /// With `orders_only` no value is granted a border or a place in another block: orders are still being found.
  lowerer(const program& p, const lower_options& o, std::map<int, decision> d, bool orders_only, packed_weights& packed)
      : source(p), options(o), orders_only(orders_only), packed(packed), m_decisions(std::move(d)) {}
  /// Lowers all operations by `rule`, and places inputs, outputs and states.
  plan run(void (*rule)(lowerer&, const operation&));
  const std::map<int, decision>& decisions() const { return m_decisions; }

  const program& source;
  const lower_options& options;
  const bool orders_only;
  packed_weights& packed;
  plan result;
  std::map<int, storage_root> roots;  ///< by storage

  // Values and storages: lowerer.cpp

  const decision& decided(int v) const;
  decision& ask(int v) { return m_decisions[v]; }
  /// Storage for the result `v`, in `order` unless decided otherwise.
  view allocate(int v, axis_order order, bool fixed = false);
  view new_storage(int owner, const std::string& name, const shape_t& shape, const axis_order& order,
                   const nsk::halo& border, storage_kind kind, dtype type = dtype::float32);
  view constant_view(int v, const axis_order& order);
  view place_of(int v);  ///< view of an already lowered value; constants in row-major order
  void bind(int v, view where) { m_views[v] = std::move(where); }
  const std::string& name_of_value(int v) const { return source.values[static_cast<std::size_t>(v)].name; }
  /// Asks that `axis` of the view becomes the innermost one of its storage.
  void ask_innermost(const view& v, std::size_t axis);
  void ask_border(const view& v, int row_axis, int column_axis, const nsk::halo& border);
  void ask_dense(const view& v);
  /// The view, or a copy of it with `axis` innermost, every stride positive and nothing repeated.
  view with_innermost(const view& v, std::size_t axis, const operation& o);
  view copied(const view& v, const axis_order& order, const operation& o, const std::string& suffix,
              const std::string& reason);

  // Tensors and steps: emit.cpp

  int constant_floats(const std::string& name, const std::vector<float>& values, packing arrangement = packing::plain);
  int constant_floats(const std::string& name, const packed_panels& packed, packing arrangement);
  int constant_ints(const std::string& name, const std::vector<std::int32_t>& values);
  /// Tensor of a view whose physical dimensions are `axes` (-1: a dimension of length 1).
  int tensor(const view& v, const std::vector<int>& axes, const std::string& name, bool border = true);
  /// Tensors of views of one shape with merged dimensions; first the output's, in the output's physical order.
  /// `barrier` is an axis that is merged with no other; its position in the result is returned.
  int joint_tensors(const std::vector<view>& views, const std::vector<std::string>& names, std::vector<int>& tensors,
                    int barrier = -1);
  /// Adds a step of operator `O` that computes `o`, with default parameters.
  template <op O>
  plan_step& step(const operation& o, std::vector<int> inputs, int output) {
    plan_step s;
    s.p.make<O>();
    s.name = o.name;
    s.inputs = std::move(inputs);
    s.outputs = {output};
    result.steps.push_back(std::move(s));
    return result.steps.back();
  }
  void copy_step(const view& from, const view& to, const std::string& name, const std::string& result_name,
                 const std::string& reason = {});
  void fill_step(const view& to, float value, const std::string& name, const std::string& result_name);

 private:
  void place_inputs();
  void place_outputs();
  void place_states();

  std::map<int, decision> m_decisions;
  std::map<int, view> m_views;
  /// Constants that were laid out, by value and order: however many steps read one, it is there once.
  std::map<std::pair<int, axis_order>, std::shared_ptr<const std::vector<std::byte>>> m_laid;
};

/// The element type of the storage that a view shows.
inline dtype type_of(const lowerer& l, const view& v) {
  return l.result.storages[static_cast<std::size_t>(v.storage)].type;
}

/// The packed weights of `o`, which pack() makes in the first round.
template <class Pack>
const packed_panels& packed_once(lowerer& l, const operation& o, Pack&& pack) {
  return l.packed.once(static_cast<std::size_t>(&o - l.source.operations.data()), o, pack);
}

/// Lowers an operation that moves elements and computes nothing: transposition, reshape, slice, concatenation,
/// interleaving, expansion, padding. Returns whether `o` is one.
bool lower_layout(lowerer& l, const operation& o);

}
