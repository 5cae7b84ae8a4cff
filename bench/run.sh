#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Float networks: netsuke against the peers that are installed, all in turn in short rounds, twice. Says which ratios agree within 5 %.
#   bench/run.sh [--whole | --families] [options of bench/compare_peers.py]          for example: bench/run.sh --rounds 20 --json out.json
# With --whole also other detectors, recurrent networks, agents whose outputs are not random, and TensorFlow Lite files of floats.
# With --families instead of them small networks of families that no file here is of (bench/families.py).
# NSK_PYTHON (default: python3), NSK_TOOL (default: build/nsk) and NSK_MODELS (default: shared/models beside the checkout) may be set.
set -euo pipefail
cd "$(dirname "$0")/.."

python="${NSK_PYTHON:-python3}"
networks=(mobilenet_v2 mobilenet_v3_small efficientnet_b0 resnet18 resnet50 squeezenet1_1 shufflenet_v2 upscale_x2_360p face_front face_back
          ultraface policy_mlp mnist transformer_enc)

whole= families=
case "${1-}" in
  --whole) whole=1; shift ;;
  --families) families=$(mktemp -d); trap 'rm -rf "$families"' EXIT; shift ;;
esac

peers=() missing=()
has() { "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "$1"; }
for engine in numpy:numpy onnxruntime:onnxruntime openvino:openvino litert:ai_edge_litert mnn:MNN ncnn:ncnn; do
  if ! has "${engine#*:}"; then missing+=("${engine#*:}"); elif [ "$engine" != numpy:numpy ]; then peers+=("${engine%:*}"); fi
done
if [ "${#missing[@]}" -gt 0 ]; then
  echo "not installed: ${missing[*]//_/-}. To install: $python -m pip install ${missing[*]//_/-}"
fi
case " ${missing[*]-} " in *" numpy "* | *" onnxruntime "*) echo "nothing is measured without numpy and onnxruntime, which tells the inputs of networks"; exit 1 ;; esac

if [ -n "$families" ]; then
  has onnx || { echo "--families needs the package onnx: $python -m pip install onnx"; exit 1; }
  "$python" bench/families.py "$families"
  networks=("$families"/*.onnx)
elif yolo=$(bench/fetch_yolo.sh); then networks+=("$yolo"); else echo "left out: yolov8n_320, which could not be fetched"; fi

if [ -n "$whole" ]; then
  models="${NSK_MODELS:-../shared/models}"
  networks+=(line_detector text_detector text_classifier lstm gru upscaler_x2 examples/models/*_agent.onnx)
  for file in "$models"/agents/{3DBall,Basic,Crawler,GridFoodCollector,PushBlock,Sorter}.onnx "$models"/{face,pose}/*.tflite \
              "$models"/quantized/{vww_96_float,ad01_fp32,pretrainedResnet}.tflite; do
    if [ -e "$file" ]; then networks+=("$file"); fi
  done
fi

"$python" bench/compare_peers.py "${networks[@]}" --peers "${peers[@]}" --runs 2 "$@"
