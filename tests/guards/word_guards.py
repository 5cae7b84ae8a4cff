# SPDX-License-Identifier: MIT
"""The guard of words: names, comments, documents and messages use the field's words (the glossary in CONTRIBUTING.md)."""
import re

# Word, or part of a name -> what to write.
FORBIDDEN = {
    "picture": "image", "pictures": "images", "instant": "time step", "instants": "time steps", "forest": "tree ensemble",
    "forests": "tree ensembles", "room": "space, memory or budget", "rooms": "space, memory or budget", "lie": "be, invalid", "lies": "is, invalid",
    "lying": "being", "bend": "change", "bends": "changes", "bent": "changed, damaged", "turned": "transposed, rotated", "exchanged": "swapped",
    "drawn": "sampled, rendered, shown", "newcomer": "new user", "newcomers": "new users", "stranger": "foreign, unknown", "strangers": "foreign, unknown",
    "corridor": "path", "culprit": "the name of what is at fault", "culprits": "the names of what is at fault", "nobody": "nothing, no caller, no node",
    "somebody": "something, a caller, a node",
}
# Part of a name only: the words are ordinary ones elsewhere.
IN_NAMES = {"most": "max_, maximum", "least": "min_, minimum"}
# Texts that begin so name a limit.
LIMIT = re.compile(r"^\W*(Most|Least|most|least)\s+(?=\w+s\b)(?!(of|tensors)\b)")
# Comments that open so have no subject: the reader looks for it in the comment before. "The same numbers as f()" has one.
BEHIND_SAME = "again along and as at before behind but by for from if in less of on once through to until when where with without"
NO_SUBJECT = re.compile(rf"^\W*(?:<summary>)?(The same)(?:[,.;:]|\s+(?:{BEHIND_SAME.replace(' ', '|')})\b)")
EXCEPTIONS = {
    "most_per_class": "a field of the file format, and a key of the files that nsk json writes",
    "most_common": "Python's collections.Counter",
}
FOLDERS = ("include", "tools", "tests", "examples", "bench", "docs", "schema", "shaders", "bindings")
SUFFIXES = (".hpp", ".cpp", ".h", ".c", ".cs", ".inc", ".py", ".sh", ".md", ".fbs", ".txt", ".cmake")
SKIPPED = ("/generated/", "/corpus/", "tests/guards/word_guards.py")  # the last names the words that it forbids

CPP = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\')', re.DOTALL)
PYTHON = re.compile(r'(?P<comment>#[^\n]*|"""(?:\\.|[^\\])*?""")|(?P<text>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)
SHELL = re.compile(r'(?P<comment>(?m:^|(?<=\s))#[^\n]*)|(?P<text>"(?:\\.|[^"\\])*"|\'[^\']*\')')
NAME = re.compile(r"[A-Za-z_]\w*")


def parts(path, text):
    """(kind, offset, text): comments, names, and texts of several words as messages are; a document is one comment."""
    if path.suffix == ".md":
        glossary = re.compile(r"^## Glossary$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
        yield "comment", 0, glossary.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
        return
    grammar = {".py": PYTHON, ".sh": SHELL, ".txt": SHELL, ".cmake": SHELL}.get(path.suffix, CPP)
    end = 0
    for match in grammar.finditer(text):
        yield "names", end, text[end:match.start()]
        end = match.end()
        if match.lastgroup == "comment":
            yield "comment", match.start(), match.group()
        elif path.suffix in (".hpp", ".cpp", ".h", ".c", ".cs") and " " in match.group():
            yield "message", match.start(), match.group()
    yield "names", end, text[end:]


def wrong_words(kind, text):
    """(offset, what it says, what to write) of every forbidden word."""
    for match in NAME.finditer(text):
        name = match.group()
        if name in EXCEPTIONS:
            continue
        is_name = kind == "names" or "_" in name.strip("_")
        for word in re.split(r"_+", name.lower()):
            instead = FORBIDDEN.get(word) or (IN_NAMES.get(word) if is_name else None)
            if instead:
                yield match.start(), name, instead
    if kind == "comment":
        limit = LIMIT.match(text)
        if limit:
            yield limit.start(1), limit.group(1), "Maximum number of, Minimum number of"
        hidden = NO_SUBJECT.match(text)
        if hidden:
            yield hidden.start(1), hidden.group(1), "what it is: verb and result, or the function that it is like and the difference"


def plain_words(tree):
    """Names, comments, documents and messages use the words of the glossary."""
    violations = []
    files = [path for folder in FOLDERS for path in sorted((tree.root / folder).rglob("*")) if path.suffix in SUFFIXES]
    for path in [*files, *(tree.root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]:
        name = path.relative_to(tree.root).as_posix()
        if not path.is_file() or any(s in "/" + name for s in SKIPPED):
            continue
        text = path.read_text(errors="replace")
        for word in re.split(r"[_/.]+", name):
            if word in FORBIDDEN or word in IN_NAMES:
                violations.append(f"{name}: '{word}' in the file's name; write {FORBIDDEN.get(word) or IN_NAMES[word]}")
        for kind, start, part in parts(path, text):
            for offset, said, instead in wrong_words(kind, part):
                line = text.count("\n", 0, start + offset) + 1
                violations.append(f"{name}:{line}: '{said}'; write {instead}")
    return violations


def plant_document(text):
    def plant(tree):
        (tree.root / "docs").mkdir(exist_ok=True)
        (tree.root / "docs" / "seeded.md").write_text(text)
    return plant


GUARDS = {
    "plain_words": (plain_words, [
        ("a name of another word", lambda t: t.plant("seeded.hpp", "constexpr int picture_width = 4;\n")),
        ("a name that begins with most_", lambda t: t.plant("seeded.hpp", "constexpr int most_rows = 4;\n")),
        ("a comment of another word", lambda t: t.plant("seeded.hpp", "/// Rows of one instant.\nint rows();\n")),
        ("a comment in which nobody does something", lambda t: t.plant("seeded.hpp", "/// Rows that nobody reads.\nint rows();\n")),
        ("a comment that names a limit", lambda t: t.plant("seeded.hpp", "/// Most rows of one call.\nint rows();\n")),
        ("a comment without its subject", lambda t: t.plant("seeded.hpp", "/// The same for floats.\nint rows();\n")),
        ("a message of another word", lambda t: t.plant("seeded.hpp", 'constexpr auto text = "the axes are exchanged";\n')),
        ("a file's name", lambda t: t.plant("forest_plan.hpp", "")),
        ("a document", plant_document("# Seeded\n\nThe tensor lies in the arena.\n")),
    ]),
}
