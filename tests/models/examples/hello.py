#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example hello over every model that is on this machine, with and without asserts: it runs, or says why not; it never crashes.

  hello.py HELLO HELLO-WITH-THE-OTHER-NDEBUG
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, SHARED, nsk  # noqa: E402

# What a model needs besides -o.
OPTIONS = {"ch_PP-OCRv4_det_infer": ["--input", "x=1x3x320x320"], "ch_ppocr_mobile_v2.0_cls_infer": ["--input", "x=1x3x48x192"],
           "silero_vad_legacy": ["--input", "input=1x512", "--input", "h=2x1x64", "--input", "c=2x1x64", "--set", "sr=16000"],
           **{f"silero_vad_{name}": ["--input", "input=1x576", "--input", "state=2x1x128", "--set", "sr=16000"] for name in ("16k_op15", "v5", "op18_ifless")},
           "upscaler_x2": ["--input", "frame=1x3x90x160"]}
# Networks whose operators the core of the settings does not have: all of them must run.
MUST_RUN = {"lstm", "gru", "3DBall", "Hallway", "mnist", "transformer_enc", "upscaler_x2", "yard_agent"}


def sources():
    found = sorted((REPOSITORY / "examples" / "models").glob("*.onnx"))
    return found + sorted(p for p in SHARED.rglob("*") if p.suffix in (".onnx", ".tflite"))


def problem(program, model, may_refuse):
    """'' or what is wrong with how a program answers a file."""
    done = subprocess.run([program, str(model)], capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        return "" if done.stdout and not done.stderr else "exit code 0, and prints no number"
    if done.returncode != 1:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    if not done.stderr.strip():
        return "exit code 1 without a word"
    return "" if may_refuse else f"refuses: {done.stderr.strip()}"


def damaged(folder, model):
    data = model.read_bytes()
    files = {"empty": b"", "half": data[:len(data) // 2], "short": data[:40], "text": b"not a model at all" * 10,
             "damaged": data[:70] + bytes(b ^ 0xFF for b in data[70:300]) + data[300:]}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files] + [folder, folder / "nowhere.nsk"]


def main(programs):
    failures, ran, refused = [], 0, 0
    faster = ["--no-check"] if "--no-check" in nsk("convert", "--help").stdout else []
    with tempfile.TemporaryDirectory(prefix="nsk_hello_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        for source in sources():
            options = OPTIONS.get(source.stem, []) + (["--dequantize"] if source.parent.name == "quantized" else [])
            done = nsk("convert", source, "-o", model, "--quiet", *faster, *options)
            if done.returncode != 0:
                if done.returncode != 2 or source.stem in MUST_RUN or not done.stderr.startswith("nsk: "):
                    failures.append(f"{source.name}: convert: exit code {done.returncode}: {done.stderr.strip()}")
                refused += 1
                continue
            for program in programs:
                said = problem(program, model, source.stem not in MUST_RUN)
                failures += [f"{source.name}: {program}: {said}"] if said else []
                ran += 1
        for path in damaged(folder, model):
            for program in programs:
                said = problem(program, path, True)
                failures += [f"{path.name}: {program}: {said}"] if said else []
    print("\n".join(failures + [f"{ran} runs of hello, {refused} models that are refused, {len(failures)} failures"]))
    if not SHARED.exists():
        print(f"note: {SHARED} does not exist, so only the repository's own models were run")
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
