#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the policy of examples/agents with NumPy alone, and writes it as ONNX in the conventions of Unity's ML-Agents.

    python3 -m pip install numpy onnx
    python3 tools/train_agent/train.py              # some minutes on one core

Evolution strategies (Salimans et al., 2017): antithetic pairs of perturbed policies drive the same yards, ranks of their rewards weigh
the perturbations, Adam follows the sum. Writes yard_agent.onnx and the table of yard_agent.md; nothing is chosen by looking at the yards
on which the table is measured.
"""
import argparse
import pathlib
import time

import numpy as np

from world import ACTIONS, OBSERVATIONS, Yards

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIDDEN = 32
LAYERS = [(OBSERVATIONS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ACTIONS)]
DEVIATION = 0.3  # of the stochastic head, before actions are divided by 3
EPISODE = 100
NOISE = 0.06


def unpacked(parameters):
    """Matrices and biases of parameters [..., count]."""
    layers, at = [], 0
    for rows, columns in LAYERS:
        weights = parameters[..., at:at + rows * columns].reshape(*parameters.shape[:-1], rows, columns)
        at += rows * columns
        layers.append((weights, parameters[..., at:at + columns]))
        at += columns
    return layers


def policy(layers, x):
    """Means of the actions for x [copies, agents, OBSERVATIONS]."""
    for i, (weights, bias) in enumerate(layers):
        x = x @ weights + bias[..., None, :]
        if i + 1 < len(layers):
            x = x / (1 + np.exp(-x))
    return x


def drive(parameters, yards, steps, generator=None):
    """Lets every copy of the yards be driven by its own parameters; returns rewards, goals and bumps per copy."""
    layers = unpacked(parameters)
    copies, worlds, agents = yards.heading.shape
    total, goals, bumps = np.zeros(copies), np.zeros(copies), np.zeros(copies)
    for _ in range(steps):
        means = policy(layers, yards.observe().reshape(copies, worlds * agents, -1)).reshape(copies, worlds, agents, -1)
        if generator is not None:
            means = means + DEVIATION * generator.standard_normal(means.shape[1:]).astype(np.float32)
        actions = np.clip(means, -3, 3) / 3
        progress, reached, bumped = yards.step(actions)
        reward = 0.5 * progress + 2 * reached - 0.4 * bumped - 0.01 * np.abs(actions[..., 0])
        total += reward.mean((1, 2))
        goals += reached.mean((1, 2))
        bumps += bumped.mean((1, 2))
    return total, goals, bumps


def train(options):
    generator = np.random.default_rng(options.seed)
    count = sum(r * c + c for r, c in LAYERS)
    parameters = np.zeros(count, np.float32)
    for weights, _ in unpacked(parameters):
        weights[...] = generator.standard_normal(weights.shape) / np.sqrt(weights.shape[0])
    first, second, start = np.zeros(count), np.zeros(count), time.time()
    for generation in range(options.generations):
        half = generator.standard_normal((options.population // 2, count)).astype(np.float32)
        directions = np.concatenate([half, -half])
        yards = Yards(options.seed * 100003 + generation, len(directions), 1, 12, 4, 12)
        rewards, goals, bumps = drive(parameters + NOISE * directions, yards, EPISODE, generator)
        ranks = np.empty(len(rewards))
        ranks[rewards.argsort()] = np.linspace(-0.5, 0.5, len(rewards))
        gradient = ranks @ directions / (len(rewards) * NOISE) - 0.002 * parameters
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        step = (first / (1 - 0.9 ** (generation + 1))) / (np.sqrt(second / (1 - 0.99 ** (generation + 1))) + 1e-8)
        parameters = (parameters + options.rate * (1 - 0.8 * generation / options.generations) * step).astype(np.float32)
        if generation % 10 == 0 or generation + 1 == options.generations:
            print(f"{generation:4d}  reward {rewards.mean():6.2f}  goals {goals.mean():5.2f}  bumps {bumps.mean():5.2f}  {time.time() - start:5.0f} s", flush=True)
    return parameters


def measured(parameters, agents, pillars, size, noise):
    """Goals and bumps per agent and minute in a yard that was never trained on."""
    yards = Yards(999331, 1, 1, agents, pillars, size)
    generator = np.random.default_rng(5) if noise else None
    _, goals, bumps = drive(parameters[None], yards, 600, generator)
    return float(goals[0]), float(bumps[0])


def write_onnx(parameters, path):
    from onnx import TensorProto, checker, helper, numpy_helper, save

    constants, nodes, x = [], [], "obs_0"

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    for i, (weights, bias) in enumerate(unpacked(parameters)):
        nodes.append(helper.make_node("Gemm", [x, constant(f"w{i}", weights), constant(f"b{i}", bias)], [f"sum{i}"]))
        x = f"sum{i}"
        if i + 1 < len(LAYERS):
            nodes += [helper.make_node("Sigmoid", [x], [f"gate{i}"]), helper.make_node("Mul", [x, f"gate{i}"], [f"swish{i}"])]
            x = f"swish{i}"
    three = constant("three", np.float32(3))
    nodes += [helper.make_node("RandomNormalLike", [x], ["noise"], dtype=TensorProto.FLOAT),
              helper.make_node("Mul", ["noise", constant("deviation", np.float32(DEVIATION))], ["scaled_noise"]),
              helper.make_node("Add", [x, "scaled_noise"], ["sample"])]
    for source, result in (("sample", "continuous_actions"), (x, "deterministic_continuous_actions")):
        nodes += [helper.make_node("Clip", [source], [result + "_clipped"], min=-3.0, max=3.0),
                  helper.make_node("Div", [result + "_clipped", three], [result])]
    for name, value in (("version_number", 3), ("memory_size", 0), ("continuous_action_output_shape", ACTIONS)):
        nodes.append(helper.make_node("Identity", [constant(name + "_value", np.array([value], np.float32))], [name]))
    of = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    actions = [of(n, ["batch", ACTIONS]) for n in ("continuous_actions", "deterministic_continuous_actions")]
    facts = [of(n, [1]) for n in ("version_number", "memory_size", "continuous_action_output_shape")]
    graph = helper.make_graph(nodes, "yard_agent", [of("obs_0", ["batch", OBSERVATIONS])], facts + actions, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], producer_name="netsuke")
    model.ir_version = 6
    checker.check_model(model)
    save(model, path)


TABLE = """| yard | policy | goals per agent and minute | bumps per agent and minute |
| --- | --- | ---: | ---: |
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, default=240)
    parser.add_argument("--population", type=int, default=48)
    parser.add_argument("--rate", type=float, default=0.04)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default=str(ROOT / "examples/models/yard_agent.onnx"))
    options = parser.parse_args()
    parameters = train(options)
    write_onnx(parameters, options.output)
    table = TABLE
    for name, yard in (("12 agents, 4 pillars, 12 m", (12, 4, 12)), ("100 agents, 20 pillars, 36 m", (100, 20, 36))):
        for who, noise in (("deterministic", False), ("stochastic", True)):
            table += "| {} | {} | {:.1f} | {:.1f} |\n".format(name, who, *measured(parameters, *yard, noise))
    print(table)


if __name__ == "__main__":
    main()
