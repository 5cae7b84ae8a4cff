// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <netsuke/format/packing.hpp>
#include <netsuke/ops/every_op.hpp>
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// First writer and last reader of every storage, in steps; `needed` are further readers.
void find_lifetimes(plan& p, const std::vector<int>& needed) {
  const auto touch = [&](int tensor, int step) {
    plan_storage& s = p.storages[static_cast<std::size_t>(p.tensor(tensor).storage)];
    if (s.first_step < 0) s.first_step = step;
    s.last_step = std::max(s.last_step, step);
  };
  const int count = static_cast<int>(p.steps.size());
  for (int i = 0; i < count; ++i) {
    const plan_step& s = p.steps[static_cast<std::size_t>(i)];
    for (int t : s.inputs) touch(t, i);
    for (int t : s.outputs) touch(t, i);
  }
  for (std::size_t i = 0; i < needed.size(); ++i)
    p.storages[i].last_step = std::max(p.storages[i].last_step, needed[i]);
  for (plan_storage& s : p.storages) {
    if (s.kind == storage_kind::input || s.kind == storage_kind::constant || s.kind == storage_kind::state)
      s.first_step = 0;
    if (s.kind != storage_kind::arena || s.lasts) s.last_step = count;
  }
}

/// Whether elements of the same index are equally far from the beginnings of their storages.
bool same_layout(const plan_tensor& a, const plan_tensor& b) {
  const bool same_terms =
      std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), [](const auto& x, const auto& y) {
        return x.number == y.number && x.coefficient == y.coefficient && x.a == y.a && x.b == y.b && x.c == y.c;
      });
  return same_terms && a.type == b.type && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset &&
         a.border.top == b.border.top && a.border.left == b.border.left && a.border.bottom == b.border.bottom &&
         a.border.right == b.border.right;
}

/// Lets element-wise results and sums with a residual take the place of an operand that ends in the same step: both are
/// whole storages of one layout, so each element is read right before it is overwritten. Not where the step needs what
/// is around an element as well (`needed`).
void share_in_place(plan& p, const std::vector<int>& needed, std::vector<int>& shared_with) {
  std::vector<int> writers(p.storages.size(), 0);
  for (const plan_step& s : p.steps)
    for (int t : s.outputs) ++writers[static_cast<std::size_t>(p.tensor(t).storage)];
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const plan_step& s = p.steps[i];
    const plan_tensor& y = p.tensor(s.outputs[0]);
    const auto target = static_cast<std::size_t>(y.storage);
    if (p.storages[target].kind != storage_kind::arena || writers[target] != 1) continue;
    for (std::size_t k = 0; k < s.inputs.size(); ++k) {
      const int t = s.inputs[k], number = static_cast<int>(k);
      if (number != s.e.residual && !impl::works_in_place(s.kind(), number)) continue;
      const plan_tensor& x = p.tensor(t);
      const auto source = static_cast<std::size_t>(x.storage);
      const bool elsewhere = std::count_if(s.inputs.begin(), s.inputs.end(),
                                           [&](int other) { return p.tensor(other).storage == x.storage; }) != 1;
      if (source == target || elsewhere || needed[source] == static_cast<int>(i) ||
          p.storages[source].kind != storage_kind::arena)
        continue;
      if (p.storages[source].elements != p.storages[target].elements ||
          p.storages[source].last_step != static_cast<int>(i))
        continue;
      if (!same_layout(x, y)) continue;
      shared_with[target] = static_cast<int>(source);
      break;
    }
  }
}

