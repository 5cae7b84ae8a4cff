// SPDX-License-Identifier: MIT
#pragma once
/// Plans whose verification compares each of their parts with all others, or goes through one list for each of them.
/// `count` is the number of parts; the bytes of a file grow with it.
#include "tree_ensemble_plan.hpp"
#include "sample_plans.hpp"

namespace test {

/// Buffers that live at the same time, none of which overlap.
inline aligned_bytes buffers_of_one_lifetime(std::uint32_t count) {
  plan_spec p;
  for (std::uint32_t i = 0; i < count; ++i) p.add_buffer(format::Storage::arena, 64, 0, 0);
  return p.write();
}

/// Outputs, each written by a step of its own and alive until the end.
inline aligned_bytes outputs_of_one_step_each(std::uint32_t count) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 4}, count);
  for (std::uint32_t i = 0; i < count; ++i)
    p.add_step(format::Operator::Copy, {x}, p.add_output("y", {1, 4}, i, count));
  return p.write();
}

/// Adds steps that write one row each of a buffer: as a concatenation does, or with a gap behind each, or rows far
/// apart one after the other.
enum class row_order { of_concatenation, with_gaps, scattered };
inline void write_rows(plan_spec& p, std::uint32_t from, std::uint32_t whole, std::uint32_t rows, row_order order) {
  const std::uint32_t half = (rows + 1) / 2;
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint32_t row = p.add_tensor("row", {1, 4}, p.tensors[whole].buffer);
    const std::uint32_t place = order != row_order::scattered ? i : i % 2 == 0 ? i / 2 : half + i / 2;
    p.tensors[row].offset = std::uint64_t{16} * place * (order == row_order::of_concatenation ? 1 : 2);
    p.add_step(format::Operator::Copy, {from}, row);
  }
}

inline aligned_bytes writers_of_one_buffer(std::uint32_t count, row_order order) {
  plan_spec p;
  const auto rows = static_cast<std::int32_t>(2 * count);
  const std::uint32_t x = p.add_input("x", {1, 4}, count), y = p.add_dense("y", {rows, 4}, 0, count);
  write_rows(p, x, y, count, order);
  return p.write();
}

/// Half of the steps write one row each, the others read what is between the first and the last.
inline aligned_bytes readers_of_many_writers(std::uint32_t count, row_order order) {
  plan_spec p;
  const std::uint32_t writers = count / 2, steps = writers * 2;
  const auto rows = static_cast<std::int32_t>(writers);
  const std::int64_t stride = order == row_order::of_concatenation ? 4 : 8;
  const std::uint32_t x = p.add_input("x", {1, 4}, steps), all = p.add_dense("all", {2 * rows, 4}, 0, steps);
  write_rows(p, x, all, writers, order);
  const std::uint32_t read = add_view(p, all, {rows, 4}, {stride, 1});
  for (std::uint32_t i = writers; i < steps; ++i)
    p.add_step(format::Operator::Copy, {read}, p.add_dense("copy", {rows, 4}, i, i));
  return p.write();
}

/// Steps that each replace the last row of a buffer, and then as many that replace the first, which has been written
/// behind all of those. Nothing is written between them.
inline aligned_bytes steps_in_place(std::uint32_t count) {
  plan_spec p;
  const std::uint32_t in_place = count / 2, steps = 2 * in_place + 2;
  const std::uint32_t x = p.add_input("x", {1, 4}, steps), y = p.add_dense("y", {3, 4}, 0, steps);
  const std::uint32_t first = add_view(p, y, {1, 4}, {4, 1}), last = add_view(p, y, {1, 4}, {4, 1}, 32);
  for (const std::uint32_t row : {last, first}) {
    p.add_step(format::Operator::Copy, {x}, row);
    for (std::uint32_t i = 0; i < in_place; ++i) p.add_step(format::Operator::Unary, {row}, row);
  }
  return p.write();
}

