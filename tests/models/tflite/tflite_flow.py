#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Variables, branches and loops of TensorFlow Lite, over several runs against LiteRT.

  tflite_flow.py [PART-OF-A-NAME]
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import compare_runs, have_litert, interpreter_of  # noqa: E402
from models import must, nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I = np.float32, np.int32
RUNS = 5
SHAPE = [2, 3]


class Model:
    """A model with an input x and outputs that are added as they come."""

    def __init__(self):
        self.w = Writer()
        self.ports, self.outputs, self.given = {"x": self.w.tensor("x", SHAPE, F)}, [], {}

    def port(self, name, shape, dtype):
        self.ports[name] = self.w.tensor(name, shape, dtype)
        return self.ports[name]

    def do(self, op, inputs, shape=SHAPE, dtype=F, options=None):
        y = self.w.tensor(f"t{len(self.w.graph.tensors)}", shape, dtype)
        self.w.operator(op, inputs, [y], options)
        return y

    def add(self, a, b, shape=SHAPE, dtype=F):
        return self.do("ADD", [a, b], shape, dtype, ("AddOptions", {}))

    def constant(self, value, dtype=F):
        data = np.asarray(value, dtype)
        return self.w.tensor(f"c{len(self.w.graph.tensors)}", data.shape, dtype, data)

    def handle(self, name="total"):
        return self.do("VAR_HANDLE", [], [], None, ("VarHandleOptions", {"container": "", "sharedName": name}))

    def read(self, handle, shape=SHAPE, dtype=F):
        return self.do("READ_VARIABLE", [handle], shape, dtype, ("ReadVariableOptions", {}))

    def assign(self, handle, value):
        self.w.operator("ASSIGN_VARIABLE", [handle, value], [], ("AssignVariableOptions", {}))

    def graph(self, inputs, body):
        """Another subgraph: `inputs` as (shape, type), `body` from their tensors to those of the outputs."""
        number = self.w.begin_graph("inner")
        given = [self.w.tensor(f"i{k}", shape, dtype) for k, (shape, dtype) in enumerate(inputs)]
        self.w.end_graph(given, body(*given))
        return number

    def initialise(self, **values):
        """`values`: an array per variable."""
        def body():
            for name, value in values.items():
                self.assign(self.handle(name), self.constant(value, np.asarray(value).dtype))
            return []
        self.w.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"initSubgraphIndex": self.graph([], body)}))

    def finish(self, *outputs):
        return self.w.finish(self.ports.values(), outputs)


def a_running_total():
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))
    h = m.handle()
    total = m.add(m.read(h), m.ports["x"])
    m.assign(h, total)
    return m.finish(total)


def a_variable_that_begins_with_numbers():
    m = Model()
    m.initialise(total=np.arange(6, dtype=F).reshape(SHAPE))
    h = m.handle()
    before = m.read(h)
    m.assign(h, m.do("MUL", [before, m.ports["x"]], options=("MulOptions", {})))
    return m.finish(m.do("NEG", [before]))


def a_variable_written_twice_and_read_between():
    m = Model()
    m.initialise(total=np.ones(SHAPE, F))
    h, x = m.handle(), m.ports["x"]
    m.assign(h, m.add(m.read(h), x))
    between = m.read(m.handle())
    m.assign(h, m.do("SUB", [between, m.constant(np.full(SHAPE, 0.5))], options=("SubOptions", {})))
    return m.finish(m.do("TANH", [between]))


def a_counter_of_integers():
    m = Model()
    m.initialise(count=np.zeros([], I))
    h = m.handle("count")
    count = m.add(m.read(h, [], I), m.constant(1, I), [], I)
    m.assign(h, count)
    return m.finish(m.do("MUL", [m.ports["x"], m.do("CAST", [count], [], F, ("CastOptions", {}))], options=("MulOptions", {})))


def two_variables_that_change_places():
    m = Model()
    m.initialise(a=np.zeros(SHAPE, F), b=np.ones(SHAPE, F))
    a, b = m.handle("a"), m.handle("b")
    was_a, was_b = m.read(a), m.read(b)
    m.assign(a, m.add(was_b, m.ports["x"]))
    m.assign(b, was_a)
    return m.finish(m.add(was_a, m.do("MUL", [was_b, m.constant(3.0)], options=("MulOptions", {}))))


def a_variable_that_is_only_assigned_first():
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))
    h = m.handle()
    m.assign(h, m.do("NEG", [m.ports["x"]]))
    return m.finish(m.do("EXP", [m.read(h)]))


