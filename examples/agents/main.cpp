// SPDX-License-Identifier: MIT
// A hundred agents, one policy, one inference a step: every agent is a row of a batch.
//   agents MODEL.nsk [-o FOLDER] [--steps 300] [--agents 100] [--frames 5] [--stochastic]
// nsk convert examples/models/yard_agent.onnx -o agent.nsk --batch-max 128 makes the model. Draws every fifth step as
// FOLDER/agents_0000.png and on, and FOLDER/agents_trails.png with the ways that were driven.
#include <chrono>
#include <cstring>
#include <netsuke/all_ops.hpp>
#include "support/image.hpp"
#include "yard.hpp"

using namespace example;

static constexpr int k_pixels_per_metre = 20;
static constexpr color k_ground{24, 27, 34}, k_pillar{70, 78, 94}, k_trail{60, 92, 110}, k_goal{110, 88, 50};

static color color_of(std::size_t agent) {
  static constexpr color colors[] = {{236, 122, 82}, {244, 193, 84}, {126, 196, 110}, {92, 176, 222}, {190, 136, 224}};
  return colors[agent % 5];
}

static image draw_ground(const yard& y) {
  const int side = static_cast<int>(y.size() * k_pixels_per_metre);
  image p(side, side, k_ground);
  for (const pillar& q : y.pillars())
    draw_disc(p, q.centre.x * k_pixels_per_metre, q.centre.y * k_pixels_per_metre, q.radius * k_pixels_per_metre,
              k_pillar);
  return p;
}

/// Agents as discs with a nose, and their goals.
static void draw_agents(image& p, const yard& y) {
  const auto at = [](float metres) { return static_cast<double>(metres * k_pixels_per_metre); };
  for (const agent& a : y.agents()) draw_disc(p, at(a.goal.x), at(a.goal.y), 3, k_goal);
  for (std::size_t i = 0; i < y.agents().size(); ++i) {
    const agent& a = y.agents()[i];
    draw_disc(p, at(a.position.x), at(a.position.y), at(yard::agent_radius), color_of(i));
    const vector nose = a.position + vector{std::cos(a.heading), std::sin(a.heading)} * 0.3F;
    draw_disc(p, at(nose.x), at(nose.y), 2, {250, 250, 250});
  }
}

struct options {
  std::string model, folder = "out";
  int steps = 300, agents = 100, every = 5;
  bool stochastic = false;
};

static options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "-o" && more)
      o.folder = argv[++i];
    else if (word == "--steps" && more)
      o.steps = std::atoi(argv[++i]);
    else if (word == "--agents" && more)
      o.agents = std::atoi(argv[++i]);
    else if (word == "--frames" && more)
      o.every = std::max(1, std::atoi(argv[++i]));
    else if (word == "--stochastic")
      o.stochastic = true;
    else
      o.model = word;
  }
  if (o.model.empty() || o.agents < 1)
    fail("usage: agents MODEL.nsk [-o FOLDER] [--steps 300] [--agents 100] [--frames 5] [--stochastic]");
  return o;
}

int main(int argc, char** argv) {
  const options o = parse(argc, argv);
  const memory_block file = read_file(o.model);
  nsk::model model;
  nsk::status s = nsk::open(file, model);
  if (!s) fail(std::string("cannot open the model: ") + s.message());
  const memory_block memory(model.required_bytes());
  nsk::session<nsk::all_settings> policy(model, memory);
  if (!policy) fail(std::string("cannot run the model: ") + policy.status().message());
  s = policy.set_batch(o.agents);
  if (!s) fail(std::string("cannot run so many agents: ") + s.message());
  nsk::span<float> seen;
  nsk::span<const float> chosen;
  s = policy.input("obs_0", seen);
  if (s) s = policy.output(o.stochastic ? "continuous_actions" : "deterministic_continuous_actions", chosen);
  const std::size_t rows = static_cast<std::size_t>(model.variant().batch());
  if (!s || seen.size() != rows * yard::observations || chosen.size() != rows * yard::actions)
    fail(std::string("this is not the policy of the yard, convert examples/models/yard_agent.onnx: ") + s.message());

  yard world(36, 20, o.agents, 11);
  policy.seed(7);
  image trails = draw_ground(world);
  double microseconds = 0;
  int rendered = 0;
  for (int step = 0; step < o.steps; ++step) {
    for (std::size_t i = 0; i < world.agents().size(); ++i)
      world.observe(world.agents()[i], seen.data() + i * yard::observations);
    const auto begin = std::chrono::steady_clock::now();
    policy.run();
    microseconds += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    world.step(chosen.data());
    for (const agent& a : world.agents())
      draw_disc(trails, a.position.x * k_pixels_per_metre, a.position.y * k_pixels_per_metre, 1, k_trail);
    if (step % o.every != 0) continue;
    image frame = draw_ground(world);
    draw_agents(frame, world);
    char name[32];
    std::snprintf(name, sizeof name, "/agents_%04d.png", rendered++);
    save_png(o.folder + name, frame);
  }
  draw_agents(trails, world);
  save_png(o.folder + "/agents_trails.png", trails);
  int reached = 0;
  for (const agent& a : world.agents()) reached += a.reached;
  std::printf("%d agents, %d steps: %d goals reached; %.1f us per inference of all of them; %d frames in %s\n",
              o.agents, o.steps, reached, microseconds / std::max(1, o.steps), rendered, o.folder.c_str());
}
