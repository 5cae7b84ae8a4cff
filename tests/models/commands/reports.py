#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What people look at: tables that fit, images that are well-formed and complete, reports, device profiles, help; pipes stay plain."""
import json
import os
import pathlib
import pty
import re
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import OWN, TOOL, must, nsk  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
ESCAPE = "\x1b"
COMMANDS = ["convert", "quantize", "run", "inspect", "check", "bench", "profile"]
WIDEST = 120
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def on_terminal(arguments, **environment):
    """What a person sees: standard output is a pseudo-terminal."""
    variables = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    variables.update({"TERM": "xterm"}, **environment)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(TOOL, [TOOL, *map(str, arguments)], variables)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.waitpid(pid, 0)
    os.close(terminal)
    return text.decode()


def tables(folder, model):
    text, report = must("inspect", model), json.loads(must("inspect", model, "--json"))
    variant = report["variants"][0]
    steps = text[text.index("\nsteps\n"):text.index("\narena\n")].splitlines()[2:]
    expect(max(map(len, text.splitlines())) <= WIDEST, f"inspect: a line has {max(map(len, text.splitlines()))} characters")
    expect(len(steps) >= len(variant["steps"]) + 2, "inspect: not every step has a line")
    expect(" * " in "\n".join(steps) and "heaviest" in text, "inspect: no step is marked as heavy")
    for word in ("sum", "longest", "transposes left", f"{variant['arena']['shared_bytes']:,} bytes"):
        expect(word in text, f"inspect: '{word}' is missing")
    expect(ESCAPE not in text, "inspect: escape codes in a pipe")
    expect(ESCAPE + "[1m" in on_terminal(["inspect", model]), "inspect: no emphasis on a terminal")
    expect(ESCAPE not in on_terminal(["inspect", model], NO_COLOR="1"), "inspect: NO_COLOR is not honoured")
    expect(ESCAPE not in on_terminal(["inspect", model], TERM="dumb"), "inspect: escape codes on a dumb terminal")


def titles_of(path):
    root = xml.parse(path).getroot()
    expect(root.tag == SVG + "svg" and root.get("viewBox"), f"{path.name}: no SVG with a viewBox")
    return root, [t.text for t in root.iter(SVG + "title")]


def inside(root):
    """Every rectangle is on the page."""
    width, height = map(float, root.get("viewBox").split()[2:])
    rects = [r for r in root.iter(SVG + "rect") if r.get("x")]
    return all(-0.5 <= float(r.get("x")) and float(r.get("x")) + float(r.get("width")) <= width + 0.5 and -0.5 <= float(r.get("y"))
               and float(r.get("y")) + float(r.get("height")) <= height + 0.5 for r in rects)


def images(folder, model):
    variant = json.loads(must("inspect", model, "--json"))["variants"][0]
    must("inspect", model, "--svg", folder / "arena.svg", "--svg-graph", folder / "graph.svg")
    root, titles = titles_of(folder / "arena.svg")
    for block in variant["arena"]["map"]:
        expect(any(block["tensors"][0] in t and f"at byte {block['offset']:,}," in t for t in titles), f"arena.svg lacks {block['tensors'][0]}")
    expect(any("peak" in (t.text or "") for t in root.iter(SVG + "text")), "arena.svg: the peak is not marked")
    expect(inside(root), "arena.svg: something is outside the page")
    root, titles = titles_of(folder / "graph.svg")
    for step in variant["steps"]:
        expect(any(t.startswith(f"step {step['index']}: {step['name']}") for t in titles), f"graph.svg lacks step {step['index']}")
    arrows = [p for p in root.iter(SVG + "path") if p.get("fill") == "#777"]
    expect(len(arrows) >= len(variant["steps"]), f"graph.svg: {len(arrows)} arrows for {len(variant['steps'])} steps")
    expect(inside(root), "graph.svg: something is outside the page")