/// Identical constants are stored once: one buffer in this plan, one place in the pool.
void place_constants(plan& p, constant_pool& pool) {
  std::map<std::int64_t, int> buffers;  // offset -> buffer
  std::map<const std::vector<std::byte>*, int> seen;
  for (plan_storage& s : p.storages) {
    if (s.kind != storage_kind::constant) continue;
    if (const auto known = seen.find(s.data.get()); known != seen.end()) {
      s.buffer = known->second;
      continue;
    }
    const std::string key(reinterpret_cast<const char*>(s.data->data()), s.data->size());
    const auto [found, fresh] = pool.known.emplace(key, static_cast<std::int64_t>(pool.bytes.size()));
    if (fresh) {
      pool.bytes.insert(pool.bytes.end(), s.data->begin(), s.data->end());
      pool.bytes.resize(static_cast<std::size_t>(lines(static_cast<std::int64_t>(pool.bytes.size()))));
    }
    if (s.kernels) pool.kernels.emplace(found->second, s.kernels);
    const auto [buffer, first] = buffers.emplace(found->second, static_cast<int>(p.buffers.size()));
    s.buffer = seen[s.data.get()] = buffer->second;
    if (first)
      p.buffers.push_back({storage_kind::constant, 0, found->second, static_cast<std::int64_t>(key.size()), 0,
                           static_cast<int>(p.steps.size())});
  }
}

/// Part of the arena that nothing holds while a buffer lives.
struct gap {
  std::int64_t begin, end;
};

bool meet(const plan_buffer& a, const plan_buffer& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// The gaps between `placed` buffers that live together with `b`, where it fits; the last one has no end.
std::vector<gap> gaps_for(const plan_buffer& b, const std::vector<const plan_buffer*>& placed) {
  std::vector<gap> taken, gaps;
  for (const plan_buffer* o : placed)
    if (meet(b, *o)) taken.push_back({o->offset, o->offset + lines(o->bytes)});
  std::sort(taken.begin(), taken.end(),
            [](const gap& x, const gap& y) { return std::pair(x.begin, x.end) < std::pair(y.begin, y.end); });
  std::int64_t at = 0;
  for (const gap& t : taken) {
    if (t.begin - at >= lines(b.bytes)) gaps.push_back({at, t.begin});
    at = std::max(at, t.end);
  }
  gaps.push_back({at, std::numeric_limits<std::int64_t>::max()});
  return gaps;
}

std::int64_t middle(const plan_buffer& b, std::int64_t offset) { return offset + lines(b.bytes) / 2; }

/// Bytes that two lanes, which share every buffer half and half, hand over to each other when one buffer takes the
/// place of the other: soon after each other they weigh most.
double handed_over(const plan_buffer& b, std::int64_t offset, const std::vector<const plan_buffer*>& placed) {
  double bytes = 0;
  for (const plan_buffer* o : placed) {
    const std::int64_t own = middle(b, offset), other = middle(*o, o->offset),
                       first = std::max({std::min(own, other), offset, o->offset}),
                       last = std::min({std::max(own, other), offset + b.bytes, o->offset + o->bytes});
    const int distance = b.first_step > o->last_step ? b.first_step - o->last_step : o->first_step - b.last_step;
    if (last > first && distance > 0) bytes += static_cast<double>(last - first) / distance;
  }
  return bytes;
}

/// What a GPU has to wait for when one buffer takes the place of another: steps soon after each other could have run at
/// the same time, however few bytes they share.
double waits(const plan_buffer& b, std::int64_t offset, const std::vector<const plan_buffer*>& placed) {
  double sum = 0;
  for (const plan_buffer* o : placed) {
    const int distance = b.first_step > o->last_step ? b.first_step - o->last_step : o->first_step - b.last_step;
    const bool meets = offset < o->offset + lines(o->bytes) && o->offset < offset + lines(b.bytes);
    if (meets && distance > 0) sum += 1.0 / distance / distance;
  }
  return sum;
}

/// What is best where the arena does not grow by it.
enum class aim { tight, quiet_lanes, few_barriers };

/// The offset in `gaps`, no later than what ends at `end`, that costs least: at the start of a gap, or, of lanes, with
/// the middle where a buffer before it has its own, of a GPU, beside a buffer before it.
std::int64_t best_offset(const plan_buffer& b, const std::vector<gap>& gaps, std::int64_t end,
                         const std::vector<const plan_buffer*>& placed, aim wanted) {
  const auto cost = [&](std::int64_t offset) {
    return wanted == aim::few_barriers ? waits(b, offset, placed) : handed_over(b, offset, placed);
  };
  std::int64_t best = gaps.front().begin;
  double minimum = cost(best);
  const auto consider = [&](std::int64_t offset) {
    const double c = cost(offset);
    if (c >= minimum) return;
    minimum = c;
    best = offset;
  };
  for (const gap& g : gaps) {
    const std::int64_t last = std::min(g.end, end) - lines(b.bytes);
    if (last < g.begin) continue;
    consider(g.begin);
    for (const plan_buffer* o : placed) {
      if (wanted == aim::quiet_lanes) {
        consider(std::clamp(lines(middle(*o, o->offset) - lines(b.bytes) / 2), g.begin, last));
        continue;
      }
      consider(std::clamp(o->offset + lines(o->bytes), g.begin, last));
      consider(std::clamp(o->offset - lines(b.bytes), g.begin, last));
    }
  }
  return best;
}

/// Greedy by size: large buffers first, each at the lowest offset that no buffer with a meeting lifetime holds, or at
/// one that suits `wanted` better, without a larger arena. Lanes care for large buffers alone.
std::int64_t place_buffers(std::vector<plan_buffer>& buffers, const std::vector<int>& by_size, aim wanted) {
  constexpr std::int64_t large = 64 << 10;
  constexpr std::size_t max_compared = 256;
  std::vector<const plan_buffer*> placed;
  std::int64_t end = 0;
  for (int i : by_size) {
    plan_buffer& b = buffers[static_cast<std::size_t>(i)];
    const std::vector<gap> gaps = gaps_for(b, placed);
    b.offset = gaps.front().begin;
    end = std::max(end, b.offset + lines(b.bytes));
    const bool matters = wanted == aim::few_barriers || (wanted == aim::quiet_lanes && b.bytes >= large);
    if (matters && placed.size() <= max_compared) b.offset = best_offset(b, gaps, end, placed, wanted);
    placed.push_back(&b);
  }
  return end;
}

/// Places buffers in as small an arena as the greedy order finds; returns its bytes.
std::int64_t place_buffers(std::vector<plan_buffer>& buffers, std::vector<int> order, bool gpu) {
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return buffers[static_cast<std::size_t>(a)].bytes > buffers[static_cast<std::size_t>(b)].bytes;
  });
  std::vector<plan_buffer> tight = buffers;
  const std::int64_t minimum = place_buffers(tight, order, aim::tight),
                     found = place_buffers(buffers, order, gpu ? aim::few_barriers : aim::quiet_lanes);
  if (found <= minimum) return found;
  buffers = std::move(tight);
  return minimum;
}

}

