# SPDX-License-Identifier: MIT
"""Guards on the structure: which folder may include which."""
import re
import shutil

from common import REPOSITORY

# Folders, and for each those right below it. It may include what they may.
ENGINE_ARROWS = {
    "core": [],
    "format": ["core"],
    "simd": ["format"],
    "math": ["simd"],
    "text": ["math"],
    "kernels": ["math"],
    "ops": ["kernels"],
    "codegen": ["kernels"],
    "model": ["ops"],
    "run": ["model"],
    "log": ["model"],
    "image": ["run"],
    "gpu": ["image"],
    "c": ["run"],
}
# Folders of kernels/. A file beside them serves all of them and includes none.
KERNEL_ARROWS = {
    "elements": [],
    "lines": ["elements"],
    "images": [],
    "product": ["lines"],
    "conv": ["product"],
    "depthwise": ["product"],
    "dense": ["conv"],
    "int8": ["product"],
}
TOOL_ARROWS = {
    "graph": [],
    "reference": ["graph"],
    "bounded": ["reference"],
    "spell": ["graph"],
    "resolve": ["bounded", "spell"],
    "io": ["graph"],
    "import": ["resolve", "io"],
    "program": ["graph"],
    "pack": [],
    "passes": ["program", "reference"],
    "write": ["program"],
    "ops": ["passes", "write", "pack"],
    "lengths": ["ops"],
    "chunks": ["resolve"],
    "planner": ["ops"],
    "compile": ["lengths", "planner", "bounded"],
    "engine": ["io"],
    "shrink": ["program", "engine"],
    "edit": ["write", "pack", "io"],
    "profile": ["compile", "resolve", "engine"],
    "draw": ["io"],
    "check": ["profile", "draw"],
    "inspect": ["profile", "draw"],
    "codegen": ["inspect"],
    "text": ["write", "io"],
    "quantize": ["check", "shrink"],
    "gpu": ["check"],
    "cli": ["gpu", "text", "codegen", "quantize", "import", "edit", "shrink", "lengths", "chunks"],
}
PLACES = [  # what files are below, how they include each other, and the arrows between their folders
    ("include/netsuke", r'\s*#\s*include\s*<netsuke/([^>]+)>', ENGINE_ARROWS),
    ("include/netsuke/kernels", r'\s*#\s*include\s*<netsuke/kernels/([^>]+)>', KERNEL_ARROWS),
    ("tools/nsk", r'\s*#\s*include\s*"([^"]+)"', TOOL_ARROWS),
]


def sources(base):
    return [p for p in sorted(base.rglob("*")) if p.suffix in (".hpp", ".cpp", ".inc")]


def reachable(arrows):
    """The folders that each folder may include."""
    below = {}

    def visit(folder, path):
        if folder in path:
            raise ValueError(f"the table of arrows has a cycle: {' -> '.join([*path, folder])}")
        if folder not in below:
            below[folder] = set(arrows[folder]).union(*(visit(f, [*path, folder]) for f in arrows[folder]))
        return below[folder]

    for folder in arrows:
        visit(folder, [])
    return below


def includes(base, pattern):
    """(file, line, included path) of every include of another file below `base`."""
    for path in sources(base):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.match(pattern, line):
                yield path, number, match.group(1)


def folder_of(name):
    """The folder of a file; impl/, generated/ and paths/ are parts of the folder that they are in."""
    return re.sub(r"/(impl|generated|paths)(?=/|$)", "", name.rpartition("/")[0])


def cycles(base, pattern):
    """Folders, those inside others too, whose files include each other in a circle."""
    edges = {}
    for path, _, target in includes(base, pattern):
        source, to = folder_of(path.relative_to(base).as_posix()), folder_of(target)
        if source and to and to != source:
            edges.setdefault(source, set()).add(to)

    def reach(start):
        found, waiting = set(), [start]
        while waiting:
            for to in edges.get(waiting.pop(), ()):
                if to not in found:
                    found.add(to)
                    waiting.append(to)
        return found

    circular = sorted(folder for folder in edges if folder in reach(folder))
    return [f"{base.name}: includes lead in a circle through {', '.join(circular)}"] if circular else []


