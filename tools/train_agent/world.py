# SPDX-License-Identifier: MIT
"""A square yard with round pillars in which agents drive to their goals: the rules of examples/agents/yard.hpp, for many worlds at once.

Lengths in metres, angles in radians, times in seconds. An agent is a disc that turns, speeds up and brakes; it sees nine distances ahead.
Arrays are [copies, worlds, agents, ...]; copies share pillars, starts and goals and differ in who drives.
"""
import numpy as np

STEP = np.float32(0.1)
RADIUS, GOAL_RADIUS = np.float32(0.25), np.float32(0.6)
RANGE = np.float32(3)
RAYS = np.linspace(-1.6, 1.6, 9).astype(np.float32)
OBSERVATIONS, ACTIONS = 4 + len(RAYS), 2


def free_points(generator, shape, size, centres, radii):
    """Random points of a yard that are at least a metre from its pillars and walls."""
    points = generator.uniform(1, size - 1, (*shape, 2)).astype(np.float32)
    for _ in range(60):
        distance = np.linalg.norm(points[..., None, :] - centres, axis=-1) - radii
        bad = (distance < 1).any(-1)
        if not bad.any():
            break
        points[bad] = generator.uniform(1, size - 1, (int(bad.sum()), 2))
    return points


class Yards:
    def __init__(self, seed, copies, worlds, agents, pillars, size, goals=24):
        generator = np.random.default_rng(seed)
        self.size = np.float32(size)
        self.centres = generator.uniform(2, size - 2, (worlds, pillars, 2)).astype(np.float32)
        self.radii = generator.uniform(0.6, 1.4, (worlds, pillars)).astype(np.float32)
        places = [free_points(generator, (agents, goals + 1), size, c, r) for c, r in zip(self.centres, self.radii)]
        places = np.stack(places)
        self.goals = places[:, :, 1:]
        shape = (copies, worlds, agents)
        self.position = np.broadcast_to(places[:, :, 0], (*shape, 2)).copy()
        self.heading = np.broadcast_to(generator.uniform(-np.pi, np.pi, (worlds, agents)).astype(np.float32), shape).copy()
        self.speed = np.zeros(shape, np.float32)
        self.reached = np.zeros(shape, np.int64)

    def goal(self):
        worlds, agents = np.meshgrid(*map(np.arange, self.reached.shape[1:]), indexing="ij")
        return self.goals[worlds, agents, self.reached % self.goals.shape[2]]

    def circles(self):
        """Centres relative to each agent, and radii, of what it can touch: pillars, then agents (itself far away)."""
        pillars = self.centres[None, :, None] - self.position[..., None, :]
        others = self.position[:, :, None] - self.position[..., None, :]
        agents = others.shape[2]
        others[:, :, np.arange(agents), np.arange(agents)] = 1e3
        radii = np.concatenate([np.broadcast_to(self.radii[None, :, None], pillars.shape[:-1]), np.full(others.shape[:-1], RADIUS)], -1)
        return np.concatenate([pillars, others], -2), radii.astype(np.float32)

    def observe(self):
        to_goal = self.goal() - self.position
        distance = np.linalg.norm(to_goal, axis=-1)
        bearing = np.arctan2(to_goal[..., 1], to_goal[..., 0]) - self.heading
        centres, radii = self.circles()
        free = RANGE * np.ones((*self.heading.shape, len(RAYS)), np.float32)
        for k, ray in enumerate(RAYS):
            x, y = np.cos(self.heading + ray), np.sin(self.heading + ray)
            along = centres[..., 0] * x[..., None] + centres[..., 1] * y[..., None]
            left = radii**2 - (centres**2).sum(-1) + along**2
            hit = np.where((left > 0) & (along > 0), along - np.sqrt(np.maximum(left, 0)), RANGE).min(-1)
            for axis, direction in ((0, x), (1, y)):
                wall = np.where(direction > 0, self.size - self.position[..., axis], -self.position[..., axis])
                with np.errstate(divide="ignore", invalid="ignore"):
                    hit = np.minimum(hit, np.where(np.abs(direction) > 1e-6, wall / direction, RANGE))
            free[..., k] = np.clip(hit, 0, RANGE)
        parts = [np.cos(bearing), np.sin(bearing), np.minimum(distance, 8) / 8, self.speed / 2]
        return np.concatenate([np.stack(parts, -1), 1 - free / RANGE], -1).astype(np.float32)

    def step(self, actions):
        """Turns by actions[..., 0], speeds up by actions[..., 1], both in [-1, 1]. Returns progress in metres, goals reached, bumps."""
        before = np.linalg.norm(self.goal() - self.position, axis=-1)
        self.heading = self.heading + STEP * np.float32(2.5) * actions[..., 0]
        self.speed = np.maximum(self.speed + STEP * (3 * actions[..., 1] - np.float32(1.5) * self.speed), np.float32(-0.5))
        self.position += STEP * self.speed[..., None] * np.stack([np.cos(self.heading), np.sin(self.heading)], -1)
        bumps = self.push_apart()
        distance = np.linalg.norm(self.goal() - self.position, axis=-1)
        reached = distance < GOAL_RADIUS
        self.reached += reached
        return before - distance, reached, bumps

    def push_apart(self):
        """Moves agents out of pillars (all the way), each other (half the way) and walls; who bumps loses its speed."""
        centres, radii = self.circles()
        distance = np.maximum(np.linalg.norm(centres, axis=-1), np.float32(1e-6))
        overlap = np.maximum(radii + RADIUS - distance, 0)
        share = np.ones(overlap.shape[-1], np.float32)
        share[self.centres.shape[1]:] = 0.5
        self.position -= (centres / distance[..., None] * (overlap * share)[..., None]).sum(-2)
        inside = np.clip(self.position, RADIUS, self.size - RADIUS)
        bumps = (overlap > 0).any(-1) | (inside != self.position).any(-1)
        self.position = inside
        self.speed = np.where(bumps, self.speed * np.float32(0.3), self.speed)
        return bumps
