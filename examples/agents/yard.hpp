// SPDX-License-Identifier: MIT
#pragma once
/// A square yard with round pillars in which agents drive to their goals: the rules under which tools/train_agent
/// trained the policy. Lengths in metres, angles in radians; one step is a tenth of a second.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace example {

struct vector {
  float x = 0, y = 0;
};
inline vector operator+(vector a, vector b) { return {a.x + b.x, a.y + b.y}; }
inline vector operator-(vector a, vector b) { return {a.x - b.x, a.y - b.y}; }
inline vector operator*(vector a, float s) { return {a.x * s, a.y * s}; }
inline float dot(vector a, vector b) { return a.x * b.x + a.y * b.y; }
inline float length(vector a) { return std::sqrt(dot(a, a)); }

struct pillar {
  vector centre;
  float radius = 1;
};
struct agent {
  vector position, goal;
  float heading = 0, speed = 0;
  int reached = 0;
};

/// Numbers in [0, 1), the same everywhere.
class dice {
 public:
  explicit dice(std::uint32_t seed) : m_state(seed * 2654435761U + 1) {}
  float operator()() {
    m_state = m_state * 1664525U + 1013904223U;
    return static_cast<float>(m_state >> 8) / 16777216.0F;
  }
  float between(float low, float high) { return low + (high - low) * (*this)(); }

 private:
  std::uint32_t m_state;
};

class yard {
 public:
  static constexpr float step_seconds = 0.1F, agent_radius = 0.25F, goal_radius = 0.6F, sight = 3;
  static constexpr int rays = 9, observations = 4 + rays, actions = 2;

  yard(float size, int pillar_count, int agent_count, std::uint32_t seed) : m_size(size), m_dice(seed) {
    for (int i = 0; i < pillar_count; ++i)
      m_pillars.push_back({{m_dice.between(2, size - 2), m_dice.between(2, size - 2)}, m_dice.between(0.6F, 1.4F)});
    for (int i = 0; i < agent_count; ++i)
      m_agents.push_back({free_point(), free_point(), m_dice.between(-3.14F, 3.14F), 0, 0});
  }

  const std::vector<pillar>& pillars() const { return m_pillars; }
  const std::vector<agent>& agents() const { return m_agents; }
  float size() const { return m_size; }

  /// Writes what one agent sees: where its goal is, how fast it drives, and how near things are ahead.
  void observe(const agent& a, float* to) const {
    const vector goal = a.goal - a.position;
    const float bearing = std::atan2(goal.y, goal.x) - a.heading;
    to[0] = std::cos(bearing);
    to[1] = std::sin(bearing);
    to[2] = std::min(length(goal), 8.0F) / 8;
    to[3] = a.speed / 2;
    for (int k = 0; k < rays; ++k) {
      const float angle = a.heading - 1.6F + 3.2F * static_cast<float>(k) / (rays - 1);
      to[4 + k] = 1 - free_way(a, {std::cos(angle), std::sin(angle)}) / sight;
    }
  }

  /// Moves every agent by its two actions in [-1, 1]: turn, and speed up or brake.
  void step(const float* all_actions) {
    for (agent& a : m_agents) {
      a.heading += step_seconds * 2.5F * all_actions[0];
      a.speed = std::max(a.speed + step_seconds * (3 * all_actions[1] - 1.5F * a.speed), -0.5F);
      a.position = a.position + vector{std::cos(a.heading), std::sin(a.heading)} * (step_seconds * a.speed);
      all_actions += actions;
    }
    push_apart();
    for (agent& a : m_agents)
      if (length(a.goal - a.position) < goal_radius) {
        ++a.reached;
        a.goal = free_point();
      }
  }

 private:
  vector free_point() {
    for (;;) {
      const vector p{m_dice.between(1, m_size - 1), m_dice.between(1, m_size - 1)};
      const bool free = std::all_of(m_pillars.begin(), m_pillars.end(),
                                    [&](const pillar& q) { return length(q.centre - p) - q.radius >= 1; });
      if (free) return p;
    }
  }

  /// How far it is from an agent to the first thing in a direction, at most `sight`.
  float free_way(const agent& a, vector direction) const {
    float way = sight;
    const auto look_at = [&](vector centre, float radius) {
      const vector to = centre - a.position;
      const float along = dot(to, direction), left = radius * radius - dot(to, to) + along * along;
      if (left > 0 && along > 0) way = std::min(way, along - std::sqrt(left));
    };
    for (const pillar& p : m_pillars) look_at(p.centre, p.radius);
    for (const agent& other : m_agents)
      if (&other != &a) look_at(other.position, agent_radius);
    const auto wall = [&](float position, float speed) {
      if (std::fabs(speed) > 1e-6F) way = std::min(way, (speed > 0 ? m_size - position : -position) / speed);
    };
    wall(a.position.x, direction.x);
    wall(a.position.y, direction.y);
    return std::clamp(way, 0.0F, sight);
  }

  /// Moves agents out of pillars (all the way), each other (half the way) and walls; who bumps loses its speed.
  void push_apart() {
    std::vector<vector> moved(m_agents.size());
    for (std::size_t i = 0; i < m_agents.size(); ++i) {
      agent& a = m_agents[i];
      vector position = a.position;
      bool bumps = false;
      const auto push = [&](vector centre, float reach, float share) {
        const vector to = centre - a.position;
        const float distance = std::max(length(to), 1e-6F);
        if (distance >= reach) return;
        position = position - to * ((reach - distance) / distance * share);
        bumps = true;
      };
      for (const pillar& p : m_pillars) push(p.centre, p.radius + agent_radius, 1);
      for (std::size_t k = 0; k < m_agents.size(); ++k)
        if (k != i) push(m_agents[k].position, 2 * agent_radius, 0.5F);
      moved[i] = {std::clamp(position.x, agent_radius, m_size - agent_radius),
                  std::clamp(position.y, agent_radius, m_size - agent_radius)};
      bumps = bumps || moved[i].x != position.x || moved[i].y != position.y;
      if (bumps) a.speed *= 0.3F;
    }
    for (std::size_t i = 0; i < m_agents.size(); ++i) m_agents[i].position = moved[i];
  }

  float m_size;
  dice m_dice;
  std::vector<pillar> m_pillars;
  std::vector<agent> m_agents;
};

}  // namespace example
