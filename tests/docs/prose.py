#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages are easy to read: short sentences, short paragraphs, figures in tables.

  prose.py                 fails where a page breaks a limit
  prose.py PAGE.md ...     the figures of these pages, and what is too long on them

Held are README.md, CONTRIBUTING.md, SECURITY.md and every page below docs/, those that a program writes included. CHANGELOG.md is
a list that is not read from end to end, and is not. docs/measurements/ may have numbers anywhere.

Text is what stays without code blocks, tables, headings, comments, tags, link targets. A code span is one word. Every item of
a list is a paragraph. A number is a figure as in "1.47 ms", "128 rows", "40 %" or "3x3" (one number). Part of a name is none: C++17, int8,
AVX-512, H100, 16-bit, a date, the number behind a word of VERSIONED ("Direct3D 12", "opset 13"), and a number of a list.
"""
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENTENCE = 30   # words, 90th percentile
PARAGRAPH = 90  # words, maximum
NUMBERS = 3.0   # per 100 words

# Pages that are not held yet. A page that keeps the limits must leave the list.
NOT_YET = set()

VERSIONED = ("Android|Arm|C|CMake|Clang|clang|cl|D3D|Debian|Direct3D|ES|Engine|FlatBuffers|GCC|GL|GLSL|HLSL|Java|Linux|LiteRT|MNN|MSVC|Meson|Metal|Model|NDK|NNE|ONNX|OpenGL|"
             "OpenVINO|PyTorch|Python|Runtime|SDK|SPIR-V|Sentis|Studio|TensorFlow|Ubuntu|Unity|Unreal|Vulkan|Windows|Xcode|clang-format|g\\+\\+|gcc|iOS|issue|macOS|ncnn|"
             "numpy|opset|opsets|release|section|step|torch|version|versions")
NUMBER = re.compile(rf"(?<![\w.,-])(?<!-)[+\u2212-]?\d[\d,]*(?:\.\d+)*(?:\s?[x\u00d7]\s?\d[\d,.]*\d?)*(?:[x\u00d7%kM]|[mn\u00b5]?s|[KMG]i?B)?(?![\w-])")
NAMED = re.compile(rf"\b(?:{VERSIONED})[ \u00a0]+v?\d[\d.]*(?:(?:,| to| and| or| up to|-|\u2013) ?\d[\d.]*)*\b|\b\d{{4}}-\d\d(?:-\d\d)?\b")
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<! vs)(?<! cf)[.!?][\"')\u201d]*\s+(?=[\"'(\u201c\[]*[A-Z0-9])")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


def paragraphs(page):
    """The texts of a page: paragraphs and items of lists."""
    page = re.sub(r"^( *)(```|~~~).*?^\1\2[ \t]*$", "\n", page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"<!--.*?-->", " ", page, flags=re.DOTALL)
    page = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "Code", page, flags=re.DOTALL)
    page = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", page)
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)
    page = re.sub(r"</?[a-zA-Z][^<>]*>|https?://\S+", " ", page)
    found = [""]
    for line in page.splitlines():
        line = re.sub(r"^\s*(?:>\s*)+", "", line)
        if not line.strip() or re.match(r"\s*(?:\||#{1,6}\s|-{3,}\s*$)", line):
            found.append("")
        elif ITEM.match(line):
            found.append(ITEM.sub("", line, count=1))
        else:
            found[-1] += " " + line
    return [" ".join(text.replace("*", "").split()) for text in found if text.strip()]


def words(text):
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def numbers(text):
    return NUMBER.findall(NAMED.sub("Name", text))


def sentences(text):
    return [part for part in END.split(text) if words(part)]


class Figures:
    """What the limits are about, of one page."""

    def __init__(self, page):
        texts = paragraphs(page)
        self.words = sum(words(text) for text in texts)
        self.longest = sorted(((words(text), text) for text in texts), reverse=True)
        self.sentences = sorted(((words(part), part) for text in texts for part in sentences(text)), reverse=True)
        lengths = sorted(length for length, _ in self.sentences)
        self.sentence = lengths[math.ceil(0.9 * len(lengths)) - 1] if lengths else 0
        self.paragraph = self.longest[0][0] if texts else 0
        self.numbers = 100 * sum(len(numbers(text)) for text in texts) / max(self.words, 100)
        self.numbered = sorted(((len(numbers(text)), text) for text in texts if numbers(text)), reverse=True)

    def wrong(self, measured):
        """What breaks a limit."""
        if self.sentence > SENTENCE:
            yield f"one sentence in ten has {self.sentence} words or more, at most {SENTENCE}"
        if self.paragraph > PARAGRAPH:
            yield f"a paragraph has {self.paragraph} words, at most {PARAGRAPH}"
        if not measured and self.numbers > NUMBERS:
            yield f"{self.numbers:.1f} numbers in 100 words outside tables, at most {NUMBERS:g}"


def is_measured(path):
    return path.is_relative_to(ROOT / "docs" / "measurements")


def pages():
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [page for page in named if page.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def show(path):
    figures = Figures(path.read_text())
    print(f"{path}: {figures.words} words, 90th percentile of sentences {figures.sentence}, longest paragraph {figures.paragraph}, "
          f"{figures.numbers:.1f} numbers in 100 words")
    wrong = list(figures.wrong(is_measured(path.resolve())))
    for said in wrong:
        print(f"  {said}")
    for length, text in figures.sentences if figures.sentence > SENTENCE else []:
        if length > SENTENCE:
            print(f"  sentence of {length}: {text[:150]}")
    for length, text in figures.longest:
        if length > PARAGRAPH:
            print(f"  paragraph of {length}: {text[:150]}")
    for count, text in figures.numbered if figures.numbers > NUMBERS and not is_measured(path.resolve()) else []:
        print(f"  {count} numbers ({', '.join(n.strip() for n in numbers(text))}): {text[:110]}")
    return bool(wrong)


def planted():
    """Texts that break a limit are reported, and what only looks like it is not."""
    long = " ".join(["word"] * 31) + ". "
    plain = "A short sentence is easy to read. "
    wrong = {"a long sentence": long, "a long paragraph": plain * 14, "numbers": "It takes 1.47 ms, which is 12 % of 12.3 ms, and 640x360 pixels. " + plain,
             "a long sentence in a list": "- " + long + "\n- " + long, "a long sentence behind a code span": "`nsk` is here. " + long}
    right = {"short sentences": plain * 9, "items": ("- " + plain * 9 + "\n") * 3, "a table": "| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n" + plain,
             "code": "```sh\n" + long + "1 2 3 4\n```\n" + plain, "code spans": "`1 2 3 4` " * 5 + plain,
             "names": "C++17, Direct3D 12, opsets 7 to 28, int8, AVX-512, 16-bit numbers, H100 and Vulkan 1.2 on 2026-11-28. " * 2, "targets": "[a](12.md#34) " * 5 + plain,
             "a sentence that begins with a code span": ("One two three four five six seven eight nine ten. `nsk` is " + "word " * 12 + ".\n\n") * 2}
    for what, text in wrong.items():
        if not list(Figures(text).wrong(False)):
            yield f"a planted page is not reported: {what}"
    for what, text in right.items():
        for said in Figures(text).wrong(False):
            yield f"a planted page is reported: {what}: {said}"


def main(arguments):
    if arguments:
        return int(any([show(pathlib.Path(name)) for name in arguments]))
    wrong, held = list(planted()), 0
    for path in pages():
        name = path.relative_to(ROOT).as_posix()
        broken = list(Figures(path.read_text()).wrong(is_measured(path)))
        if name in NOT_YET:
            wrong += [] if broken else [f"{name} keeps the limits: take it out of NOT_YET"]
        else:
            held += 1
            wrong += [f"{name}: {said}" for said in broken]
    wrong += [f"NOT_YET has {name}, which is no page" for name in sorted(NOT_YET - {p.relative_to(ROOT).as_posix() for p in pages()})]
    print("\n".join(wrong + [f"{held} pages held, {len(NOT_YET)} not yet, {len(wrong)} failures"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
