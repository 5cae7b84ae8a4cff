#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Forms of shipped models, as in exported_forms.py: spectra, bounds and statistics that are computed, float64, pads that cut, long means.

  signal_forms.py [PATTERN]
"""
import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import case, floats, ints, run_forms  # noqa: E402

CASES = {}
form = functools.partial(case, CASES)


def hann(length):
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)).astype(np.float32)


STEP = {"step": np.array(10, np.int64)}
form("stft", "(float[2,130,1] x) => (float[2,12,11,2] y)", "y = STFT(x, step, window)", {**STEP, "window": hann(20)})
form("stft_without_window", "(float[1,130,1] x) => (float[1,12,11,2] y)", "y = STFT(x, step, , length)", {**STEP, "length": np.array(20, np.int64)})
form("stft_of_both_sides", "(float[1,131,1] x) => (float[1,12,21,2] y)", "y = STFT<onesided=0>(x, step, window)", {**STEP, "window": hann(21)})
form("stft_of_complex_numbers", "(float[1,130,2] x) => (float[1,12,20,2] y)", "y = STFT<onesided=0>(x, step, window)", {**STEP, "window": hann(20)})
form("stft_of_rows", "(float[2,130] x) => (float[2,12,11,2] y)", "y = STFT(x, step, window)", {**STEP, "window": hann(20)})
form("power_spectrum", "(float[1,400,1] x) => (float[1,25,17] y)",
     "s = STFT(x, step, window) p = ReduceSumSquare<keepdims=0>(s, axes) q = Add(p, least) y = Log(q)",
     {"step": np.array(15, np.int64), "window": hann(32), "axes": ints(-1), "least": np.float32(1e-3)}, opset=18, steps={"Conv2D": 1})
form("mel_spectrum", "(float[1,400,1] x) => (float[1,24,8] y)",
     "w = HannWindow(size) s = STFT(x, step, w) p = ReduceSumSquare<keepdims=0>(s, axes) m = MelWeightMatrix(bands, size, rate, low, high)"
     " y = MatMul(p, m)",
     {"step": np.array(16, np.int64), "size": np.array(32, np.int64), "axes": ints(-1), "bands": np.array(8, np.int64),
      "rate": np.array(16000, np.int64), "low": np.float32(100), "high": np.float32(7600)}, opset=18)
form("dft_of_real_numbers", "(float[2,24,1] x) => (float[2,13,2] y)", "y = DFT<axis=1, onesided=1>(x)")
form("dft_of_a_picture", "(float[1,12,15,2] x) => (float[1,12,15,2] y)", "r = DFT<axis=2>(x) y = DFT<axis=1>(r)", transposes=1)
form("dft_back", "(float[3,15,2] x) => (float[3,15,2] y)", "y = DFT<axis=1, inverse=1>(x)")
form("dft_longer", "(float[3,15,1] x) => (float[3,20,2] y)", "y = DFT<axis=1>(x, length)", {"length": np.array(20, np.int64)})
form("dft_shorter", "(float[3,15,1] x) => (float[3,5,2] y)", "y = DFT<onesided=1>(x, length, axis)",
     {"length": np.array(8, np.int64), "axis": np.array(1, np.int64)}, opset=20)
form("clip_by_computed_bounds", "(float[2,9] x) => (float[2,9] y)", "t = ReduceMax<keepdims=0>(x) low = Sub(t, range) y = Clip(x, low)",
     {"range": np.float32(0.5)})
form("clip_between_computed_bounds", "(float[2,9] x, float low, float high) => (float[2,9] y)", "y = Clip(x, low, high)",
     inputs={"low": np.array(-0.3, np.float32), "high": np.array(0.2, np.float32)})
form("clip_of_integers", "(int64[2,5] x) => (int64[2,5] y)", "y = Clip(x, low, high)",
     {"low": np.array(0, np.int64), "high": np.array(6, np.int64)}, inputs={"x": np.arange(-3, 7).reshape(2, 5)})
form("clip_of_integers_from_above", "(int64[2,5] x) => (int64[2,5] y)", "y = Clip(x, , high)", {"high": np.array(2, np.int64)},
     inputs={"x": np.arange(-3, 7).reshape(2, 5)})
form("batch_norm_of_computed_statistics", "(float[1,4,24,1] x) => (float[1,4,24,1] y)",
     "k = ReduceMean<axes=[0,2,3]>(x) d = Sub(x, k) q = Mul(d, d) v = ReduceMean<axes=[0,2,3], keepdims=0>(q) m = Squeeze(k, axes)"
     " y = BatchNormalization<epsilon=0.001>(x, scale, bias, m, v)",
     {"scale": floats(4), "bias": floats(4), "axes": ints(0, 2, 3)})
form("pad_that_cuts_behind", "(float[1,3,9] x) => (float[1,3,9] y)", 'y = Pad<mode="edge">(x, pads)', {"pads": ints(0, 0, 1, 0, 0, -1)})
form("pad_that_cuts_before", "(float[1,3,9] x) => (float[1,3,9] y)", 'y = Pad<mode="reflect">(x, pads)', {"pads": ints(0, 0, -2, 0, 0, 2)})
form("float64_inside", "(float[3,5] x) => (float[3,5] y)", "d = Cast<to=11>(x) s = Softmax(d) t = Mul(s, c) y = Cast<to=1>(t)",
     {"c": np.linspace(1, 2, 5)})
form("float64_at_the_end", "(float[3,5] x) => (double[3] y)", "d = Cast<to=11>(x) y = ReduceSum<keepdims=0>(d, axes)", {"axes": ints(1)})
form("dequantized_with_a_scalar_zero_point", "(float[3,4] x) => (float[3,4] y)", "w = DequantizeLinear(q, scale, zero) y = Add(x, w)",
     {"q": np.arange(4, dtype=np.int8), "scale": np.array([0.5], np.float32), "zero": np.array(1, np.int8)})
form("constants_passed_on", "(float[524288] x) => (float[524288] y)",
     " ".join(f"c{i + 1} = Identity(c{i})" for i in range(50)) + " y = Add(x, c50)", {"c0": floats(524288)})
flat = np.float32(2.924812) + np.zeros((1, 40, 120, 80), np.float32)
form("mean_of_a_flat_picture", "(float[1,40,120,80] x) => (float[1,40,1,1] y)", "y = GlobalAveragePool(x)", inputs={"x": flat})

REFUSED = {
    "stft_with_a_computed_window": ("(float[1,130,1] x, float[20] w) => (float[1,12,11,2] y)", "y = STFT(x, step, w)", STEP, "window.*computed at run time"),
    "pad_that_cuts_what_it_wraps": ("(float[1,3,9] x) => (float[1,3,8] y)", 'y = Pad<mode="wrap">(x, pads)', {"pads": ints(0, 0, 1, 0, 0, -2)}, "Slice"),
    "clip_to_a_tensor": ("(float[1,2] x, float[7,3] low) => (float[1,2] y)", "y = Clip(x, low)", {}, "min must be one number"),
}


if __name__ == "__main__":
    run_forms(CASES, REFUSED)
