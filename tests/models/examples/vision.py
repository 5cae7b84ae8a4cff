#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples that look at people, against an oracle in NumPy and LiteRT (mediapipe_oracle.py).

  vision.py CASE DIRECTORY-OF-EXAMPLES      (cases: detection, face, many_faces, attention, tracking, hands, body, selfie, avatar, pose_tracking)
Landmarks must be within 0.1 pixels, masks within 0.2 % on average. Models are looked for in NSK_MEDIAPIPE, out/models
(examples/models/fetch_mediapipe.sh) and the folder of models beside the checkout; images in out/images
(examples/models/fetch_images.sh) and beside the checkout. What is not there is left out with a note; a case without
anything to compare is skipped.
"""
import csv
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mediapipe_oracle as oracle  # noqa: E402
import synthetic_people  # noqa: E402
from models import REPOSITORY, SAID_SKIPPED, SHARED, TOOL, must  # noqa: E402

MODEL_PLACES = [pathlib.Path(os.environ.get("NSK_MEDIAPIPE", REPOSITORY / "out" / "models")), REPOSITORY / "out" / "models", SHARED / "face", SHARED / "pose"]
IMAGE_PLACES = [REPOSITORY / "out" / "images", SHARED.parent / "images"]
PIXELS, MASK = 0.1, 0.002
FRAMES, TURN, MOVE = 8, 4, 9  # degrees and pixels per frame
STRIDES = [8, 16, 16, 16]     # of the face detector


class Skipped(Exception):
    pass


def find(places, *names):
    for name in names:
        for place in places:
            if (place / name).exists():
                return place / name
    return None


class Case:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def model(self, *names):
        """A model for both sides: converted, and in LiteRT; the first of these names that is there."""
        path = find(MODEL_PLACES, *(f"{n}.tflite" for n in names))
        if path is None:
            raise Skipped(f"{names[0]}.tflite is not on this machine; examples/models/fetch_mediapipe.sh fetches it")
        target = self.folder / f"{path.stem}.nsk"
        if not target.exists():
            must("convert", path, "-o", target, "--quiet")
        return target, oracle.Litert(path)

    def images(self, *names, rendered=None):
        """Path and pixels of the rendered image and of those images that are there, as PNG: decoders of JPEG differ."""
        found = []
        if rendered is not None:
            found.append((self.folder / "drawn.png", rendered))
            Image.fromarray(rendered).save(found[0][0])
        for name in names:
            path = find(IMAGE_PLACES, name)
            if path is None:
                print(f"note: {name} is not on this machine")
                continue
            image = Image.open(path).convert("RGB")
            image.save(self.folder / f"{path.stem}.png")
            found.append((self.folder / f"{path.stem}.png", np.asarray(image)))
        if not found:
            raise Skipped(f"none of the images {', '.join(names)} is on this machine")
        return found

    def call(self, name, *arguments):
        done = subprocess.run([self.programs / name, *map(str, arguments), "-o", self.folder / "out.png"], capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def points(self, name, *arguments):
        """What the program says, and its points as {(image, object): [n, 3]}."""
        said = self.call(name, *arguments, "--points", self.folder / "points.csv")
        table = {}
        for row in csv.DictReader((self.folder / "points.csv").open()):
            table.setdefault((int(row["image"]), int(row["object"])), []).append([float(row[axis]) for axis in "xyz"])
        return said, {key: np.array(value) for key, value in table.items()}

    def rendered_on(self, plain, minimum):
        rendered = np.asarray(Image.open(self.folder / "out.png").convert("RGB")).astype(int)
        if rendered.shape != plain.shape or (np.abs(rendered - plain).max(-1) > 40).sum() < minimum:
            raise SystemExit(f"less than {minimum} pixels were rendered")

    def mask(self, wanted):
        got = np.asarray(Image.open(self.folder / "mask.png").convert("L")) / 255
        error = np.abs(got - wanted).mean()
        print(f"  mask: {error:.5f} off on average, {np.abs(got - wanted).max():.4f} at most; {wanted.mean():.1%} of the image")
        if error > MASK or not 0.02 < wanted.mean() < 0.98:
            raise SystemExit("the mask differs, or shows nothing")


def compare(name, got, wanted):
    """Both: lists of [n, 2] or [n, 3]."""
    if len(got) != len(wanted) or not wanted:
        raise SystemExit(f"{name}: {len(got)} found, {len(wanted)} by the oracle")
    worst = max(np.linalg.norm(g - w, axis=1).max() for g, w in zip(got, wanted))
    print(f"{name}: {len(wanted)} found, points off by {worst:.4f} pixels at most")
    if not worst <= PIXELS:
        raise SystemExit(f"{name}: more than {PIXELS} pixels")


def face(case, mesh="face_landmark", points=468):
    (detector, finder), (landmarks, net) = case.model("face_detection_short_range"), case.model(mesh)
    for path, image in case.images("face.jpg", "astronaut.png"):
        for maximum in (1, 2):
            _, table = case.points("face_mesh", detector, landmarks, path, "--faces", maximum)
            compare(f"{path.name}, {mesh}", [p for p in table.values()], oracle.faces(finder, net, image, maximum))
            case.rendered_on(image, 300)
            if any(len(p) != points for p in table.values()):
                raise SystemExit(f"not {points} points")


def many_faces(case):
    """A mesh file with a length gives of all faces in one run what the file of one face gives of each."""
    (detector, _), (alone, _) = case.model("face_detection_short_range"), case.model("face_landmark")
    together = case.folder / "faces.nsk"
    must("convert", find(MODEL_PLACES, "face_landmark.tflite"), "-o", together, "--input", "input_1=faces,192,192,3", "--bound", "faces=8", "--quiet")
    photo = Image.fromarray(case.images("face.jpg", "astronaut.png")[0][1])
    crop = np.asarray(photo.resize((320, 320 * photo.height // photo.width), Image.BOX))
    for count in (1, 2):
        path = case.folder / f"people_{count}.png"
        Image.fromarray(np.concatenate([crop, crop[:, ::-1]][:count], axis=1)).save(path)
        tables = [case.points("face_mesh", detector, mesh, path, path, "--faces", "5")[1] for mesh in (alone, together)]
        found = {image: sum(key[0] == image for key in tables[0]) for image in (0, 1)}
        print(f"{count} people: {found[0]} faces")
        if found[0] < count or tables[0].keys() != tables[1].keys() or any(not np.array_equal(tables[0][k], tables[1][k]) for k in tables[0]):
            raise SystemExit(f"{count} people: {sorted(tables[0])} alone, {sorted(tables[1])} together, or other points")


def detection(case):
    """Boxes and keypoints down to scores at which many candidates overlap a little."""
    detector, finder = case.model("face_detection_short_range")
    for path, image in case.images("face.jpg", "astronaut.png"):
        for minimum in (0.5, 0.02):
            said = case.call("detect_faces", detector, path, "--score", minimum)
            got = [np.array(re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", line), float) for line in said.splitlines() if line.startswith("face")]
            extent = (image.shape[1], image.shape[0])
            wanted = [np.concatenate([box.reshape(2, 2), keypoints]) * extent for _, box, keypoints in oracle.detect(finder, image, STRIDES, True, minimum)]
            compare(f"{path.name}, scores from {minimum}", got, wanted)


def attention(case):
    face(case, "face_landmark_with_attention", 478)


def rotated(image, degrees, move):
    """The image rotated clockwise about its middle and moved, and the matrix from the old to the new one."""
    rows, columns = image.shape[:2]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    forward = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    middle = np.array([[1, 0, columns / 2], [0, 1, rows / 2], [0, 0, 1.0]])
    forward = np.array([[1, 0, move], [0, 1, move / 3], [0, 0, 1.0]]) @ middle @ forward @ np.linalg.inv(middle)
    inverse = np.linalg.inv(forward)[:2]
    return oracle.sample(image, inverse, columns, rows).round().astype(np.uint8), forward[:2]


def tracking(case):
    """A face that moves and turns is followed without the detector; one that vanishes is looked for, and found again."""
    (detector, finder), (landmarks, net) = case.model("face_detection_short_range"), case.model("face_landmark")
    (_, image), *_ = case.images("face.jpg", "astronaut.png")
    frames = [rotated(image, TURN * i, MOVE * i) for i in range(FRAMES)]
    frames += [(np.full_like(image, 90), None)] * 2 + frames[:2]
    paths = [case.folder / f"frame{i}.png" for i in range(len(frames))]
    for path, (pixels, _) in zip(paths, frames):
        Image.fromarray(pixels).save(path)
    said, table = case.points("face_mesh", detector, landmarks, *paths)
    print(said.strip())
    ran = re.findall(r"detector (ran|rested), (\d)", said)
    # The frame in which the face is gone still looks where it was; the next one runs the detector.
    wanted = [("ran", "1")] + [("rested", "1")] * (FRAMES - 1) + [("rested", "0"), ("ran", "0"), ("ran", "1"), ("rested", "1")]
    if ran != wanted:
        raise SystemExit(f"the detector should have {wanted}")
    rect, still = None, []
    for i, (pixels, forward) in enumerate(frames):
        if forward is None:
            rect = None
            continue
        if rect is None:
            rect = oracle.face_rect(pixels, oracle.detect(finder, pixels, STRIDES, True)[0])
        score, points = oracle.face_points(net, pixels, rect)
        compare(f"frame {i + 1}, score {score:.3f}", [table[(i, 0)]], [points])
        rect = oracle.face_rect_from_points(pixels, points)
        flat = points[:, :2]
        still.append(oracle.project(forward, still[0]) - flat if still else flat)
    # Rotated back, the mesh hardly changes: what the network says of a face does not depend on its angle.
    drift = max(np.hypot(*d.T).mean() for d in still[1:])
    print(f"points of later frames are {drift:.2f} pixels from the first frame's, rotated and moved, on average of the worst frame")
    if drift > 4:
        raise SystemExit("the mesh does not follow the face")


def hands(case):
    (detector, finder), (landmarks, net) = case.model("palm_detection_full", "palm_detection_lite"), case.model("hand_landmark_full", "hand_landmark_lite")
    for path, image in case.images(rendered=synthetic_people.hands_image()):
        said, table = case.points("hands", detector, landmarks, path)
        print(said.strip())
        compare(path.name, list(table.values()), oracle.hands(finder, net, image, 2))
        if path.name == "drawn.png" and not {"left", "right"} <= set(re.findall(r"^(\w+) hand", said, re.MULTILINE)):
            raise SystemExit("the rendered hands are a left and a right one")
        case.rendered_on(image, 300)


def body(case):
    (detector, finder), (landmarks, net) = case.model("pose_detection"), case.model("pose_landmark_full", "pose_landmark_lite")
    for path, image in case.images("astronaut.png", "camera.png", "face.jpg", rendered=synthetic_people.figure_image()):
        said, table = case.points("body", detector, landmarks, path, "--mask", case.folder / "mask.png")
        print(said.strip())
        points, mask = oracle.body(finder, net, image)
        if path.name == "drawn.png" and "33 of 33 joints in sight" not in said:
            raise SystemExit("all of the rendered figure is in sight")
        compare(path.name, list(table.values()), [] if points is None else [points])
        case.mask(mask)
        case.rendered_on(image, 300)


def selfie(case):
    model, net = case.model("selfie_segmentation")
    for path, image in case.images("face.jpg", "astronaut.png"):
        print(case.call("selfie", model, path, "--mask", case.folder / "mask.png").strip())
        case.mask(oracle.selfie(net, image))
        case.rendered_on(image, 1000)


def blocks_with_networks(page, name):
    """The command blocks of a page that tests/docs/commands.py leaves to a case of this script."""
    marked = r"^<!-- commands: not run, [^\n]*vision\.py " + name + r" runs this block -->\n+```sh\n(.*?)^```$"
    return re.findall(marked, (REPOSITORY / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)


def run_page(case, page, name):
    """Runs those blocks where fetch_mediapipe.sh would have left its files; returns what they said."""
    said = ""
    tools = os.pathsep.join(str(pathlib.Path(p).resolve()) for p in (case.programs, pathlib.Path(TOOL).parent))
    blocks = blocks_with_networks(page, name)
    if not blocks:
        raise SystemExit(f"docs/{page} has no block that names the case {name}")
    for block in blocks:
        environment = dict(os.environ, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")
        done = subprocess.run(["bash", "-e"], input=block, cwd=case.folder, env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise SystemExit(f"docs/{page}: exit code {done.returncode}\n{block}\n{done.stdout}{done.stderr}")
        said += done.stdout
    return said


def avatar(case):
    """The commands of docs/guide/avatars.md: a photo that performs, then frames, one of which shows no person."""
    (detector, _), (attention_mesh, _), (mesh, _) = (case.model(n) for n in ("face_detection_short_range", "face_landmark_with_attention", "face_landmark"))
    path, image = case.images("astronaut.png", "face.jpg")[0]
    models, images = case.folder / "out" / "models", case.folder / "out" / "images"
    for folder in (models, images):
        folder.mkdir(parents=True)
    for model in (detector, attention_mesh, mesh):
        model.rename(models / model.name)
    path.rename(images / "astronaut.png")
    for number, pixels in enumerate((image, rotated(image, TURN, MOVE)[0], np.full_like(image, 90), image), 1):
        Image.fromarray(pixels).save(models / f"frame{number}.png")
    said = run_page(case, "guide/avatars.md", "avatar")
    print(said.strip())
    found = re.findall(r"(\d+) frames, a face in (\d+), the detector ran in (\d+);", said)
    if found != [("120", "120", "1"), ("4", "3", "2")]:
        raise SystemExit(f"frames, faces and detections are {found}")
    errors = [float(n) for n in re.findall(r" ([\d.]+) \([\d.]+\)", said)]
    if len(errors) != 12 or max(errors) > 0.2 or sum(errors) / 12 > 0.1:
        raise SystemExit(f"the weights of the clip are off by {errors}")
    rows = list(csv.DictReader((models / "weights.csv").open()))
    roll = [math.degrees(float(row["roll"])) for row in rows]
    # The second frame is rotated clockwise, of which the filter has taken a part; where no person is seen the head stays.
    if not (-TURN < roll[1] - roll[0] < -0.5 and rows[2] == dict(rows[1], frame="2")):
        raise SystemExit(f"the head's roll is {roll} in degrees")


def pose_tracking(case):
    """Three figures in frames that rotate: rows of one batch are those of runs alone, and follow the figures; all are given up in an empty frame."""
    source = find(MODEL_PLACES, "pose_landmark_full.tflite", "pose_landmark_lite.tflite")
    if source is None:
        raise Skipped("pose_landmark_full.tflite is not on this machine; examples/models/fetch_mediapipe.sh fetches it")
    networks = {}
    for count in (1, 4):
        networks[count] = case.folder / f"pose_{count}.nsk"
        must("convert", source, "-o", networks[count], "--input", f"input_1={count}x256x256x3", "--quiet")
    small = np.asarray(Image.fromarray(synthetic_people.figure_image()).resize((240, 320), Image.BOX))
    wide, hips, length = np.concatenate([small] * 3, axis=1), (120, 161), 280
    frames = [rotated(wide, 1.5 * i, 2 * i) for i in range(4)] + [(np.full_like(wide, 90), None)] * 2
    paths = [case.folder / f"people{i}.png" for i in range(len(frames))]
    for path, (pixels, _) in zip(paths, frames):
        Image.fromarray(pixels).save(path)

    def places(people):
        return ",".join(f"{hips[0] + 240 * k},{hips[1]},{0.55 * length}" for k in people)

    said, together = case.points("pose_tracking", networks[4], *paths, "--at", places(range(3)))
    print(said.strip())
    # The fifth frame is looked at and shows no person.
    if sorted(together) != [(i, k) for i in range(4) for k in (1, 2, 3)] or "6 frames, 3 people, 2.00 per frame" not in said:
        raise SystemExit(f"people in frames: {sorted(together)}")
    for k in range(3):
        _, alone = case.points("pose_tracking", networks[1], *paths, "--at", places([k]))
        if any(not np.array_equal(alone[(i, 1)], together[(i, k + 1)]) for i in range(4)):
            raise SystemExit(f"figure {k + 1} has other points alone than in the batch")
        for i, (_, forward) in enumerate(frames[:4]):
            known = oracle.project(forward, np.array([[hips[0] + 240 * k + x * length, hips[1] - y * length] for x, y in ((0, .415), (-.128, .262), (.128, .262))]))
            off = np.linalg.norm(together[(i, k + 1)][[0, 12, 11], :2] - known, axis=1).max()
            if off > 0.1 * length:
                raise SystemExit(f"figure {k + 1}, frame {i + 1}: nose or shoulders are {off:.0f} pixels away")
    detector = find(MODEL_PLACES, "pose_detection.tflite")
    if detector is None or find(IMAGE_PLACES, "astronaut.png") is None or source.stem != "pose_landmark_full":
        print("note: the commands of docs/guide/avatars.md were not run: pose_detection.tflite, pose_landmark_full.tflite or astronaut.png is not on this machine")
        return
    folder = case.folder / "out" / "models"
    folder.mkdir(parents=True)
    (folder / source.name).symlink_to(source)
    must("convert", detector, "-o", folder / "pose_detection.nsk", "--quiet")
    (folder.parent / "images").symlink_to(find(IMAGE_PLACES, "astronaut.png").parent)
    said = run_page(case, "guide/avatars.md", "pose_tracking")
    print(said.strip())
    if "60 frames, 2 people, 2.00 per frame" not in said:
        raise SystemExit("both people should be followed through all frames")


CASES = {f.__name__: f for f in (detection, face, many_faces, attention, tracking, hands, body, selfie, avatar, pose_tracking)}


def main(name, programs):
    try:
        import ai_edge_litert.interpreter  # noqa: F401
        import flatbuffers  # noqa: F401
    except ImportError:
        print(f"{SAID_SKIPPED} the Python packages ai-edge-litert and flatbuffers are not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_vision_") as folder:
        try:
            CASES[name](Case(pathlib.Path(programs), pathlib.Path(folder)))
        except Skipped as reason:
            print(f"{SAID_SKIPPED} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
