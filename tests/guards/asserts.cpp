// SPDX-License-Identifier: MIT
// Makes the mistake whose number is on the command line; without an assertion it ends well.
#if defined(BEFORE)
#include BEFORE
#endif
#include <netsuke/netsuke.hpp>
#if defined(AFTER)
#include AFTER
#endif

namespace {

int past_the_end(std::size_t i) {
  int numbers[4] = {};
  const nsk::span<int> three(numbers, 3);
  return three[i];
}

std::size_t bytes_of_no_model() { return nsk::model().required_bytes(); }

/// A vector of FlatBuffers that says it has two elements, of four bytes that are there.
int past_the_end_of_a_vector(std::uint32_t i) {
  alignas(4) static const std::uint8_t bytes[] = {2, 0, 0, 0, 0, 0, 0, 0};
  return reinterpret_cast<const flatbuffers::Vector<std::uint8_t>*>(bytes)->Get(i);
}

struct no_operators : nsk::default_settings {
  using ops = nsk::op_list<>;
};

/// A session that has no model does nothing.
int runs_without_a_model() {
  nsk::session<no_operators> net;
  net.run();
  return net.run_for(nsk::work{1}) ? 0 : 1;
}

/// Writes through an input that is not there.
int writes_without_a_model() {
  nsk::session<no_operators> net;
  if (net.input<float>("image")) return 1;
  net.input<float>("image")[0] = 1;
  return 0;
}

/// Reads what is not there, through a pointer and by a loop.
int reads_without_a_model(bool loop) {
  const nsk::session<no_operators> net;
  const nsk::checked_span<const float> scores = net.output<float>(0);
  if (!loop) return scores.data() == nullptr;
  int count = 0;
  for (float score : scores) count += score > 0;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  switch (argc > 1 ? argv[1][0] : '0') {
    case '1': return past_the_end(3);
    case '2': return static_cast<int>(bytes_of_no_model());
    case '3': return past_the_end_of_a_vector(2);
    case '4': return runs_without_a_model();
    case '5': return writes_without_a_model();
    case '6': return reads_without_a_model(false);
    case '7': return reads_without_a_model(true);
    default: return past_the_end(2);
  }
}