/// Steps that resize with one table of indices, half of the file.
inline aligned_bytes resizes_with_one_table(std::uint32_t count) {
  plan_spec p;
  const auto rows = static_cast<std::int32_t>(48 * count);
  const std::uint32_t x = p.add_input("x", {1, 1, 1, 1}, count);
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(rows), 0);
  const std::uint32_t index = p.add_constant("index", zeros, format::DataType::int32);
  const std::uint32_t weight = p.add_constant("weight", std::vector<float>(zeros.size(), 1.0f));
  const std::uint32_t column = p.add_tensor("column", {1}, p.tensors[index].buffer, format::DataType::int32);
  const std::uint32_t column_weight = p.add_tensor("column weight", {1}, p.tensors[weight].buffer);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t y = p.add_dense("y", {1, rows, 1, 1}, i, i);
    step_spec& s = p.add_step(format::Operator::Resize2D, {x, index, weight, column, column_weight}, y);
    s.scratch_bytes = p.lane_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(1));
  }
  return p.write();
}

/// Steps that are one tree ensemble, half of the file.
inline aligned_bytes tree_ensembles_of_one_table(std::uint32_t count) {
  tree_ensemble f;
  const std::size_t nodes = 32 * count;
  f.nodes.assign(4 * nodes, 0);
  f.thresholds.assign(nodes, 0);
  plan_spec p = f.plan();
  const step_spec first = p.steps[0];
  p.buffers[p.tensors[first.inputs[0]].buffer].last_step = count;
  p.buffers[p.tensors[first.outputs[0]].buffer].last_step = count;
  for (std::uint32_t i = 1; i < count; ++i) p.add_step(first.op, first.inputs, p.add_dense("y", {4, 2}, i, i));
  return p.write();
}

/// Variants that are one table, of which nothing is wrong.
inline aligned_bytes variants_of_one_table(std::uint32_t count) {
  flatbuffers::FlatBufferBuilder b;
  const cnn_sample cnn = make_cnn();
  const std::vector<flatbuffers::Offset<format::Variant>> variants(count, write_variant(b, cnn.plan));
  b.Finish(format::CreateModelDirect(b, "plan_builder", "sample", 42, &variants));
  return assemble(b.GetBufferPointer(), b.GetSize(), cnn.plan.weights);
}

/// Inputs that have all their lists in common, of which nothing is wrong.
inline aligned_bytes inputs_with_common_lists(std::uint32_t count, std::size_t labels) {
  plan_spec p;
  for (std::uint32_t i = 0; i < count; ++i) p.add_input("x", {1, 4}, 0);
  flatbuffers::FlatBufferBuilder b;
  const auto text = b.CreateString("label");
  const auto label_list = b.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(labels, text));
  const auto shape = b.CreateVector(std::vector<std::int64_t>(64, 1));
  const auto levels = b.CreateVector(std::vector<float>(1, 0.5f));
  std::vector<flatbuffers::Offset<format::Port>> ports;
  std::vector<flatbuffers::Offset<format::Tensor>> tensors;
  std::vector<flatbuffers::Offset<format::Buffer>> buffers;
  const auto row = b.CreateVector(std::vector<std::int32_t>{1, 1});
  const auto strides = b.CreateVector(std::vector<std::int64_t>{1, 1});
  for (std::uint32_t i = 0; i < count; ++i) {
    buffers.push_back(format::CreateBuffer(b, format::Storage::input, i, std::uint64_t{64} * i, 4, 0, 0));
    tensors.push_back(format::CreateTensor(b, text, format::DataType::float32, row, strides, i));
    ports.push_back(format::CreatePort(b, text, i, shape, 0, levels, levels, text, label_list));
  }
  const std::vector<flatbuffers::Offset<format::Step>> steps;
  const std::vector<flatbuffers::Offset<format::Variant>> variants{format::CreateVariantDirect(
      b, "only", "any", &buffers, &tensors, &steps, &ports, nullptr, nullptr, p.arena_bytes)};
  b.Finish(format::CreateModelDirect(b, "plan_builder", "sample", 42, &variants));
  return assemble(b.GetBufferPointer(), b.GetSize(), {});
}

}
