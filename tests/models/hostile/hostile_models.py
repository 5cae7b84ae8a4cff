#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile models: every one is refused by exit code 2 and a message that names what is wrong, at once, in bounded memory, and leaves no
file behind. What only looks hostile converts, and computes what the reference does.

  hostile_models.py onnx|tflite|json|graph [WORDS OF A NAME]
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import hostile_onnx  # noqa: E402
from models import TOOL, must  # noqa: E402

MEMORY = 1 << 30  # address space
SLACK = 5         # limits of time are those of a quiet machine; what runs away takes hundreds of times as long
REFUSED = 2
failures = []
slowest = (0.0, "nothing")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def timed(*arguments):
    """Runs nsk within the limits: exit code, its words, processor seconds."""
    with tempfile.TemporaryFile() as words:
        child = subprocess.Popen([TOOL, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=words, preexec_fn=limited)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        words.seek(0)
        return child.returncode, words.read().decode(errors="backslashreplace"), usage.ru_utime + usage.ru_stime


def expect_refusal(what, words, seconds, arguments, out):
    """Checks exit code, words, length and characters of the message, time, and that nothing was written."""
    global slowest
    code, said, took = timed(*arguments)
    problems = [] if code == REFUSED else [f"exit code {code}"]
    problems += [f"the message lacks '{w}'" for w in words if w.lower() not in said.lower()]
    problems += [f"the message has {len(said)} characters"] if len(said) > 4000 else []
    problems += ["the message holds control characters"] if any(ord(c) < 32 and c != "\n" for c in said) or said.count("\n") > 1 else []
    problems += [f"it took {took:.2f} s"] if took > SLACK * seconds else []
    problems += [f"{p.name} was left behind" for pattern in (out.name + "*", ".nsk-*") for p in out.parent.glob(pattern)]
    for path in out.parent.glob(out.name + "*"):
        path.unlink()
    slowest = max(slowest, (took, what))
    if problems:
        failures.append(f"{what}: {'; '.join(problems)}\n    {said.strip()[:300]}")


def convert_all(folder, suffix, groups, chosen, *options):
    """`groups`: (what, how long a refusal may take, cases)."""
    count = 0
    for title, seconds, cases in groups:
        for name, content, words in cases:
            what = f"{title}: {name}"
            if any(w not in what for w in chosen):
                continue
            data = content if isinstance(content, bytes) else content.SerializeToString()
            source, out = folder / f"m{suffix}", folder / "out" / "m.nsk"
            out.parent.mkdir(exist_ok=True)
            source.write_bytes(data)
            expect_refusal(f"{what} ({len(data)} bytes)", words, seconds, ["convert", source, "-o", out, *options], out)
            count += 1
    return count


def onnx_models(folder, chosen):
    (folder / "inside").mkdir()
    here = folder / "inside"
    groups = [("contradictions", 0.5, hostile_onnx.contradictions()), ("names", 0.5, hostile_onnx.names()), ("claims", 0.5, hostile_onnx.claims()),
              ("without end", 1, hostile_onnx.endless()), ("explosions", 1, hostile_onnx.explosions()), ("programs", 1, hostile_onnx.large_programs())]
    count = convert_all(here, ".onnx", groups, chosen) + files_outside(folder, chosen)
    for name, m in hostile_onnx.good():
        if any(w not in name for w in chosen):
            continue
        source = here / "good.onnx"
        source.write_bytes(m.SerializeToString())
        code, said, took = timed("convert", source, "-o", here / "good.nsk", "--check")
        count += 1
        if code != 0:
            failures.append(f"{name}: exit code {code}\n    {said.strip()[:300]}")
    return count


def files_outside(folder, chosen):
    place = folder / "files"
    place.mkdir()
    return convert_all(place / "inside", ".onnx", [("files", 0.5, hostile_onnx.files(place))], chosen)


def tflite_models(folder, chosen):
    import hostile_tflite as h
    groups = [("contradictions", 0.5, h.contradictions()), ("quantisation", 0.5, h.quantisation()), ("sparse", 0.5, h.sparse()), ("options", 0.5, h.options()),
              ("layers", 1, h.layers()), ("explosions", 1, h.explosions()), ("damage", 0.5, h.damage())]
    return convert_all(folder, ".tflite", groups, chosen, "--dequantize")


def json_texts(whole):
    """name -> (text, words of the refusal)."""
    text = json.dumps(whole)

    def changed(change):
        other = json.loads(text)
        change(other)
        return json.dumps(other)

    def at(*path):
        def put(value):
            def apply(w):
                for key in path[:-1]:
                    w = w[key]
                w[path[-1]] = value
            return changed(apply)
        return put

    variant, step, tensor = ("table", "variants", 0), ("table", "variants", 0, "steps", 0), ("table", "variants", 0, "tensors", 0)
    for cut in (0, 1, len(text) // 4, len(text) // 2, len(text) - 1):
        yield f"cut after {cut}", text[:cut], ["is not JSON"]
    yield "a list", "[]", ["nsk json"]
    yield "a number", "7", ["nsk json"]
    yield "lists a million deep", "[" * 1000000, ["deeper than 32"]
    yield "lists a million deep, closed", "[" * 1000000 + "]" * 1000000, ["deeper than 32"]
    yield "objects a million deep", '{"a":' * 1000000, ["deeper than 32"]
    yield "a version a million deep", '{"netsuke_format":' + "[" * 1000000 + "]" * 1000000 + "}", ["deeper than 32"]
    yield "a million keys", "{" + ",".join(f'"k{i}":0' for i in range(1000000)) + "}", ["256"]
    yield "another version", at("netsuke_format")(99), ["version 99"]
    yield "a version that is a list", at("netsuke_format")([1]), ["version"]
    yield "weights that are a number", at("weights")(5), ["weights"]
    yield "weights elsewhere", at("weights")("../m.weights"), ["plain name"]
    yield "weights with a zero in their name", at("weights")("m.weights\0x"), ["plain name"]
    yield "weights that are not there", at("weights")("nowhere"), ["nowhere"]
    yield "weights that are a folder", at("weights")("."), ["directory"]
    yield "no weights", at("weights")("empty.weights"), ["cannot open"]
    yield "a table that is a list", at("table")([]), ["object"]
    yield "no variants", at("table", "variants")([]), ["cannot open"]
    yield "variants that are a number", at("table", "variants")(3), ["variants", "list"]
    yield "a step that is a text", at(*step)("conv"), ["steps[0]", "object"]
    yield "a length of 2^70", at(*tensor, "shape")([1 << 70]), ["shape[0]"]
    yield "a length of 2^40", at(*tensor, "shape")([1 << 40]), ["shape[0]", "cannot hold"]
    yield "a length of 1e300", text.replace('"shape": [', '"shape": [1e300, ', 1), ["JSON"]
    yield "a length of 1e30", text.replace('"shape": [', '"shape": [1e30, ', 1), ["shape[0]"]
    yield "a negative length", at(*tensor, "shape")([-1]), ["cannot open"]
    yield "an arena of 2^64 - 1 bytes", at(*variant, "arena_bytes")((1 << 64) - 1), ["cannot open"]
    yield "a name with a zero", at(*tensor, "name")("a\0b"), ["name", "zero"]
    yield "half of a surrogate", text.replace('"name": "', '"name": "\\ud800', 1), ["is not JSON"]
    yield "a list of ten thousand steps", at(*variant, "steps")([{}] * 10000), ["cannot open"]
    yield "a very long text for a number", at(*step, "macs")("9" * 1000000), ["macs"]
    yield "an unknown field", at(*step, "n" * 100000)(1), ["no field", "There are"]


def json_inputs(folder, chosen):
    source = folder / "m.onnx"
    _, first = next(iter(hostile_onnx.good()))
    source.write_bytes(first.SerializeToString())
    must("convert", source, "-o", folder / "m.nsk", "--quiet")
    must("json", folder / "m.nsk", "-o", folder / "m.json")
    (folder / "empty.weights").write_bytes(b"")
    out, count = folder / "out.nsk", 0
    for name, text, words in json_texts(json.loads((folder / "m.json").read_text())):
        if any(w not in name for w in chosen):
            continue
        (folder / "bad.json").write_text(text)
        expect_refusal(f"JSON: {name}", words, 1, ["from-json", folder / "bad.json", "-o", out], out)
        count += 1
    return count


def graph_texts(whole, folder):
    """The JSON of a graph: name -> (text, words of the refusal)."""
    text = json.dumps(whole)

    def changed(change):
        other = json.loads(text)
        change(other)
        return json.dumps(other)

    def node(**keys):
        return changed(lambda w: w["nodes"][0].update(keys))

    def attribute(value):
        return node(attributes={"strides": value})

    def constant(**keys):
        return changed(lambda w: w["constants"][0].update(keys) or [w["constants"][0].pop(k) for k in list(keys) if keys[k] is None])

    def inline(**keys):
        return changed(lambda w: w["constants"].append({"name": "more", "type": "float32", "shape": [1], "values": [0], **keys}))

    first = whole["nodes"][0]["name"]
    for cut in (1, len(text) // 2, len(text) - 1):
        yield f"cut after {cut}", text[:cut], ["is not JSON"]
    yield "objects a million deep", '{"a":' * 1000000, ["deeper than 32"]
    yield "a million keys", "{" + ",".join(f'"k{i}":0' for i in range(1000000)) + "}", ["256"]
    yield "no graph", "{}", ["no graph", "netsuke_graph"]
    yield "the JSON of a converted model", '{"netsuke_format": 1}', ["from-json"]
    yield "another version", changed(lambda w: w.update(netsuke_graph=2)), ["netsuke_graph", "must be 1"]
    yield "an unknown key", changed(lambda w: w.update(node=[])), ["unknown key 'node'", "Did you mean 'nodes'"]
    yield "nodes that are an object", changed(lambda w: w.update(nodes={})), ["list as 'nodes'"]
    yield "no outputs", changed(lambda w: w.update(outputs=[])), ["no outputs"]
    yield "a node that is a text", changed(lambda w: w["nodes"].insert(0, "Conv")), ["node 0", "object"]
    yield "a node without an operator", changed(lambda w: w["nodes"][0].pop("op")), ["node 0", "lacks the key 'op'"]
    yield "an operator that is not known", node(op="Convv"), [first, "Convv"]
    yield "an operator of the converter's own", node(op="nsk_next_iteration"), ["converter's own"]
    yield "an attribute of the converter's own", node(attributes={"nsk_bound": 5}), [first, "converter's own"]
    yield "inputs that are numbers", node(inputs=[1, 2]), [first, "inputs", "text"]
    yield "an input that nothing produces", node(inputs=["nowhere"]), [first, "'nowhere'", "nothing produces"]
    yield "an output that exists", node(outputs=[whole["inputs"][0]["name"]]), [first, "exists already"]
    yield "a cycle", node(inputs=[whole["outputs"][0]["name"], whole["nodes"][0]["inputs"][1]]), ["cycle", first]
    yield "an opset of tomorrow", node(opset=99), [first, "99"]
    yield "an opset of the day before", changed(lambda w: w.update(opsets={"ai.onnx": 0})), ["opset", "0"]
    yield "an attribute that is null", attribute(None), [first, "strides"]
    yield "an attribute of several kinds", attribute([1, "a", 2.5]), [first, "strides", "one kind"]
    yield "an attribute of another kind", attribute("wide"), [first, "strides", "list of integers"]
    yield "an attribute with two values", attribute({"float": 1.0, "floats": []}), [first, "strides", "exactly one"]
    yield "strides of 2^62", attribute([1 << 62, 1 << 62]), [first]
    yield "negative strides", attribute([-1, -1]), [first]
    yield "graphs a hundred deep", node(attributes={"b": json.loads('{"graph":{"nodes":[{"op":"If","attributes":{"b":' * 6 + "1" + "}}]}}" * 6)}), ["deep"]
    yield "a constant twice", changed(lambda w: w["constants"].append({"name": whole["constants"][0]["name"], "type": "float32", "shape": [], "values": [1]})), \
        [whole["constants"][0]["name"], "exists already"]
    yield "a constant without elements", constant(file=None), ["constant", "needs either"]
    yield "a constant in a file and in the text", constant(values=[1]), ["constant", "needs either"]
    yield "a file that is not there", constant(file="g.constants/nothing.npy"), ["constant", "missing"]
    yield "a file outside", constant(file="../outside.npy"), ["constant", "outside"]
    yield "a file at an absolute path", constant(file=str(folder.parent / "outside.npy")), ["constant", "outside"]
    yield "a file behind a link that leads outside", constant(file="link.npy"), ["constant", "outside"]
    yield "a file that is a folder", constant(file="g.constants"), ["constant", "missing"]
    yield "a file with a zero in its name", constant(file="g.constants\0/x.npy"), ["constant", "control character"]
    yield "a file that is no array", constant(file="text.npy"), ["constant", "not a .npy"]
    yield "a file that two constants have", changed(lambda w: w["constants"].append({**w["constants"][0], "name": "again"})), ["'again'", "another constant"]
    yield "a file of another shape", constant(file="flat.npy"), [first]
    yield "a file whose header claims 2^50 elements", constant(file="claims.npy"), ["constant", "claims.npy"]
    yield "axes that are not its own", constant(permute=[0, 1, 2, 7]), ["constant", "permute"]
    yield "an axis twice", constant(permute=[0, 0, 1, 2]), ["constant", "permute"]
    yield "a shape of 2^60 elements", inline(shape=[1 << 30, 1 << 30]), ["'more'"]
    yield "a negative length", inline(shape=[-1]), ["'more'"]
    yield "a length of 1e30", inline(shape=[1e30]), ["'more'", "integer"]
    yield "too few values", inline(shape=[1 << 30]), ["'more'", "1 values"]
    yield "a value of another type", inline(type="int8", values=[300]), ["'more'", "int8"]
    yield "a value that is a text", inline(values=["much"]), ["'more'", "number"]
    yield "a type that is not known", inline(type="float13"), ["'more'", "float13"]
    yield "an input of 2^70 elements", changed(lambda w: w["inputs"][0].update(shape=[1 << 35, 1 << 35, 1, 1])), [whole["inputs"][0]["name"]]
    yield "an input of texts", changed(lambda w: w["inputs"][0].update(type="string")), ["string"]
    yield "a port without a name", changed(lambda w: w["inputs"].append({"shape": [1]})), ["lacks the key 'name'"]
    yield "a deviation of 0", changed(lambda w: w["inputs"][0].update(mean=[1], deviation=[0])), ["deviation"]
    yield "a state of no ports", changed(lambda w: w.update(states=[{"input": "a", "output": "b"}])), ["state 'a'", "no input and output"]
    yield "a name with an escape sequence", node(name="\x1b[31mred"), ["name", "control character"]
    yield "a name of a megabyte", node(name="n" * (1 << 20)), ["name"]


def graph_inputs(folder, chosen):
    import numpy as np
    place = folder / "place"
    place.mkdir()
    graph = hostile_onnx.model([hostile_onnx.node("Conv", ["x", "w"], ["y"], name="conv", strides=[2, 2])], [hostile_onnx.value("x", [1, 4, 9, 9])],
                               {"w": np.ones((8, 4, 3, 3), np.float32)})
    (place / "m.onnx").write_bytes(graph.SerializeToString())
    must("json", place / "m.onnx", "-o", place / "g.json")
    np.save(folder / "outside.npy", np.zeros(4, np.float32))
    (place / "link.npy").symlink_to(folder / "outside.npy")
    (place / "text.npy").write_text("no array")
    np.save(place / "flat.npy", np.zeros(7, np.float32))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1125899906842624,), }".ljust(117) + b"\n"
    (place / "claims.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    out, count = place / "out.nsk", 0
    for name, text, words in graph_texts(json.loads((place / "g.json").read_text()), place):
        if any(w not in name for w in chosen):
            continue
        (place / "bad.json").write_text(text)
        expect_refusal(f"graph: {name}", words, 1, ["convert", place / "bad.json", "-o", out], out)
        count += 1
    return count


def main():
    groups = {"onnx": onnx_models, "tflite": tflite_models, "json": json_inputs, "graph": graph_inputs}
    if len(sys.argv) < 2 or sys.argv[1] not in groups:
        raise SystemExit(__doc__)
    with tempfile.TemporaryDirectory(prefix="nsk_hostile_") as folder:
        count = groups[sys.argv[1]](pathlib.Path(folder), sys.argv[2:])
    print("\n".join(failures + [f"{count} hostile inputs, {len(failures)} handled badly; the longest took {slowest[0]:.2f} s ({slowest[1]})"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
