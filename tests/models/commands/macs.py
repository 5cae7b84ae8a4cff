#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsk inspect` counts the multiply-accumulates that the authors of known networks published."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, SHARED, must  # noqa: E402

# Model, MACs, and the relative difference that the published figure's digits leave open.
PUBLISHED = {
    "mobilenet_v2": (0.300e9, 0.01),      # Sandler et al. 2018, table 4: 300 M
    "resnet50": (4.1e9, 0.02),            # torchvision: 4.09 G
    "efficientnet_b0": (0.39e9, 0.02),    # Tan and Le 2019, table 2: 0.39 B
    "mobilenet_v3_small": (0.056e9, 0.02),  # Howard et al. 2019, table 3: 56 M
    "resnet18": (1.8e9, 0.02),            # He et al. 2016, table 1: 1.8 x 10^9
    "shufflenet_v2_x1_0": (0.146e9, 0.02),  # Ma et al. 2018, table 8: 146 M
}


def main():
    wrong, tested = [], 0
    with tempfile.TemporaryDirectory(prefix="nsk_macs_") as folder:
        for name, (published, slack) in PUBLISHED.items():
            source, model = SHARED / "bench" / f"{name}.onnx", pathlib.Path(folder) / f"{name}.nsk"
            if not source.exists():
                print(f"note: {source} is not on this machine")
                continue
            must("convert", source, "-o", model, "--quiet")
            variant = json.loads(must("inspect", model, "--json"))["variants"][0]
            counted, tested = variant["macs"], tested + 1
            print(f"{name}: {counted / 1e9:.4f} G, published {published / 1e9:.3f} G")
            if abs(counted / published - 1) > slack:
                wrong.append(name)
            if counted != sum(s["macs"] for s in variant["steps"]):
                wrong.append(f"{name}: the steps sum up to another number")
            model.unlink()
    if not tested:
        print(f"{SAID_SKIPPED} no model of a published figure is on this machine")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
