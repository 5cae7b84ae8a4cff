# SPDX-License-Identifier: MIT
"""Products: MatMul of every rank, Gemm with every attribute, Einsum, dense layers on images, attention."""
import numpy as np

import neighbours
from elementwise import broadcastable
from net import F, I, Unfit


def product(net):
    m, k, n = (net.choice([1, 2, 3, 5, 8, 16, 17, 33, 40]) for _ in range(3))
    lead = [net.choice([1, 2, 3]) for _ in range(net.choice([0, 0, 1, 1, 2, 3]))]
    a, b = (lead, broadcastable(net, lead)) if net.chance(0.5) else (broadcastable(net, lead), lead)
    left = a + [m, k] if net.chance(0.9) else [k]
    right = b + [k, n] if net.chance(0.9) else [k]
    if net.chance(0.4):
        right = [k, n]
    x = net.input(left)
    if net.chance(0.4) and len(left) > 1:
        x = neighbours.before(net, x, 1)
        if list(net.shape(x)) != left:
            raise Unfit("the neighbours changed the shape")
    y = net.value(right, data=0.35) if not net.chance(0.05) or left != right else x
    sides = [x, y]
    if net.chance(0.1):
        sides = [net.constant(net.floats(left)), net.input(right)]
    y = net.add("MatMul", sides)
    net.output(neighbours.behind(net, y, 3) if net.shape(y) else y)


def integer_product(net):
    dtype = net.choice([I, np.int32])
    m, k, n = (net.choice([1, 2, 3, 5, 8, 17, 33]) for _ in range(3))
    lead = [net.choice([1, 2, 3]) for _ in range(net.choice([0, 0, 1, 2, 3]))]
    a, b = (lead, broadcastable(net, lead)) if net.chance(0.5) else (broadcastable(net, lead), lead)
    left, right = a + [m, k] if net.chance(0.9) else [k], b + [k, n] if net.chance(0.9) else [k]
    net.output(net.add("MatMul", [net.value(left, dtype, 0.8), net.input(right, dtype)], dtype=dtype))


def square(net):
    """Determinants and inverses of matrices that are far from singular."""
    n = net.choice([1, 2, 3, 3, 4, 4, 5, 6, 9, 16])
    shape = [net.choice([1, 2, 3, 9]) for _ in range(net.choice([0, 1, 1, 2, 3]))] + [n, n]
    order = net.numbers.permutation(n)
    x = net.input(shape, values=lambda: net.floats(shape, 0.5) + F(2 + n ** 0.5) * np.eye(n, dtype=F)[order])
    if net.opset >= 11 and net.chance(0.5):
        return net.output(net.add("Det", [x]))
    net.output(net.add("Inverse", [x], shape=shape, domain="com.microsoft"))


def gemm(net):
    m, k, n = (net.choice([1, 2, 3, 5, 8, 16, 17, 33]) for _ in range(3))
    ta, tb = net.choice([None, 0, 1]), net.choice([None, 0, 1])
    x = neighbours.before(net, net.input([k, m] if ta else [m, k]), 1)
    if list(net.shape(x)) != ([k, m] if ta else [m, k]):
        raise Unfit("the neighbours changed the shape")
    inputs = [x, net.value([n, k] if tb else [k, n], data=0.2)]
    if net.opset < 11 or net.chance(0.7):
        shape = net.choice([[n], [m, n], [1, n], [m, 1], [1], [], [1, 1]])
        inputs.append(net.value(shape, data=0.25))
    y = net.add("Gemm", inputs, transA=ta, transB=tb, alpha=net.choice([None, None, 1.0, 0.5, -2.0, 0.0]), beta=net.choice([None, None, 1.0, 0.25, 0.0]))
    net.output(neighbours.behind(net, y, 3))


