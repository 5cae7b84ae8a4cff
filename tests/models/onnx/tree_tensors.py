# SPDX-License-Identifier: MIT
"""Decision trees as tensor programs in plain ONNX, after Nakandala et al., "A Tensor Compiler for Unified Machine Learning Prediction
Serving" (OSDI 2020): the form of matrix products, and that of walks down all trees at once.

Both take the attributes of a TreeEnsembleRegressor or TreeEnsembleClassifier whose nodes test x <= threshold, and give the sums of the leaves'
scores, [batch, targets]."""
import collections

import numpy as np
from onnx import TensorProto, helper, numpy_helper

Tree = collections.namedtuple("Tree", "feature threshold yes no scores")  # arrays by node; leaves lead to themselves


def trees_of(attributes, prefix, targets):
    """The trees with nodes numbered from 0, the root first."""
    order = collections.defaultdict(list)
    for i, tree in enumerate(attributes["nodes_treeids"]):
        order[tree].append(i)
    scores = collections.defaultdict(lambda: np.zeros(targets, np.float32))
    for tree, node, target, weight in zip(*(attributes[f"{prefix}_{key}"] for key in ("treeids", "nodeids", "ids", "weights"))):
        scores[tree, node][target] += np.float32(weight)
    result = []
    for tree, nodes in sorted(order.items()):
        place = {attributes["nodes_nodeids"][i]: k for k, i in enumerate(nodes)}
        leaf = np.array([attributes["nodes_modes"][i] == "LEAF" for i in nodes])
        if not all(attributes["nodes_modes"][i] in ("LEAF", "BRANCH_LEQ") for i in nodes):
            raise ValueError("these forms test x <= threshold")
        own = np.arange(len(nodes))
        child = lambda key: np.array([k if l else place[attributes[key][i]] for k, (i, l) in enumerate(zip(nodes, leaf))])
        result.append(Tree(np.array([0 if l else attributes["nodes_featureids"][i] for i, l in zip(nodes, leaf)]),
                           np.array([0 if l else attributes["nodes_values"][i] for i, l in zip(nodes, leaf)], np.float32),
                           np.where(leaf, own, child("nodes_truenodeids")), np.where(leaf, own, child("nodes_falsenodeids")),
                           np.stack([scores[tree, attributes["nodes_nodeids"][i]] for i in nodes])))
    return result


class Program:
    """Nodes and constants of a graph with one input x [batch, features]."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self, features, outputs):
        """`outputs`: {name: (value, type, columns)}; columns None for a line of rows."""
        for name, (value, _, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        infos = [helper.make_tensor_value_info(n, t, ["batch"] + ([] if c is None else [c])) for n, (_, t, c) in outputs.items()]
        graph = helper.make_graph(self.nodes, "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", features])], infos, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def as_products(p, trees, features):
    """((x A <= B) C == D) E: A picks each node's feature, B holds thresholds; C says under which branch of which node a leaf is, D how often
    that is the true one; E holds the leaves' scores. Trees stand side by side in one set of matrices."""
    column, row = {}, {}  # (tree, node) -> place among the nodes that test, and among the leaves
    for k, t in enumerate(trees):
        for n, yes in enumerate(t.yes):
            side = row if yes == n else column
            side[k, n] = len(side)
    a, b = np.zeros((features, max(1, len(column))), np.float32), np.zeros(max(1, len(column)), np.float32)
    c, d = np.zeros((len(b), len(row)), np.float32), np.zeros(len(row), np.float32)
    e = np.zeros((len(row), trees[0].scores.shape[1]), np.float32)
    for (k, n), i in column.items():
        a[trees[k].feature[n], i] = 1
        b[i] = trees[k].threshold[n]
    for k, t in enumerate(trees):

        def descend(n, path):
            if (k, n) in row:
                leaf = row[k, n]
                for i, side in path:
                    c[i, leaf] = side
                d[leaf] = sum(side > 0 for _, side in path)
                e[leaf] = t.scores[n]
            else:
                descend(t.yes[n], path + [(column[k, n], 1)])
                descend(t.no[n], path + [(column[k, n], -1)])

        descend(0, [])
    tests = p.add("Cast", p.add("LessOrEqual", p.add("MatMul", "x", p.constant(a)), p.constant(b)), to=TensorProto.FLOAT)
    reached = p.add("Cast", p.add("Equal", p.add("MatMul", tests, p.constant(c)), p.constant(d)), to=TensorProto.FLOAT)
    return p.add("MatMul", reached, p.constant(e))


def as_walks(p, trees):
    """All trees at once, one level after the other: feature, threshold and children of the node where each row is are gathered by its number."""
    start = np.cumsum([0] + [len(t.yes) for t in trees[:-1]])
    join = lambda part: p.constant(np.concatenate([part(t, s) for t, s in zip(trees, start)]))
    feature, threshold = join(lambda t, s: t.feature), join(lambda t, s: t.threshold)
    yes, no, scores = join(lambda t, s: t.yes + s), join(lambda t, s: t.no + s), join(lambda t, s: t.scores)
    rows = p.add("Slice", p.add("Shape", "x"), p.constant(np.array([0])), p.constant(np.array([1])))
    at = p.add("Expand", p.constant(start[None]), p.add("Concat", rows, p.constant(np.array([len(trees)])), axis=0))
    for _ in range(max(map(depth_of, trees))):
        seen = p.add("GatherElements", "x", p.add("Gather", feature, at), axis=1)
        good = p.add("LessOrEqual", seen, p.add("Gather", threshold, at))
        at = p.add("Where", good, p.add("Gather", yes, at), p.add("Gather", no, at))
    return p.add("ReduceSum", p.add("Gather", scores, at), p.constant(np.array([1])), keepdims=0)


def depth_of(tree):
    deepest, level = 0, {0}
    while any(tree.yes[n] != n for n in level):
        level = {m for n in level if tree.yes[n] != n for m in (tree.yes[n], tree.no[n])}
        deepest += 1
    return deepest
