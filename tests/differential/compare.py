# SPDX-License-Identifier: MIT
"""When two computations of one model agree.

Floats agree within 2e-6 of the element or of the largest magnitude of the array. Beyond that, evaluations with the relative errors of
single precision in all inputs and rounded results decide ("disturbed"): an element agrees within sixteen times the range of those, and
where they do not even agree on what it is (a number, an infinity, none; one integer or another), it may be anything.
"""
import numpy as np

NEAR = 2e-6
WINOGRAD = 3e-5  # of the largest magnitude
TINY = 2.0 ** -125   # results below are 0 (docs/reference/conventions.md)
LARGEST = float(np.finfo(np.float32).max)
SPREAD = 16


def widened(array):
    """As float64; what float32 cannot hold is infinite."""
    with np.errstate(all="ignore"):
        a = np.asarray(array, np.float64)
        return np.where(np.abs(a) > LARGEST * (1 + 2 ** -25), np.copysign(np.inf, a), a)


def kinds(a):
    """0 for a number, 1 for none, 2 and 3 for the infinities."""
    return np.where(np.isnan(a), 1, np.where(np.isposinf(a), 2, np.where(np.isneginf(a), 3, 0)))


def margin(want, share):
    finite = np.abs(want[np.isfinite(want)])
    usual = finite[finite < 1e6]
    largest = usual.max() if usual.size else 0.0
    with np.errstate(all="ignore"):
        return share * np.maximum(np.where(np.isfinite(want), np.abs(want), 0), largest) + TINY


def differing(got, want, share=NEAR):
    """A mask of the elements that differ by more than rounding, for arrays of one shape."""
    if got.dtype.kind in "biu":
        return got != want.astype(got.dtype)
    g, w = widened(got), widened(want)
    with np.errstate(all="ignore"):
        near = np.abs(g - w) <= margin(w, share)
    same = (g == w) | (np.isnan(g) & np.isnan(w)) | near
    overflow = (kinds(g) > 1) & (np.abs(w) > LARGEST * 0.99) & (np.sign(g) == np.sign(w))
    overflow |= (kinds(w) > 1) & (np.abs(g) > LARGEST * 0.99) & (np.sign(g) == np.sign(w))
    return ~(same | overflow)


def explained(got, want, disturbed, share):
    """A mask of the elements that rounding explains."""
    if not disturbed or any(d.shape != got.shape for d in disturbed):
        return np.zeros(got.shape, bool)
    if got.dtype.kind in "biu":
        return np.any([d != want for d in disturbed], axis=0)
    every = np.stack([widened(want)] + [widened(d) for d in disturbed])
    unsure = np.any(kinds(every) != kinds(every[0]), axis=0)
    g = widened(got)
    with np.errstate(all="ignore"):
        low, high = every.min(axis=0), every.max(axis=0)
        allowed = SPREAD * (high - low) + margin(every[0], share)
        return unsure | ((g >= low - allowed) & (g <= high + allowed))


def difference(got, want, disturbed=(), share=NEAR, rows=None, excused=False):
    """What is wrong with `got`, or None. `rows`: a mask of the elements that count; `excused`: where `want` is not a number, anything goes."""
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    apart = differing(got, want, share)
    if rows is not None:
        apart &= rows
    if excused and want.dtype.kind == "f":
        apart &= ~np.isnan(want)
    if apart.any():
        apart &= ~explained(got, want, disturbed, share)
    if not apart.any():
        return None
    at = tuple(int(i) for i in np.argwhere(apart)[0])
    return f"{int(apart.sum())} of {apart.size} elements, at {list(at)} {got[at]!r}, not {want[at]!r}"