def dense_of_image(net):
    """Flatten or Reshape, then a dense layer: a convolution whose kernel is the image."""
    c, h, w = net.choice([1, 2, 3, 8, 16]), net.rng.randrange(1, 7), net.rng.randrange(1, 7)
    x = net.input([net.choice([1, 1, 2, 3]), c, h, w])
    if net.chance(0.6):
        x = net.add("Conv", [x, net.constant(net.floats([c, c, 3, 3], 0.3))], pads=[1] * 4)
    x = neighbours.behind(net, x, 2)
    shape = net.shape(x)
    if len(shape) != 4 or 0 in shape:
        raise Unfit("the neighbours changed the rank")
    width = int(np.prod(shape[1:]))
    if net.chance(0.3):
        x = net.add("Transpose", [x], perm=[0, 2, 3, 1])
    flat = net.add("Flatten", [x]) if net.chance(0.5) else net.reshape(x, net.choice([[shape[0], -1], [-1, width], [0, width]]))
    if width % 2 == 0 and net.chance(0.1):  # rows that are parts of images
        flat, width = net.reshape(x, [2 * shape[0], width // 2]), width // 2
        shape = (2 * shape[0], *shape[1:])
    flat = neighbours.before(net, flat, 1)
    if list(net.shape(flat)) != [shape[0], width]:
        raise Unfit("the neighbours changed the shape")
    n = net.choice([1, 4, 10, 17])
    if net.chance(0.5):
        y = net.add("Gemm", [flat, net.constant(net.floats([n, width], 0.2)), net.constant(net.floats(n))], transB=1)
    else:
        y = net.add("MatMul", [flat, net.constant(net.floats([width, n], 0.2))])
    y = neighbours.behind(net, y, 2)
    if net.chance(0.3) and len(net.shape(y)) == 2:
        y = net.add("Gemm", [y, net.constant(net.floats([net.shape(y)[1], 6]))])
    net.output(y)


EINSUMS = ["ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "...ij,...jk->...ik", "ij,kj->ik", "ij->ji", "ij->i", "ij->", "ijk->kji",
           "i,i->", "i,j->ij", "bij,bkj->bik", "nchw,oc->nohw", "bi,bi->b", "bij,j->bi", "ij,ij->ij", "abc,cd->abd", "abc,bd->acd", "b...d,d->b...",
           "ij,jk", "bhqd,bkhd->bhqk", "ijk->ik", "abcd->dbca", "nhwc,hkc->nhwk"]


def einsum(net):
    if net.opset < 12:
        raise Unfit("no Einsum")
    equation = net.choice(EINSUMS)
    lengths = {c: net.choice([1, 2, 3, 4, 7]) for c in equation if c.isalpha()}
    more = [net.choice([1, 2, 3])] * net.choice([0, 1])
    shapes = []
    for term in equation.split("->")[0].split(","):
        shape = []
        for i, c in enumerate(term):
            shape += [lengths[c]] if c.isalpha() else more if term[i:i + 3] == "..." else []
        shapes.append(shape)
    net.output(net.add("Einsum", [net.input(shapes[0])] + [net.value(s) for s in shapes[1:]], equation=equation))


def attention(net):
    n, t, heads, d = net.choice([1, 2]), net.rng.randrange(1, 9), net.choice([1, 2, 4]), net.choice([2, 4, 8])
    width = heads * d
    x = net.input([n, t, width])
    def head(scale):
        y = net.add("MatMul", [x, net.constant(net.floats([width, width], 0.3))])
        if net.chance(0.5):
            y = net.add("Add", [y, net.constant(net.floats([width]))])
        y = net.reshape(y, [n, t, heads, d])
        return net.add("Transpose", [y], perm=scale)
    q, k, v = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
    scores = net.add("MatMul", [q, k])
    scores = net.add(net.choice(["Mul", "Div"]), [scores, net.constant(F(net.choice([0.5, 2.0])))])
    if net.chance(0.4):
        mask = np.triu(np.full([t, t], net.choice([-1e9, -np.inf, -10.0]), F), 1)
        scores = net.add("Add", [scores, net.constant(mask)])
    weights = net.add("Softmax", [scores], axis=3)
    y = net.add("Transpose", [net.add("MatMul", [weights, v])], perm=[0, 2, 1, 3])
    y = net.reshape(y, [n, t, width])
    y = net.add("MatMul", [y, net.constant(net.floats([width, width], 0.3))])
    net.output(neighbours.behind(net, net.add("Add", [x, y]), 1))


def long_einsum(net):
    """Several inputs, and labels that stand twice in a term."""
    net.opset = max(net.opset, 12)
    lengths = {label: net.choice([1, 2, 3, 4]) for label in "abcde"}
    terms = []
    for _ in range(net.choice([1, 2, 3, 3, 4])):
        term = [net.choice("abcde") for _ in range(net.rng.randrange(1, 5))]
        if net.chance(0.6):
            term = list(dict.fromkeys(term))
        terms.append("".join(term))
    used = sorted({label for term in terms for label in term})
    net.rng.shuffle(used)
    result = "->" + "".join(used[:net.rng.randrange(0, len(used) + 1)]) if net.chance(0.85) else ""
    net.output(net.add("Einsum", [net.value([lengths[label] for label in term]) for term in terms], equation=",".join(terms) + result))


FAMILIES = {"integer_product": (0.7, integer_product), "square": (1, square), "product": (2.5, product), "gemm": (2.5, gemm), "dense_of_image": (2, dense_of_image), "einsum": (1, einsum), "attention": (0.7, attention), "long_einsum": (0.7, long_einsum)}