def branches(m):
    square = m.graph([(SHAPE, F)], lambda x: [m.do("SQUARE", [x])])
    other = m.graph([(SHAPE, F)], lambda x: [m.do("NEG", [m.do("ABS", [x])])])
    return {"thenSubgraphIndex": square, "elseSubgraphIndex": other}


def a_branch_on_data():
    m = Model()
    c = m.port("c", [1], np.bool_)
    return m.finish(m.do("IF", [c, m.ports["x"]], options=("IfOptions", branches(m))))


def a_branch_that_is_known():
    m = Model()
    taken = [m.do("IF", [m.constant(c, np.bool_), m.ports["x"]], options=("IfOptions", branches(m))) for c in (True, False)]
    return m.finish(*taken)


def a_branch_that_assigns():
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))
    c, x = m.port("c", [1], np.bool_), m.ports["x"]

    def adds(x):
        h = m.handle()
        total = m.add(m.read(h), x)
        m.assign(h, total)
        return [total]
    options = {"thenSubgraphIndex": m.graph([(SHAPE, F)], adds), "elseSubgraphIndex": m.graph([(SHAPE, F)], lambda x: [m.do("NEG", [x])])}
    y = m.do("IF", [c, x], options=("IfOptions", options))
    return m.finish(y, m.do("RELU", [m.read(m.handle())]))


def loop_options(m, trips, step):
    below = m.graph([([], I), (SHAPE, F)], lambda i, s: [m.do("LESS", [i, m.constant(trips, I)], [], np.bool_)])
    body = m.graph([([], I), (SHAPE, F)], lambda i, s: [m.add(i, m.constant(1, I), [], I), step(i, s)])
    return {"condSubgraphIndex": below, "bodySubgraphIndex": body}


def run_loop(m, trips, step):
    options = loop_options(m, trips, step)
    last = [m.w.tensor("last_i", [], I), m.w.tensor("last_s", SHAPE, F)]
    m.w.operator("WHILE", [m.constant(0, I), m.ports["x"]], last, ("WhileOptions", options))
    return last[1]


def a_loop_of_seven():
    m = Model()
    return m.finish(run_loop(m, 7, lambda i, s: m.do("TANH", [m.add(s, m.do("CAST", [i], [], F, ("CastOptions", {})))])))


def a_loop_of_none():
    m = Model()
    return m.finish(m.do("NEG", [run_loop(m, 0, lambda i, s: m.do("TANH", [s]))]))


def a_branch_inside_a_loop():
    m = Model()

    def step(i, s):
        outer = m.w.graph
        options = branches(m)
        m.w.graph = outer
        odd = m.do("EQUAL", [m.do("FLOOR_MOD", [i, m.constant(2, I)], [], I), m.constant(1, I)], [], np.bool_)
        return m.add(m.do("IF", [odd, s], options=("IfOptions", options)), m.constant(0.1))
    return m.finish(run_loop(m, 4, step))


def a_loop_that_assigns():
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))

    def step(i, s):
        h = m.handle()
        total = m.add(m.read(h), s)
        m.assign(h, total)
        return m.do("MUL", [total, m.constant(0.5)], options=("MulOptions", {}))
    return m.finish(run_loop(m, 3, step))


def layer_over(m, x, memory):
    """A plain recurrent layer of three units on the rows of x."""
    weights = [m.constant(np.linspace(-0.7, 0.9, n).reshape(s)) for n, s in ((9, (3, 3)), (9, (3, 3)), (3, (3,)))]
    return m.do("RNN", [x, *weights, memory], options=("RNNOptions", {"fusedActivationFunction": 4}))


def two_layers_on_one_memory():
    m = Model()
    memory = m.w.tensor("memory", SHAPE, F, variable=True)
    first = layer_over(m, m.ports["x"], memory)
    return m.finish(layer_over(m, first, memory), m.do("NEG", [memory]))


def a_layer_in_a_branch():
    m = Model()
    c = m.port("c", [1], np.bool_)
    remembers = m.graph([(SHAPE, F)], lambda x: [layer_over(m, x, m.w.tensor("memory", SHAPE, F, variable=True))])
    options = {"thenSubgraphIndex": remembers, "elseSubgraphIndex": m.graph([(SHAPE, F)], lambda x: [m.do("NEG", [x])])}
    return m.finish(m.do("IF", [c, m.ports["x"]], options=("IfOptions", options)))


