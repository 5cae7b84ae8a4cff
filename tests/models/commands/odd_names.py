#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that C++, JSON and XML do not take: headers of `nsk codegen` compile behind every header that defines macros, reports and images
are valid whatever the bytes of names."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from generated_source import compilers, inputs_of, ports  # noqa: E402
from models import REPOSITORY, TOOL, must, nsk  # noqa: E402

HEADERS = """cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath complex.h csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib
cstring ctime cuchar cwchar cwctype dlfcn.h fcntl.h netdb.h netinet/in.h pthread.h sys/param.h sys/socket.h sys/stat.h sys/sysmacros.h sys/types.h
unistd.h algorithm string vector memory thread filesystem""".split()
KEYWORDS = "int class and or_eq co_await char8_t reinterpret_cast thread_local static_assert typeof constinit".split()
OWN = "inputs outputs states nsk std input output port m net".split()
NASTY = ["NULL", "EOF", "TRUE", "errno", "INFINITY", "NAN", "min", "max", "I", "linux", "unix", "stdin", "assert", "near", "far", "interface",
         "small", "signals", "slots", "emit", "_Bool", "__x", "_Upper", "a__b", "3d", "", "名前", "x\\", "what??/", "‮gnp", "INT_MAX", "BUFSIZ",
         "PRId64", "M_PI", "isnan", "major", "foreach", *KEYWORDS, *OWN]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def macros_of(compiler, folder):
    source = folder / "headers.cpp"
    source.write_text("".join(f"#include <{h}>\n" for h in HEADERS))
    text = subprocess.run([compiler, "-std=gnu++17", "-dM", "-E", source], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^#define (\w+)(?![\w(])", text, re.MULTILINE)))  # one with arguments is none without them


def network(path, names):
    """One output per name, each the input times another number."""
    nodes = [helper.make_node("Mul", ["x", f"k{i}"], [name]) for i, name in enumerate(names)]
    constants = [helper.make_tensor(f"k{i}", TensorProto.FLOAT, [], [i + 1.0]) for i in range(len(names))]
    graph = helper.make_graph(nodes, "names", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in names], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def identifiers(folder, names, stem):
    network(folder / f"{stem}.onnx", names)
    must("convert", folder / f"{stem}.onnx", "-o", folder / f"{stem}.nsk", "--no-check", "--quiet")
    must("codegen", folder / f"{stem}.nsk", "-o", folder / f"{stem}.hpp", "--name", "tested", "--quiet")
    return [name for name, _, _ in ports((folder / f"{stem}.hpp").read_text(), "outputs")]


def no_macros(folder):
    """No port is called as a macro of any header of C and POSIX is."""
    for compiler in compilers():
        macros = macros_of(compiler, folder)
        names = [m for m in macros if m != "x"]
        found = [n for i in range(0, len(names), 1000) for n in identifiers(folder, names[i:i + 1000], "macros")]
        clash = sorted(set(found) & set(macros))
        expect(len(macros) > 300 and len(found) >= len(macros) - 1 and not clash, f"{compiler}: {len(found)} of {len(macros)}, macros: {clash}")


def compiles(folder):
    """The nastiest names behind all those headers, with macros of Windows and Qt, and the bits of nsk run."""
    names = [n for n in NASTY if n]
    found = identifiers(folder, names, "nasty")
    expect(len(set(found)) == len(names) and not any("__" in n for n in found), f"{len(set(found))} identifiers of {len(names)} names")
    own = "".join(f"#define {m}\n" for m in ("near", "far", "emit", "signals", "slots", "small char")) + "#define TRUE 1\n#define interface struct\n"
    reads = "".join(f"  std::fwrite(net.out.{n}.data(), 4, 4, to);\n" for n in found)
    (folder / "nasty.cpp").write_text("".join(f"#include <{h}>\n" for h in HEADERS) + own + f"""#include "nasty.hpp"
int main(int, char** argv) {{
  alignas(64) static std::byte memory[tested::required_bytes];
  tested::net net({{memory, sizeof memory}});
  if (!net.status()) return 4;
  std::FILE* const from = std::fopen(argv[1], "rb");
  if (std::fread(net.in.x.data(), 4, 4, from) != 4) return 5;
  net.run();
  std::FILE* const to = std::fopen(argv[2], "wb");
{reads}  return std::fclose(to);
}}
""")
    for compiler in compilers():
        program = folder / f"nasty_{pathlib.Path(compiler).name}"
        done = subprocess.run([compiler, "-std=gnu++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{REPOSITORY / 'include'}", folder / "nasty.cpp", "-o", program],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"{compiler}: {done.stderr[:1500]}")
        if done.returncode:
            continue
        arrays = inputs_of(folder / "nasty.hpp", 1)
        (folder / "in.bin").write_bytes(arrays["x"].astype(np.float32).tobytes())
        subprocess.run([program, folder / "in.bin", folder / "out.bin"], check=True)
        wanted = np.concatenate([arrays["x"].ravel() * np.float32(i + 1) for i in range(len(names))])
        expect(np.array_equal(np.fromfile(folder / "out.bin", np.float32), wanted), f"{compiler}: the outputs are not in the order of the names")


def namespaces(folder):
    """A file called as a function of the C library is, or as a macro."""
    for name in ("log", "time", "index", "random", "signal", "select", "NULL", "std", "nsk", "int"):
        must("codegen", folder / "nasty.nsk", "-o", folder / "n.hpp", "--quiet", "--name", f"network_{name}")
        (folder / f"{name}.nsk").write_bytes((folder / "nasty.nsk").read_bytes())
        must("codegen", folder / f"{name}.nsk", "-o", folder / "n.hpp", "--quiet")
        expect(f"namespace network_{name} {{" in (folder / "n.hpp").read_text(), f"{name}.nsk has a namespace of that name")
        done = nsk("codegen", folder / f"{name}.nsk", "-o", folder / "n.hpp", "--name", name)
        expect(done.returncode == 1 and f"network_{name}" in done.stderr, f"--name {name}: {done.stderr}")


def any_bytes(folder):
    """Reports of a file whose names are bytes of any kind."""
    network(folder / "plain.onnx", ["first_name", "second_one"])
    must("convert", folder / "plain.onnx", "-o", folder / "plain.nsk", "--no-check", "--quiet")
    good = (folder / "plain.nsk").read_bytes()
    for number, odd in enumerate((b"\xff\xfe<&\x01\x80\xc3\"'", b"\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80a", b"\xf4\x90\x80\x80\xc0\xaf\x1b[2J", b"]]>\xe2\x80\xae\xf0\x9f\x98\x80")):
        odd = odd.ljust(len(b"first_name"), b"z")
        model = folder / f"odd{number}.nsk"
        model.write_bytes(good.replace(b"first_name", odd))
        report = subprocess.run([str(a) for a in (TOOL, "inspect", model, "--json")], capture_output=True)
        try:
            json.loads(report.stdout.decode("utf-8", "strict"), strict=True)
        except ValueError as e:
            expect(False, f"inspect --json of {odd}: {e} {report.stderr[:200]}")
        for option in ("--svg", "--svg-graph"):
            must("inspect", model, option, folder / "odd.svg")
            try:
                xml.parse(folder / "odd.svg")
            except (xml.ParseError, UnicodeDecodeError) as e:
                expect(False, f"inspect {option} of {odd}: {e}")
        must("codegen", model, "-o", folder / "odd.hpp", "--name", "odd", "--quiet")
        (folder / "odd.hpp").read_text(encoding="utf-8", errors="strict")
        done = nsk("json", model, "-o", folder / "odd.json")
        expect(done.returncode == 0 or "no UTF-8" in done.stderr, f"json of {odd}: {done.stderr}")


def long_names(folder):
    """nsk run writes outputs whose names are longer than a file's may be, says where, and keeps equal beginnings apart."""
    names = ["o" * 300, "o" * 300 + "2", "o" * 200 + "/", "p" * 200, "short"]
    network(folder / "long.onnx", names)
    must("convert", folder / "long.onnx", "-o", folder / "long.nsk", "--no-check", "--quiet")
    np.save(folder / "x.npy", np.ones([1, 4], np.float32))
    (folder / "out").mkdir()
    done = nsk("run", folder / "long.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    files = ["o" * 200, "o" * 200 + "_2", "o" * 200 + "_3", "p" * 200, "short"]
    wanted = {f"{file}.npy": i + 1.0 for i, file in enumerate(files)}
    found = {p.name: float(np.load(p).ravel()[0]) for p in (folder / "out").iterdir()}
    expect(done.returncode == 0 and found == wanted, f"run with long names: {done.returncode}, {done.stderr}, {sorted(found)}")
    expect(done.stdout.count(" is too long for a file, is in ") == 3 and f"{files[1]}.npy" in done.stdout, f"run says of long names: {done.stdout}")


def files_of_outputs(folder):
    """nsk run gives every output a file of its own that any system takes, and says which one where the names differ."""
    names = ["y", "Y", "a/b", "a:b", "a_b_2", "../up", "..", ".hidden", "-o", "名前", "NUL", "com1.x", "com", "a b", "StatefulPartitionedCall:0"]
    files = ["y", "Y_2", "a_b", "a_b_2", "a_b_2_2", "_.._up", "_..", "_.hidden", "-o", "______", "_NUL", "_com1.x", "com", "a_b_3", "StatefulPartitionedCall_0"]
    network(folder / "files.onnx", names)
    must("convert", folder / "files.onnx", "-o", folder / "files.nsk", "--no-check", "--quiet")
    np.save(folder / "x.npy", np.ones([1, 4], np.float32))
    (folder / "files").mkdir()
    done = nsk("run", folder / "files.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "files")
    found = {p.name: float(np.load(p).ravel()[0]) for p in (folder / "files").iterdir()}
    expect(found == {f"{file}.npy": i + 1.0 for i, file in enumerate(files)}, f"files of outputs: {done.stderr}, {found}")
    for name, file in zip(names, files):
        told = f"output '{name}' is in {folder / 'files' / file}.npy\n" in done.stdout
        expect(told == (name != file), f"run says of the file of output '{name}': {done.stdout}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_names_") as folder:
        folder = pathlib.Path(folder)
        for group in (no_macros, compiles, namespaces, any_bytes, long_names, files_of_outputs):
            group(folder)
    print("\n".join(failures + [f"odd names: {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
