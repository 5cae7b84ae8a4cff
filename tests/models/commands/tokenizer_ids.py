#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ids and texts of `nsk tokenize` against Hugging Face's library `tokenizers`, for small tokenizers of all mainstream kinds.

  tokenizer_ids.py [--count N] [--source FILE.json ...]      the acceptance run is --count 100000 with tokenizers of published models
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
try:
    from tokenizers import Tokenizer  # noqa: E402
except ImportError:
    sys.exit(print("SKIPPED: pip install tokenizers"))
from models import TOOL, must  # noqa: E402
from text_samples import samples  # noqa: E402
from tokenizer_sources import write_sources  # noqa: E402

# Changes of a source, each of which must be noticed.
SEEDS = {
    "another order of merges": ("gpt2", lambda j: j["model"]["merges"].reverse()),
    "a merge less": ("llama2", lambda j: j["model"]["merges"].pop(3)),
    "no lower case": ("bert", lambda j: j["normalizer"].update(lowercase=False)),
    "no composition": ("qwen", lambda j: j.update(normalizer=None)),
    "numbers in threes": ("qwen", lambda j: j["pre_tokenizer"]["pretokenizers"][0]["pattern"].update(Regex=j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"].replace("\\p{N}|", "\\p{N}{1,3}|"))),
    "another score": ("t5", lambda j: j["model"]["vocab"][300].__setitem__(1, -1.0)),
    "a token that takes no spaces": ("xlm_roberta", lambda j: j["added_tokens"][3].update(lstrip=False)),
    "no template": ("roberta", lambda j: j.update(post_processor=None)),
}


def encoded(words, lines, *options):
    """What nsk tokenize prints for each line."""
    text = b"".join(line + b"\n" for line in lines)
    done = subprocess.run([TOOL, "tokenize", str(words), *options], input=text, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"nsk tokenize {words.name} {' '.join(options)}: {done.stderr.decode()}")
    return done.stdout.decode().split("\n")[:-1]


def ids_of(lines):
    return [[int(i) for i in line.split()] for line in lines]


def reference(path):
    library = Tokenizer.from_file(str(path))
    library.no_truncation()
    library.no_padding()
    return library


def differences(words, library, strings):
    """The strings whose ids, or whose text, differ."""
    wanted = [e.ids for e in library.encode_batch(strings)]
    got = ids_of(encoded(words, [json.dumps(s).encode() for s in strings], "--json"))
    wrong = [(s, g, w) for s, g, w in zip(strings, got, wanted) if g != w]
    for options, skip in (((), True), (("--special",), False)):
        texts = encoded(words, [" ".join(map(str, ids)).encode() for ids in wanted], "--json", "--decode", *options)
        wrong += [(s, json.loads(t), w) for s, t, w in zip(strings, texts, library.decode_batch(wanted, skip_special_tokens=skip)) if json.loads(t) != w]
    return wrong if len(got) == len(strings) else [("", f"{len(got)} lines", f"{len(strings)} strings")]


def compare(path, words, count, seed):
    library = reference(path)
    tokens = [t.content for t in library.get_added_tokens_decoder().values()]
    return differences(words, library, samples(count, seed, tokens[:40] + tokens[-40:]))


def broken_bytes(words, library):
    """Bytes that are no UTF-8 count as U+FFFD, one for each start of a character."""
    lines = [b"a\xffb", b"\xe2\x82", b"\xe2\x82(\xac", b"\xf0\x9f\x98 \x80\x80", b"\xed\xa0\x80x", b"\xc0\xaf", b"gate\xf5\xf4\x90\x80\x80", bytes(range(128, 256)),
             b"\xf0\x9f\x98\x80\xf0\x9f", b"\xe4\xbd\xa0\xe5\xa5"]
    return [(line, g, w) for line, g in zip(lines, ids_of(encoded(words, lines)))
            if g != (w := library.encode(line.decode("utf-8", "replace")).ids)]


def long_words(words, library, length):
    """Words of so many characters."""
    strings = [part * (length // len(part)) for part in ("a", "ab", "é", "的", " ", "1", "😀", "gate", "ſ", "각")]
    strings += ["x" + "\u0301" * length, "A" * (length // 2) + "b" * (length // 2)]
    return differences(words, library, strings)


def report(name, wrong):
    for s, got, wanted in wrong[:3]:
        print(f"{name}: {str(s)[:100]!r}: {str(got)[:200]} instead of {str(wanted)[:200]}")
    return 1 if wrong else 0


def seeded(folder, paths):
    """Whether the comparison notices each change of a source."""
    silent = 0
    for what, (name, change) in SEEDS.items():
        source = json.loads(paths[name].read_text(encoding="utf-8"))
        change(source)
        path = folder / "changed.json"
        path.write_text(json.dumps(source), encoding="utf-8")
        must("tokenizer", path, "-o", folder / "changed.nskt", "--quiet")
        noticed = bool(compare(paths[name], folder / "changed.nskt", 300, 2))
        print(f"  {'noticed' if noticed else 'SILENT'}: {what}")
        silent += not noticed
    return silent


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=1500)
    arguments.add_argument("--source", type=pathlib.Path, nargs="*", default=[])
    options = arguments.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = write_sources(folder)
        for kind, path in {**paths, **{p.stem: p for p in options.source}}.items():
            words = folder / f"{kind}.nskt"
            must("tokenizer", path, "-o", words, "--quiet")
            library = reference(path)
            wrong = compare(path, words, options.count, 1) + broken_bytes(words, library) + long_words(words, library, 100000 if options.count >= 10000 else 5000)
            print(f"{kind}: {options.count} strings, {len(wrong)} wrong", flush=True)
            failures += report(kind, wrong)
        failures += seeded(folder, paths)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