MODELS = [a_running_total, a_variable_that_begins_with_numbers, a_variable_written_twice_and_read_between, a_counter_of_integers,
          two_variables_that_change_places, a_variable_that_is_only_assigned_first, a_branch_on_data, a_branch_that_is_known,
          a_branch_that_assigns, a_loop_of_seven, a_loop_of_none, a_branch_inside_a_loop, a_loop_that_assigns,
          two_layers_on_one_memory, a_layer_in_a_branch]


def a_layer_in_a_loop():
    m = Model()
    y = run_loop(m, 3, lambda i, s: layer_over(m, s, m.w.tensor("memory", SHAPE, F, variable=True)))
    return m.finish(y), ["WHILE", "RNN", "inside a loop"]


def unknown_number_of_iterations():
    m = Model()
    n = m.port("n", [], I)
    below = m.graph([([], I), ([], I)], lambda i, n: [m.do("LESS", [i, n], [], np.bool_)])
    body = m.graph([([], I), ([], I)], lambda i, n: [m.add(i, m.constant(1, I), [], I), n])
    last = [m.w.tensor("a", [], I), m.w.tensor("b", [], I)]
    m.w.operator("WHILE", [m.constant(0, I), n], last, ("WhileOptions", {"condSubgraphIndex": below, "bodySubgraphIndex": body}))
    return m.finish(last[0]), ["WHILE", "computed at run time", "states"]


def a_loop_without_end():
    m = Model()
    forever = m.graph([(SHAPE, F)], lambda s: [m.constant(True, np.bool_)])
    body = m.graph([(SHAPE, F)], lambda s: [m.do("TANH", [s])])
    y = m.do("WHILE", [m.ports["x"]], options=("WhileOptions", {"condSubgraphIndex": forever, "bodySubgraphIndex": body}))
    return m.finish(y), ["WHILE", "1024"]


def a_graph_that_runs_itself():
    m = Model()
    number = len(m.w.model.subgraphs)
    again = ("IfOptions", {"thenSubgraphIndex": number, "elseSubgraphIndex": number})
    assert m.graph([([1], np.bool_), (SHAPE, F)], lambda c, x: [m.do("IF", [c, c, x], options=again)]) == number
    c = m.port("c", [1], np.bool_)
    return m.finish(m.do("IF", [c, c, m.ports["x"]], options=again)), ["IF", "runs itself"]


def a_graph_that_is_not_there():
    m = Model()
    c = m.port("c", [1], np.bool_)
    return m.finish(m.do("IF", [c, m.ports["x"]], options=("IfOptions", {"thenSubgraphIndex": 9, "elseSubgraphIndex": -1}))), ["IF", "subgraph"]


def graphs_that_double():
    """Sixty graphs, each of which runs the next one twice."""
    m = Model()
    c = m.port("c", [1], np.bool_)
    inputs = [([1], np.bool_), (SHAPE, F)]
    next_graph = m.graph(inputs, lambda c, x: [m.do("NEG", [x])])
    for _ in range(30):
        options = ("IfOptions", {"thenSubgraphIndex": next_graph, "elseSubgraphIndex": next_graph})
        next_graph = m.graph(inputs, lambda c, x: [m.do("IF", [c, c, x], options=options)])
    options = ("IfOptions", {"thenSubgraphIndex": next_graph, "elseSubgraphIndex": next_graph})
    return m.finish(m.do("IF", [c, c, m.ports["x"]], options=options)), ["IF", "MiB"]


def branches_of_two_shapes():
    m = Model()
    wide = m.graph([(SHAPE, F)], lambda x: [m.do("NEG", [x])])
    row = m.graph([(SHAPE, F)], lambda x: [m.do("SUM", [x, m.constant([0], I)], [1, 3], F, ("ReducerOptions", {"keepDims": True}))])
    c = m.port("c", [1], np.bool_)
    y = m.do("IF", [c, m.ports["x"]], options=("IfOptions", {"thenSubgraphIndex": wide, "elseSubgraphIndex": row}))
    return m.finish(y), ["IF", "different shapes", "Export each branch"]


def a_variable_without_a_value():
    m = Model()
    h = m.handle()
    total = m.add(m.read(h), m.ports["x"])
    m.assign(h, total)
    return m.finish(total), ["READ_VARIABLE", "'total'", "initialiser"]


def a_variable_that_grows():
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))
    h = m.handle()
    m.assign(h, m.do("CONCATENATION", [m.read(h), m.ports["x"]], [4, 3], F, ("ConcatenationOptions", {"axis": 0})))
    return m.finish(m.do("NEG", [m.ports["x"]])), ["ASSIGN_VARIABLE", "'total'", "shape"]


