# SPDX-License-Identifier: MIT
"""What stands before and behind a layer and may be folded into it: sums, factors, normalisations, padding, activations. Constants have
the shape that folds, or nearly that shape."""
import numpy as np

from elementwise import activation
from net import F


def spread(net, shape):
    """A constant's shape beside a value: one number per channel most of the time."""
    rank = len(shape)
    if rank < 2:
        return [net.choice([1] + list(shape))] if rank else []
    channels = net.choice([3, 8]) if shape[1] == 1 and net.chance(0.25) else shape[1]  # what broadcasts the value itself
    per_channel = [1, channels] + [1] * (rank - 2)
    roll = net.rng.random()
    if roll < 0.45:
        return per_channel[net.choice([0, 1]):]
    if roll < 0.6:
        return []
    if roll < 0.7:
        return [1] * net.rng.randrange(1, rank + 1)
    if roll < 0.8:
        return [d if net.chance(0.5) else 1 for d in shape][net.rng.randrange(0, rank):]
    if roll < 0.87:
        return list(shape)
    if roll < 0.94:
        return [1] * (rank - 1) + [shape[-1]]  # per column, which looks like per channel where the lengths are equal
    return [shape[0]] + per_channel[1:]


def beside(net, shape, positive=False):
    numbers = np.asarray(net.numbers.uniform(0.4, 1.6, spread(net, shape)), F)
    if not positive and net.chance(0.5):
        numbers = np.asarray(net.floats(numbers.shape), F)
        numbers = np.where(np.abs(numbers) < 0.1, F(0.3), numbers)
    if net.chance(0.03):
        numbers = numbers * F(net.choice([0.0, 1e-30, 1e30]))
    if net.chance(0.08):
        return net.input(numbers.shape, values=lambda: numbers)  # computed: nothing folds
    return net.constant(np.asarray(numbers, F))


def arithmetic(net, x):
    shape = net.shape(x)
    op = net.choice(["Add", "Sub", "Mul", "Div"])
    sides = [x, beside(net, shape)]
    if net.chance(0.3):
        sides.reverse()
    return net.add(op, sides)


def normalization(net, x):
    shape = net.shape(x)
    if len(shape) < 3 or shape[1] < 1:
        return arithmetic(net, x)
    return net.batch_norm(x, shape[1])


def instance(net, x):
    shape = net.shape(x)
    if len(shape) < 3 or min(shape) < 1 or np.prod(shape[2:]) < 4:
        return arithmetic(net, x)
    return net.add("InstanceNormalization", [x, net.constant(net.floats(shape[1])), net.constant(net.floats(shape[1]))], epsilon=net.choice([1e-2, 1e-1]))


def padding(net, x):
    rank = len(net.shape(x))
    if rank < 3:
        return arithmetic(net, x)
    edge = [net.choice([0, 0, 1, 2]) for _ in range(2 * rank)]
    for axis in (0, 1):
        if not net.chance(0.1):
            edge[axis] = edge[rank + axis] = 0
    if net.chance(0.1):
        edge[rank - 1] = -1
    return net.pad(x, edge, value=net.choice([0.0, 0.0, 0.0, 0.5, -1.0]))


def squash(net, x):
    return activation(net, x, {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Neg", "Abs", "Softplus", "Gelu", "Erf", "Identity"})


def limits(net, x):
    return net.clip(x, *net.choice([(0.0, 6.0), (-0.5, 0.8), (None, 0.4), (0.1, None), (-1.0, 1.0)]))


def slopes(net, x):
    shape = net.shape(x)
    slope = spread(net, shape)
    return net.add("PRelu", [x, net.constant(np.asarray(net.floats(slope, 0.5), F))])


def transposed(net, x):
    """There, something small, and back: or somewhere else."""
    rank = len(net.shape(x))
    order = net.choice([[0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]]) if rank > 2 else list(range(rank))[::-1]
    y = net.add("Transpose", [x], perm=order)
    if net.chance(0.6):
        y = net.choice([arithmetic, squash])(net, y)
    return net.add("Transpose", [y], perm=[order.index(i) for i in range(rank)])


def folded(net, x):
    """Reshaped and back."""
    shape = net.shape(x)
    if 0 in shape or not shape:
        return x
    y = net.reshape(x, [shape[0], -1])
    if net.chance(0.5):
        y = net.choice([arithmetic, squash])(net, y)
    return net.reshape(y, shape)


def joined(net, x):
    """Concatenated with something along an axis, and a part of the result."""
    shape = list(net.shape(x))
    if not shape:
        return x
    axis = net.rng.randrange(len(shape))
    y = net.add("Concat", net.rng.sample([x, net.choice([x, net.input(shape), net.constant(net.floats(shape))])], 2), axis=axis)
    start = net.rng.randrange(0, shape[axis] + 1)
    if net.opset >= 10:
        return net.add("Slice", [y, net.ints(start), net.ints(start + shape[axis]), net.ints(axis)])
    return net.add("Slice", [y], starts=[start], ends=[start + shape[axis]], axes=[axis])


def residual(net, x):
    shape = net.shape(x)
    other = net.choice([lambda: net.input(shape), lambda: squash(net, x), lambda: x, lambda: net.input([1] * len(shape))])()
    sides = [x, other]
    net.rng.shuffle(sides)
    return net.add(net.choice(["Add", "Add", "Add", "Sub", "Mul", "Max"]), sides)


def gate(net, x):
    op = net.choice(["Sigmoid", "HardSigmoid"])
    g = net.add(op, [x], **({} if op == "Sigmoid" else net.choice([{"alpha": 1 / 6, "beta": 0.5}, {}, {"alpha": 0.1666, "beta": 0.5}])))
    return net.add("Mul", net.rng.sample([x, g], 2))


BEFORE = [arithmetic] * 5 + [normalization] * 3 + [instance, padding, padding, squash, limits, transposed, folded, joined]
BEHIND = [arithmetic] * 5 + [normalization] * 3 + [squash] * 4 + [limits, slopes, slopes, residual, residual, gate, instance, padding, transposed, folded, joined]


def before(net, x, maximum=2):
    return chain(net, x, BEFORE, maximum)


def behind(net, x, maximum=3):
    return chain(net, x, BEHIND, maximum)


def chain(net, x, makers, maximum):
    for _ in range(net.choice([0] + list(range(maximum + 1)))):
        y = net.choice(makers)(net, x)
        if net.chance(0.08) and x not in net.feeds:
            net.output(x)  # something else reads the middle
        if net.chance(0.05):
            net.output(squash(net, x))
        x = y
    return x
