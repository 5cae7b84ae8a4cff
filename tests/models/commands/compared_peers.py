#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/compare_peers.py: outputs are compared before a time counts, least and median of the rounds, ratios of two runs that agree or not."""
import json
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import OPEN_DIMENSIONS, REPOSITORY  # noqa: E402

sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "tests" / "docs")]
from commands import small_model  # noqa: E402
from compare_peers import Comparison, lines_of, ratios_of, relative_error, summary_of, table_of  # noqa: E402
from peers import inputs_of  # noqa: E402
from write_pages import add_table, save, written  # noqa: E402


def measured(folder, *options):
    program = [sys.executable, REPOSITORY / "bench" / "compare_peers.py", folder / "model.onnx", *options]
    return subprocess.run(list(map(str, program)), capture_output=True, text=True)


def whole(folder):
    """Two runs of two rounds."""
    small_model(folder / "model.onnx")
    done = measured(folder, "--rounds", 2, "--seconds", 0.02, "--runs", 2, "--isa", "scalar", "--json", folder / "all.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((folder / "all.json").read_text())
    assert [len(rows) for rows in found["runs"]] == [1, 1] and found["rounds"] == 2, found
    for (row,) in found["runs"]:
        peer = row["peers"]["onnxruntime"]
        assert row["isa"] == "scalar" and 0 < row["best_ms"] <= row["median_ms"] and 0 < peer["best_ms"] <= peer["median_ms"], row
        assert peer["relative_error"] < 1e-5 and abs(peer["best_ratio"] * row["best_ms"] / peer["best_ms"] - 1) < 1e-9, row
    (model,) = found["summary"]["models"].values()
    assert [each["peer"] for each in model["runs"]] == ["onnxruntime"] * 2 and model["agree"] in (True, False), model
    assert "least ms" in done.stdout and "geometric mean" in done.stdout and "of 1 ratios agree within 5 %" in done.stdout, done.stdout
    for option in ("--rounds", "--runs", "--seconds"):
        done = measured(folder, option, 0)
        assert done.returncode == 2 and "are above 0" in done.stderr, done.stderr


class Shifted(Comparison):
    """Answers of netsuke that no peer gives."""

    def agreement(self, process):
        self.ours.outputs = [[output + 1 for output in outputs] for outputs in self.ours.outputs]
        return super().agreement(process)


def other_answers(folder):
    """A peer whose answers differ has no time."""
    options = types.SimpleNamespace(peers=["onnxruntime"], isa=["scalar"], rounds=1, seconds=0.02)
    sets = [inputs_of(folder / "model.onnx", 0, -1, 1, {}, OPEN_DIMENSIONS)]
    for kind, peers in ((Comparison, ["onnxruntime"]), (Shifted, [])):
        comparison = kind("model", folder / "model.onnx", sets, options, folder)
        (row,) = comparison.measure()
        comparison.close()
        assert list(row["peers"]) == peers and row["best_ms"] > 0, row
    assert "answers differ" in row["left_out"]["onnxruntime"] and "its time does not count" in row["left_out"]["onnxruntime"], row


def errors():
    one, two = np.float32([1, 2, 4]), np.float32([1, 2, 5])
    assert relative_error([one], [one], [True]) == 0 and abs(relative_error([one], [two], [True]) - 0.2) < 1e-7
    assert relative_error([one, one], [one, two], [True, False]) == 0  # the second one is random
    assert not relative_error([one, one], [one, one * np.float32("nan")], [True, True]) <= 1
    for wanted in ([one, one], [one[:2]], [one.astype(np.float64)]):
        assert relative_error([one], wanted, [True] * len(wanted)) == float("inf")


def row(model, isa, best, **peers):
    return {"model": model, "isa": isa, "best_ms": best, "peers": {peer: {"best_ms": ms, "relative_error": 1e-6} for peer, ms in peers.items()}}


def summaries():
    """The fastest peer over our faster instruction set; models without a peer count nowhere."""
    first = [row("a", "avx2", 2.0, slow=9, fast=3.0), row("a", "avx512", 1.5, slow=9, fast=3.0), row("b", "avx2", 1.0, slow=8.0), row("c", "avx2", 1.0)]
    assert ratios_of(first) == {"a": {"peer": "fast", "isa": "avx512", "ratio": 2.0}, "b": {"peer": "slow", "isa": "avx2", "ratio": 8.0}}
    second = [row("a", "avx2", 2.0, fast=3.1), row("a", "avx512", 1.5, fast=3.1), row("b", "avx2", 1.0, slow=7.0)]
    found = summary_of([first, second])
    assert {model: each["agree"] for model, each in found["models"].items()} == {"a": True, "b": False}, found
    assert abs(found["geometric_means"][0] - 4) < 1e-9, found
    text = "\n".join(lines_of(found))
    assert "differ by 14.3 %: not to be believed" in text and "1 of 2 ratios agree within 5 %" in text, text
    assert summary_of([first])["models"]["a"]["agree"] is None and "agree" not in "\n".join(lines_of(summary_of([first])))


def tables(folder):
    """What --record adds to the results of a machine, and a page shows; tables that no page has and pages without their table are told."""
    runs = [[row("a", "avx2", 2.0, openvino=9, mnn=3.0), row("a", "avx512", 1.5, openvino=9, mnn=3.0), row("b", "avx2", 1.0), row("b", "avx512", 1.0)],
            [row("a", "avx2", 2.0, openvino=9, mnn=3.5), row("a", "avx512", 1.5, openvino=9, mnn=3.5), row("b", "avx2", 1.0), row("b", "avx512", 1.0)]]
    columns, rows = table_of(runs, summary_of(runs), ["openvino", "mnn"])
    assert columns == ["model", "AVX2, ms", "AVX-512, ms", "OpenVINO, ms", "MNN, ms", "best peer", "best peer / netsuke", "MNN / AVX2", "largest error"], columns
    assert rows[0] == ["a", "2", "1.5", "9", "3", "MNN", "(2.00, 2.33)", "1.50", "1e-06"], rows
    results, pages = folder / "bench" / "results", folder / "docs" / "measurements"
    results.mkdir(parents=True)
    pages.mkdir(parents=True)
    add_table("here", "networks", columns, rows[:1], {"MNN": "3"}, "a command", results)
    add_table("here", "networks", columns, rows[:1], {"MNN": "4"}, "a command", results)  # in place of the first one
    assert "no page" in written(folder)[1][0]
    page = pages / "page.md"
    page.write_text("# A page\n\n<!-- table: here networks -->\n<!-- end -->\n")
    found, wrong = written(folder)
    assert not wrong and "| a | 2 | 1.5 | 9 | 3 | MNN |" in found[page] and "MNN 4: `a command`" in found[page], f"{wrong} {found[page]}"
    page.write_text(found[page].replace("networks", "others"))
    assert len(written(folder)[1]) == 2, written(folder)[1]
    made = json.loads((results / "here.json").read_text())
    made["tables"]["networks"]["rows"][0].pop()
    save(results / "here.json", made)
    assert any("another length" in line for line in written(folder)[1]), written(folder)[1]


def main():
    errors()
    summaries()
    with tempfile.TemporaryDirectory(prefix="nsk_compared_peers_") as folder:
        whole(pathlib.Path(folder))
        other_answers(pathlib.Path(folder))
        tables(pathlib.Path(folder))
    print("a run with one peer; one whose answers differ; ratios of two runs; tables")
    return 0


if __name__ == "__main__":
    sys.exit(main())