def an_initialiser_behind_the_first_use():
    m = Model()
    h = m.handle()
    m.assign(h, m.ports["x"])
    m.initialise(total=np.zeros(SHAPE, F))
    return m.finish(m.do("NEG", [m.read(h)])), ["CALL_ONCE", "'total'"]


REFUSED = [unknown_number_of_iterations, a_loop_without_end, a_graph_that_runs_itself, a_graph_that_is_not_there, graphs_that_double,
           branches_of_two_shapes, a_layer_in_a_loop, a_variable_without_a_value, a_variable_that_grows, an_initialiser_behind_the_first_use]


def inputs_of(content):
    numbers = np.random.default_rng(1)
    given = {}
    for detail in interpreter_of(content).get_input_details():
        shape = [RUNS, *detail["shape"]]
        given[detail["name"]] = numbers.integers(0, 2, shape).astype(np.bool_) if detail["dtype"] == np.bool_ else numbers.uniform(-1, 1, shape).astype(F)
    return given


def options(folder):
    """States stay when outputs are chosen; without states they are ports; what no input can say is refused."""
    source, target = folder / "m.tflite", folder / "m.nsk"
    m = Model()
    m.initialise(total=np.zeros(SHAPE, F))
    h = m.handle()
    m.assign(h, m.add(m.read(h), m.ports["x"]))
    source.write_bytes(m.finish(m.do("NEG", [m.ports["x"]]), m.do("EXP", [m.read(h)])))
    chosen = m.w.graph.tensors[m.w.graph.outputs[1]].name.decode()
    must("convert", source, "-o", target, "--output-value", chosen, "--check", "--quiet")
    must("check", source, target)
    assert "state     total" in must("inspect", target), "the state went with the outputs"
    must("convert", source, "-o", target, "--no-states", "--check", "--quiet")
    assert "input     total" in must("inspect", target), "--no-states leaves no input"
    for arguments, word in ((["--set", "total=0"], "state of the model"), (["--state", f"x={chosen}", "--state", f"total={chosen}"], "two inputs")):
        done = nsk("convert", source, "-o", target, *arguments)
        assert done.returncode == 1 and word in done.stderr, done.stderr
    source.write_bytes(a_variable_that_begins_with_numbers())
    done = nsk("convert", source, "-o", target, "--no-states")
    assert done.returncode == 2 and "begins with numbers" in done.stderr, done.stderr


def inputs_that_are_set(folder):
    """--set chooses a branch; a wrong name is told the right ones. Branches of two shapes are refused before it is looked at."""
    source, target, x = folder / "m.tflite", folder / "m.nsk", np.random.default_rng(2).uniform(-1, 1, SHAPE).astype(F)
    np.save(folder / "x.npy", x)
    for chosen, y in ((1, x * x), (0, -np.abs(x))):
        source.write_bytes(a_branch_on_data())
        must("convert", source, "-o", target, "--set", f"c={chosen}", "--check", "--quiet")
        out = folder / f"set{chosen}"
        out.mkdir()
        must("run", target, "--input", f"x={folder / 'x.npy'}", "--output-dir", out, "--quiet")
        found = [np.load(path) for path in out.iterdir()]
        assert len(found) == 1 and np.allclose(found[0], y, atol=1e-5), f"--set c={chosen} gives {found}, not {y}"
        for name in ("d", "serving_default_c:0"):
            done = nsk("convert", source, "-o", target, "--set", f"{name}=1")
            assert done.returncode == 1 and name in done.stderr and "Its inputs: 'x', 'c'" in done.stderr, done.stderr


def main(part):
    if not have_litert():
        return 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_flow_") as name:
        folder = pathlib.Path(name)
        for make in MODELS:
            if part not in make.__name__:
                continue
            content = make()
            try:
                failure = compare_runs(folder, content, inputs_of(content), RUNS)
            except (RuntimeError, ValueError) as refused:
                failure = f"LiteRT: {refused}"
            if failure:
                wrong.append(f"{make.__name__}: {failure}")
        for make in REFUSED:
            if part not in make.__name__:
                continue
            content, words = make()
            (folder / "m.tflite").write_bytes(content)
            done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", timeout=60)
            if done.returncode != 2 or any(word not in done.stderr for word in words):
                wrong.append(f"{make.__name__}: exit code {done.returncode}, {done.stderr.strip()}")
        options(folder)
        inputs_that_are_set(folder)
    print("\n".join(wrong + [f"{len(MODELS)} models over {RUNS} runs, {len(REFUSED)} refusals, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
