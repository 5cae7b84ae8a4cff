// SPDX-License-Identifier: MIT
/// Spectra as sums of products (DFT, STFT), and the constants that are multiplied with them: windows, mel weights.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "graph/onnx_type.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

double turn() { return 2 * std::acos(-1.0); }

/// e^(-2 pi i k t / n) for k t = 0 .. n - 1: real parts, then imaginary parts.
std::vector<double> roots_of_unity(i64 n) {
  std::vector<double> roots(static_cast<std::size_t>(2 * n));
  for (i64 i = 0; i < n; ++i) {
    const double angle = turn() * static_cast<double>(i) / static_cast<double>(n);
    roots[static_cast<std::size_t>(i)] = std::cos(angle);
    roots[static_cast<std::size_t>(n + i)] = -std::sin(angle);
  }
  return roots;
}

/// What a transform reads: `length` numbers, `stride` elements apart, of which each has 1 or 2 parts side by side.
struct line {
  const double* from;
  i64 length, stride, parts;
};

/// Term k of the transform of a line that zeros extend to `n` numbers; `sign` -1 turns the other way.
std::pair<double, double> spectral_term(const line& x, const double* window, i64 n, i64 k, double sign,
                                        const std::vector<double>& roots) {
  double real = 0, imaginary = 0;
  for (i64 t = 0; t < std::min(x.length, n); ++t) {
    const auto at = static_cast<std::size_t>(k * t % n);
    const double c = roots[at], s = sign * roots[static_cast<std::size_t>(n) + at], w = window ? window[t] : 1;
    const double a = w * x.from[t * x.stride], b = x.parts == 2 ? w * x.from[t * x.stride + 1] : 0;
    real += a * c - b * s;
    imaginary += a * s + b * c;
  }
  return {real, imaginary};
}

// DFT.

struct dft_form {
  std::size_t axis = 0;
  i64 length = 0, terms = 0;  ///< of the transform, and how many of it are wanted
  bool inverse = false;
};

dft_form dft_form_of(const call& c) {
  const bool axis_is_input = c.op().version >= 20;
  c.require_inputs(1, axis_is_input ? 3 : 2);
  c.require_float(0);
  const shape_t& x = c.shape(0);
  c.require(x.size() >= 2 && (x.back() == 1 || x.back() == 2),
            "its input must end with an axis of length 1 (real numbers) or 2 (complex ones)");
  dft_form f;
  f.axis = c.axis(!axis_is_input ? c.op().integer("axis", 1) : c.has(2) ? c.integer_scalar(2) : -2, x.size());
  c.require(f.axis + 1 < x.size(), "its axis is the one of real and imaginary parts");
  f.length = c.has(1) ? c.integer_scalar(1) : x[f.axis];
  c.require(f.length > 0 && f.length < (i64{1} << 31), "the length of the transform must be positive");
  f.inverse = c.op().integer("inverse", 0) != 0;
  const bool half = c.op().integer("onesided", 0) != 0;
  c.require(!half || (x.back() == 1 && !f.inverse), "one side has a meaning for transforms of real numbers alone");
  f.terms = half ? f.length / 2 + 1 : f.length;
  return f;
}

void infer_dft(call& c) {
  const dft_form f = dft_form_of(c);
  shape_t shape = c.shape(0);
  shape[f.axis] = f.terms;
  shape.back() = 2;
  c.declare(0, c.type(0), shape);
}

double work_of_dft(call& c) {
  const dft_form f = dft_form_of(c);
  return 4 * as_work(count_of(c.out_shape(0))) * as_work(std::min(f.length, c.shape(0)[f.axis]));
}

void evaluate_dft(call& c) {
  const dft_form f = dft_form_of(c);
  const shape_t& x = c.shape(0);
  const i64 parts = x.back(), inner = count_between(x, f.axis + 1, x.size() - 1), outer = count_between(x, 0, f.axis);
  const std::vector<double> roots = roots_of_unity(f.length);
  const double scale = f.inverse ? 1 / static_cast<double>(f.length) : 1;
  for (i64 o = 0; o < outer; ++o)
    for (i64 i = 0; i < inner; ++i) {
      const line from{c.floats(0) + (o * x[f.axis] * inner + i) * parts, x[f.axis], inner * parts, parts};
      for (i64 k = 0; k < f.terms; ++k) {
        const auto [real, imaginary] = spectral_term(from, nullptr, f.length, k, f.inverse ? -1 : 1, roots);
        double* to = c.out_floats() + 2 * ((o * f.terms + k) * inner + i);
        to[0] = scale * real;
        to[1] = scale * imaginary;
      }
    }
}

// STFT.

struct stft_form {
  i64 parts = 1, length = 0, step = 0, frames = 0, terms = 0;
};

