# SPDX-License-Identifier: MIT
"""Small tokenizer.json files of all mainstream kinds, made without any library: vocabularies by counting, merges by the textbook."""
import base64
import collections
import functools
import json
import struct
import unicodedata

from text_samples import samples

GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
LLAMA3 = ("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
QWEN = LLAMA3.replace("\\p{N}{1,3}", "\\p{N}")
O200K = ("[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
CJK = "[一-龥぀-ゟ゠-ヿ]+"
CLIP = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"
BLOOM = " ?[^(\\s|[.,!?…。，、।۔،])]+"
MARK = "▁"
CORPUS = [s for s in samples(400, 11) if len(s) < 300]


def visible_bytes():
    """GPT-2's characters for bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {**{b: chr(b) for b in shown}, **{b: chr(256 + i) for i, b in enumerate(hidden)}}


VISIBLE = visible_bytes()


def merged(words, count, end=""):
    """Words to lists of symbols, merges of the commonest pairs, and all tokens."""
    words = collections.Counter({tuple(w[:-1]) + (w[-1] + end,): n for w, n in collections.Counter(words).items() if w})
    merges, tokens = [], sorted({s for w in words for s in w})
    for _ in range(count):
        pairs = collections.Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(list(best))
        tokens.append("".join(best))
        changed = collections.Counter()
        for word, n in words.items():
            out, i = [], 0
            while i < len(word):
                joined = word[i:i + 2] == best
                out.append("".join(best) if joined else word[i])
                i += 2 if joined else 1
            changed[tuple(out)] += n
        words = changed
    return merges, list(dict.fromkeys(tokens))


def added(content, number, special=True, **more):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": not special, "special": special, **more}


def tokenizer(model, normalizer=None, pre_tokenizer=None, decoder=None, post_processor=None, tokens=()):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens), "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
            "post_processor": post_processor, "decoder": decoder, "model": model}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level(use_regex=False, prefix=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


def template(before=(), after=()):
    def special(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    names = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in (*before, *after)}
    single = [*(special(n) for n, _ in before), {"Sequence": {"id": "A", "type_id": 0}}, *(special(n) for n, _ in after)]
    return {"type": "TemplateProcessing", "single": single, "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": names}


def bytes_of(text):
    return "".join(VISIBLE[b] for b in text.encode())


@functools.lru_cache(None)
def byte_merges(end):
    """Merges of the corpus, whose words are cut at spaces alone: which merges there are is all that this decides."""
    return merged([bytes_of(" " + w) if not end else bytes_of(w) for s in CORPUS for w in s.split()], 300, end)


def byte_pairs(pre_tokenizer, normalizer=None, end="", post=None, **more):
    """Byte pairs of bytes."""
    merges, tokens = byte_merges(end)
    alphabet = [VISIBLE[b] + e for e in dict.fromkeys(("", end)) for b in range(256)]
    vocab = {t: i for i, t in enumerate(dict.fromkeys(["<|endoftext|>", *alphabet, *tokens]))}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": end or None, "fuse_unk": False,
             "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": merges, **more}
    specials = [added("<|endoftext|>", 0), added("<|im_start|>", len(vocab)), added("gate", len(vocab) + 1, False, single_word=True),
                added("  guard", len(vocab) + 2, False, lstrip=True, rstrip=True, normalized=False)]
    return tokenizer(model, normalizer, pre_tokenizer, byte_level(), post(vocab) if post else None, specials)


def llama():
    """Byte pairs of characters, with tokens of bytes for those that have none."""
    words = [MARK + w for s in CORPUS for w in s.split()]
    merges, tokens = merged(words, 300)
    common = {c for c, n in collections.Counter("".join(words)).items() if n > 3}
    keep = [t for t in tokens if set(t) <= common]
    merges = [m for m in merges if set(m[0] + m[1]) <= common]
    names = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *keep]
    vocab = {t: i for i, t in enumerate(dict.fromkeys(names))}
    model = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
             "byte_fallback": True, "vocab": vocab, "merges": merges}
    normal = sequence("normalizers", {"type": "Prepend", "prepend": MARK}, {"type": "Replace", "pattern": {"String": " "}, "content": MARK})
    decoder = sequence("decoders", {"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                       {"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return tokenizer(model, normal, None, decoder, template([("<s>", 1)]), [added(t, i) for i, t in enumerate(names[:3])])


def word_piece(normalizer, pre_tokenizer, model="WordPiece"):
    parts = collections.Counter()
    for s in CORPUS:
        for word in unicodedata.normalize("NFD", s.lower()).split() + s.split():
            for n in range(1, 7):
                parts.update([word[:n]])
                parts.update("##" + word[i:i + n] for i in range(1, len(word)))
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(t for t, n in parts.most_common(2500) if n > 1)]
    vocab = {t: i for i, t in enumerate(dict.fromkeys(names))}
    kind = {"type": model, "unk_token": "[UNK]", "vocab": vocab}
    if model == "WordPiece":
        kind.update(continuing_subword_prefix="##", max_input_chars_per_word=100)
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True} if model == "WordPiece" else None
    tokens = [added(t, i) for i, t in enumerate(names[:5])] + [added("Straße", len(vocab), False)]
    return tokenizer(kind, normalizer, pre_tokenizer, decoder, template([("[CLS]", 2)], [("[SEP]", 3)]), tokens)


def charsmap(entries):
    """A precompiled character map: a double array of keys, and the texts that replace them."""
    texts, places = b"", {}
    for to in entries.values():
        if to not in places:
            places[to] = len(texts)
            texts += to.encode() + b"\0"
    tree = {}
    for key, to in entries.items():
        node = tree
        for b in key.encode():
            node = node.setdefault(b, {})
        node[0] = places[to]
    units, bases = {0: 0}, set()
    queue = [(0, tree, 0)]
    while queue:
        at, node, label = queue.pop()
        offset = next(o for o in range(1, 1 << 21) if at ^ o not in bases and all(at ^ o ^ b not in units for b in node))
        bases.add(at ^ offset)
        units[at] = label | (offset << 10) | (256 if 0 in node else 0)
        for b, child in node.items():
            units[at ^ offset ^ b] = child | 1 << 31 if b == 0 else 0
        queue += [(at ^ offset ^ b, child, b) for b, child in node.items() if b != 0]
    array = struct.pack(f"<{max(units) + 256}I", *(units.get(i, 0) for i in range(max(units) + 256)))
    return base64.b64encode(struct.pack("<I", len(array)) + array + texts).decode()


def normal_entries():
    """Characters whose compatible form differs, controls that go, and some pairs that compose."""
    entries = {chr(c): unicodedata.normalize("NFKC", chr(c)) for c in [*range(0xa0, 0x250), *range(0x1e00, 0x2000), *range(0x2000, 0x2180), *range(0xff01, 0xff80)]
               if unicodedata.normalize("NFKC", chr(c)) != chr(c)}
    entries.update({chr(c): "" for c in (*range(1, 9), 0x200b, 0x200e, 0xad)})
    entries.update({c: " " for c in "\t\n\r\u00a0\u1680\u3000"})
    entries.update({"e\u0301": "é", "o\u0308": "ö", "\u0344": "\u0308\u0301"})
    return entries


def unigram(pre_tokenizer, decoder, *normalizers, byte_fallback=False):
    words = [MARK + w for s in CORPUS for w in s.split()]
    counts = collections.Counter()
    for w in words:
        counts.update(w[i:i + n] for n in range(1, 8) for i in range(len(w) - n + 1))
    pieces = [(p, n) for p, n in counts.most_common(3000) if n > 1]
    specials = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256) if byte_fallback)]
    vocab = [[s, 0.0] for s in specials] + [[p, struct.unpack("f", struct.pack("f", -20 / (n * len(p)) - 3))[0]] for p, n in pieces]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": byte_fallback}
    tokens = [*(added(t, i) for i, t in enumerate(specials[:3])), added("<mask>", len(vocab), lstrip=True)]
    return tokenizer(model, sequence("normalizers", *normalizers), pre_tokenizer, decoder, template((), [("</s>", 2)]), tokens)


def sources():
    """Name to JSON."""
    def bert(**o):
        return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **o}
    def meta(**o):
        return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True, **o}
    def replaced(regex, to):
        return {"type": "Replace", "pattern": {"Regex": regex}, "content": to}
    def roberta(v):
        return {"type": "RobertaProcessing", "sep": ["<|endoftext|>", 0], "cls": ["<|im_start|>", len(v)], "trim_offsets": True, "add_prefix_space": True}
    mapped = {"type": "Precompiled", "precompiled_charsmap": charsmap(normal_entries())}
    return {
        "bert": word_piece(bert(), {"type": "BertPreTokenizer"}),
        "bert_cased": word_piece(bert(lowercase=False), {"type": "BertPreTokenizer"}),
        "electra": word_piece(sequence("normalizers", {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
                              sequence("pretokenizers", {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "MergedWithNext"},
                                       {"type": "Digits", "individual_digits": False})),
        "words": word_piece(sequence("normalizers", {"type": "NFKC"}, {"type": "Strip", "strip_left": True, "strip_right": True}), {"type": "Whitespace"}, "WordLevel"),
        "gpt2": byte_pairs(byte_level(True)),
        "roberta": byte_pairs(byte_level(True, True), post=roberta),
        "llama3": byte_pairs(sequence("pretokenizers", split(LLAMA3), byte_level()), ignore_merges=True),
        "qwen": byte_pairs(sequence("pretokenizers", split(QWEN), byte_level()), {"type": "NFC"}),
        "o200k": byte_pairs(sequence("pretokenizers", split(O200K, "Removed", True), byte_level())),
        "deepseek": byte_pairs(sequence("pretokenizers", split("\\p{N}{1,3}"), split(CJK), split(QWEN), byte_level())),
        "starcoder": byte_pairs(sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, byte_level(True)), {"type": "NFKC"}),
        "bloom": byte_pairs(sequence("pretokenizers", split(BLOOM), byte_level())),
        "clip": byte_pairs(sequence("pretokenizers", split(CLIP, "Removed", True), byte_level(True)),
                           sequence("normalizers", {"type": "NFC"}, replaced("\\s+", " "), {"type": "Lowercase"}), "</w>"),
        "llama2": llama(),
        "xlm_roberta": unigram(meta(), meta(), mapped, replaced(" {2,}", " ")),
        "t5": unigram(sequence("pretokenizers", {"type": "WhitespaceSplit"}, meta()), meta(), mapped, {"type": "Strip", "strip_left": False, "strip_right": True},
                      replaced(" {2,}", MARK)),
        "albert": unigram(meta(prepend_scheme="first", split=False), meta(prepend_scheme="first", split=False), {"type": "Nmt"}, {"type": "NFD"},
                          {"type": "StripAccents"}, byte_fallback=True),
    }


def write_sources(folder):
    """Writes all of them; returns name to path."""
    paths = {}
    for name, source in sources().items():
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(source, ensure_ascii=False), encoding="utf-8")
    return paths
