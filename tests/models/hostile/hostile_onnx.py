# SPDX-License-Identifier: MIT
"""Invalid ONNX files: name -> (file, words of the refusal)."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(*values):
    return np.array(values, np.int64)


def model(nodes, inputs=(), constants=None, outputs=("y",), functions=(), opset=17):
    held = [v if isinstance(v, TensorProto) else numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()]
    graph = helper.make_graph(list(nodes), "g", list(inputs), [value(o, None) for o in outputs], held)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("f", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=list(functions))


X = value("x", [2, 3])


def claim(name, dims, raw=b"", kind=F):
    """A constant that claims a shape, whatever it holds."""
    t = TensorProto(name=name, data_type=kind, raw_data=raw)
    t.dims.extend(dims)
    return t


def external(**entries):
    t = claim("c", [2])
    t.ClearField("raw_data")
    t.data_location = TensorProto.EXTERNAL
    for key, text in entries.items():
        t.external_data.add(key=key, value=str(text))
    return model([node("Add", ["x", "c"], ["y"])], [value("x", [2])], {"c": t})


def typed_claim(count):
    t = helper.make_tensor("c", F, [1], [1.0])
    t.dims[0] = count
    return t


def folded(nodes, constants):
    """Nodes over constants alone; their result meets an input."""
    return model([*nodes, node("Add", ["x", "k"], ["y"])], [value("x", [1])], constants)


def filled(name, *shape):
    """A constant that costs nothing in the file."""
    return node("ConstantOfShape", [f"s_{name}"], [name]), {f"s_{name}": ints(*shape)}


def blown(op, shape, constants=None, **attributes):
    """An operator over a filled constant and small ones."""
    fill, held = filled("a", *shape)
    return folded([fill, node(op, ["a", *(constants or {})], ["k"], **attributes)], {**held, **(constants or {})})


def contradictions():
    yield "a cycle", model([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])], [X], outputs=["b"]), ["cycle", "Relu", "'"]
    yield "a value that nothing makes", model([node("Relu", ["ghost"], ["y"], name="reader")], [X]), ["reader", "ghost", "nothing produces"]
    yield "an output that nothing makes", model([node("Relu", ["x"], ["z"])], [X]), ["list of outputs", "'y'"]
    yield "a value made twice", model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"], name="second")], [X]), ["second", "'y'", "exists already"]
    yield "an input made again", model([node("Relu", ["x"], ["x"], name="again")], [X], outputs=["x"]), ["again", "exists already"]
    yield "a constant with a negative length", model([node("Add", ["x", "c"], ["y"])], [X], {"c": claim("c", [-3], b"1234")}), ["'c'", "negative dimension -3"]
    yield "an input with a negative length", model([node("Relu", ["x"], ["y"])], [value("x", [2, -7])]), ["'x'", "dynamic", "--input"]
    yield "a permutation beyond the axes", model([node("Transpose", ["x"], ["y"], perm=[0, 7], name="turn")], [X]), ["turn", "axis 7", "2 dimensions"]
    yield "an axis beyond the rank", model([node("Concat", ["x", "x"], ["y"], axis=9, name="join")], [X]), ["join", "axis 9"]
    yield "a permutation of a million axes", model([node("Transpose", ["x"], ["y"], perm=[0] * 1000000, name="turn")], [X]), ["turn", "perm"]
    yield "a million pads", model([node("MaxPool", ["x"], ["y"], kernel_shape=[1], pads=[0] * 1000000)], [value("x", [1, 1, 4])]), ["pads", "2 values"]
    yield "an attribute twice", twice(), ["turn", "'perm'", "twice"]
    yield "an attribute of another type", model([node("Transpose", ["x"], ["y"], perm="all", name="turn")], [X]), ["turn", "'perm'", "list of integers"]
    yield "the converter's own attribute", model([node("Relu", ["x"], ["y"], nsk_same_shape=1)], [X]), ["nsk_same_shape", "own"]
    yield "the converter's own operator", model([node("nsk_next_iteration", ["x"], ["y"])], [X]), ["nsk_next_iteration", "own"]
    yield "a bound without a number", model([node("Clip", ["x", "low"], ["y"], name="clip")], [X], {"low": np.zeros([0], np.float32)}), ["clip", "min", "one number"]
    yield "a loop without a number of rounds", looped(count=np.zeros([0], np.int64)), ["Loop", "one int64"]
    yield "an input without elements", model([node("Relu", ["x"], ["y"])], [value("x", [0, 3])]), ["'y'", "no elements"]
    yield "a result without elements", model([node("Slice", ["x", "a", "a"], ["y"])], [X], {"a": ints(1)}), ["'y'", "no elements"]
    yield "sparse constants", sparse(), ["sparse", "dense"]
    yield "an old softmax beyond the rank", model([node("Softmax", ["x"], ["y"], axis=99, name="soft")], [X], opset=11), ["soft", "axis 99"]
    yield "a scale of another length", model([node("LayerNormalization", ["x", "s"], ["y"], name="norm")], [value("x", [3, 2, 3])], {"s": np.ones([4, 1, 1], np.float32)}), \
        ["norm", "[4,1,1]", "cannot be broadcast"]
    places = {"i": np.zeros([1, 1, 2, 2], np.int64)}
    for name, wrong in (("kernel_shape", [0, 2]), ("strides", [2, 0]), ("pads", [0, 0, -1, 0]), ("strides", [2 ** 40, 2])):
        attributes = {"kernel_shape": [2, 2], "strides": [2, 2], name: wrong}
        yield f"maxima written back with {name} {wrong}", model([node("MaxUnpool", ["x", "i"], ["y"], name="back", **attributes)], [value("x", [1, 1, 2, 2])], places), \
            ["back", name, "impossible value"]
    yield "a region of an image without a number", model([node("Resize", ["x", "r", "", "s"], ["y"], coordinate_transformation_mode="tf_crop_and_resize", name="crop")],
                                                          [value("x", [1, 1, 4, 4])], {"r": np.float32([0, 0, np.nan, 0, 1, 1, 1e30, 1]), "s": ints(1, 1, 2, 2)}), ["crop", "roi"]
    yield from wrong_types()
    yield "a scan without its input", scan_of_nothing(), ["Scan", "missing"]


def wrong_types():
    """Constants of a type that the operator does not take, of fewer bytes than the one that it does."""
    true = np.ones([4, 4], bool)
    cast = node("Cast", ["m"], ["k"], to=F)
    for op, constants, attributes, words in (("Relu", [true], {}, ["integer type"]), ("Neg", [true], {}, ["integer type"]), ("MatMul", [true, true], {}, ["numbers"]),
                                             ("PRelu", [true, true], {}, ["numbers"]), ("Compress", [true, ints(5, -3)], {"axis": 0}, ["bool"]),
                                             ("ReverseSequence", [true, np.ones(4, bool)], {}, ["integer type"]),
                                             ("BatchNormalization", [np.ones([1, 4], np.float32)] + [np.ones(4, bool)] * 4, {}, ["float type"]),
                                             ("LayerNormalization", [np.ones([1, 4], np.float32), np.ones(4, bool)], {}, ["float type"])):
        held = {f"c{i}": c for i, c in enumerate(constants)}
        yield f"{op} of another type", folded([node(op, [*held], ["m"], name="odd", **attributes), cast], held), ["odd", op, *words]


def twice():
    m = model([node("Transpose", ["x"], ["y"], perm=[0, 1], name="turn")], [X])
    m.graph.node[0].attribute.append(m.graph.node[0].attribute[0])
    return m


def sparse():
    m = model([node("Add", ["x", "c"], ["y"])], [X])
    m.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(claim("c", [1], b"1234"), claim("i", [1], ints(99).tobytes(), I), [2, 3]))
    return m


def scan_of_nothing():
    body = helper.make_graph([node("Relu", ["e"], ["r"])], "b", [value("e", [3])], [value("r", [3])])
    return model([node("Scan", [""], ["y"], body=body, num_scan_inputs=1)], [X])


def names():
    zero = model([node("Relu", ["x"], ["y"], name="ab")], [X]).SerializeToString()
    yield "a name with a zero", zero.replace(b"ab", b"a\0"), ["node 0", "byte 0"]
    yield "a name with an escape", zero.replace(b"ab", b"\x1bc"), ["node 0", "byte 27"]
    yield "a name that is no UTF-8", zero.replace(b"ab", b"\xc0\x80"), ["node 0", "byte 192"]
    yield "a value's name with a zero", model([node("Relu", ["x"], ["yz"])], [X], outputs=["yz"]).SerializeToString().replace(b"yz", b"y\0"), ["value", "byte 0"]
    yield "a name of a megabyte", model([node("Relu", ["x"], ["y"], name="n" * 1000000)], [X]), ["1000000 bytes", "nnn"]
    yield "an operator's name with a line feed", zero.replace(b"Relu", b"Re\nu"), ["operator of node 0", "byte 10"]


def claims():
    big = 1 << 29
    yield "2 GB in four bytes", model([node("Add", ["x", "c"], ["y"])], [X], {"c": claim("c", [big], b"1234")}), ["'c'", "4 bytes", str(4 * big)]
    yield "2 GB of numbers in one", model([node("Add", ["x", "c"], ["y"])], [X], {"c": typed_claim(big)}), ["'c'", "1 values", str(big)]
    yield "2^99 elements", model([node("Add", ["x", "c"], ["y"])], [X], {"c": claim("c", [1 << 33] * 3)}), ["'c'", "2^40"]
    yield "2^99 elements and none", model([node("Add", ["x", "c"], ["y"])], [X], {"c": claim("c", [1 << 33, 1 << 33, 0])}), ["'c'", "2^40"]
    yield "an input of 2^40 elements", model([node("Relu", ["x"], ["y"])], [value("x", [1 << 20, 1 << 20])]), ["'x'", "2^31 - 1"]
    yield "an input of 2^32 + 4 elements", model([node("Relu", ["x"], ["y"])], [value("x", [(1 << 32) + 4])]), ["'x'", "2^31 - 1"]
    yield "an input of 2^80 elements", model([node("Relu", ["x"], ["y"])], [value("x", [1 << 40, 1 << 40])]), ["'x'", "2^40"]
    yield "a constant of a thousand dimensions", model([node("Relu", ["c"], ["y"])], [X], {"c": claim("c", [1] * 1000, b"1234")}), ["1000 dimensions", "64"]
    yield "an input of a thousand dimensions", model([node("Relu", ["x"], ["y"])], [value("x", [1] * 1000)]), ["1000 dimensions"]
    yield "a reshape to a thousand dimensions", model([node("Reshape", ["x", "s"], ["y"])], [value("x", [1])], {"s": np.ones(1000, np.int64)}), ["1000 dimensions"]
    yield "a thousand new axes", model([node("Unsqueeze", ["x", "s"], ["y"])], [X], {"s": np.arange(1000)}), ["Unsqueeze", "axes"]
    yield "more than a million nodes", b"\x08\x08\x42\x02\x10\x11\x3a" + length(2 * 1100000) + b"\x0a\x00" * 1100000, ["million"]


def length(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def looped(count=None, depth=1):
    """Loops inside each other, over nothing but constants."""
    inner = [node("Relu", ["s"], ["t"])]
    for level in range(depth):
        body = helper.make_graph([node("Identity", ["c"], ["d"]), *inner], "body", [value("i", [], I), value("c", [], B), value("s", [1])], [value("d", [], B), value("t", [1])])
        inner = [node("Loop", ["n", "", "s" if level + 1 < depth else "s0"], ["t" if level + 1 < depth else "k"], body=body, name=f"loop_{level}")]
    return folded(inner, {"n": ints(*[1 << 62])[0] if count is None else count, "s0": np.zeros(1, np.float32)})


def field(number, content):
    return length(number << 3 | 2) + length(len(content)) + content


def nested(depth):
    """Conditions in conditions; the onnx package writes fewer than a hundred messages inside each other."""
    inner = node("Relu", ["x"], ["y"]).SerializeToString()
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, field(1, inner)) + b"\xa0\x01\x05"
        inner = field(1, b"c") + field(2, b"y") + field(4, b"If") + field(5, attribute)
    graph = field(1, inner) + field(11, X.SerializeToString()) + field(12, value("y", None).SerializeToString())
    return b"\x08\x08" + field(8, b"\x10\x11") + field(7, graph)


def function(name, nodes):
    return helper.make_function("f", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)])


def calls(name, count, text=""):
    """`count` calls of a function, one behind the other."""
    return [node(name, ["a" if i == 0 else f"m{i}"], ["b" if i + 1 == count else f"m{i + 1}"], domain="f", name=f"{text}{i}") for i in range(count)]


def endless():
    yield "a loop of 2^62 rounds", looped(), ["loop_0", "iterations", "--state"]
    yield "loops in loops in loops", looped(ints(1000)[0], depth=4), ["unrolled", "--state"]
    yield "conditions forty deep", nested(40), ["nests", "32"]
    yield "a function that calls itself", model([node("f0", ["x"], ["y"], domain="f")], [X], functions=[function("f0", calls("f0", 1))]), ["'f0'", "calls itself"]
    many = [function(f"f{i}", calls(f"f{i + 1}", 10)) for i in range(12)] + [function("f12", [node("Relu", ["a"], ["b"])])]
    yield "functions that become 10^12 nodes", model([node("f0", ["x"], ["y"], domain="f")], [X], functions=many), ["expand", "MiB"]
    wide = [function("f0", calls("f1", 500, "n" * 15000))] + [function("f1", calls("f2", 500, "n" * 15000)), function("f2", [node("Relu", ["a"], ["b"], name="n" * 15000)])]
    yield "functions with long names", model([node("f0", ["x"], ["y"], domain="f")], [X], functions=wide), ["expand", "MiB"]


def explosions():
    """Folding that would need terabytes or years."""
    limit = ["at conversion", "2^24"]
    work = ["at conversion", "2^30"]
    scalar = {"v": np.zeros([1], np.float32)}
    yield "ConstantOfShape", folded([node("ConstantOfShape", ["s"], ["k"])], {"s": ints(1 << 30)}), limit
    yield "Range", folded([node("Range", ["a", "b", "c"], ["k"])], {"a": ints(0)[0], "b": ints(1 << 30)[0], "c": ints(1)[0]}), limit
    yield "Expand", folded([node("Expand", ["v", "s"], ["k"])], {**scalar, "s": ints(1 << 30)}), limit
    yield "Tile", folded([node("Tile", ["v", "s"], ["w"]), node("Tile", ["w", "s"], ["k"])], {**scalar, "s": ints(1 << 15)}), limit
    yield "Pad", folded([node("Pad", ["v", "s"], ["k"])], {**scalar, "s": ints(0, 1 << 30)}), limit
    yield "a pad of an empty side", folded([node("Pad", ["v", "s"], ["k"])], {"v": np.zeros([1, 0], np.float32), "s": ints(0, 0, (1 << 40) - 1, 0)}), ["no elements"]
    yield "OneHot", folded([node("OneHot", ["i", "d", "l"], ["k"])], {"i": ints(1), "d": ints(1 << 30)[0], "l": np.zeros(2, np.float32)}), limit
    yield "Resize", folded([node("Resize", ["v", "", "s"], ["k"], mode="linear")], {"v": np.zeros([1, 1], np.float32), "s": np.float32([1, 1 << 30])}), limit
    fill, held = filled("a", 2048, 2048)
    yield "Resize with a wide middle", folded([fill, node("Resize", ["a", "", "", "z"], ["k"], mode="linear")], {**held, "z": ints(1 << 30, 1)}), ["at conversion"]
    yield "Concat of one constant", folded([fill, node("Concat", ["a"] * 1000, ["k"], axis=0)], held), limit
    yield "Gather", blown("Gather", (4096, 1024), {"i": np.zeros(20000, np.int64)}), limit
    yield "Add by broadcasting", folded([*[f for f, _ in (filled("a", 1 << 15, 1), filled("b", 1, 1 << 15))], node("Add", ["a", "b"], ["k"])],
                                        {**filled("a", 1 << 15, 1)[1], **filled("b", 1, 1 << 15)[1]}), limit
    chain = [node("ConstantOfShape", ["s"], ["k0"])] + [node("Neg", [f"k{i}"], [f"k{i + 1}"]) for i in range(200)]
    yield "a chain of constants", model([*chain, node("Add", ["x", "k200"], ["y"])], [value("x", [1])], {"s": ints(1 << 21)}), limit
    sums = [fill] + [node("ReduceSum", ["a"], [f"r{i}"], keepdims=0) for i in range(200)]
    yield "a constant summed again and again", model([*sums, node("Sum", [f"r{i}" for i in range(200)], ["k"]), node("Add", ["x", "k"], ["y"])], [value("x", [1])], held), work
    yield "MatMul", folded([fill, node("MatMul", ["a", "a"], ["k"])], held), work
    yield "Gemm", folded([fill, node("Gemm", ["a", "a"], ["k"])], held), work
    image, with_image = filled("a", 1, 16, 512, 512)
    kernel, kerneled = filled("w", 16, 16, 31, 31)
    yield "Conv", folded([image, kernel, node("Conv", ["a", "w"], ["k"], auto_pad="SAME_UPPER")], {**with_image, **kerneled}), work
    yield "ConvTranspose", folded([image, kernel, node("ConvTranspose", ["a", "w"], ["k"], auto_pad="SAME_UPPER")], {**with_image, **kerneled}), work
    yield "MaxPool", folded([image, node("MaxPool", ["a"], ["k"], kernel_shape=[255, 255], auto_pad="SAME_UPPER")], with_image), work
    yield "LRN", folded([node("ConstantOfShape", ["s"], ["a"]), node("LRN", ["a"], ["k"], size=100001)], {"s": ints(1, 100000, 8)}), work
    yield "LSTM", folded([node("ConstantOfShape", ["s"], ["a"]), *[node("ConstantOfShape", [f"s{n}"], [n]) for n in "wr"], node("LSTM", ["a", "w", "r"], ["k"])],
                         {"s": ints(512, 64, 16), "sw": ints(1, 512, 16), "sr": ints(1, 512, 128)}), work
    yield "TopK", folded([node("ConstantOfShape", ["s"], ["a"]), *[node("TopK", ["a", "n"], [f"k{i}", ""], axis=0) for i in range(40)], node("Sum", [f"k{i}" for i in range(40)], ["k"])],
                         {"s": ints(1 << 20), "n": ints(1)}), work
    yield "NonMaxSuppression", folded([node("ConstantOfShape", ["s"], ["a"]), node("ConstantOfShape", ["t"], ["b"]), node("NonMaxSuppression", ["a", "b", "n"], ["o"]),
                                       node("Cast", ["o"], ["k"], to=F)], {"s": ints(1, 50000, 4), "t": ints(1, 1, 50000), "n": ints(50000)[0]}), ["too many boxes"]


def large_programs():
    """What is no constant, but would become tables, weights or steps without end."""
    budget = ["weights and tables", "2^25"]
    yield "one constant as the weights of a thousand layers", shared_weights(), budget
    yield "a resize to 2^30 rows", model([node("Resize", ["x", "", "", "s"], ["y"], mode="linear")], [value("x", [1, 1, 2, 2])], {"s": ints(1, 1, 1 << 30, 1)}), budget
    yield "one hot of 2^30", model([node("OneHot", ["x", "d", "l"], ["y"])], [value("x", [1], I)], {"d": ints(1 << 30)[0], "l": np.zeros(2, np.float32)}), budget
    yield "a transposed convolution with 2^40 phases", model([node("ConvTranspose", ["x", "w"], ["y"], strides=[1 << 20, 1 << 20])], [value("x", [1, 1, 1, 1])],
                                                             {"w": np.zeros([1, 1, 2, 2], np.float32)}), ["2^31 - 1"]
    yield "a pad that no tensor holds", model([node("Pad", ["x", "p"], ["y"])], [X], {"p": ints(0, 0, 1 << 33, 0)}), ["2^31 - 1"]
    yield "thirty thousand nodes", model([node("Neg", [f"a{i}" if i else "x"], [f"a{i + 1}" if i < 29999 else "y"]) for i in range(30000)], [X]), ["30000 nodes", "20000"]
    yield "two thousand outputs", model([node("Neg", ["x"], [f"y{i}"]) for i in range(2000)], [X], outputs=[f"y{i}" for i in range(2000)]), ["2000 outputs", "1024"]
    yield "a result beyond the engine's addresses", model([node("Conv", ["x", "w"], ["y"], pads=[129, 65535, 1, 1])], [value("x", [1, 16, 14, 14])],
                                                          {"w": np.ones([16, 16, 3, 3], np.float32)}), ["'y'", "larger than", "smaller"]
    yield "a window in the padding alone", model([node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 5, 0, 0], strides=[2, 2], name="pool")], [value("x", [1, 4, 6, 6])]), \
        ["pool", "padding alone"]
    yield "indices of sixteen bits", model([node("Gather", ["x", "i"], ["y"], name="pick")], [X, value("i", [2], TensorProto.INT16)]), ["pick", "int32 or int64"]
    yield "a kernel of 2^17", model([node("MaxPool", ["x"], ["y"], kernel_shape=[1 << 17])], [value("x", [1, 1, 1 << 18])]), ["65535"]


def shared_weights():
    fill, held = filled("w", 1024, 1024, 3, 3)
    layers = [node("Conv", [f"a{i}" if i else "x", "w"], [f"a{i + 1}" if i < 99 else "y"], pads=[1] * 4) for i in range(100)]
    return model([fill, *layers], [value("x", [1, 1024, 4, 4])], held)


def files(folder):
    (folder / "inside").mkdir()
    (folder / "secret.bin").write_bytes(bytes(8))
    (folder / "inside" / "link.bin").symlink_to(folder / "secret.bin")
    (folder / "inside" / "short.bin").write_bytes(bytes(4))
    yield "data in the folder above", external(location="../secret.bin"), ["'c'", "outside"]
    yield "data at an absolute path", external(location=str(folder / "secret.bin")), ["'c'", "outside"]
    yield "data behind a link", external(location="link.bin"), ["'c'", "outside"]
    yield "data that is a folder", external(location="."), ["'c'", "missing"]
    yield "data that is not there", external(location="nowhere.bin"), ["'c'", "nowhere.bin", "missing"]
    yield "data without a place", external(offset=0), ["'c'", "location"]
    yield "data beyond its file", external(location="short.bin"), ["'c'", "short.bin", "4 bytes"]
    yield "data at a negative offset", external(location="short.bin", offset=-4), ["'c'", "'-4'"]
    yield "data at 2^63", external(location="short.bin", offset=1 << 63), ["'c'", "offset"]
    yield "data with a zero in its name", external(location="short.bin\0x"), ["'c'", "byte 0"]
    huge = external(location="short.bin")
    huge.graph.initializer[0].dims[0] = 1 << 29
    yield "2 GB in a file of four bytes", huge, ["'c'", "4 bytes", str(1 << 31)]


def good():
    """What looks suspicious and is right: converted, and compared with the reference."""
    yield "padding beyond 65535", model([node("Pad", ["x", "p"], ["z"]), node("Conv", ["z", "w"], ["y"], pads=[60000, 0])], [value("x", [1, 1, 8])],
                                        {"p": ints(0, 0, 60000, 0, 0, 0), "w": np.float32([[[1, 2, 3]]])})
    yield "a step beyond its axis", model([node("Slice", ["x", "a", "b", "c", "d"], ["y"])], [X], {"a": ints(2), "b": ints(-9), "c": ints(1), "d": ints(-(1 << 62))})
    yield "an old softmax behind the last axis", model([node("Softmax", ["x"], ["y"], axis=1)], [value("x", [5])], opset=11)
    yield "an old softmax that counts from the end", model([node("Softmax", ["x"], ["y"], axis=-1)], [X], opset=11)
    yield "a permutation that counts from the end", model([node("Transpose", ["x"], ["z"], perm=[-1, 0]), node("Relu", ["z"], ["y"])], [X])
    yield "a constant read a hundred times", model([filled("c", 1024, 256)[0], *[node("Add", [f"a{i}" if i else "x", "c"], [f"a{i + 1}" if i < 99 else "y"]) for i in range(100)]],
                                                   [value("x", [1024, 256])], filled("c", 1024, 256)[1])
