# SPDX-License-Identifier: MIT
"""The random numbers of the format in NumPy: Philox 4x32-10 (Salmon et al., 2011) and what is made of its words (schema/netsuke.fbs)."""
import numpy as np

MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)


def philox(counter, key):
    """Four words per counter [..., 4]."""
    c = np.asarray(counter, np.uint64)
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        product = c[..., ::2] * MULTIPLIERS
        high, low = product >> np.uint64(32), product & LOW
        c = np.stack([high[..., 1] ^ c[..., 1] ^ np.uint64(keys[0]), low[..., 1], high[..., 0] ^ c[..., 3] ^ np.uint64(keys[1]), low[..., 0]], -1)
        keys = [(k + w) & 0xFFFFFFFF for k, w in zip(keys, WEYL)]
    return c


def words(shape, stream, key, run, first_row):
    """Word of every element, the pair of words that it belongs to, and its place in the row."""
    rows, places = shape[0], int(np.prod(shape[1:], dtype=np.int64))
    counter = np.zeros((rows, (places + 3) // 4, 4), np.uint64)
    counter[..., 0] = np.arange(counter.shape[1])
    counter[..., 1] = first_row + np.arange(rows)[:, None]
    counter[..., 2], counter[..., 3] = stream, run
    w = philox(counter, key)
    pairs = np.repeat(w.reshape(rows, -1, 2, 2), 2, axis=2).reshape(rows, -1, 2)[:, :places]
    return w.reshape(rows, -1)[:, :places].reshape(shape), pairs.reshape(*shape, 2), np.broadcast_to(np.arange(places), (rows, places)).reshape(shape)


def uniform(shape, stream, key=0, run=0, first_row=0):
    return (words(shape, stream, key, run, first_row)[0] >> np.uint64(8)) / 2.0**24


def gumbel(shape, stream, key=0, run=0, first_row=0):
    return -np.log(-np.log(((words(shape, stream, key, run, first_row)[0] >> np.uint64(9)) + 0.5) / 2.0**23))


def normal(shape, stream, key=0, run=0, first_row=0):
    _, pairs, place = words(shape, stream, key, run, first_row)
    u, t = ((pairs[..., 0] >> np.uint64(8)) + 1.0) / 2.0**24, (pairs[..., 1] >> np.uint64(8)) / 2.0**24
    return np.sqrt(-2 * np.log(u)) * np.where(place % 2 == 0, np.cos(2 * np.pi * t), np.sin(2 * np.pi * t))


def check_known_answers():
    """The generator's authors publish these."""
    for counter, key, answer in [
        ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, 0xFFFFFFFFFFFFFFFF, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), 0x299F31D0A4093822, (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ]:
        assert tuple(philox(counter, key)) == answer, (counter, key)
