// SPDX-License-Identifier: MIT
#include "passes/shuffle/shuffle.hpp"
#include <algorithm>
#include <optional>
#include <utility>
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t channel_axis = 1, image_rank = 4;

/// Channel i * groups + g of the result is channel g * length + i of `x`.
struct channel_shuffle {
  int x;
  std::int64_t groups, length;

  /// Reorders numbers [...][channel of the result][taps] to the channels of x.
  void reorder(std::vector<double>& values, std::size_t taps = 1) const {
    const auto count = static_cast<std::size_t>(groups), channels = count * static_cast<std::size_t>(length);
    std::vector<double> before(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t channel = i / taps % channels, to = channel % count * (channels / count) + channel / count;
      before[i - channel * taps + to * taps] = values[i];
    }
    values = std::move(before);
  }
};

class shuffle_reader : rewriter {
 public:
  using rewriter::rewriter;

  void run() {
    while (sweep(&shuffle_reader::take_apart)) {
    }
  }

 private:
  friend class rewriter;

  /// The shuffle that makes `v`: reshaped, transposed and reshaped images of numbers.
  std::optional<channel_shuffle> shuffle_of(int v) {
    const operation* const join = producer(v);
    if (!join || !join->as<reshape_parameters>() || !join->post.empty()) return std::nullopt;
    const operation* const transpose = producer(join->inputs[0]);
    const auto* const t = transpose ? transpose->as<transpose_parameters>() : nullptr;
    if (!t || t->permutation != std::vector<int>{0, 2, 1, 3, 4}) return std::nullopt;
    const operation* const cut = producer(transpose->inputs[0]);
    if (!cut || !cut->as<reshape_parameters>()) return std::nullopt;
    const shape_t &image = m_p.shape(cut->inputs[0]), &groups = m_p.shape(cut->output);
    if (image.size() != image_rank || image != m_p.shape(v)) return std::nullopt;
    if (groups != shape_t{image[0], groups[1], groups[2], image[2], image[3]}) return std::nullopt;
    return channel_shuffle{cut->inputs[0], groups[1], groups[2]};
  }

  /// A convolution that adds products of the channels of one pixel.
  static bool is_pointwise(const operation& o) {
    const auto* c = o.as<conv_parameters>();
    return c && !o.exact && c->groups == 1 && c->w.kernel_h == 1 && c->w.kernel_w == 1 && c->w.pad_top == 0 &&
           c->w.pad_left == 0;
  }
  bool is_depthwise(const operation& o) {
    const auto* c = o.as<conv_parameters>();
    return c && c->groups == c->outputs && c->groups == m_p.shape(o.inputs[0])[channel_axis] &&
           o.post.residual == no_value;
  }
  /// Whether all who read `v` are pointwise convolutions whose windows are inside.
  bool is_multiplied(int v) {
    const std::vector<int> all = m_p.consumers(v);
    return !m_p.is_output(v) && !all.empty() && std::all_of(all.begin(), all.end(), [&](int i) {
      const operation& o = at(static_cast<std::size_t>(i));
      return is_pointwise(o) && o.post.residual != v &&
             !window_overhang(o.as<conv_parameters>()->w, m_p.shape(v), m_p.shape(o.output)).any();
    });
  }
  /// Whether `o` takes whole runs of channels out of each group.
  bool is_part(const operation& o, const channel_shuffle& s) const {
    const auto* part = o.as<slice_parameters>();
    if (!part || !o.post.empty() ||
        std::any_of(part->steps.begin(), part->steps.end(), [](std::int64_t step) { return step != 1; }))
      return false;
    const shape_t &whole = m_p.shape(o.inputs[0]), &cut = m_p.shape(o.output);
    for (std::size_t a = 0; a < image_rank; ++a)
      if (a != channel_axis && cut[a] != whole[a]) return false;
    return part->starts[channel_axis] % s.groups == 0 && cut[channel_axis] % s.groups == 0;
  }

  /// Whether nothing needs the whole of `v` behind the shuffle, and a reader multiplies what it reads of it.
  bool is_taken_apart(int v, const channel_shuffle& s) {
    bool multiplied = false;
    if (m_p.is_output(v)) return false;
    for (const int i : m_p.consumers(v)) {
      const operation& o = at(static_cast<std::size_t>(i));
      if (o.post.residual == v) return false;
      const bool part = is_part(o, s), depthwise = is_depthwise(o);
      if (!part && !depthwise && !is_pointwise(o)) return false;
      if (depthwise && !is_multiplied(o.output)) return false;
      multiplied = multiplied || !part || is_multiplied(o.output);
    }
    return multiplied;
  }