def arrows(tree):
    """Folders include those below them, by the tables above; what is in no folder belongs to none of them."""
    violations = []
    for place, pattern, table in PLACES:
        base, below = tree.root / place, reachable(table)
        for folder in sorted({p.relative_to(base).parts[0] for p in sources(base) if p.parent != base}.difference(table)):
            violations.append(f"{place}/{folder}/ has no place among the arrows")
        for path, number, target in includes(base, pattern):
            folder, to = path.relative_to(base).parts[0], target.split("/")[0]
            if path.parent != base and folder in table and "/" in target and to != folder and to not in below[folder]:
                violations.append(f"{path.relative_to(tree.root).as_posix()}:{number}: {folder}/ includes {target}")
        violations += cycles(base, pattern)
    return violations


def gpu_apart(tree):
    """Only netsuke/gpu.hpp and what is in gpu/ include files of gpu/: a program without it carries nothing of the GPU path."""
    base, pattern = tree.include / "netsuke", PLACES[0][1]
    return [f"netsuke/{path.relative_to(base).as_posix()}:{number}: includes {target}" for path, number, target in includes(base, pattern)
            if (target.startswith("gpu/") or target == "gpu.hpp") and path.relative_to(base).parts[0] not in ("gpu", "gpu.hpp")]


# What names an operating system, or takes a path for text of its own encoding (path_of and utf8_of of io/system/paths.hpp are UTF-8 everywhere).
SYSTEM_WORDS = re.compile(r"#\s*include\s*<(?:unistd|fcntl|poll|pthread|signal|csignal|dirent|dlfcn|windows|io|direct|process|malloc|sys/\w+)(?:\.h)?>"
                          r"|\b(?:__linux__|__APPLE__|_WIN32|__unix__|__GLIBC__)\b|\.string\(\)|\b(?:fs|filesystem)::(?:u8)?path\((?!\"\.?\"\))")


def systems(tree):
    """Only io/system/ of the tool names an operating system: everything else is the same on all of them."""
    base = tree.root / "tools" / "nsk"
    found = [p for p in sorted(base.rglob("*.[ch]pp")) if p.relative_to(base).parts[:2] != ("io", "system")]
    return [f"{path.relative_to(tree.root).as_posix()}:{number}: {match.group(0)}" for path in found
            for number, line in enumerate(path.read_text().splitlines(), 1) if (match := SYSTEM_WORDS.search(line.split("//")[0]))]


def plant_tool(name, text):
    """Writes a file of the tool; its other files are there as they are."""
    def plant(tree):
        shutil.copytree(REPOSITORY / "tools" / "nsk", tree.root / "tools" / "nsk", dirs_exist_ok=True)
        path = tree.root / "tools" / "nsk" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return plant


GUARDS = {
    "arrows": (arrows, [
        ("a kernel that knows sessions", lambda t: t.plant("kernels/seeded.hpp", "#include <netsuke/run/session.hpp>\n")),
        ("a product that knows convolutions", lambda t: t.plant("kernels/product/seeded.hpp", "#include <netsuke/kernels/conv/conv_2d.hpp>\n")),
        ("a kernel for all rooms that includes one", lambda t: t.plant("kernels/seeded.hpp", "#include <netsuke/kernels/elements/loop_nest.hpp>\n")),
        ("a folder without a place", lambda t: t.plant("seeded/seeded.hpp", "inline int seeded;\n")),
        ("a graph that is evaluated", plant_tool("graph/seeded.hpp", '#include "reference/evaluator.hpp"\n')),
        ("a pass that writes files", plant_tool("passes/fuse/seeded.cpp", '#include "write/file.hpp"\n')),
        ("rooms of a folder that include each other", plant_tool("resolve/shapes/seeded.hpp", '#include "resolve/lengths/input_options.hpp"\n')),
        ("a circle inside a folder", plant_tool("passes/seeded.hpp", '#include "passes/fuse/fuse.hpp"\n')),
    ]),
    "systems": (systems, [
        ("a header of POSIX", plant_tool("cli/seeded.cpp", "#include <unistd.h>\n")),
        ("a system by its macro", plant_tool("engine/seeded.cpp", "#if defined(_WIN32)\n#endif\n")),
        ("text of a path in the system's encoding", plant_tool("cli/seeded.cpp", "std::string f(const std::filesystem::path& p) { return p.string(); }\n")),
        ("a path of text in the system's encoding", plant_tool("cli/seeded.cpp", "auto f(const std::string& s) { return std::filesystem::path(s); }\n")),
    ]),
    "gpu_apart": (gpu_apart, [
        ("an umbrella that includes the GPU path", lambda t: t.plant("seeded.hpp", "#include <netsuke/gpu.hpp>\n")),
        ("a session that knows a plan of the GPU path", lambda t: t.plant("run/seeded.hpp", "#include <netsuke/gpu/plan.hpp>\n")),
    ]),
}
