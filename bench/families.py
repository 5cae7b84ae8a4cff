#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a small network for each of the families that bench/run.sh has no file of: what a model that we do not have seen is likely to be made of.

  bench/families.py FOLDER [NAME ...]

Weights are random, the same in each run. `bench/run.sh --families` writes and measures them. A ratio far below the others is a kernel or a pass
that is missing: groups of four channels and the pools of a pyramid were found so.
"""
import argparse
import pathlib
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from length_networks import attention, image, sequence  # noqa: E402
from static_exporter import exported  # noqa: E402


# Layers.

def gelu(w, x):
    return w.scaled(w.binary("Mul", x, w.binary("Add", w.unary("Erf", w.scaled(x, 2 ** -0.5)), w.constant(1))), 0.5)


def silu(w, x):
    return w.binary("Mul", x, w.unary("Sigmoid", x))


def norm(w, x):
    """LayerNormalization of the last axis."""
    return w.add("LayerNormalization", [x, w.weight(x.shape[-1]), w.weight(x.shape[-1])], x.shape, axis=-1)


def layer(w, x, out, k=3, stride=1, group=1, function="Relu"):
    """Convolution and function; kernels of even length have no pads."""
    y = w.conv(x, out, k, stride, None if k % 2 else [0] * 4, group)
    return y if function is None else silu(w, y) if function == "SiLU" else w.unary(function, y)


def depthwise(w, x, k=3, stride=1, function="Relu"):
    return layer(w, x, x.shape[1], k, stride, x.shape[1], function)


def linear(w, x, out):
    return w.binary("Add", w.linear(x, out), w.weight(out))


def dilated(w, x, out, dilation):
    """A 3x3, or 3 long, convolution that keeps the lengths."""
    axes = len(x.shape) - 2
    weights, shape = w.weight(out, x.shape[1], *[3] * axes), [x.shape[0], out] + x.shape[2:]
    return w.relu(w.add("Conv", [x, weights], shape, dilations=[dilation] * axes, pads=[dilation] * 2 * axes))


def instance_norm(w, x):
    return w.add("InstanceNormalization", [x, w.weight(x.shape[1]), w.weight(x.shape[1])], x.shape)


def doubled(w, x, mode="nearest"):
    return w.resize(x, *(2 * s for s in x.shape[2:]), mode=mode)


def mlp(w, x, widths, function):
    for out in widths:
        x = w.unary(function, w.gemm(x, out))
    return x


# Blocks.

def bottleneck(w, x, inner, out, stride=1, width=1):
    """ResNeXt's and RegNet's: a convolution of groups of `width` channels between two of single pixels."""
    y = layer(w, layer(w, x, inner, 1), inner, 3, stride, inner // width)
    return w.relu(w.binary("Add", layer(w, y, out, 1, function=None), x if stride == 1 and x.shape[1] == out else w.conv(x, out, 1, stride)))


def inverted(w, x, out, stride, function):
    """MobileNetV2's: wide inside, with a depthwise layer there."""
    y = depthwise(w, layer(w, x, 4 * x.shape[1], 1, function=function), 3, stride, function)
    return layer(w, y, out, 1, function=None)


def convnext(w, x):
    n, c, h, width = x.shape
    y = norm(w, w.transpose(depthwise(w, x, 7, function=None), 0, 2, 3, 1))
    return w.binary("Add", x, w.transpose(linear(w, gelu(w, linear(w, y, 4 * c)), c), 0, 3, 1, 2))


def encoder(w, x, heads):
    """A transformer's, its norms first."""
    width = x.shape[2]
    x = w.binary("Add", x, attention(w, norm(w, x), heads, x.shape[1]))
    return w.binary("Add", x, linear(w, gelu(w, linear(w, norm(w, x), 4 * width)), width))


