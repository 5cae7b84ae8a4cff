#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example runs on a real model and says or draws something sensible.  examples.py DIRECTORY-OF-EXAMPLES"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import wave

import numpy as np
import onnx
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, SHARED, must  # noqa: E402

OWN = REPOSITORY / "examples" / "models" / "upscaler_x2.onnx"


def call(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{program.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{program.name}: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else 'good'}")
    return done.stdout


def image(path, width, height):
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([x * 255 // width, y * 255 // height, (x // 8 + y // 8) % 2 * 255], -1).astype(np.uint8)
    Image.fromarray(pixels).save(path)


def choose(programs, model):
    chosen, *best = call(programs / "choose_isa", model).splitlines()
    named, *scalar = call(programs / "choose_isa", model, "scalar").splitlines()
    if named != "scalar" or not best or best != scalar:
        raise SystemExit(f"choose_isa: {chosen} gives {best}, {named} gives {scalar}")
    print(f"choose_isa: this machine runs {chosen}")


def built_network(programs, other):
    """The network that the build converted runs in its session, which refuses another: its operators are not there."""
    call(programs / "built_network", programs / "yard_policy.nsk")
    done = subprocess.run([programs / "built_network", other], capture_output=True, text=True, timeout=120)
    if done.returncode != 1 or "operator" not in done.stderr:
        raise SystemExit(f"built_network runs another network: exit code {done.returncode}, {done.stdout}{done.stderr}")


def upscale(programs, folder, model):
    image(folder / "frame.png", 160, 90)
    call(programs / "upscale", model, folder / "frame.png", "-o", folder / "side_by_side.png", "--frame", folder / "sharp.png")
    sharp = np.asarray(Image.open(folder / "sharp.png").convert("RGB")).astype(float)
    plain = np.asarray(Image.open(folder / "frame.png").convert("RGB").resize((320, 180), Image.BICUBIC)).astype(float)
    if sharp.shape != plain.shape:
        raise SystemExit(f"upscale: {sharp.shape} instead of {plain.shape}")
    if np.abs(sharp - plain).mean() > 16:
        raise SystemExit(f"upscale: the image differs from its bicubic enlargement by {np.abs(sharp - plain).mean():.1f} on average")


def detect(programs, folder):
    photo = SHARED.parent / "images" / "face.jpg"
    for name in ("front_128x128", "back_256x256"):
        source = SHARED / "face" / f"face_detection_{name}_barracuda.onnx"
        if not (source.exists() and photo.exists()):
            print(f"note: {source.name} or {photo.name} is not on this machine; detect_faces was not run on it")
            continue
        must("convert", source, "-o", folder / "face.nsk")
        call(programs / "detect_faces", folder / "face.nsk", photo, "-o", folder / "faces.png")
        rendered, plain = (np.asarray(Image.open(p).convert("RGB")).astype(int) for p in (folder / "faces.png", photo))
        if rendered.shape != plain.shape or (np.abs(rendered - plain).max(-1) > 60).sum() < 200:
            raise SystemExit("detect_faces: nothing was rendered")
        must("quantize", source, "-o", folder / "half.nsk", "--format", "fp16", "--quiet")
        said = call(programs / "compare_formats", folder / "face.nsk", folder / "half.nsk", photo, "-o", folder / "formats.png", "--rounds", 3)
        rows = re.findall(r"^(\w+): ([\d.]+) kB, [\d.]+ ms, arena [\d.]+ kB, (\d+) faces, overlap ([\d.]+) at least$", said, re.MULTILINE)
        sizes = [float(kilobytes) for _, kilobytes, _, _ in rows]
        panels = np.asarray(Image.open(folder / "formats.png")).shape
        if len(rows) != 2 or rows[0][2] != rows[1][2] or int(rows[0][2]) < 2 or float(rows[1][3]) < 0.95 or not sizes[1] < 0.7 * sizes[0] or panels[1] <= 2 * plain.shape[1]:
            raise SystemExit(f"compare_formats: {said}, an image of {panels}")


def voice(programs, folder):
    """Speech is where the sound is: a voice-like tone between two silences."""
    source = SHARED / "audio" / "silero_vad_16k_op15.onnx"
    if not source.exists():
        print(f"note: {source.name} is not on this machine; voice_activity was not run on it")
        return
    must("convert", source, "-o", folder / "voice.nsk", "--input", "input=1x576", "--input", "state=2x1x128", "--set", "sr=16000")
    rate, seconds = 44100, 3
    samples = np.zeros(rate * seconds, np.float32)
    samples[rate:2 * rate] = np.random.default_rng(1).normal(0, 0.1, rate)
    with wave.open(str(folder / "sound.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.repeat((samples * 32767).clip(-32768, 32767).astype("<i2"), 2).tobytes())
    said = call(programs / "voice_activity", folder / "voice.nsk", folder / "sound.wav", "-o", folder / "speech.svg")
    rendered = (folder / "speech.svg").read_text()
    if not re.search(r"94 chunks of 32 ms", said) or rendered.count(",") < 94 or "polyline" not in rendered:
        raise SystemExit(f"voice_activity: unexpected output\n{said}")


def crowd(programs, folder):
    """A thousand agents ask on several threads: each row is answered once, with the bits of a single run; the trace and the log are JSON."""
    model, trace = folder / "agent_of_many.nsk", folder / "crowd.json"
    must("convert", REPOSITORY / "examples" / "models" / "yard_agent.onnx", "-o", model, "--batch-max", "128",
         "--output-value", "deterministic_continuous_actions", "--quiet")
    for slots in (64, 1000):
        said = call(programs / "crowd", model, "--frames", 40, "--slots", slots, "--trace", trace)
        found = re.search(r"(\d+) rows asked, (\d+) found the queue full, (\d+) answered in (\d+) runs\n.*?(\d+) answers differ", said, re.DOTALL)
        asked, full, answered, runs, wrong = (int(n) for n in found.groups())
        log = json.loads(said.splitlines()[-1])
        good = wrong == 0 and runs == log["runs"] and asked - slots <= answered <= asked and (full > 0) == (slots < 1000)
        stages = [e["name"] for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
        if not good or log["p50_us"] > log["p99_us"] or stages != ["input", "inference", "output"] * 40:
            raise SystemExit(f"crowd, {slots} slots: {said}")


def avatar(programs, folder):
    """Landmarks without a network: weights near those that are known; strip, GIF and table show the same frames."""
    strip, clip, table = folder / "avatar.png", folder / "avatar.gif", folder / "weights.csv"
    said = call(programs / "avatar", "--frames", 60, "-o", strip, "--gif", clip, "--weights", table)
    errors = [float(n) for n in re.findall(r" ([\d.]+) \([\d.]+\)", said)]
    if len(errors) != 12 or max(errors) > 0.04 or not re.search(r"60 frames, a face in 60,.* pose [\d.]+, weights [\d.]+, filter [\d.]+, render [\d.]+; all", said):
        raise SystemExit(f"avatar: {said}")
    rows = [line.split(",") for line in table.read_text().splitlines()]
    weights = np.array([row[1:] for row in rows[1:]], float)
    if weights.shape != (60, 55) or rows[0][25] != "jawOpen" or weights[:5, :52].max() > 0.15 or weights[:, 24].argmax() not in (37, 38):
        raise SystemExit(f"avatar: the table has {weights.shape}, and jawOpen is largest in frame {weights[:, 24].argmax()}")
    still, moving = np.asarray(Image.open(strip).convert("RGB")).astype(int), Image.open(clip)
    if still.shape != (360, 1080, 3) or moving.n_frames != 60 or moving.size != (360, 180):
        raise SystemExit(f"avatar: {still.shape}, {moving.n_frames} frames of {moving.size}")
    for column, frame in enumerate((1, 14, 24, 37, 46, 53)):
        moving.seek(frame)
        seen = np.asarray(moving.convert("RGB")).astype(int)
        for part, place in ((seen[:, :180], 0), (seen[:, 180:], 180)):
            off = np.abs(part - still[place:place + 180, 180 * column:180 * column + 180]).mean()
            if off > 4:
                raise SystemExit(f"avatar: frame {frame} of the GIF differs from the strip by {off:.1f} on average")
    if len({still[180:, k:k + 180].tobytes() for k in range(0, 1080, 180)}) != 6:
        raise SystemExit("avatar: the head does not move")


def agents(programs, folder):
    """A hundred agents reach goals, one by one and in images; the same seeds give the same run."""
    model = folder / "agent.nsk"
    must("convert", REPOSITORY / "examples" / "models" / "yard_agent.onnx", "-o", model, "--batch-max", 128)
    (folder / "frames").mkdir()
    said = [call(programs / "agents", model, "-o", folder / "frames", "--steps", 200, "--frames", 100, *more) for more in ([], ["--stochastic"], ["--stochastic"])]
    goals = [int(re.search(r"(\d+) goals reached", s).group(1)) for s in said]
    if min(goals) < 50 or goals[1] != goals[2] or goals[0] == goals[1]:
        raise SystemExit(f"agents: {goals} goals")
    frame = np.asarray(Image.open(folder / "frames" / "agents_0001.png").convert("RGB"))
    if frame.shape != (720, 720, 3) or len(np.unique(frame.reshape(-1, 3), axis=0)) < 8:
        raise SystemExit("agents: the frame is empty")


def jobs(programs, model):
    """Lanes, fibers and job graphs compute the bits of one thread; the programs compare, and answer 2 where they differ."""
    for name, says in {"job_pool": r"control: [\d.]+ times", "job_fibers": r"5 characters on 2 threads, up to [2-5] thinking at once",
                       "job_graph": r"6 inferences of \d+ steps", "job_tbb": r"times as fast"}.items():
        if name == "job_tbb" and not (programs / name).exists():
            print("note: job_tbb was not built: oneTBB (libtbb-dev) is not on this machine")
            continue
        for lanes in ([], [3]) if name != "job_fibers" else ([],):
            said = call(programs / name, model, *lanes)
            if not re.search(says, said) or "bits: the same" not in said:
                raise SystemExit(f"{name}: unexpected output\n{said}")


def with_other_weights(source, target, factor):
    model = onnx.load(source)
    for tensor in model.graph.initializer:
        if tensor.name.endswith("weight"):
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) * np.float32(factor), tensor.name))
    onnx.save(model, target)


def hot_reload(programs, folder, model):
    """The file is replaced while the program runs: by other weights, by another input size, by half a file."""
    live, other, wrong, half = (folder / f"{name}.nsk" for name in ("live", "other", "wrong", "half"))
    with_other_weights(OWN, folder / "other.onnx", 0.9)
    must("convert", folder / "other.onnx", "-o", other, "--input", "frame=1x3x90x160")
    must("convert", OWN, "-o", wrong, "--input", "frame=1x3x90x128")
    half.write_bytes(model.read_bytes()[:model.stat().st_size // 2])
    shutil.copyfile(model, live)
    changes = [(other, "replaced"), (wrong, "refused, other_ports"), (half, "refused, too_short"), (model, "replaced")]
    program = subprocess.Popen([programs / "hot_reload", live, str(len(changes))], stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(120, program.kill)
    watchdog.start()
    expected = ["running"] + [said for _, said in changes]
    said = []
    for wanted, line in zip(expected, program.stdout):
        said.append(line)
        if wanted not in line:
            raise SystemExit(f"hot_reload: {line.strip()!r} instead of {wanted!r}")
        if len(said) <= len(changes):
            shutil.copyfile(changes[len(said) - 1][0], folder / "arriving.nsk")
            os.replace(folder / "arriving.nsk", live)
    last = program.stdout.readline()
    code = program.wait()
    watchdog.cancel()
    if code != 0 or not re.fullmatch(r"\d+ frames, 0 wrong, 2 replaced, 2 refused, 1 in memory\n", last):
        raise SystemExit(f"hot_reload: exit code {code}\n{''.join(said)}{last}")
    print(f"hot_reload: {last.strip()}")


def lstm(path):
    """A recurrent layer, which the operators of default_settings do not have."""
    def tensor(name, shape):
        return onnx.numpy_helper.from_array(np.random.default_rng(5).normal(0, 0.1, shape).astype(np.float32), name)

    node = onnx.helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=8)
    graph = onnx.helper.make_graph([node], "recurrent", [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3, 1, 4])],
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
                                   [tensor("w", [1, 32, 4]), tensor("r", [1, 32, 8])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), path)


def refusals(programs, folder, model):
    """Every example, given a model that is damaged, missing, or not for it: a message and exit code 1, never a signal."""
    lstm(folder / "lstm.onnx")
    must("convert", folder / "lstm.onnx", "-o", folder / "lstm.nsk")
    (folder / "damaged.nsk").write_bytes(model.read_bytes()[:500] + bytes(200) + model.read_bytes()[700:])
    image(folder / "photo.png", 64, 64)
    behind = {"upscale": ["photo.png"], "detect_faces": ["photo.png"], "compare_formats": ["photo.png"], "selfie": ["photo.png"], "face_mesh": ["MODEL", "photo.png"],
              "hands": ["MODEL", "photo.png"], "body": ["MODEL", "photo.png"], "voice_activity": ["sound.wav"],
              "gpu_faces": ["photo.png"], "gpu_upscale": ["--frames", "1", "-o", "enlarged"]}
    found = sorted(p for p in programs.iterdir() if p.is_file() and os.access(p, os.X_OK))
    for program in found:
        for name in ("damaged.nsk", "nowhere.nsk", "lstm.nsk", "."):
            arguments = [name, *(name if word == "MODEL" else word for word in behind.get(program.name, []))]
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
            runs = name == "lstm.nsk" and program.name == "hello"
            if (done.returncode, bool(done.stderr.strip())) != ((0, False) if runs else (1, True)):
                raise SystemExit(f"{program.name} {' '.join(arguments)}: exit code {done.returncode}, says {done.stderr.strip()!r}")
    print(f"{len(found)} examples refuse what they cannot run, with a message")


def main(programs):
    with tempfile.TemporaryDirectory(prefix="nsk_examples_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "upscaler.nsk"
        must("convert", OWN, "-o", model, "--input", "frame=1x3x90x160")
        for name in ("hello", "own_memory", "frame_budget"):
            call(programs / name, model)
        refusals(programs, folder, model)
        jobs(programs, model)
        hot_reload(programs, folder, model)
        choose(programs, model)
        built_network(programs, model)
        upscale(programs, folder, model)
        detect(programs, folder)
        voice(programs, folder)
        agents(programs, folder)
        crowd(programs, folder)
        avatar(programs, folder)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