void plan_memory(plan& p, constant_pool& pool) {
  const std::vector<int> needed = steps_that_need_inputs(p);
  find_lifetimes(p, needed);
  std::vector<int> shared_with(p.storages.size(), -1);
  share_in_place(p, needed, shared_with);
  place_constants(p, pool);
  for (plan_storage& s : p.storages)
    if (s.first_step < 0) {  // an input that nothing reads
      s.first_step = 0;
      s.last_step = static_cast<int>(p.steps.size());
    }
  // buffers by first step: the engine's check for overlaps is linear then
  std::vector<std::size_t> by_start(p.storages.size());
  for (std::size_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::size_t a, std::size_t b) { return p.storages[a].first_step < p.storages[b].first_step; });
  std::vector<int> order;
  for (std::size_t i : by_start) {
    plan_storage& s = p.storages[i];
    if (s.kind == storage_kind::constant || shared_with[i] >= 0) continue;
    s.buffer = static_cast<int>(p.buffers.size());
    order.push_back(s.buffer);
    p.buffers.push_back({s.kind, s.index, 0, s.elements * size_of(s.type), s.first_step, s.last_step});
  }
  for (std::size_t i = 0; i < p.storages.size();
       ++i) {  // storages are in the order of their steps, so chains resolve front to back
    std::size_t root = i;
    while (shared_with[root] >= 0) root = static_cast<std::size_t>(shared_with[root]);
    if (root == i) continue;
    plan_storage& s = p.storages[i];
    s.buffer = p.storages[root].buffer;
    plan_buffer& b = p.buffers[static_cast<std::size_t>(s.buffer)];
    b.last_step = std::max(b.last_step, s.last_step);
  }
  p.arena_bytes = place_buffers(p.buffers, order, p.gpu) + static_cast<std::int64_t>(over_read);
}

}
