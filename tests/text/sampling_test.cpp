// SPDX-License-Identifier: MIT
#include <netsuke/text/sampling.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace nsk;

std::int32_t choose(const std::vector<float>& logits, const text::sampling& how,
                    const std::vector<std::int32_t>& history = {}) {
  std::vector<std::byte> memory(text::sampling_bytes(logits.size()));
  const text::sampled s = text::sample(logits, how, history, memory);
  REQUIRE(s);
  return s.id();
}

/// How often each id is chosen at `count` places.
std::vector<double> shares(const std::vector<float>& logits, const text::sampling& how, int count) {
  std::vector<double> shares(logits.size());
  std::vector<std::int32_t> history;
  for (int i = 0; i < count; ++i, history.push_back(-1))
    shares[static_cast<std::size_t>(choose(logits, how, history))] += 1.0 / count;
  return shares;
}

/// Softmax in double precision.
std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> p;
  double sum = 0;
  for (const float l : logits) p.push_back(std::exp(static_cast<double>(l) / temperature)), sum += p.back();
  for (double& x : p) x /= sum;
  return p;
}

const std::vector<float> five = {0.5f, 2, -1, 1.5f, 0};

}

TEST_CASE("temperature 0 takes the largest logit, of equal ones the first") {
  text::sampling greedy;
  greedy.temperature = 0;
  CHECK(choose({1, 3, 2}, greedy) == 1);
  CHECK(choose({3, 1, 3}, greedy) == 0);
  CHECK(choose({-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -7}, greedy) == 2);
  CHECK(choose({1, std::numeric_limits<float>::infinity(), 2}, greedy) == 1);
}

TEST_CASE("ids are chosen as often as softmax says") {
  for (const float temperature : {0.5f, 1.0f, 2.0f}) {
    text::sampling how;
    how.temperature = temperature, how.seed = 3;
    const std::vector<double> got = shares(five, how, 4000), wanted = softmax(five, static_cast<double>(temperature));
    for (std::size_t i = 0; i < five.size(); ++i) CHECK(std::abs(got[i] - wanted[i]) < 0.03);
  }
}

TEST_CASE("top_k and top_p keep the likeliest ids, with their shares") {
  text::sampling how;
  how.top_k = 2;
  std::vector<double> got = shares(five, how, 4000);
  CHECK(std::abs(got[1] - 1 / (1 + std::exp(-0.5))) < 0.03);
  CHECK(got[1] + got[3] == doctest::Approx(1));
  how.top_k = 0, how.top_p = 0.5f;  // softmax of 2 is 0.47: not enough
  got = shares(five, how, 1000);
  CHECK(got[1] + got[3] == doctest::Approx(1));
  how.top_p = 0.4f;
  CHECK(shares(five, how, 100)[1] == doctest::Approx(1));
  how.top_p = 0;
  CHECK(shares(five, how, 100)[1] == doctest::Approx(1));
  how.top_k = 3, how.top_p = 0.9f;
  got = shares(five, how, 2000);
  CHECK(got[0] + got[1] + got[3] == doctest::Approx(1));
  CHECK(got[0] > 0);
}

TEST_CASE("the penalty divides what is positive and multiplies what is negative, once for each id") {
  text::sampling how;
  how.temperature = 0, how.repetition_penalty = 2;
  CHECK(choose({3, 2}, how, {0, 0, 0}) == 1);
  CHECK(choose({3, 1}, how, {0, 0, 0}) == 0);
  CHECK(choose({-1, -1.5f}, how, {0}) == 1);
  CHECK(choose({3, 2}, how, {-1, 5}) == 0);
}

TEST_CASE("a mask leaves allowed ids alone, and phrases are followed to their end") {
  std::vector<std::uint64_t> words(text::token_mask::words_for(100));
  text::sampling how;
  how.temperature = 0, how.allowed = text::token_mask(words);
  std::vector<float> logits(100, 1.0f);
  std::vector<std::byte> memory(text::sampling_bytes(logits.size()));
  CHECK(text::sample(logits, how, {}, memory).status().code() == status_code::no_allowed_token);
  const std::vector<std::int32_t> go = {70, 3}, gone = {70, 3, 9}, stop = {71};
  const std::vector<span<const std::int32_t>> phrases = {go, gone, stop};
  const std::vector<std::int32_t> one = {70}, two = {70, 3}, other = {5};
  const auto allowed = [&](const std::vector<std::int32_t>& so_far) {
    text::allow_phrases(phrases, so_far, 99, how.allowed);
    std::vector<int> ids;
    for (int i = -1; i < 130; ++i)
      if (how.allowed.allows(i)) ids.push_back(i);
    return ids;
  };
  CHECK(allowed({}) == std::vector<int>{70, 71});
  CHECK(allowed(one) == std::vector<int>{3});
  CHECK(allowed(two) == std::vector<int>{9, 99});
  CHECK(allowed(other).empty());
  CHECK(allowed(gone) == std::vector<int>{99});
  CHECK(choose(logits, how) == 99);
}

TEST_CASE("choices are the same on every machine") {
  std::vector<float> logits;
  std::uint64_t state = 1;
  for (int i = 0; i < 1003; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    logits.push_back(static_cast<float>(state >> 40) / 2097152.0f);
  }
  text::sampling how;
  how.seed = 42, how.temperature = 0.7f;
  std::uint64_t hash = 0;
  std::vector<std::int32_t> history;
  for (int i = 0; i < 300; ++i) {
    how.top_k = i % 3 == 1 ? 50 : 0, how.top_p = i % 3 == 2 ? 0.9f : 1.0f, how.repetition_penalty = 1.1f;
    history.push_back(choose(logits, how, history));
    hash = (hash ^ static_cast<std::uint64_t>(history.back())) * 0x9e3779b97f4a7c15u;
  }
  CHECK(hash == 13177725176866052826u);
}

TEST_CASE("too little memory is refused") {
  std::vector<std::byte> memory(text::sampling_bytes(5) - 70);
  CHECK(text::sample(five, {}, {}, memory).status().code() == status_code::text_memory_too_small);
  CHECK(text::sample({}, {}, {}, memory).status().code() == status_code::no_allowed_token);
}
