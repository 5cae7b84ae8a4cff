// SPDX-License-Identifier: MIT
#pragma once
/// Plans of one network for different values of its lengths: what they must have in common, and their numbers.
#include <cstdint>
#include <string>
#include <vector>
#include <netsuke/format/length.hpp>
#include "lengths/lengths.hpp"
#include "program/plan.hpp"

namespace nsk::tool {

/// A lowered plan of the network for some values of the lengths.
struct plan_of_choice {
  length_choice values;
  plan layout;
};

/// Refuses to make one file of the values of --bound, and says how to do without.
[[noreturn]] void refuse_length(const std::string& why);

/// Refuses a plan that computes in other steps than that of the bounds, with other parameters, with other layouts, or
/// with other constants than their first elements. The message names step or tensor, and the values.
void require_alike(const plan& bounds, const plan_of_choice& other, const std::vector<chosen_length>& lengths);

/// Whether the elements of a tensor are constants of the file.
bool is_constant(const plan& p, const plan_tensor& t);

/// Whether a tensor has a number: one of its shape or of its strides (impl::first_stride_number), or its offset
/// (impl::offset_number).
bool has_number(const plan_tensor& t, int number);

/// A number of a tensor at the bounds.
std::int64_t number_of(const plan_tensor& t, int number);

/// A number of a tensor for values of all lengths of its plan.
std::int64_t number_at(const plan_tensor& t, int number, const std::vector<std::int64_t>& values);

/// Whether a length is below its minimum in a plan.
bool is_below_minima(const plan& p, const length_choice& values);

/// Whether a plan has no result for some values: a step would read an empty tensor and write one that is not, or a
/// tensor would be shorter than nothing. Lengths that steps count begin behind that value then, where they `may`; else,
/// and where none is to blame, the plan is refused.
bool raises_minima(plan& p, const std::vector<chosen_length>& lengths, const length_choice& values, bool may);

/// Refuses a plan with a quotient of a length that strides or offsets follow, and no shape: whether it is right for
/// values that are not lowered is seen in shapes alone.
void require_shown_quotients(const plan& p);

/// Whether the numbers of `p` are, for the values of another plan that it is alike, those of that.
bool follows(const plan& p, const plan_of_choice& other);

}
