# SPDX-License-Identifier: MIT
"""The models that are tested, and what tests share: the nsk binary, inputs, ONNX Runtime."""
import os
import pathlib
import re
import subprocess

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# Models that are too large for the repository are beside a checkout.
SHARED = pathlib.Path(os.environ.get("NSK_MODELS", REPOSITORY.parent / "shared" / "models"))
TOOL = os.environ.get("NSK_TOOL", str(REPOSITORY / "build" / "nsk"))

# Name -> path. The first ones are small enough for the scalar instruction set in tests.
MODELS = {
    "mnist": "classify/mnist.onnx",
    "policy_mlp": "bench/policy_mlp.onnx",
    "face_front": "face/face_detection_front_128x128_barracuda.onnx",
    "face_back": "face/face_detection_back_256x256_barracuda.onnx",
    "ultraface": "face/ultraface_rfb320.onnx",
    "mobilenet_v3_small": "bench/mobilenet_v3_small.onnx",
    "mobilenet_v2": "bench/mobilenet_v2.onnx",
    "squeezenet1_1": "bench/squeezenet1_1.onnx",
    "resnet18": "bench/resnet18.onnx",
    "upscale_x2_360p": "bench/upscale_x2_360p.onnx",
    "efficientnet_b0": "bench/efficientnet_b0.onnx",
    "shufflenet_v2": "bench/shufflenet_v2_x1_0.onnx",
    "resnet50": "bench/resnet50.onnx",
    "transformer_enc": "bench/transformer_enc.onnx",
    "line_detector": "detect/mlsd_320x320_tiny.onnx",
    "text_detector": "detect/ch_PP-OCRv4_det_infer.onnx",
    "text_classifier": "detect/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "lstm": "bench/lstm.onnx",
    "gru": "bench/gru.onnx",
}
# What differs from the usual: shapes of open inputs, the range of the numbers in them, networks that are no CNNs (where a leftover
# transposition has to be named, not absent).
SHAPES = {"text_detector": {"x": [1, 3, 320, 320]}, "text_classifier": {"x": [1, 3, 48, 192]},
          "yolov8n_320": {"images": [1, 3, 320, 320]}}  # of bench/fetch_yolo.sh
RANGES = {"line_detector": (0, 255)}
NOT_CONVOLUTIONAL = {"transformer_enc", "lstm", "gru"}
AGENTS = sorted((REPOSITORY / "examples" / "models").glob("*_agent.onnx"))  # agents.py: their outputs are random
OWN = sorted(set((REPOSITORY / "examples" / "models").glob("*.onnx")) - set(AGENTS))
for own in OWN:
    MODELS[own.stem] = str(own)
SAID_SKIPPED = "SKIPPED:"


def path_of(name):
    """Path of a model, or None with a message where it is not on this machine."""
    path = pathlib.Path(MODELS[name])
    path = path if path.is_absolute() else SHARED / path
    if path.exists():
        return path
    print(f"{SAID_SKIPPED} {path} does not exist; set NSK_MODELS to a folder with {MODELS[name]}")
    return None


def nsk(*arguments, **options):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, **options)


def isas():
    """Instruction sets that this machine runs."""
    text = must("run", "--help")
    here = ["avx2", "scalar"]
    return here + (["avx512"] if "avx512" in text and "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else [])


def told(failures):
    """Prints what failed. Returns the exit code of a test."""
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


def must(*arguments):
    done = nsk(*arguments)
    if done.returncode != 0:
        raise SystemExit(f"nsk {' '.join(map(str, arguments))}\n  exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def file_name(name):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy"


def results_of(file, inputs, folder):
    """Runs a converted model on {name: array}, from files in `folder`. Returns what it gives by the names of its outputs."""
    arguments, out = [], folder / "results"
    for name, array in inputs.items():
        np.save(folder / file_name(name), array)
        arguments += ["--input", f"{name}={folder / file_name(name)}"]
    must("run", file, *arguments, "--output-dir", out)
    return lambda name: np.load(out / file_name(name))


def onnx_session(path, threads=1):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")  # what exact_products does, once optimisations have made such products
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def plain_session(path):
    """Without optimisations: those compute quantised weights in 8-bit arithmetic."""
    import onnxruntime
    from exact_products import exact_products
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(exact_products(path), options, providers=["CPUExecutionProvider"])


# What an open dimension becomes, by position: one image of a size that no tile divides evenly.
OPEN_DIMENSIONS = [1, 3, 90, 122]


def open_shapes(session, name=""):
    """Shapes of the inputs, with a number where the model leaves a dimension open."""
    return {i.name: SHAPES.get(name, {}).get(i.name) or [d if isinstance(d, int) else OPEN_DIMENSIONS[n] for n, d in enumerate(i.shape)]
            for i in session.get_inputs()}


def convert_options(session, name=""):
    return [o for i in session.get_inputs() if any(not isinstance(d, int) for d in i.shape)
            for o in ("--input", f"{i.name}=" + "x".join(map(str, open_shapes(session, name)[i.name])))]


def random_inputs(session, seed, name=""):
    """Numbers in the range of normalised images (or the model's own range), for every input."""
    generator = np.random.default_rng(seed)
    low, high = RANGES.get(name, (-1, 1))
    return {key: generator.uniform(low, high, shape).astype(np.float32) for key, shape in open_shapes(session, name).items()}


def error_of(got, wanted):
    """Largest error as a share of the reference's largest magnitude."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        raise SystemExit(f"nsk gives {got.dtype}{got.shape}, ONNX Runtime {wanted.dtype}{wanted.shape}")
    largest = float(np.max(np.abs(wanted.astype(np.float64)))) if wanted.size else 0.0
    worst = float(np.max(np.abs(got.astype(np.float64) - wanted.astype(np.float64)))) if wanted.size else 0.0
    return worst / largest if largest > 0 else worst
