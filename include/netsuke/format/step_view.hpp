// SPDX-License-Identifier: MIT
#pragma once
/// A step of a model's plan, as the file describes it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/tensor_info.hpp>
#include <netsuke/format/tiles.hpp>

NSK_BEGIN
namespace impl {

/// Whether an operator has a result where an input has no elements and its output has some: a sum over nothing is 0,
/// data without updates stay, and panels of nothing are padding.
constexpr bool takes_nothing(op o) {
  return o == op::reduce || o == op::mat_mul || o == op::pack_panels || o == op::scatter;
}

}

/// One step of a verified variant. A view: valid as long as the file's bytes.
class step_view {
 public:
  step_view(const format::Variant* variant, std::uint32_t index)
      : m_variant(variant), m_step(variant->steps()->Get(index)), m_index(index) {}

  int index() const { return static_cast<int>(m_index); }
  /// Source nodes that it computes.
  const char* name() const { return impl::text(m_step->name()); }
  nsk::op op() const { return static_cast<nsk::op>(m_step->op_type()); }
  /// Multiply-accumulates of the whole step, as the converter counted them.
  std::uint64_t macs() const { return m_step->macs(); }
  std::uint64_t scratch_bytes() const { return m_step->scratch_bytes(); }

  int input_count() const { return static_cast<int>(impl::count_of(m_step->inputs())); }
  int output_count() const { return static_cast<int>(impl::count_of(m_step->outputs())); }
  tensor_info input(int i) const { return {m_variant, input_index(i)}; }
  tensor_info output(int i = 0) const { return {m_variant, output_index(i)}; }
  /// Numbers of the tensors.
  std::uint32_t input_index(int i) const { return m_step->inputs()->Get(static_cast<std::uint32_t>(i)); }
  std::uint32_t output_index(int i = 0) const { return m_step->outputs()->Get(static_cast<std::uint32_t>(i)); }

  tile_size tile() const {
    const format::Tile* t = m_step->tile();
    return t ? tile_size{t->rows(), t->pixels(), t->channels()} : tile_size{};
  }
  /// Number of tiles; 1 where the file describes none.
  int tile_count() const { return m_step->tile() ? static_cast<int>(m_step->tile()->count()) : 1; }
  /// The output as tiles see it in a run of these lengths, and its number of tiles.
  tile_space space(length_values lengths = nullptr) const {
    if (!lengths) return tile_space_of(output().shape().data(), output().rank());
    const tensor_view y = output().view(nullptr, lengths);
    return tile_space_of(y.shape, y.rank);
  }
  /// None where the step does nothing.
  int tile_count(length_values lengths) const {
    if (!lengths) return tile_count();
    return does_nothing(lengths) ? 0 : static_cast<int>(tile_grid_of(space(lengths), tile()).count());
  }
  /// Whether the step does nothing in a run of these lengths: its output has no elements, or an input has none without
  /// which there is no result.
  bool does_nothing(length_values lengths) const {
    return output().is_empty(lengths) || (!impl::takes_nothing(op()) && has_empty_input(lengths));
  }
  bool has_empty_input(length_values lengths) const {
    bool empty = false;
    for (int i = 0; i < input_count() && !empty; ++i) empty = input(i).is_empty(lengths);
    return empty;
  }

  /// Returns the parameters of the step's operator, which must be `O`.
  template <nsk::op O>
  params_of<O> params() const {
    return impl::read_params<O>(m_step);
  }
  /// Returns what happens to its result: nothing, where its operator has no epilogue.
  epilogue_params epilogue() const {
    const format::Epilogue* e = epilogue_table();
    return e ? epilogue_params::of(*e) : epilogue_params();
  }

 private:
  const format::Epilogue* epilogue_table() const {
    switch (op()) {
#define NSK_EPILOGUE_OF(name, Table) \
  case nsk::op::name: return impl::epilogue_of(*impl::table_of<nsk::op::name>(m_step), 0);
      NSK_OP_LIST(NSK_EPILOGUE_OF)
#undef NSK_EPILOGUE_OF
      case nsk::op::none: break;
    }
    return nullptr;
  }
  const format::Variant* m_variant;
  const format::Step* m_step;
  std::uint32_t m_index;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
