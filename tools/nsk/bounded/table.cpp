// SPDX-License-Identifier: MIT
#include <map>

#include "bounded/rules.hpp"

namespace nsk::tool::bounded {
namespace {

using table = std::map<std::string, rule>;

/// Each element is computed from the elements at its place.
void add_elementwise(table& t) {
  for (const char* op : {"Abs",
                         "Acos",
                         "Acosh",
                         "Add",
                         "And",
                         "Asin",
                         "Asinh",
                         "Atan",
                         "Atan2",
                         "Atanh",
                         "BitwiseAnd",
                         "BitwiseNot",
                         "BitwiseOr",
                         "BitwiseXor",
                         "Cast",
                         "Ceil",
                         "Celu",
                         "Clip",
                         "Cos",
                         "Cosh",
                         "Elu",
                         "Equal",
                         "Erf",
                         "Exp",
                         "Floor",
                         "Gelu",
                         "Greater",
                         "GreaterOrEqual",
                         "HardSigmoid",
                         "HardSwish",
                         "Identity",
                         "IsInf",
                         "IsNaN",
                         "LeakyRelu",
                         "Less",
                         "LessOrEqual",
                         "Log",
                         "Max",
                         "Mean",
                         "Min",
                         "Mish",
                         "Mul",
                         "Neg",
                         "Not",
                         "Or",
                         "PRelu",
                         "Pow",
                         "Reciprocal",
                         "Relu",
                         "Round",
                         "Selu",
                         "Shrink",
                         "Sigmoid",
                         "Sign",
                         "Sin",
                         "Sinh",
                         "Softplus",
                         "Softsign",
                         "Sqrt",
                         "Sub",
                         "Sum",
                         "Swish",
                         "Tan",
                         "Tanh",
                         "ThresholdedRelu",
                         "Where",
                         "Xor"})
    t[op] = {follow_elementwise};
  for (const char* op : {"Div", "Mod"}) t[op] = {follow_elementwise, fill_divisor};
}

/// Sums, extremes and sorts; unused elements get a number that cannot win.
void add_lines(table& t) {
  for (const char* op : {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSum", "ReduceLogSumExp"})
    t[op] = {follow_reduction, fill_reduction};
  t["ReduceMean"] = {follow_reduction, fill_mean};
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "CumSum"})
    t[op] = {follow_lines, fill_lines};
  for (const char* op : {"ArgMax", "ArgMin"}) t[op] = {follow_arg, fill_lines};
  t["TopK"] = {follow_top_k, fill_top_k};
  t["LayerNormalization"] = {follow_layer_norm};
}

/// Layers and products, which compute every row alone.
void add_layers(table& t) {
  for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool",
                         "GlobalMaxPool", "GlobalLpPool", "BatchNormalization", "InstanceNormalization",
                         "GroupNormalization", "LRN", "DepthToSpace", "SpaceToDepth"})
    t[op] = {follow_rows};
  t["Resize"] = {follow_resize};
  t["Upsample"] = {follow_resize};
  t["MatMul"] = {follow_mat_mul, fill_mat_mul};
  t["Gemm"] = {follow_gemm, fill_mat_mul};
}

/// What moves or repeats elements.
void add_moves(table& t) {
  t["Transpose"] = {follow_transpose};
  t["Squeeze"] = {follow_squeeze};
  t["Unsqueeze"] = {follow_unsqueeze};
  t["Reshape"] = {follow_reshape, fill_with_constants};
  t["Flatten"] = {follow_flatten};
  t["Concat"] = {follow_concat, fill_concat};
  t["Split"] = {follow_split};
  t["Slice"] = {follow_slice, fill_slice};
  t["Pad"] = {follow_pad, fill_pad};
  t["Tile"] = {follow_tile, fill_with_constants};
  t["Expand"] = {follow_expand, fill_with_constants};
  t["ConstantOfShape"] = {follow_constant_of_shape, fill_constant_of_shape};
  t["Range"] = {follow_range, fill_range};
}

/// What follows indices or chooses. Indices may count from the last used element; unused ones point at what is there.
void add_places(table& t) {
  t["Gather"] = {follow_gather, fill_gather};
  t["GatherElements"] = {follow_gather_elements, fill_gather_elements};
  t["GatherND"] = {follow_gather_nd, fill_gather_nd};
  t["ScatterElements"] = {follow_scatter_elements, fill_scatter};
  t["ScatterND"] = {follow_scatter_nd, fill_scatter};
  t["OneHot"] = {follow_one_hot};
  t["RoiAlign"] = {follow_regions, fill_regions};
  t["NonZero"] = {follow_chosen, fill_chosen};
  t["Compress"] = {follow_chosen, fill_chosen};
  t["Unique"] = {follow_unique, fill_unique};
  t["NonMaxSuppression"] = {follow_suppression, fill_suppression};
  t["nsk.Length"] = {follow_length, fill_numbers};
}

table every_rule() {
  table t;
  add_elementwise(t);
  add_lines(t);
  add_layers(t);
  add_moves(t);
  add_places(t);
  return t;
}

}

const rule* find_rule(const node& n) {
  static const table rules = every_rule();
  const auto found = rules.find(n.domain.empty() ? n.op : n.domain + "." + n.op);
  return found == rules.end() ? nullptr : &found->second;
}

bool shapes_by_values(const node& n) {
  static const std::set<std::string> names = {"Reshape", "Expand", "ConstantOfShape",  "Slice", "Pad", "TopK",
                                              "Range",   "Tile",   "NonMaxSuppression"};
  return n.domain.empty() && names.count(n.op) != 0;
}

}