def checks(folder, source, model):
    must("check", source, model, "--report", folder / "check.md", "--json", folder / "check.json")
    page, compared = (folder / "check.md").read_text(), json.loads((folder / "check.json").read_text())
    for word in ("**Passed**", "](check.svg)", "seed 1", "1e-04", str(source)):
        expect(word in page, f"check.md lacks '{word}'")
    rows = re.findall(r"^\| (\d+) \| ([0-9.e+-]+) \|", page[page.index("## Steps"):], re.MULTILINE)
    errors = [float(e) for _, e in rows]
    expect(len(rows) == len(compared["steps"]), "check.md does not list every step")
    expect(errors == sorted(errors, reverse=True), "check.md: the worst step is not the first")
    root, titles = titles_of(folder / "check.svg")
    expect(len(titles) == len(compared["steps"]) + len(compared["outputs"]), "check.svg: not every tensor has a point")
    expect(any("tolerance" in (t.text or "") for t in root.iter(SVG + "text")), "check.svg: no tolerance line")
    must("convert", source, "-o", folder / "again.nsk", "--input", "frame=1x3x30x44", "--check", "--report", folder / "convert.md")
    expect("](convert.svg)" in (folder / "convert.md").read_text() and (folder / "convert.svg").exists(), "convert --check --report: no image")
    strict = nsk("check", source, model, "--tolerance", "1e-12", "--report", folder / "strict.md")
    expect(strict.returncode == 3 and "past the tolerance" in (folder / "strict.md").read_text(), "check --report: a failed check looks well")
    expect(nsk("convert", source, "-o", folder / "x.nsk", "--report", folder / "x.md").returncode == 1, "convert --report without --check is accepted")


def tiles(folder, source):
    def longest(*options):
        said = must("convert", source, "-o", folder / "tiles.nsk", "--input", "frame=1x3x90x160", *options)
        return json.loads(must("inspect", folder / "tiles.nsk", "--json"))["variants"][0], said

    usual, said = longest()
    expect(usual["longest_tile"]["limit_us"] == 100, "inspect: the limit is not 100 us by default")
    coarse, _ = longest("--max-tile-us", "1000")
    expect(coarse["longest_tile"]["macs"] > usual["longest_tile"]["macs"], "--max-tile-us 1000 makes no longer tiles")
    for step in usual["steps"]:
        gain = {"winograd4": 3, "winograd2": 2}.get(step["algorithm"], 1)
        expect(abs(step["longest_tile_us"] - step["longest_tile_macs"] / 3e4 / gain) < 1e-3, "30 G MACs/s is not what tile times rest on")
    fine, said = longest("--max-tile-us", "5")
    name = fine["steps"][fine["longest_tile"]["step"]]["name"]
    expect("above the limit of 5.0 us" in said and name[:15] in said, f"convert does not name the step above the limit: {said}")
    expect("above the limit" in must("inspect", folder / "tiles.nsk"), "inspect does not name the step above the limit")


def profiles(folder, source, model):
    path = folder / "machine.json"
    must("profile", "-o", path, "--seconds", "1")
    profile = json.loads(path.read_text())
    kinds = {k["kind"]: k for k in profile["kernels"]}
    wanted = {"conv", "pointwise", "depthwise", "winograd4", "gemv", "elementwise", "function", "pool", "reduce", "resize", "softmax", "copy", "shuffle"}
    expect(wanted <= set(kinds), f"profile: no reference for {wanted - set(kinds)}")
    expect([m["level"] for m in profile["memory"]] == ["L1", "L2", "L3", "DRAM"], "profile: other levels of memory")
    expect(all(m["read_gb_s"] > 0.1 and m["copy_gb_s"] > 0.1 for m in profile["memory"]), "profile: a bandwidth of nothing")
    expect(profile["fma_peak_gflops"] > 0.1 and 0.02 < kinds["pointwise"]["efficiency"] < 1.1, "profile: senseless peak or efficiency")
    variant = json.loads(must("inspect", model, "--json", "--profile", path))["variants"][0]
    total = sum(s["expected"]["us"] for s in variant["steps"])
    expect(abs(total / 1e3 / variant["expected"]["ms"] - 1) < 1e-6, "inspect --profile: steps do not sum up")
    expect(all(s["expected"]["us"] > 0 for s in variant["steps"]), "inspect --profile: a step takes no time")
    text = must("inspect", model, "--profile", path)
    expect("expected" in text and max(map(len, text.splitlines())) <= WIDEST, "inspect --profile: no expected time, or lines too long")
    expect("expected" in must("convert", source, "-o", folder / "p.nsk", "--input", "frame=1x3x30x44", "--profile", path), "convert --profile is silent")
    (folder / "none.json").write_text("{}")
    (folder / "old.json").write_text(json.dumps(dict(profile, profile_version=99)))
    (folder / "damaged.json").write_text(json.dumps(dict(profile, memory=[{"level": 3}])))
    for bad in ("none.json", "old.json", "damaged.json", "absent.json"):
        done = nsk("inspect", model, "--profile", folder / bad)
        expect(done.returncode == 2 and bad in done.stderr, f"inspect --profile {bad}: exit code {done.returncode}, {done.stderr}")