  /// All who read what operation `i` shuffles read it from where it was.
  bool take_apart(std::size_t i) {
    const int v = at(i).output;
    const std::optional<channel_shuffle> s = shuffle_of(v);
    if (!s || !is_taken_apart(v, *s)) return false;
    for (std::vector<int> left = m_p.consumers(v); !left.empty(); left = m_p.consumers(v)) {
      const auto reader = static_cast<std::size_t>(left.front());
      if (at(reader).as<slice_parameters>())
        read_part(reader, *s);
      else if (is_pointwise(at(reader)))
        read_whole(at(reader), *s);
      else
        compute_before(reader, *s);
    }
    return true;
  }

  /// Appends an operation on `from` that makes a value of this shape.
  int append(std::vector<operation>& made, const operation& like, operation_parameters how, int from, shape_t shape) {
    operation o;
    o.name = like.name;
    o.source = like.source;
    o.p = std::move(how);
    o.inputs = {from};
    const program_value& old = m_p.values[static_cast<std::size_t>(from)];
    o.output = m_p.add({old.name + "#" + std::to_string(m_p.values.size()), old.type, std::move(shape), nullptr});
    made.push_back(std::move(o));
    return made.back().output;
  }
  /// Channels [begin, begin + count) of each group of `x`, as [N, groups, count, H, W].
  int cut_groups(std::vector<operation>& made, const operation& like, const channel_shuffle& s, std::int64_t begin,
                 std::int64_t count) {
    const shape_t x = m_p.shape(s.x);
    const int groups = append(made, like, reshape_parameters{}, s.x, {x[0], s.groups, s.length, x[2], x[3]});
    if (count == s.length) return groups;
    return append(made, like, slice_parameters{{0, 0, begin, 0, 0}, {1, 1, 1, 1, 1}}, groups,
                  {x[0], s.groups, count, x[2], x[3]});
  }

  /// A pointwise convolution reads all channels as they were.
  static void read_whole(operation& o, const channel_shuffle& s) {
    s.reorder(o.as<conv_parameters>()->weights);
    o.inputs[0] = s.x;
  }

  /// A depthwise convolution is computed before the shuffle, its result shuffled.
  void compute_before(std::size_t i, const channel_shuffle& s) {
    operation& o = at(i);
    auto& c = *o.as<conv_parameters>();
    s.reorder(c.weights, c.weights.size() / static_cast<std::size_t>(c.outputs));
    s.reorder(c.bias);
    s.reorder(o.post.slope);
    o.inputs[0] = s.x;
    const int result = o.output;
    const program_value value = m_p.values[static_cast<std::size_t>(result)];
    o.output = m_p.add({value.name + "#unshuffled", value.type, value.shape, nullptr});
    const operation like = o;
    std::vector<operation> made;
    shuffle_groups(made, like, cut_groups(made, like, {o.output, s.groups, s.length}, 0, s.length), result);
    insert(i + 1, std::move(made));
  }

  /// A part that pointwise convolutions read alone is read by windows over the groups, any other is a copy of its own.
  void read_part(std::size_t i, const channel_shuffle& s) {
    const operation like = at(i);
    const shape_t part = m_p.shape(like.output);
    const std::int64_t begin = like.as<slice_parameters>()->starts[channel_axis] / s.groups,
                       count = part[channel_axis] / s.groups;
    std::vector<operation> made;
    const int groups = cut_groups(made, like, s, begin, count);
    if (is_multiplied(like.output)) {
      const int pixels = append(made, like, transpose_parameters{{0, 2, 3, 4, 1}}, groups,
                                {part[0], count, part[2], part[3], s.groups});
      const int wide =
          append(made, like, reshape_parameters{true}, pixels, {part[0], count, part[2], part[3] * s.groups});
      for (const int reader : m_p.consumers(like.output)) widen(at(static_cast<std::size_t>(reader)), wide, s);
    } else {
      shuffle_groups(made, like, groups, like.output);
    }
    at(i) = {};
    insert(i, std::move(made));
  }
  /// Makes the image `result` of groups [N, groups, count, H, W].
  void shuffle_groups(std::vector<operation>& made, const operation& like, int groups, int result) {
    const shape_t g = m_p.shape(groups);
    const int transposed =
        append(made, like, transpose_parameters{{0, 2, 1, 3, 4}}, groups, {g[0], g[2], g[1], g[3], g[4]});
    append(made, like, reshape_parameters{true}, transposed, m_p.shape(result));
    made.back().output = result;
  }
  /// Weights [outputs][channels] are those of windows [outputs][channels / groups][groups] as they are.
  static void widen(operation& o, int input, const channel_shuffle& s) {
    auto& c = *o.as<conv_parameters>();
    c.w.kernel_w = static_cast<int>(s.groups);
    c.w.stride_w *= static_cast<int>(s.groups);
    o.inputs[0] = input;
  }
};

}

void read_before_shuffles(program& p) { shuffle_reader(p).run(); }

}
