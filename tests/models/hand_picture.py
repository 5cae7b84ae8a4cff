# SPDX-License-Identifier: MIT
"""A hand that nobody owns: bones with skin around them, lit from the upper left."""
import math

import numpy as np

# From the wrist, for a hand of unit length with its fingers up: joints (x, y) and radii at them. The last is the forearm.
FINGERS = [
    [(-0.10, -0.02, .105), (-0.20, .16, .085), (-0.31, .30, .062), (-0.385, .41, .054), (-0.43, .49, .042)],
    [(-0.06, .03, .11), (-0.145, .47, .068), (-0.165, .66, .055), (-0.175, .78, .048), (-0.18, .86, .038)],
    [(-0.01, .03, .11), (-0.03, .50, .070), (-0.035, .72, .056), (-0.038, .855, .049), (-0.04, .945, .039)],
    [(.04, .03, .11), (.085, .475, .066), (.10, .675, .053), (.108, .80, .046), (.112, .885, .037)],
    [(.08, .03, .10), (.185, .42, .060), (.225, .57, .047), (.245, .66, .040), (.258, .735, .033)],
    [(0, .02, .125), (0.01, -.25, .13), (0.02, -.9, .15)],
]
SKIN, BACKGROUND = np.array([222, 168, 138.0]), np.array([205, 212, 218.0])


def capsule(x, y, a, b):
    """Height of a tapered capsule above the picture; far below where it is not."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy), 0, 1)
    radius = a[2] + along * (b[2] - a[2])
    square = radius ** 2 - (x - a[0] - along * dx) ** 2 - (y - a[1] - along * dy) ** 2
    return np.where(square > 0, np.sqrt(np.maximum(square, 0)), 20 * square)


def hand(x, y):
    """Height of the hand at points of its own axes, neighbouring bones grown together."""
    powers, sharpness = np.zeros_like(x), 42
    for chain in FINGERS:
        for a, b in zip(chain, chain[1:]):
            powers += np.exp(sharpness * np.clip(capsule(x, y, a, b), -0.5, 1))
    return np.log(powers) / sharpness


def hand_picture(width, height, hands):
    """hands: (wrist x, wrist y, length in pixels, degrees clockwise, mirrored) each. Returns [height, width, 3] bytes."""
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    picture = BACKGROUND * (1.06 - 0.12 * y[..., None] / height)
    for wrist_x, wrist_y, length, degrees, mirrored in hands:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        u = (c * (x - wrist_x) + s * (y - wrist_y)) / length * (-1 if mirrored else 1)
        v = (s * (x - wrist_x) - c * (y - wrist_y)) / length
        heights = hand(u, v)
        slope_y, slope_x = np.gradient(heights * length)
        light = np.clip((0.85 + 0.45 * slope_x + 0.55 * slope_y) / np.sqrt(1 + slope_x ** 2 + slope_y ** 2), 0.25, 1.15)
        skin = SKIN * (0.30 + 0.70 * light[..., None]) + [10, 2, 0]
        cover = np.clip(heights * length / 1.5, 0, 1)[..., None]
        picture = picture * (1 - cover) + skin * cover
    return np.clip(picture, 0, 255).round().astype(np.uint8)