stft_form stft_form_of(const call& c) {
  c.require_inputs(2, 4);
  c.require_float(0);
  c.require_rank(0, 2, 3);
  const shape_t& x = c.shape(0);
  stft_form f;
  f.parts = x.size() == 3 ? x[2] : 1;
  c.require(f.parts == 1 || f.parts == 2, "its signal must have one part (real numbers) or two (complex ones)");
  c.require(c.has(2) || c.has(3), "it needs a window or the length of a frame");
  if (c.has(2)) c.require_rank(2, 1, 1);
  f.length = c.has(3) ? c.integer_scalar(3) : c.shape(2)[0];
  f.step = c.integer_scalar(1);
  c.require(f.length > 0 && f.length <= x[1], "a frame must have a length, and fit into the signal");
  c.require(!c.has(2) || c.shape(2)[0] == f.length, "the window must be as long as a frame");
  c.require(f.step > 0, "the step between frames must be positive");
  f.frames = (x[1] - f.length) / f.step + 1;
  const bool half = c.op().integer("onesided", 1) != 0;
  c.require(!half || f.parts == 1, "one side has a meaning for transforms of real numbers alone");
  f.terms = half ? f.length / 2 + 1 : f.length;
  return f;
}

void infer_stft(call& c) {
  const stft_form f = stft_form_of(c);
  c.declare(0, c.type(0), {c.shape(0)[0], f.frames, f.terms, 2});
}

double work_of_stft(call& c) { return 4 * as_work(count_of(c.out_shape(0))) * as_work(stft_form_of(c).length); }

void evaluate_stft(call& c) {
  const stft_form f = stft_form_of(c);
  const std::vector<double> roots = roots_of_unity(f.length);
  const double* window = c.has(2) ? c.floats(2) : nullptr;
  double* to = c.out_floats();
  for (i64 row = 0; row < c.shape(0)[0]; ++row)
    for (i64 t = 0; t < f.frames; ++t) {
      const line from{c.floats(0) + (row * c.shape(0)[1] + t * f.step) * f.parts, f.length, f.parts, f.parts};
      for (i64 k = 0; k < f.terms; ++k, to += 2)
        std::tie(to[0], to[1]) = spectral_term(from, window, f.length, k, 1, roots);
    }
}

// Windows and mel weights.

element datatype_of(const call& c) {
  const std::optional<element> type = element_of_onnx(c.op().integer("output_datatype", 1));
  c.require(type && *type != element::string && *type != element::boolean,
            "attribute 'output_datatype' names no type of numbers");
  return *type;
}

void infer_window(call& c) {
  c.require_inputs(1, 1);
  c.require(c.integer_scalar(0) >= 0, "its length must not be negative");
  c.declare(0, datatype_of(c), {c.integer_scalar(0)});
}

/// a0 - a1 cos(x) + a2 cos(2 x), x going once around.
void evaluate_window(call& c) {
  const bool hann = c.op().op == "HannWindow", hamming = c.op().op == "HammingWindow";
  const double a0 = hann      ? 0.5
                    : hamming ? 25.0 / 46
                              : 0.42,
               a1 = hann || !hamming ? 0.5 : 21.0 / 46, a2 = hann || hamming ? 0 : 0.08;
  const i64 size = c.integer_scalar(0), around = c.op().integer("periodic", 1) != 0 ? size : size - 1;
  for (i64 i = 0; i < size; ++i) {
    const double x = around > 0 ? turn() * static_cast<double>(i) / static_cast<double>(around) : 0;
    c.out(0).set(i, a0 - a1 * std::cos(x) + a2 * std::cos(2 * x));
  }
}

void infer_mel_weights(call& c) {
  c.require_inputs(5, 5);
  const i64 bands = c.integer_scalar(0), length = c.integer_scalar(1);
  c.require(bands >= 0 && bands < (i64{1} << 31) && length >= 0, "its lengths must not be negative");
  c.require(c.integer_scalar(2) > 0, "its sample rate must be positive");
  c.declare(0, datatype_of(c), {length / 2 + 1, bands});
}

/// Triangles over the spectrum, whose corners are equally far from each other in mel.
void evaluate_mel_weights(call& c) {
  const i64 bands = c.integer_scalar(0), length = c.integer_scalar(1), terms = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(c.scalar(3)), step = (mel(c.scalar(4)) - low) / static_cast<double>(bands + 2);
  std::vector<i64> corners;
  for (i64 i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double corner = std::floor(static_cast<double>(length + 1) * hertz / c.scalar(2));
    c.require(corner >= 0 && corner < static_cast<double>(terms), "its frequencies are outside the spectrum");
    corners.push_back(static_cast<i64>(corner));
  }
  for (i64 band = 0; band < bands; ++band) {
    const i64* at = corners.data() + band;
    const auto set = [&](i64 term, double weight) { c.out(0).set(term * bands + band, weight); };
    const auto share = [](i64 a, i64 b) { return static_cast<double>(a) / static_cast<double>(b); };
    if (at[1] == at[0]) set(at[1], 1);
    for (i64 j = at[0]; at[1] > at[0] && j <= at[1]; ++j) set(j, share(j - at[0], at[1] - at[0]));
    for (i64 j = at[1]; j < at[2]; ++j) set(j, share(at[2] - j, at[2] - at[1]));
  }
}

}

void add_signal(table& t) {
  t["DFT"] = {infer_dft, evaluate_dft, 17, work_of_dft};
  t["STFT"] = {infer_stft, evaluate_stft, 17, work_of_stft};
  for (const char* name : {"HannWindow", "HammingWindow", "BlackmanWindow"})
    t[name] = {infer_window, evaluate_window, 17};
  t["MelWeightMatrix"] = {infer_mel_weights, evaluate_mel_weights, 17};
}

}