def manners(folder, source, model):
    for command in COMMANDS:
        text = must(command, "--help")
        expect("Examples:\n  nsk " + command in text, f"nsk {command} --help: no example")
        expect(f"Usage: nsk {command} " in text, f"nsk {command} --help: no usage line")
        expect(max(map(len, text.splitlines())) <= 130, f"nsk {command} --help: a line has {max(map(len, text.splitlines()))} characters")
    expect(re.fullmatch(r"nsk \d+\.\d+\.\d+\n", must("--version")), f"nsk --version says {must('--version')!r}")
    text = must("--help")
    expect("Exit codes" in text and all(c in text for c in COMMANDS), "nsk --help: no exit codes, or a command is missing")
    for arguments in (["convert", source, "-o", folder / "q.nsk", "--input", "frame=1x3x30x44", "--check", "--quiet"], ["check", source, model, "--quiet"],
                      ["profile", "-o", folder / "q.json", "--seconds", "0.05", "--quiet"]):
        done = nsk(*arguments)
        expect((done.returncode, done.stdout, done.stderr) == (0, "", ""), f"nsk {arguments[0]} --quiet is not: {done.stdout}{done.stderr}")
    done = nsk("bench", model, "--seconds", "0.05", "--json")
    expect(json.loads(done.stdout)["median_ms"] > 0 and done.stderr == "", "bench --json: more than JSON")


def rates_follow(report, whole, step):
    """Percentages and rates of `nsk bench --json` follow from these times of it, steps' and the whole's."""
    steps, total = report["steps"], sum(s[step] for s in report["steps"])
    pairs = [(report["gflops"], 2e-6 * report["macs"] / report[whole]), (report["percent_of_peak"], 100 * report["gflops"] / report["peak_gflops"])]
    pairs += [(s["percent_of_time"], 100 * s[step] / total) for s in steps] + [(s["gflops"], 2e-3 * s["macs"] / s[step]) for s in steps]
    pairs += [(s["percent_of_peak"], 100 * s["gflops"] / report["peak_gflops"]) for s in steps]
    return all(abs(got - wanted) <= 1e-9 * wanted for got, wanted in pairs)


def rounds(model):
    """The table of `nsk bench` has medians, with --rounds the least of all rounds."""
    once, often = (["bench", model, "--seconds", "0.03", *more] for more in ([], ["--rounds", "3"]))
    report = json.loads(must(*once, "--json"))
    expect("rounds" not in report and rates_follow(report, "median_ms", "median_us"), "bench --json: rates are not those of the medians")
    report = json.loads(must(*often, "--json"))
    expect(report["rounds"] == 3 and rates_follow(report, "min_ms", "min_us"), "bench --rounds --json: rates are not those of the least times")
    expect(all(s["min_us"] <= s["median_us"] for s in report["steps"]) and report["min_ms"] <= report["median_ms"], "bench --rounds --json: a least time above its median")
    text = must(*once)
    expect("rounds" not in text and "least us" not in text and " us  % of time" in text, f"bench: its table is not one of medians: {text}")
    text = must(*often)
    expect(" in 3 rounds\n" in text and "  least us  % of time" in text, f"bench --rounds: its table does not say that times are the least: {text}")


def main():
    source = OWN[0]
    with tempfile.TemporaryDirectory(prefix="nsk_reports_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        must("convert", source, "-o", model, "--input", "frame=1x3x30x44")
        tables(folder, model)
        images(folder, model)
        checks(folder, source, model)
        tiles(folder, source)
        profiles(folder, source, model)
        manners(folder, source, model)
        rounds(model)
    print("\n".join(failures + [f"{len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
