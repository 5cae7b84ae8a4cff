#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What including and using netsuke costs a game's build.

  bench/compile_times.py [MODEL.nsk] [--rounds 3] [--compilers g++ clang++]

Compiles at -O2 the umbrella alone, the default session, one of every operator, and with MODEL one of the settings that `nsk inspect --settings` prints for
it. Processor time (user and system) of the best of the rounds, and the largest memory. Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
TOOL = os.environ.get("NSK_TOOL", str(REPOSITORY / "build" / "nsk"))
USE = """
float use(nsk::span<const std::byte> file, nsk::span<std::byte> memory) {
  nsk::model m;
  using settings = %s;
  if (!nsk::open<settings>(file, m)) return 0;
  nsk::session<settings> net(m, memory);
  net.run();
  return net.template output<float>(0).data()[0];
}
"""


def sources(folder, model):
    everything = "#include <netsuke/all_ops.hpp>\n" + USE % "nsk::all_settings"
    default = "#include <netsuke/netsuke.hpp>\n" + USE % "nsk::default_settings"
    found = {"umbrella": "#include <netsuke/netsuke.hpp>\n", "default session": default, "every operator": everything}
    if model:
        settings = subprocess.run([TOOL, "inspect", model, "--settings"], capture_output=True, text=True, check=True).stdout
        found["printed settings"] = settings + USE % re.search(r"struct (\w+)", settings).group(1)
    for what, text in found.items():
        path = pathlib.Path(folder) / (what.replace(" ", "_") + ".cpp")
        path.write_text(text)
        yield what, path


def cost(compiler, source):
    """Seconds of the compiler's processes, and the largest memory of one in MB."""
    child = os.fork()
    if child == 0:
        done = subprocess.run([compiler, "-std=c++17", f"-I{REPOSITORY / 'include'}", "-O2", "-DNDEBUG", "-c", source, "-o", "/dev/null"])
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, file=open(f"{source}.cost", "w"))
        os._exit(0)
    os.waitpid(child, 0)
    code, seconds, megabytes = pathlib.Path(f"{source}.cost").read_text().split()
    if code != "0":
        sys.exit(f"{compiler} does not compile {source.name}")
    return float(seconds), int(megabytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compilers", nargs="+", default=["g++", "clang++"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nsk_compile_") as folder:
        for what, source in sources(folder, options.model):
            for compiler in options.compilers:
                if not shutil.which(compiler):
                    print(f"{compiler} is not installed")
                    continue
                costs = [cost(compiler, source) for _ in range(options.rounds)]
                print(f"{what:18} {compiler:8} {min(c[0] for c in costs):6.2f} s {max(c[1] for c in costs):6d} MB", flush=True)


if __name__ == "__main__":
    main()
