#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LightGBM's models as the tensor programs that Hummingbird makes of them, all three of its forms: what LightGBM itself predicts.

Needs hummingbird-ml, torch and lightgbm (pip install hummingbird-ml lightgbm; on Debian python3-torch will do): where they are missing it
says so and skips. tree_routes.py has the same forms written after Hummingbird's paper, in every run.
"""
import pathlib
import sys
import tempfile
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, must  # noqa: E402

ROWS, FEATURES = 16, 8
FORMS = ("gemm", "tree_trav", "perf_tree_trav")
TOLERANCE = 1e-6


def learners(lightgbm, generator):
    """(name, trained model) of a regression, of two classes and of three."""
    x = generator.normal(size=(600, FEATURES)).astype(np.float32)
    settings = {"n_estimators": 20, "num_leaves": 15, "n_jobs": 1, "verbose": -1}
    yield "regression", lightgbm.LGBMRegressor(**settings).fit(x, 2 * x[:, 0] + np.sin(x[:, 1]))
    yield "two classes", lightgbm.LGBMClassifier(**settings).fit(x, (x[:, 0] + x[:, 2] > 0).astype(int))
    yield "three classes", lightgbm.LGBMClassifier(**settings).fit(x, np.digitize(x[:, 0], [-0.5, 0.5]))


def predicted(source, folder, x, wanted):
    """Our output of the same size as LightGBM's answer: scores, not labels."""
    must("convert", source, "-o", folder / "m.nsk", "--check", "--input", f"x={ROWS}x{FEATURES}")
    np.save(folder / "x.npy", x)
    out = folder / source.stem
    must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", out)
    return next(a.reshape(wanted.shape) for a in map(np.load, sorted(out.glob("*.npy"))) if a.size == wanted.size and a.dtype == np.float32)


def main():
    warnings.filterwarnings("ignore")
    try:
        import lightgbm
        import torch
        from hummingbird.ml import constants, convert
    except ImportError as error:
        print(f"{SAID_SKIPPED} {error}; pip install hummingbird-ml lightgbm (and torch) to compare with Hummingbird itself")
        return 0
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="nsk_hummingbird_") as folder:
        folder = pathlib.Path(folder)
        for name, learner in learners(lightgbm, generator):
            x = generator.normal(size=(ROWS, FEATURES)).astype(np.float32)
            wanted = learner.predict(x) if name == "regression" else learner.predict_proba(x)
            for form in FORMS:
                source = folder / f"{name.replace(' ', '_')}_{form}.onnx"
                program = convert(learner, "torch", x, extra_config={constants.TREE_IMPLEMENTATION: form})
                torch.onnx.export(program.model, (torch.from_numpy(x),), str(source), opset_version=13, input_names=["x"])
                error = np.abs(predicted(source, folder, x, wanted) - wanted).max()
                if not error <= TOLERANCE:
                    raise SystemExit(f"{name} as {form}: {error:.1e} from LightGBM's own prediction")
                print(f"{name} as {form}: {error:.1e} from LightGBM")
    return 0


if __name__ == "__main__":
    sys.exit(main())
