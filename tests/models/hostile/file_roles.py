#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No output is an input or another output: every command, every pair of its files, however one file comes to have two names. The command
is refused, names both, and nothing changes. What the commands read and write is taken from their --help (command_files.py)."""
import itertools
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_files import Scene, difference, make_stock, read_commands, snapshot  # noqa: E402

REFUSALS = (1, 2)
failures = []
count = 0


def words_of(file):
    return ["data" if "data" in file.note else "weights", "source"] if getattr(file, "note", "") else [file.option.lstrip("-")]


def expect_refusal(what, scene, files, **options):
    global count
    count += 1
    before = snapshot(scene.folder)
    done = scene.run(**options)
    problems = [] if done.returncode in REFUSALS else [f"exit code {done.returncode}"]
    problems += [f"the message lacks '{w}'" for f in files for w in words_of(f) if w not in done.stderr]
    problems += ["the message is not about it"] if "same file" not in done.stderr else []
    problems += difference(before, snapshot(scene.folder))
    if problems:
        failures.append(f"{what}: {'; '.join(problems)}\n    nsk {' '.join(scene.arguments())}\n    {done.stderr.strip()[:300]}")


def expect_success(scene):
    """Without a clash the command runs, writes what --help says, and leaves its inputs alone."""
    scene.put_inputs()
    before = snapshot(scene.folder)
    done = scene.run()
    after = snapshot(scene.folder)
    new = {name for name in after if name not in before and not (scene.folder / name).is_dir()}
    if done.returncode != 0 or new != {o.place for o in scene.command.outputs} or any(before[n] != after[n] for n in before if not (scene.folder / n).is_dir()):
        failures.append(f"nsk {' '.join(scene.arguments())}: exit code {done.returncode}, wrote {sorted(new)}\n    {done.stderr.strip()[:300]}")


def same_path(scene, key, i, target):
    scene.places[key] = scene.spelled[key] = target
    scene.put_inputs()


def other_spelling(scene, key, i, target):
    scene.places[key], scene.spelled[key] = target, f"side/../{target}"
    scene.put_inputs()


def through_directory_link(scene, key, i, target):
    scene.places[key], scene.spelled[key] = target, f"linked/{target}"
    scene.put_inputs()


def hard_link(scene, key, i, target):
    scene.put_inputs()
    (scene.folder / target).parent.mkdir(exist_ok=True)
    os.link(scene.folder / i.place, scene.folder / target)


def output_is_link(scene, key, i, target):
    scene.put_inputs()
    (scene.folder / target).parent.mkdir(exist_ok=True)
    (scene.folder / target).symlink_to(scene.folder / i.place)


def input_is_link(scene, key, i, target):
    scene.places[key], scene.spelled[key] = target, "alias"
    scene.put_inputs()
    (scene.folder / "alias").symlink_to(target)


WAYS = [same_path, other_spelling, through_directory_link, hard_link, output_is_link, input_is_link]


def inputs_and_outputs(make, command):
    for i, o, way in itertools.product(command.inputs, command.outputs, WAYS):
        if i.plain and way in (other_spelling, through_directory_link) or i.note and "/" in o.place:
            continue  # it has a plain name, beside the file that names it
        scene = make(command)
        way(scene, (i.option, i.note), i, o.place)
        expect_refusal(f"{command.name}: {o.option} ({o.place}) is {i.option} {i.note}: {way.__name__}", scene, [i, o])


def two_outputs(make, command):
    for a, b in itertools.combinations(command.outputs, 2):
        for x, y in ((a, b), (b, a)):
            if y.extension or "/" in y.place:
                continue  # its name follows from another
            for spelling in ("", "side/../", "linked/"):
                if x.option == y.option and spelling:
                    continue
                scene = make(command)
                scene.put_inputs()
                scene.given[y.option] = spelling + x.place
                expect_refusal(f"{command.name}: {y.option} is {x.place}", scene, [x, y])
        for way in ("symbolic link", "link to nothing", "hard link"):
            scene = make(command)
            scene.put_inputs()
            first, second = scene.folder / a.place, scene.folder / b.place
            for path in (first, second):
                path.parent.mkdir(exist_ok=True)
            if way != "link to nothing":
                first.write_bytes(b"older")
            if way == "hard link":
                os.link(first, second)
            else:
                second.symlink_to(first)
            expect_refusal(f"{command.name}: {a.place} and {b.place}: {way}", scene, [a, b])


def standard_output(make, command):
    for i in command.inputs:
        scene = make(command)
        scene.put_inputs()
        with open(scene.folder / scene.places[i.option, i.note], "ab") as out:
            expect_refusal(f"{command.name}: standard output is {i.option} {i.note}", scene, [i], stdout=out)
    for o in command.outputs:
        scene = make(command)
        scene.put_inputs()
        (scene.folder / o.place).parent.mkdir(exist_ok=True)
        with open(scene.folder / o.place, "ab") as out:
            expect_refusal(f"{command.name}: standard output is {o.place}", scene, [o], stdout=out)


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_roles_") as folder:
        folder = pathlib.Path(folder)
        (folder / "stock").mkdir()
        stock = make_stock(folder / "stock")

        def make(command):
            shutil.rmtree(folder / "scene", ignore_errors=True)
            (folder / "scene").mkdir()
            return Scene(folder / "scene", command, stock)

        commands = read_commands()
        for command in commands:
            expect_success(make(command))
            for group in (inputs_and_outputs, two_outputs, standard_output):
                group(make, command)
        pairs = sum(len(c.inputs) * len(c.outputs) + len(c.outputs) * (len(c.outputs) - 1) // 2 for c in commands)
    print("\n".join(failures + [f"{len(commands)} commands, {pairs} pairs of files, {count} clashes, {len(failures)} handled badly"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
