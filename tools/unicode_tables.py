#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tools/nsk/text/generated/unicode_data.hpp: what nsk tokenizer knows of characters.

The numbers are observed, not taken from a release of Unicode: libraries inside Hugging Face's `tokenizers` follow different releases, and ids are
equal only where every class and every decomposition is. The script asks `tokenizers` about each of the 1,112,064 characters. `regex` gives what
cannot be observed: which characters continue a grapheme.

usage: unicode_tables.py    (needs pip install tokenizers regex)
"""
import pathlib
import textwrap
import unicodedata

import regex
from tokenizers import Regex, __version__, normalizers, pre_tokenizers

HEADER = pathlib.Path(__file__).resolve().parent / "nsk/text/generated/unicode_data.hpp"
EVERY = [chr(c) for c in range(0x110000) if not 0xd800 <= c < 0xe000]
TEXT = "".join(EVERY)
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
BREAKS = [("control", r"\p{GCB=Control}|\p{GCB=CR}|\p{GCB=LF}"), ("extend", r"\p{GCB=Extend}|\p{GCB=ZWJ}"), ("spacing", r"\p{GCB=SpacingMark}"),
          ("prepend", r"\p{GCB=Prepend}"), ("pictograph", r"\p{Extended_Pictographic}")]


def kept(pre_tokenizer):
    """The characters that remain when all characters are pre-tokenised."""
    return {c for piece, _ in pre_tokenizer.pre_tokenize_str(TEXT) for c in piece}


def matched(pattern):
    return kept(pre_tokenizers.Split(Regex(pattern), "removed", invert=True))


def removed(pre_tokenizer):
    return set(EVERY) - kept(pre_tokenizer)


def bert(**options):
    every = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**every, **options}).normalize_str


def combining_class(c, representatives, decomposed):
    """The class of a mark, by how it is ordered beside marks of known classes; 0 where it is not reordered."""
    first, last = representatives[0][1], representatives[-1][1]
    after = [value for value, mark in representatives if decomposed(mark + c) == mark + c]
    moves = decomposed(c + first) == first + c or decomposed(last + c) == c + last
    return max(after, default=1) if moves else 0


def combining_classes():
    decomposed = normalizers.NFD().normalize_str
    representatives = []
    for c in EVERY[:0x1e000]:
        value = unicodedata.combining(c)
        is_ordered = decomposed(c + "\u0334") == "\u0334" + c or decomposed("\u0345" + c) == c + "\u0345"
        if value and is_ordered and decomposed(c) == c and value not in [known for known, _ in representatives]:
            representatives.append((value, c))
    representatives.sort()
    known = {mark: value for value, mark in representatives}
    marks = [c for c in EVERY if regex.match(r"\p{M}", c) and decomposed(c) == c]
    return {c: known.get(c) or combining_class(c, representatives, decomposed) for c in marks}


def flags_of():
    """Names of the yes-and-no properties, and the characters that have each."""
    clean, chinese, bert_strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
    nmt, strip = normalizers.Nmt().normalize_str, normalizers.StripAccents().normalize_str
    return [("regex_space", matched(r"\s+")), ("regex_word", matched(r"\w+")), ("regex_digit", matched(r"\d+")),
            ("space", removed(pre_tokenizers.WhitespaceSplit())), ("word", matched_words()), ("numeric", removed_digits()),
            ("punctuation", removed(pre_tokenizers.Punctuation("removed"))),
            ("clean_removed", {c for c in EVERY if clean(c) == ""}), ("clean_space", {c for c in EVERY if clean(c) == " "}),
            ("chinese", {c for c in EVERY if chinese(c) != c}), ("accent", {c for c in EVERY if strip(c) == ""}), ("bert_accent", {c for c in EVERY if bert_strip(c) == ""}),
            ("nmt_removed", {c for c in EVERY if nmt(c) == ""}), ("nmt_space", {c for c in EVERY if nmt(c) == " "})]


def matched_words():
    """Letters of words for the pre-tokeniser Whitespace: characters that stay in one piece with a letter."""
    pieces = pre_tokenizers.Whitespace().pre_tokenize_str
    return {c for c in EVERY if len(pieces("a" + c)) == 1 and not c.isspace() and pieces("a" + c)[0][0] == "a" + c}


def removed_digits():
    pieces = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str
    return {c for c in EVERY if len(pieces("a" + c)) == 2}


def runs(flags, classes):
    """Ranges of characters of equal properties: first characters, and (category, flags, grapheme break, combining class)."""
    category = {c: i for i, name in enumerate(CATEGORIES) for c in matched(rf"\p{{{name}}}+")}
    breaks = {c: i + 1 for i, (_, pattern) in enumerate(BREAKS) for c in EVERY if regex.match(pattern, c)}
    starts, kinds, last = [], [], None
    for c in EVERY:
        kind = (category.get(c, CATEGORIES.index("Cn")), sum(1 << i for i, (_, members) in enumerate(flags) if c in members), breaks.get(c, 0), classes.get(c, 0))
        if kind != last:
            starts.append(ord(c))
            kinds.append(kind)
        last = kind
    return starts, kinds


def mappings(change, unless=None):
    """Numbers: a character, how many replace it, and these. Syllables of Hangul, which arithmetic decomposes, are left out."""
    numbers = []
    for c in EVERY:
        if 0xac00 <= ord(c) < 0xd7a4:
            continue
        to = change(c)
        if to != c and (unless is None or to != unless(c)):
            numbers += [ord(c), len(to), *map(ord, to)]
    return numbers


def compositions():
    decomposed, composed = normalizers.NFD().normalize_str, normalizers.NFC().normalize_str
    numbers = []
    for c in EVERY:
        if 0xac00 <= ord(c) < 0xd7a4 or decomposed(c) == c or composed(c) != c:
            continue
        parts = decomposed(c)
        head = composed(parts[:-1])
        if len(head) == 1 and composed(head + parts[-1]) == c:
            numbers += [ord(head), ord(parts[-1]), ord(c)]
    return numbers


def array(name, kind, numbers, about):
    rows = textwrap.fill(", ".join(map(str, numbers)), 150, initial_indent="    ", subsequent_indent="    ")
    return f"/// {about}\ninline constexpr {kind} {name}[] = {{\n{rows}}};\n"


def main():
    flags = flags_of()
    starts, kinds = runs(flags, combining_classes())
    table = sorted(set(kinds))
    enumeration = lambda name, names: f"enum class {name} : std::uint8_t {{ {', '.join(names)} }};\n"
    nfd, nfkd = normalizers.NFD().normalize_str, normalizers.NFKD().normalize_str
    parts = [
        "// SPDX-License-Identifier: MIT\n#pragma once\n/// Properties of characters, as tokenizers " + __version__ + " knows them. Generated by tools/unicode_tables.py: do not edit.\n"
        "#include <cstdint>\n\nnamespace nsk::tool {\n\n// clang-format off\n",
        enumeration("category", [name.lower() for name in CATEGORIES]),
        enumeration("grapheme_break", ["other"] + [name for name, _ in BREAKS]),
        "enum character_flag : std::uint16_t {\n" + "".join(f"  is_{name} = {1 << i},\n" for i, (name, _) in enumerate(flags)) + "};\n",
        "struct character_kind { std::uint8_t category; std::uint16_t flags; std::uint8_t grapheme, combining; };\n",
        "inline constexpr character_kind character_kinds[] = {\n" + textwrap.fill(", ".join("{%d,%d,%d,%d}" % kind for kind in table), 150) + "};\n",
        array("character_run_starts", "std::uint32_t", starts, "First characters of runs of one kind."),
        array("character_run_kinds", "std::uint16_t", [table.index(kind) for kind in kinds], "Their kinds."),
        array("canonical_decompositions", "std::uint32_t", mappings(nfd), "A character, the number of characters that it becomes, and these."),
        array("compatibility_decompositions", "std::uint32_t", mappings(nfkd, nfd), "Those that differ from the canonical ones."),
        array("lowercase_mappings", "std::uint32_t", mappings(normalizers.Lowercase().normalize_str), "Lower case."),
        array("compositions", "std::uint32_t", compositions(), "Two characters and the one that they make."),
        "// clang-format on\n\n}\n"]
    HEADER.parent.mkdir(parents=True, exist_ok=True)
    HEADER.write_text("\n".join(parts))
    print(f"{HEADER.name}: {len(starts)} runs of {len(table)} kinds")


if __name__ == "__main__":
    main()
