// SPDX-License-Identifier: MIT
// Rows of many callers in one run: order, bounds, recurrent states, and the bits of single runs.
#include <doctest/doctest.h>
#include "memory_policy.hpp"
#include <algorithm>
#include <random>

namespace {
using test::crowd_rows;
using test::opened;
using crowd_session = nsk::session<test::crowd_settings>;
using nsk::status_code;

nsk::batcher_options options_of(int agents, int slots) { return {agents, slots, test::crowd_states}; }

/// A network, and memory for a batcher of exactly the size that it asks for.
struct crowd_net {
  opened o{test::make_memory_policy(), 2};
  crowd_session net{o.model, o.memory.span()};
  test::aligned_bytes block;
  nsk::batcher crowd;
  crowd_net(int agents, int slots)
      : block(nsk::batcher::required_bytes(o.model, options_of(agents, slots)), std::byte{0xff}),
        crowd(o.model, options_of(agents, slots), block.span()) {
    REQUIRE_MESSAGE(o.status, o.status.name() << " at " << o.status.where());
    REQUIRE(net.status());
    REQUIRE_MESSAGE(crowd.status(), crowd.status().name());
  }
};

TEST_CASE("batcher: each row has the bits of a single run, recurrent states included, whoever shares the run") {
  constexpr int agents = 23, turns = 9;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    CAPTURE(seed);
    crowd_net c(agents, 11);
    std::mt19937 random(seed);
    std::vector<std::vector<test::agent_answer>> expected;
    for (int i = 0; i < agents; ++i) expected.push_back(test::alone<crowd_session>(c.o, i, turns));
    std::vector<int> turn(agents, 0);
    int answered = 0;
    for (int frame = 0; answered < agents * turns; ++frame) {
      REQUIRE(frame < 10'000);
      for (int n = 0; n < 8; ++n) {
        const int agent = static_cast<int>(random() % agents);
        if (turn[static_cast<std::size_t>(agent)] < turns)
          (void)test::ask(c.crowd, agent, turn[static_cast<std::size_t>(agent)]);
      }
      if (frame % 3 == 0) REQUIRE(c.crowd.run(c.net, test::ordered_jobs{-1}, 2));
      if (frame % 3 != 0) REQUIRE(c.crowd.run(c.net));
      for (int row = 0; row < c.crowd.served(); ++row) {
        const int agent = c.crowd.served_agent(row);
        const auto i = static_cast<std::size_t>(agent);
        REQUIRE(c.crowd.answered(agent));
        REQUIRE(test::answer_of(c.crowd, agent) == expected[i][static_cast<std::size_t>(turn[i])]);
        ++turn[i];
        ++answered;
      }
    }
  }
}

TEST_CASE("batcher: rows are served in the order of their slots, as many as the batch has") {
  crowd_net c(20, 20);
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  for (const int agent : order) REQUIRE(test::ask(c.crowd, agent, 0));
  std::vector<int> served;
  for (int frame = 0; frame < 4; ++frame) {
    REQUIRE(c.crowd.run(c.net));
    CHECK(c.crowd.served() == (frame < 3 ? crowd_rows : 2));
    for (int row = 0; row < c.crowd.served(); ++row) served.push_back(c.crowd.served_agent(row));
  }
  CHECK(served == order);
  REQUIRE(c.crowd.run(c.net));
  CHECK(c.crowd.served() == 0);
}

TEST_CASE("batcher: full, already waiting, and what is still possible then") {
  crowd_net c(9, 3);
  for (int i = 0; i < 3; ++i) REQUIRE(test::ask(c.crowd, i, 0));
  CHECK(test::ask(c.crowd, 3, 0).code() == status_code::queue_full);
  CHECK(test::ask(c.crowd, 3, 0).where() == 3);
  CHECK_FALSE(c.crowd.waiting(3));
  CHECK(test::ask(c.crowd, 1, 1).code() == status_code::already_waiting);
  CHECK(c.crowd.waiting(1));
  REQUIRE(c.crowd.run(c.net));
  CHECK(c.crowd.answered(1));
  const test::agent_answer before = test::answer_of(c.crowd, 1);
  for (int i = 3; i < 6; ++i) REQUIRE(test::ask(c.crowd, i, 0));
  CHECK(test::ask(c.crowd, 1, 1).code() == status_code::queue_full);
  CHECK(c.crowd.answered(1));  // a caller that was sent away keeps its last answer
  CHECK(test::answer_of(c.crowd, 1) == before);
}

TEST_CASE("batcher: a row that is not submitted holds back those behind it, and nothing else") {
  crowd_net c(5, 5);
  REQUIRE(test::ask(c.crowd, 0, 0));
  nsk::batch_row slow;
  REQUIRE(c.crowd.ask(1, slow));
  REQUIRE(test::ask(c.crowd, 2, 0));
  REQUIRE(c.crowd.run(c.net));
  CHECK(c.crowd.served() == 1);
  CHECK(c.crowd.waiting(2));
  std::fill(slow.input<float>("seen").begin(), slow.input<float>("seen").end(), 0.5f);
  slow.input<std::int64_t>("goal")[0] = 4;
  c.crowd.submit(slow);
  REQUIRE(c.crowd.run(c.net));
  CHECK(c.crowd.served() == 2);
  CHECK(c.crowd.served_agent(0) == 1);
  CHECK(test::answer_of(c.crowd, 2) == test::alone<crowd_session>(c.o, 2, 1)[0]);
}

TEST_CASE("batcher: an inference over several frames, while callers go on asking") {
  crowd_net c(8, 8);
  for (int i = 0; i < 4; ++i) REQUIRE(test::ask(c.crowd, i, 0));
  int rows = 0;
  REQUIRE(c.crowd.gather(c.net, rows));
  CHECK(rows == 4);
  REQUIRE(test::ask(c.crowd, 7, 0));
  for (int frame = 0; !c.net.run_for(nsk::work{1}); ++frame) {
    REQUIRE(c.crowd.gather(c.net, rows));  // changes nothing while a run is under way
    REQUIRE(rows == 4);
    REQUIRE(c.crowd.waiting(0));
  }
  c.crowd.scatter(c.net);
  for (int i = 0; i < 4; ++i) CHECK(test::answer_of(c.crowd, i) == test::alone<crowd_session>(c.o, i, 1)[0]);
  CHECK(c.crowd.waiting(7));
  REQUIRE(c.crowd.run(c.net));
  CHECK(test::answer_of(c.crowd, 7) == test::alone<crowd_session>(c.o, 7, 1)[0]);
}

TEST_CASE("batcher: rows as bytes, and recurrent states that are saved, put back and reset") {
  crowd_net c(2, 2);
  const std::vector<test::agent_answer> expected = test::alone<crowd_session>(c.o, 1, 3);
  std::vector<std::byte> row(c.crowd.row_bytes()), saved;
  CHECK(row.size() == 5 * sizeof(float) + sizeof(std::int64_t));
  CHECK(c.crowd.recurrent_states(1).size() == 4 * sizeof(float));
  const auto turn = [&](int number) {
    const std::vector<float> seen = test::seen_by(1, number);
    const std::int64_t goal = test::goal_of(1, number);
    std::memcpy(row.data(), seen.data(), 5 * sizeof(float));
    std::memcpy(row.data() + 5 * sizeof(float), &goal, sizeof goal);
    REQUIRE(c.crowd.ask(1, nsk::span<const std::byte>(row)));
    REQUIRE(c.crowd.run(c.net));
    return test::answer_of(c.crowd, 1) == expected[static_cast<std::size_t>(number)];
  };
  CHECK(c.crowd.ask(1, nsk::span<const std::byte>(row.data(), row.size() - 1)).code() == status_code::wrong_size);
  CHECK(turn(0));
  saved.assign(c.crowd.recurrent_states(1).begin(), c.crowd.recurrent_states(1).end());
  CHECK(turn(1));
  std::copy(saved.begin(), saved.end(), c.crowd.recurrent_states(1).begin());
  CHECK(turn(1));
  CHECK_FALSE(turn(1));
  c.crowd.reset(1);
  CHECK(turn(0));
}

TEST_CASE("batcher: what it refuses") {
  opened o(test::make_memory_policy()), fixed(test::make_cnn().plan), state(test::make_recurrent(false, true));
  crowd_session net(o.model, o.memory.span());
  const auto refused = [](const nsk::variant_view& v, const nsk::batcher_options& how) {
    test::aligned_bytes block(1 << 16);
    CHECK(nsk::batcher::required_bytes(v, how) == 0);
    return nsk::batcher(v, how, block.span()).status().code();
  };
  CHECK(refused(fixed.model.variant(), options_of(1, 1)) == status_code::no_rows);
  CHECK(nsk::batcher(o.model, options_of(1, 1), {}, 1).status().code() == status_code::bad_variant);
  CHECK(nsk::batcher(nsk::model(), options_of(1, 1), {}).status().code() == status_code::not_open);
  CHECK(nsk::batcher::required_bytes(o.model, options_of(1, 1), 1) == 0);
  CHECK(refused(state.model.variant(), {1, 1, {}}) == status_code::no_rows);
  CHECK(refused(net.variant(), options_of(0, 1)) == status_code::no_rows);
  CHECK(refused(net.variant(), options_of(1, 0)) == status_code::no_rows);
  const nsk::recurrent_pair unknown[] = {{"h", "nothing"}}, sizes[] = {{"h", "act"}}, types[] = {{"goal", "act"}};
  const nsk::recurrent_pair twice[] = {{"h", "next"}, {"h", "next"}};
  CHECK(refused(net.variant(), {1, 1, unknown}) == status_code::no_such_port);
  CHECK(refused(net.variant(), {1, 1, sizes}) == status_code::other_ports);
  CHECK(refused(net.variant(), {1, 1, types}) == status_code::other_ports);
  CHECK(refused(net.variant(), {1, 1, twice}) == status_code::other_ports);

  const std::size_t exact = nsk::batcher::required_bytes(net.variant(), options_of(7, 3));
  test::aligned_bytes block(exact + 64);
  CHECK(nsk::batcher(net.variant(), options_of(7, 3), {block.data(), exact}).status());
  CHECK(nsk::batcher(net.variant(), options_of(7, 3), {block.data(), exact - 1}).status().code() ==
        status_code::too_little_memory);
  CHECK(nsk::batcher(net.variant(), options_of(7, 3), {block.data() + 16, exact}).status().code() ==
        status_code::misaligned_memory);

  nsk::batcher crowd(net.variant(), options_of(7, 3), {block.data(), exact});
  REQUIRE(test::ask(crowd, 0, 0));
  opened larger(test::make_memory_policy(2 * crowd_rows));
  crowd_session other(larger.model, larger.memory.span());
  CHECK(crowd.run(other).code() == status_code::other_ports);
  std::vector<float> bound(crowd_rows * 5 + nsk::over_read);
  REQUIRE(net.bind_input(0, nsk::as_bytes(bound)));
  CHECK(crowd.run(net).code() == status_code::is_bound);
  REQUIRE(net.bind_input(0, {}));
  CHECK(crowd.waiting(0));  // nothing is lost by a refused run
  REQUIRE(crowd.run(net));
  CHECK(crowd.answered(0));
}

TEST_CASE("batcher: stays inside its memory, and is full as often as it must be") {
  opened o(test::make_memory_policy());
  crowd_session net(o.model, o.memory.span());
  const std::size_t exact = nsk::batcher::required_bytes(net.variant(), options_of(13, 5));
  test::aligned_bytes block(exact + 64, std::byte{0x5a});
  nsk::batcher crowd(net.variant(), options_of(13, 5), {block.data(), exact});
  std::size_t answered = 0;
  for (int frame = 0; frame < 40; ++frame) {
    for (int i = 0; i < 13; ++i) {
      nsk::batch_row slot;
      if (!crowd.ask(i, slot)) continue;
      for (float& x : slot.input<float>("seen")) x = 1;
      slot.input<std::int64_t>("goal")[0] = i;
      crowd.submit(slot);
    }
    (void)crowd.run(net);
    answered += static_cast<std::size_t>(crowd.served());
  }
  CHECK(answered == 40 * 5);
  for (std::size_t i = exact; i < block.size(); ++i) CHECK(block.data()[i] == std::byte{0x5a});
}

TEST_CASE("slot queue: tickets wrap, for any number of slots") {
  for (const std::uint32_t count : {1u, 2u, 3u, 7u, 64u, 0x60000000u}) {
    if (count > 64) {
      CHECK(nsk::impl::slot_queue::limit(count) == count);
      continue;
    }
    std::vector<nsk::impl::slot> slots(count);
    nsk::impl::slot_queue queue;
    queue.start(slots.data(), count, nsk::impl::slot_queue::limit(count) - 2 * count - 1);
    std::uint32_t ticket = 0;
    for (int i = 0; i < 5 * static_cast<int>(count); ++i) {
      CHECK_FALSE(queue.front());
      std::vector<std::uint32_t> taken;
      while (queue.take(ticket)) taken.push_back(ticket);
      REQUIRE(taken.size() == count);
      for (std::uint32_t n = count; n-- > 0;) {
        CHECK_FALSE(queue.front());
        queue.at(taken[n]).agent = static_cast<std::int32_t>(n);
        queue.fill(taken[n]);
      }
      for (std::uint32_t n = 0; n < count; ++n) {
        REQUIRE(queue.front());
        CHECK(queue.at(queue.front_slot()).agent == static_cast<std::int32_t>(n));
        queue.pop();
        if (n == 0 && i % 2 == 0 && queue.take(ticket)) {  // a slot of the next round, handed over at once
          queue.fill(ticket);
          for (++n; n < count; ++n) queue.pop();
          REQUIRE(queue.front());
          queue.pop();
        }
      }
    }
  }
}

}
