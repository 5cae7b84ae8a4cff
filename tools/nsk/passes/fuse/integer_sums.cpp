// SPDX-License-Identifier: MIT
/// What follows sums of stored integers and makes real numbers of them: Cast, a product with the scales of both sides,
/// and a bias for each channel. Each is rounded as the source rounds it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include "graph/array.hpp"
#include "passes/fuse/fuse.hpp"
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

class sum_joiner : rewriter {
 public:
  using rewriter::rewriter;

  void run() {
    sweep_once(&sum_joiner::join_cast);
    sweep_once(&sum_joiner::join_scales);
    sweep_once(&sum_joiner::join_bias);
  }

 private:
  friend class rewriter;

  /// The sums behind `v`, which nothing else reads, where they have the shape of the result.
  operation* sums_of(int v, int result) {
    operation* o = sole_producer(v);
    return o && o->as<integer_conv_parameters>() && o->post.empty() && m_p.shape(v) == m_p.shape(result) ? o : nullptr;
  }
  std::size_t channel_axis(const operation& o) const {
    return o.as<integer_conv_parameters>()->dense ? m_p.shape(o.output).size() - 1 : 1;
  }
  /// A constant with one number for each channel of the sums, all finite in float32.
  std::optional<std::vector<float>> channel_numbers(int v, const operation& sums) const {
    const auto values = per_channel(v, m_p.shape(sums.output), channel_axis(sums));
    if (!values) return std::nullopt;
    std::vector<float> numbers(values->begin(), values->end());
    for (const float n : numbers)
      if (!std::isfinite(n)) return std::nullopt;
    return numbers;
  }

  bool join_cast(std::size_t i) {
    operation& o = at(i);
    if (!o.as<cast_params>() || m_p.values[static_cast<std::size_t>(o.output)].type != element::f32) return false;
    operation* source = sums_of(o.inputs[0], o.output);
    if (!source || source->as<integer_conv_parameters>()->real) return false;
    auto* sums = source->as<integer_conv_parameters>();
    sums->real = true;
    sums->scale.assign(sums->sums.size(), 1.0f);
    sums->bias.assign(sums->sums.size(), -0.0f);  // which keeps every number, zeros of both signs included
    source->inputs.push_back(
        m_p.add({source->name + "#one", element::f32, {1}, std::make_shared<const array>(make_floats({1}, {1.0f}))}));
    take_over(source, i, o.output);
    return true;
  }

  /// Both factors of a scale: one computed number, and one for each channel. A constant is only the second.
  struct factors {
    int computed;
    std::vector<float> scale;
  };
  std::optional<factors> factors_of(int v, const operation& sums) {
    const int one = sums.inputs[2];
    if (m_p.is_constant(v)) {
      auto scale = channel_numbers(v, sums);
      return scale ? std::optional<factors>({one, *std::move(scale)}) : std::nullopt;
    }
    const operation* product = binary(v, binary_kind::mul);
    for (std::size_t side = 0; side < 2 && product; ++side) {
      const int computed = product->inputs[side], constant = product->inputs[1 - side];
      if (m_p.is_constant(computed) || count_of(m_p.shape(computed)) != 1 || !m_p.is_constant(constant)) continue;
      if (auto scale = channel_numbers(constant, sums)) return factors{computed, *std::move(scale)};
    }
    if (count_of(m_p.shape(v)) != 1) return std::nullopt;
    return factors{v, std::vector<float>(sums.as<integer_conv_parameters>()->sums.size(), 1.0f)};
  }

  /// Whether nothing was multiplied with the sums yet, and whether nothing was added to them.
  bool is_unscaled(const operation& sums) const {
    const auto& scale = sums.as<integer_conv_parameters>()->scale;
    return m_p.is_constant(sums.inputs[2]) && is_unbiased(sums) &&
           std::all_of(scale.begin(), scale.end(), [](float s) { return s == 1; });
  }
  static bool is_unbiased(const operation& sums) {
    const auto& bias = sums.as<integer_conv_parameters>()->bias;
    return std::all_of(bias.begin(), bias.end(), [](float b) { return b == 0 && std::signbit(b); });
  }

  bool join_scales(std::size_t i) {
    operation& o = at(i);
    if (!is_binary(&o, binary_kind::mul)) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      operation* source = sums_of(o.inputs[side], o.output);
      if (!source || !source->as<integer_conv_parameters>()->real || !is_unscaled(*source)) continue;
      auto found = factors_of(o.inputs[1 - side], *source);
      if (!found) continue;
      source->inputs[2] = found->computed;
      source->as<integer_conv_parameters>()->scale = std::move(found->scale);
      take_over(source, i, o.output);
      return true;
    }
    return false;
  }

  bool join_bias(std::size_t i) {
    operation& o = at(i);
    if (!is_binary(&o, binary_kind::add)) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      operation* source = sums_of(o.inputs[side], o.output);
      auto* sums = source ? source->as<integer_conv_parameters>() : nullptr;
      if (!sums || !sums->real || !is_unbiased(*source)) continue;
      auto bias = channel_numbers(o.inputs[1 - side], *source);
      if (!bias) continue;
      sums->bias = *std::move(bias);
      take_over(source, i, o.output);
      return true;
    }
    return false;
  }
};

}

void join_integer_sums(program& p) { sum_joiner(p).run(); }

}
