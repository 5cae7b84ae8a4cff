#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The licence and the author that an ONNX model states arrive in the file, and inspect shows them; texts that are none are left out."""
import json
import pathlib
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import parsed  # noqa: E402
from models import must  # noqa: E402


def shown(folder, properties):
    """(what inspect prints, the metadata of inspect --json)."""
    model = parsed("(float[2] x) => (float[2] y) { y = Exp (x) }")
    for key, value in properties:
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(model, folder / "m.onnx")
    must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--quiet")
    return must("inspect", folder / "m.nsk"), json.loads(must("inspect", folder / "m.nsk", "--json"))["metadata"]


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_metadata_") as name:
        folder = pathlib.Path(name)
        for key in ("license", "licence", "License", "model_license"):
            text, about = shown(folder, [(key, "AGPL-3.0"), ("author", "somebody\nelse"), ("names", "{0: 'cat'}")])
            assert about["about.license"] == "AGPL-3.0" and about["about.author"] == "somebody else" and "about.names" not in about, about
            assert "about     license: AGPL-3.0" in text and "about     author: somebody else" in text, text
        for value in ("", "x" * 5000, "bell\a"):
            text, about = shown(folder, [("license", value)])
            assert "about.license" not in about and "license" not in text, about
        assert shown(folder, [("license", "first"), ("licence", "second")])[1]["about.license"] == "first"
    print("licences and authors of ONNX models arrive")
    return 0


if __name__ == "__main__":
    sys.exit(main())
