# SPDX-License-Identifier: MIT
"""Strings that tokenizers are compared with: words of all scripts, code, numbers, spaces, marks, emoji, controls, tokens in the text, long words."""
import random
import sys

# First and last characters of ranges, by what they are good for.
SCRIPTS = [(0x41, 0x5a), (0x61, 0x7a), (0xc0, 0x17f), (0x180, 0x24f), (0x250, 0x2af), (0x370, 0x3ff), (0x400, 0x52f), (0x531, 0x587), (0x591, 0x5f4),
           (0x600, 0x6ff), (0x700, 0x74f), (0x780, 0x7b1), (0x900, 0x97f), (0x980, 0x9fe), (0xa00, 0xa76), (0xa80, 0xaff), (0xb00, 0xb77), (0xb82, 0xbfa),
           (0xc00, 0xc7f), (0xd00, 0xd7f), (0xd81, 0xdf4), (0xe01, 0xe5b), (0xe81, 0xedf), (0xf00, 0xfda), (0x1000, 0x109f), (0x10a0, 0x10ff), (0x1100, 0x11ff),
           (0x1200, 0x139f), (0x13a0, 0x13fd), (0x1400, 0x167f), (0x16a0, 0x16f8), (0x1780, 0x17f9), (0x1800, 0x18aa), (0x1e00, 0x1eff), (0x1f00, 0x1fff),
           (0x2c00, 0x2c5f), (0x2d30, 0x2d7f), (0x3041, 0x3096), (0x30a0, 0x30ff), (0x3105, 0x312f), (0x3131, 0x318e), (0x4e00, 0x4eff), (0x5000, 0x9fff),
           (0xa000, 0xa4c6), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfb00, 0xfb4f), (0xfb50, 0xfdff), (0xff01, 0xffee), (0x10000, 0x100fa), (0x10330, 0x1034a),
           (0x10400, 0x1044f), (0x11000, 0x1106f), (0x12000, 0x12399), (0x1d100, 0x1d1e8), (0x1d400, 0x1d7ff), (0x1e900, 0x1e95f), (0x20000, 0x2a6df), (0x2f800, 0x2fa1d)]
SPACES = " \t\n\r\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000\x0b\x0c\x85\u200b\u200c\u200d\ufeff\u2060\u180e"
CONTROLS = [*range(0x20), *range(0x7f, 0xa0), 0xad, 0x600, 0x61c, 0x200e, 0x202a, 0x2066, 0xfff9, 0xfffd, 0xfffe, 0xe000, 0xe0001, 0x10ffff, 0x378, 0x1c89]
MARKS = [*range(0x300, 0x36f), *range(0x483, 0x488), *range(0x591, 0x5bd), *range(0x64b, 0x65f), *range(0x93c, 0x94d), *range(0x1ab0, 0x1ac0), *range(0x1dc0, 0x1dff),
         *range(0x20d0, 0x20f0), 0x302a, 0x302e, 0x3099, 0x309a, *range(0xfe20, 0xfe2f), 0x1d165, 0x1d16d, 0x1b44, 0x1133c, 0xfe0f, 0x200d]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🇯🇵🇺🇸", "❤️", "1️⃣", "🏳️‍🌈", "🧑🏿‍🚀", "©", "®️", "™", "☃", "𝒳", "©‍©", "🫠", "🪿"]
WORDS = ("the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when your can said "
         "there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more "
         "write go see number no way could people my than first water been call who oil its now find long down day did get come made may part gate guard merchant "
         "Straße naïve café Ελλάδα Москва שלום مرحبا नमस्ते 你好世界 こんにちは カタカナ 안녕하세요 สวัสดี Việt Nam İstanbul ﬁne Ⅷ ½ ㎏ ｆｕｌｌ don't I'll WE'RE it's they'd she'S x'll "
         "internationalization antidisestablishmentarianism HTTPServer getElementById snake_case_name kebab-case 3.14159 1,234,567 0xDEADBEEF 1e-9 2024-01-31 12:30 "
         "user@example.com https://example.com/a/b?c=d&e=f#g C++ foo(bar, baz); if(x){y=z;} <div class=\"a\"> \\n \\\\ // /* */ -- ... ?! — “quoted” ‘single’ «guillemets» 。、！？").split(" ")


def characters(rng, first, last, count):
    return "".join(chr(rng.randint(first, last)) for _ in range(count))


def part(rng, tokens):
    """One piece of a string."""
    kind = rng.randrange(16)
    if kind < 5:
        return rng.choice(WORDS)
    if kind == 5:
        return characters(rng, *rng.choice(SCRIPTS), rng.randint(1, 8))
    if kind == 6:
        return rng.choice(WORDS) + "".join(chr(rng.choice(MARKS)) for _ in range(rng.randint(1, 4)))
    if kind == 7:
        return rng.choice(EMOJI) * rng.choice((1, 1, 2, 3))
    if kind == 8:
        return str(rng.randrange(10 ** rng.randint(1, 12)))
    if kind == 9:
        return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 5)))
    if kind == 10:
        return chr(rng.choice(CONTROLS))
    if kind == 11:
        return rng.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") * rng.randint(1, 4)
    if kind == 12:
        return rng.choice(tokens) if tokens else "<s>"
    if kind == 13:
        word = rng.choice(WORDS)
        return rng.choice((word.upper(), word.title(), word.swapcase(), word[::-1]))
    if kind == 14:
        return "".join(chr(c) for c in (rng.randrange(0x110000) for _ in range(rng.randint(1, 4))) if not 0xd800 <= c < 0xe000)
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(1, 14)))


def sample(rng, tokens):
    if rng.random() < 0.001:
        return rng.choice(("a", "ab", " ", "é", "的", "\n", "x1", "=-")) * rng.randint(500, 3000)
    joiner = rng.choice((" ", " ", " ", "", "", "  ", "\n"))
    return joiner.join(part(rng, tokens) for _ in range(rng.randint(0, 12)))


def samples(count, seed, tokens=()):
    """`count` strings; the same ones for one seed."""
    rng = random.Random(seed)
    tokens = [t for t in tokens if t]
    return [sample(rng, tokens) for _ in range(count)]


if __name__ == "__main__":
    print("\n".join(map(repr, samples(int(sys.argv[1]), 1))))
