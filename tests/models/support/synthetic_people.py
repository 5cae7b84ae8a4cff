# SPDX-License-Identifier: MIT
"""Hands and a figure without an owner: bones with skin and clothes around them, lit from the upper left."""
import math

import numpy as np

SKIN, SHIRT, TROUSERS, HAIR, SHOES, DARK = (np.array(c, float) for c in ((222, 168, 138), (58, 120, 190), (70, 72, 84), (74, 52, 40), (40, 38, 42), (60, 34, 30)))
BACKGROUND = np.array([205, 212, 218.0])

# Joints (x, y) and radii at them, of a hand of unit length with its fingers up, from the wrist. The last is the forearm.
HAND = [(SKIN, chain) for chain in (
    [(-0.10, -0.02, .105), (-0.20, .16, .085), (-0.31, .30, .062), (-0.385, .41, .054), (-0.43, .49, .042)],
    [(-0.06, .03, .11), (-0.145, .47, .068), (-0.165, .66, .055), (-0.175, .78, .048), (-0.18, .86, .038)],
    [(-0.01, .03, .11), (-0.03, .50, .070), (-0.035, .72, .056), (-0.038, .855, .049), (-0.04, .945, .039)],
    [(.04, .03, .11), (.085, .475, .066), (.10, .675, .053), (.108, .80, .046), (.112, .885, .037)],
    [(.08, .03, .10), (.185, .42, .060), (.225, .57, .047), (.245, .66, .040), (.258, .735, .033)],
    [(0, .02, .125), (0.01, -.25, .13), (0.02, -.9, .15)])]
# A figure of unit height from the middle of its hips, one arm raised.
FIGURE = [
    (SKIN, [(0, .39, .043), (0, .435, .055)]), (SKIN, [(0, .30, .034), (0, .37, .034)]), (HAIR, [(-.014, .466, .046), (.014, .466, .046)]),
    (SHIRT, [(-.055, .255, .058), (-.045, .03, .062)]), (SHIRT, [(.055, .255, .058), (.045, .03, .062)]), (SHIRT, [(0, .25, .066), (0, .03, .07)]), (SHIRT, [(-.11, .272, .043), (.11, .272, .043)]),
    (SHIRT, [(-.128, .262, .044), (-.19, .165, .036)]), (SHIRT, [(.128, .262, .044), (.185, .16, .036)]),
    (SKIN, [(-.19, .165, .030), (-.215, .125, .028), (-.255, .23, .022)]), (SKIN, [(-.26, .245, .022), (-.272, .285, .022), (-.277, .325, .012)]),
    (SKIN, [(.185, .16, .030), (.215, .11, .028), (.245, -.01, .021)]), (SKIN, [(.248, -.02, .022), (.255, -.055, .022), (.256, -.095, .012)]),
    (TROUSERS, [(-.045, -.02, .066), (.045, -.02, .066)]), (TROUSERS, [(-.06, -.04, .064), (-.075, -.25, .045), (-.082, -.455, .031)]),
    (TROUSERS, [(.06, -.04, .064), (.085, -.25, .045), (.10, -.455, .031)]),
    (SHOES, [(-.082, -.478, .028), (-.105, -.495, .028), (-.125, -.502, .02)]), (SHOES, [(.10, -.478, .028), (.122, -.495, .028), (.142, -.502, .02)])]
# Eyes, nose, mouth: places on the head and radii of what is painted.
FEATURES = [(DARK, (-.021, .435), .0065), (DARK, (.021, .435), .0065), (SKIN * 0.8, (0, .415), .006),
            *((np.array([176, 80, 80.0]), (x, .393), .0045) for x in (-.013, -.006, 0, .006, .013))]


def capsule(x, y, a, b):
    """Height of a tapered capsule above the image; far below where it is not."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = np.clip(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy), 0, 1)
    radius = a[2] + along * (b[2] - a[2])
    square = radius ** 2 - (x - a[0] - along * dx) ** 2 - (y - a[1] - along * dy) ** 2
    return np.where(square > 0, np.sqrt(np.maximum(square, 0)), 20 * square)


def render(image, parts, place, sharpness, features=()):
    """Parts: (colour, chain); neighbouring bones grow together. Place: x, y, length in pixels, degrees clockwise, mirrored."""
    at_x, at_y, length, degrees, mirrored = place
    x, y = np.meshgrid(np.arange(image.shape[1]) + 0.5, np.arange(image.shape[0]) + 0.5)
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    u = (c * (x - at_x) + s * (y - at_y)) / length * (-1 if mirrored else 1)
    v = (s * (x - at_x) - c * (y - at_y)) / length
    powers, shares, paint = np.full_like(x, 1e-12), np.full_like(x, 1e-30), np.zeros_like(image)
    for colour, chain in parts:
        for a, b in zip(chain, chain[1:]):
            power = np.exp(sharpness * np.clip(capsule(u, v, a, b), -0.5, 1))
            powers += power
            shares += power ** 3
            paint += power[..., None] ** 3 * colour
    paint /= shares[..., None]
    for colour, (fx, fy), radius in features:
        share = np.clip(1.5 - np.hypot(u - fx, v - fy) / radius, 0, 1)[..., None]
        paint = paint * (1 - share) + colour * share
    heights = np.log(powers) / sharpness
    slope_y, slope_x = np.gradient(heights * length)
    light = np.clip((0.85 + 0.45 * slope_x + 0.55 * slope_y) / np.sqrt(1 + slope_x ** 2 + slope_y ** 2), 0.25, 1.15)
    cover = np.clip(heights * length / 1.5, 0, 1)[..., None]
    return image * (1 - cover) + (paint * (0.30 + 0.70 * light[..., None]) + [10, 2, 0]) * cover


def backdrop(width, height):
    return np.broadcast_to(BACKGROUND * (1.06 - 0.12 * np.arange(height)[:, None, None] / height), [height, width, 3]).copy()


def hands_image():
    """A left and a right hand, palms forward; [480, 720, 3] bytes."""
    image = backdrop(720, 480)
    for place in ((200, 420, 330, 8, False), (540, 400, 300, -18, True)):
        image = render(image, HAND, place, 42)
    return np.clip(image, 0, 255).round().astype(np.uint8)


def figure_image():
    """A standing figure; [640, 480, 3] bytes."""
    return np.clip(render(backdrop(480, 640), FIGURE, (240, 322, 560, 4, False), 160, FEATURES), 0, 255).round().astype(np.uint8)