def mixer(w, x):
    n, steps, width = x.shape
    y = linear(w, gelu(w, linear(w, w.transpose(norm(w, x), 0, 2, 1), steps // 2)), steps)
    x = w.binary("Add", x, w.transpose(y, 0, 2, 1))
    return w.binary("Add", x, linear(w, gelu(w, linear(w, norm(w, x), 2 * width)), width))


def wide_window(w, x, k):
    return w.binary("Add", x, layer(w, depthwise(w, x, k), x.shape[1], 1))


def ghost(w, x, out):
    """Half of the channels are made of the other half."""
    half = layer(w, x, out // 2, 1)
    return w.concat([half, depthwise(w, half)], 1)


def shuffled_unit(w, x, groups):
    n, c, h, width = x.shape
    y = layer(w, x, c // 2, 1, group=groups)
    y = w.reshape(w.transpose(w.reshape(y, n, groups, c // 2 // groups, h, width), 0, 2, 1, 3, 4), n, c // 2, h, width)
    return w.relu(w.binary("Add", x, layer(w, depthwise(w, y, function=None), c, 1, group=groups, function=None)))


def excited(w, x):
    """Squeeze-and-excitation behind a convolution, with a residual."""
    y = layer(w, x, x.shape[1])
    s = w.unary("Sigmoid", w.conv(w.relu(w.conv(w.global_pool(y), x.shape[1] // 4, 1)), x.shape[1], 1))
    return w.relu(w.binary("Add", x, w.binary("Mul", y, s)))


def gated(w, x, dilation):
    """WaveNet's unit of a signal."""
    y = dilated(w, x, 2 * x.shape[1], dilation)
    a, b = w.split(y, 1, x.shape[1], x.shape[1])
    return w.binary("Add", x, w.conv(w.binary("Mul", w.unary("Tanh", a), w.unary("Sigmoid", b)), x.shape[1], 1))


def repeated(w, x, times, block, *more):
    for _ in range(times):
        x = block(w, x, *more)
    return x


def in_turn(w, x, block, *lists):
    """A block for each of the arguments that the lists have."""
    for arguments in zip(*lists):
        x = block(w, x, *arguments)
    return x


# Families.

def unet(w):
    a = repeated(w, image(w, 128), 2, layer, 16)
    b = repeated(w, w.pool(a, 2, op="MaxPool"), 2, layer, 32)
    c = repeated(w, w.pool(b, 2, op="MaxPool"), 2, layer, 64)
    d = repeated(w, w.concat([w.up_conv(c, 32), b], 1), 2, layer, 32)
    return layer(w, repeated(w, w.concat([w.up_conv(d, 16), a], 1), 2, layer, 16), 1, 1, function="Sigmoid")


def style_transfer(w):
    def unit(w, x, out, k, stride=1):
        border = [0, 0, k // 2, k // 2] * 2
        return w.relu(instance_norm(w, w.conv(w.pad(x, *border, mode="reflect"), out, k, stride, [0] * 4)))
    x = in_turn(w, image(w, 128), unit, (32, 64), (9, 3), (1, 2))
    for _ in range(2):
        x = w.binary("Add", x, in_turn(w, x, unit, (64, 64), (3, 3)))
    return in_turn(w, doubled(w, x), unit, (32, 3), (3, 9))


def radiance_field(w):
    return w.gemm(mlp(w, w.input("x", [1024, 60]), (64, 64, 64), "Relu"), 4)


def point_cloud(w):
    x = in_turn(w, w.input("x", [1, 3, 1024]), lambda w, x, out: w.relu(w.conv(x, out, 1)), (64, 128, 256))
    return w.gemm(w.reduce(x, [2], "ReduceMax", 0), 40)


def feature_pyramid(w):
    levels, x = [], image(w, 64, channels=32)
    for out in (64, 128, 128):
        levels.append(x := layer(w, x, out, 3, 2))
    y = layer(w, levels[2], 64, 1)
    for level in (levels[1], levels[0]):
        y = w.binary("Add", layer(w, level, 64, 1), doubled(w, y))
    return layer(w, y, 64)


def pool_pyramid(w):
    x = layer(w, image(w, 20, channels=64), 64, 1, function="SiLU")
    return layer(w, w.concat([x] + [w.pool(x, k, 1, "MaxPool", [k // 2] * 4) for k in (5, 9, 13)], 1), 64, 1, function="SiLU")


def dense_blocks(w):
    x = image(w, 28, channels=64)
    for _ in range(6):
        y = w.relu(w.binary("Add", w.binary("Mul", x, w.weight(1, x.shape[1], 1, 1)), w.weight(1, x.shape[1], 1, 1)))
        x = w.concat([x, layer(w, layer(w, y, 64, 1), 16, function=None)], 1)
    return w.pool(layer(w, x, 80, 1), 2)


def espcn(w):
    x = in_turn(w, image(w, 180, 320, 1), layer, (64, 32), (5, 3), (1, 1), (1, 1), ("Tanh", "Tanh"))
    return w.add("DepthToSpace", [layer(w, x, 9, function=None)], [1, 1, 540, 960], blocksize=3)


def atari_policy(w):
    x = in_turn(w, image(w, 84, channels=4), layer, (32, 64, 64), (8, 4, 3), (4, 2, 1))
    return w.gemm(mlp(w, w.flatten(x), (512,), "Relu"), 18)


def dilated_pyramid(w):
    x = image(w, 65, channels=32)
    parts = [layer(w, x, 32, 1)] + [dilated(w, x, 32, d) for d in (6, 12, 18)]
    return w.resize(layer(w, w.concat(parts, 1), 21, 1, function=None), 260, 260)


def decoder(w):
    x = w.reshape(mlp(w, w.input("x", [1, 64]), (2048,), "Relu"), 1, 128, 4, 4)
    for out in (64, 32, 16):
        x = w.relu(w.up_conv(x, out, 4, 2, 1))
    return w.unary("Tanh", w.up_conv(x, 3, 4, 2, 1))


def depth_decoder(w):
    return w.up_conv(w.relu(w.up_conv(w.input("x", [1, 64, 30, 40]), 32, 4, 2, 1)), 1, 3, 2, 1, 1)


FAMILIES = {
    "unet": unet,
    "style_transfer": style_transfer,
    "convnext": lambda w: repeated(w, layer(w, image(w, 112), 48, 4, 4, function=None), 3, convnext),
    "resnext": lambda w: repeated(w, image(w, 28, channels=64), 3, bottleneck, 128, 64, 1, 4),
    "regnet": lambda w: in_turn(w, layer(w, image(w, 96), 32, 3, 2), bottleneck, *[(24, 56, 56, 152)] * 2, (2, 2, 1, 2), (8,) * 4),
    "dense_blocks": dense_blocks,
    "ghost": lambda w: in_turn(w, layer(w, image(w, 112), 16, 3, 2), ghost, (48, 16) * 3),
    "grouped_shuffle": lambda w: repeated(w, image(w, 28, channels=96), 3, shuffled_unit, 3),
    "silu_mobile": lambda w: in_turn(w, layer(w, image(w, 128), 16, 3, 2, 1, "SiLU"), inverted, (32, 48, 64), (1, 2, 2), ("SiLU",) * 3),
    "plain_3x3": lambda w: in_turn(w, image(w, 112), layer, (48, 48, 48, 48, 96, 96, 96), (3,) * 7, (2, 2, 1, 1, 2, 1, 1)),
    "squeeze_excite": lambda w: repeated(w, image(w, 56, channels=64), 2, excited),
    "large_kernels": lambda w: in_turn(w, image(w, 28, channels=64), wide_window, (7, 9, 13)),
    "vision_transformer": lambda w: repeated(w, sequence(w, 65, 192), 3, encoder, 3),
    "long_attention": lambda w: attention(w, sequence(w, 256, 64), 4, 256),
    "mlp_mixer": lambda w: repeated(w, sequence(w, 196, 128), 2, mixer),
    "espcn": espcn,
    "feature_pyramid": feature_pyramid,
    "pool_pyramid": pool_pyramid,
    "dilated_pyramid": dilated_pyramid,
    "decoder": decoder,
    "depth_decoder": depth_decoder,
    "dilated_signal": lambda w: in_turn(w, w.input("x", [1, 64, 256]), dilated, (64,) * 4, (1, 2, 4, 8)),
    "gated_signal": lambda w: in_turn(w, w.input("x", [1, 32, 2000]), gated, (1, 2, 4, 8, 16)),
    "radiance_field": radiance_field,
    "sine_field": lambda w: mlp(w, w.input("x", [1024, 2]), (64, 64, 3), "Sin"),
    "point_cloud": point_cloud,
    "large_policy": lambda w: mlp(w, w.input("x", [1, 256]), (512, 512, 256, 32), "Tanh"),
    "atari_policy": atari_policy,
}


def model_of(name):
    model = exported(lambda w: w.output(FAMILIES[name](w)), ())
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *FAMILIES])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or FAMILIES:
        onnx.save(model_of(name), options.folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
