// SPDX-License-Identifier: MIT
#pragma once
/// A step of a model's plan, as the file describes it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/op.hpp>
#include <netsuke/model/tensor_info.hpp>
#include <netsuke/plan/tiles.hpp>

NSK_BEGIN
/// The epilogue as the file has it: tensors are positions in the step's inputs, -1 when absent.
struct epilogue_info {
  function fn = function::identity;
  bool activation_first = false;
  float alpha = 0, beta = 0;
  std::int32_t residual = -1, slope = -1;
};

/// Positions of the inputs of a recurrent step that it may lack, -1 where it does, and how many inputs it has.
struct recurrent_inputs {
  std::int32_t initial_c = -1, peephole = -1, lengths = -1, count = 3;

  static recurrent_inputs of(const format::Recurrent* r) {
    recurrent_inputs i;
    if (r->kind() == format::RecurrentKind::lstm) i.initial_c = i.count++;
    if (r->peephole()) i.peephole = i.count++;
    if (r->lengths()) i.lengths = i.count++;
    return i;
  }
};

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
  tensor_info input(int i) const { return {m_variant, m_step->inputs()->Get(static_cast<std::uint32_t>(i))}; }
  tensor_info output(int i = 0) const { return {m_variant, m_step->outputs()->Get(static_cast<std::uint32_t>(i))}; }

  tile_size tile() const {
    const format::Tile* t = m_step->tile();
    return t ? tile_size{t->rows(), t->pixels(), t->channels()} : tile_size{};
  }
  /// Number of tiles; 1 where the file describes none.
  int tile_count() const { return m_step->tile() ? static_cast<int>(m_step->tile()->count()) : 1; }
  /// The output as tiles see it, with no more than `rows` of the batch where `rows` is not 0; and its number of tiles.
  tile_space space(int rows) const {
    const tensor_view y = output().view(nullptr, rows);
    return tile_space_of(y.shape, y.rank);
  }
  int tile_count(int rows) const {
    return rows == 0 ? tile_count() : static_cast<int>(tile_grid_of(space(rows), tile()).count());
  }

  /// Window of a convolution or pooling; all ones for other operators.
  nsk::window window() const {
    const format::Window* w = window_table();
    if (!w) return {};
    return {w->kernel_h(),   w->kernel_w(),   w->stride_h(), w->stride_w(),
            w->dilation_h(), w->dilation_w(), w->pad_top(),  w->pad_left()};
  }
  epilogue_info epilogue() const {
    const format::Epilogue* e = epilogue_table();
    if (!e) return {};
    return {
        static_cast<function>(e->function()), e->activation_first(), e->alpha(), e->beta(), e->residual(), e->slope()};
  }
  /// Algorithm and groups of a convolution; direct and 1 for other operators.
  conv_algorithm algorithm() const {
    const auto* conv = m_step->op_as_Conv2D();
    return conv ? static_cast<conv_algorithm>(conv->algorithm()) : conv_algorithm::direct;
  }
  std::uint32_t groups() const {
    const auto* conv = m_step->op_as_Conv2D();
    return conv ? conv->groups() : 1;
  }
  /// Parameters that single operators have; call only for a step of that operator.
  const format::Pool2D* pool_2d() const { return m_step->op_as_Pool2D(); }
  const format::MatMul* mat_mul() const { return m_step->op_as_MatMul(); }
  const format::Binary* binary() const { return m_step->op_as_Binary(); }
  const format::Fill* fill() const { return m_step->op_as_Fill(); }
  const format::Resize2D* resize_2d() const { return m_step->op_as_Resize2D(); }
  const format::Reduce* reduce() const { return m_step->op_as_Reduce(); }
  const format::Softmax* softmax() const { return m_step->op_as_Softmax(); }
  const format::Compare* compare() const { return m_step->op_as_Compare(); }
  const format::Arithmetic* arithmetic() const { return m_step->op_as_Arithmetic(); }
  const format::ArgReduce* arg_reduce() const { return m_step->op_as_ArgReduce(); }
  const format::TopK* top_k() const { return m_step->op_as_TopK(); }
  const format::NonMaxSuppression* non_max_suppression() const { return m_step->op_as_NonMaxSuppression(); }
  const format::LayerNormalization* layer_normalization() const { return m_step->op_as_LayerNormalization(); }
  const format::LocalResponseNormalization* local_response_normalization() const {
    return m_step->op_as_LocalResponseNormalization();
  }
  const format::Recurrent* recurrent() const { return m_step->op_as_Recurrent(); }
  const format::Random* random() const { return m_step->op_as_Random(); }
  const format::TreeEnsemble* tree_ensemble() const { return m_step->op_as_TreeEnsemble(); }
  /// Dimension along which the step works; -1 for operators that have none.
  int axis() const {
    switch (op()) {
      case nsk::op::softmax: return softmax()->axis();
      case nsk::op::gather: return m_step->op_as_Gather()->axis();
      case nsk::op::gather_elements: return m_step->op_as_GatherElements()->axis();
      case nsk::op::arg_reduce: return arg_reduce()->axis();
      case nsk::op::top_k: return top_k()->axis();
      default: return -1;
    }
  }
  const format::Step* table() const { return m_step; }

  const format::Window* window_table() const {
    switch (op()) {
      case nsk::op::conv_2d: return m_step->op_as_Conv2D()->window();
      case nsk::op::depthwise_conv_2d: return m_step->op_as_DepthwiseConv2D()->window();
      case nsk::op::pool_2d: return m_step->op_as_Pool2D()->window();
      default: return nullptr;
    }
  }

 private:
  const format::Epilogue* epilogue_table() const {
    switch (op()) {
      case nsk::op::conv_2d: return m_step->op_as_Conv2D()->epilogue();
      case nsk::op::depthwise_conv_2d: return m_step->op_as_DepthwiseConv2D()->epilogue();
      case nsk::op::fully_connected: return m_step->op_as_FullyConnected()->epilogue();
      case nsk::op::mat_mul: return m_step->op_as_MatMul()->epilogue();
      case nsk::op::unary: return m_step->op_as_Unary()->epilogue();
      case nsk::op::binary: return m_step->op_as_Binary()->epilogue();
      case nsk::op::reduce: return m_step->op_as_Reduce()->epilogue();
      default: return nullptr;
    }
  }
  const format::Variant* m_variant;
  const format::Step* m_step;
  std::uint32_t m_index;
};

/// Returns the name of an operator as the schema spells it: "Conv2D".
inline const char* name_of(op o) { return format::EnumNameOperator(static_cast<format::Operator>(o)); }
/// Returns the name of an elementwise function as the schema spells it: "leaky_relu".
inline const char* name_of(function f) { return format::EnumNameFunction(static_cast<format::Function>(f)); }
NSK_END
#include <netsuke/core/restore_macros.hpp>
