# SPDX-License-Identifier: MIT
"""Programs that hand a wrong type to the library: the compiler says one sentence, which names the cure, and little else."""
import itertools
import pathlib
import re

from common import READ_WHOLE, REPOSITORY, compilers, is_clang, library_flags, parallel, run, scratch_folder

MAX_LINES = 4  # without those that say where a header was included
# What compilers quote of the sources is not counted: it repeats what the message says.
NO_QUOTES = {True: ["-fno-caret-diagnostics"], False: ["-fno-diagnostics-show-caret"]}

ELEMENT = r"ask for float, std::int8_t, .*input_bytes"
SETTINGS = "derive it from nsk::default_settings, or add "
OPS, FUNCTIONS = SETTINGS + r"using ops = nsk::op_list<", SETTINGS + "using functions = nsk::function_list<"
WINOGRAD, PORTS = SETTINGS + "static constexpr bool winograd", SETTINGS + "static constexpr int bindable_ports"
CLASS = r"write struct my_settings : nsk::default_settings"
PROFILER = r"add using profiler = nsk::no_profiler; or a class that .* begin\(int step\) and void end\(int step\)"
JOBS = r"pass an object, not a pointer, with public template <class F> void parallel_for\(int count, const F& f\)"
CLOCK = r"returns nsk::microseconds or a number of microseconds, such as \[\]"
BUDGET = r"call run_for\(nsk::microseconds\{500\}, clock\) for a time"

# One operator: compilers go on behind the sentence, through every kernel of the session.
FEW = "struct few : nsk::default_settings { using ops = nsk::op_list<nsk::op::copy>; };\n"
NET = "nsk::session<few>& net"
# (what is wrong, program, what the sentences of its errors say). tests/run/requirements_test.cpp has the other ways to be wrong.
PROGRAMS = [
    ("a clock of time points",
     f"struct moment {{ long t; }};\nvoid use({NET}) {{ while (!net.run_for(nsk::microseconds{{1}}, [] {{ return moment{{1}}; }})) {{}} }}", [CLOCK]),
    ("input<double>()", f"void use({NET}) {{ static_cast<void>(net.input<double>()); }}", [ELEMENT]),
    ("a settings type with nothing in it", "struct mine {};\nnsk::session<mine> net;\nvoid use() { net.run(); }", [OPS]),
    ("a job system without parallel_for", f"struct pool {{}};\nvoid use({NET}, pool& p) {{ net.run(p, 2); }}", [JOBS]),
    ("a profiler without end", """struct tracer { void begin(int) {} };
struct mine : nsk::default_settings { using profiler = tracer; };
nsk::session<mine> net;
void use() { net.run(); }""", [PROFILER]),
    ("a settings type that is not there", "struct mine;\nnsk::session<mine> net;", [CLASS]),
]
# Every other function that asserts, together: as many errors as mistakes.
TOGETHER = [
    ("elements of other types", f"""nsk::dtype type() {{ return nsk::dtype_of<double>(); }}
void use({NET}, nsk::span<double> in, nsk::span<const double> out) {{
  net.input<unsigned>("image");
  net.output<unsigned>();
  net.output<unsigned>("scores");
  if (!net.input(0, in) || !net.input("image", in) || !net.output(0, out) || !net.output("scores", out)) return;
}}""", [ELEMENT] * 5),
    ("job systems and clocks", f"""struct pool {{}};
void use({NET}, pool& p) {{
  net.run_for(nsk::work{{1}}, p);
  net.run_for(nsk::microseconds{{1}}, [] {{ return 1; }}, p);
  net.run_for(nsk::microseconds{{1}}, 5, p);
  net.run_for(500, [] {{ return 1; }});
  net.run_for(1.5);
}}""", [JOBS, JOBS, CLOCK, JOBS, BUDGET, BUDGET]),
    ("settings that lack one part", """struct a : nsk::default_settings { using functions = nsk::all_ops; };
struct b : nsk::default_settings { static constexpr int winograd = 1; };
struct c : nsk::default_settings { static constexpr int bindable_ports = 0; };
nsk::session<a> net_a;
nsk::session<b> net_b;
nsk::session<c> net_c;""", [FUNCTIONS, WINOGRAD, PORTS]),
]


DEVICE = {  # members of a device, and the cure that names each
    "using list = long;": r"add using list = the type",
    "using buffer = int;": r"add using buffer = the type",
    "using texture = int;": r"add using texture = its type",
    "using pipeline = int;": r"add using pipeline = its type",
    "nsk::gpu::limits limits() const { return {}; }": r"add nsk::gpu::limits limits\(\) const",
    "nsk::gpu::status create_pipeline(const nsk::gpu::pipeline_key&, int&) { return {}; }": r"add nsk::gpu::status create_pipeline",
    "void destroy_pipeline(int) {}": r"add void destroy_pipeline\(pipeline p\)",
    "template <class B> void bind(long&, const B&) {}": r"add void bind\(list& l, const nsk::gpu::bindings<device>& b\)",
    "void dispatch(long&, int, const std::uint32_t*, int, const std::uint32_t (&)[3]) {}": r"add void dispatch\(list& l, pipeline p",
    "void barrier(long&) {}": r"add void barrier\(list& l\)",
    "void copy(long&, int, std::size_t, int, std::size_t, std::size_t) {}": r"add void copy\(list& l, buffer from",
}
USE_OF_DEVICE = """
void use(device& d, const nsk::gpu::plan& p, nsk::span<std::byte> memory, long list) {
  nsk::gpu::session<device> net(d, p, {1, 2}, 64, memory);
  if (net && RECORD) return;
}
"""
PROGRAMS += [(f"a device without `{missing}`",
              "struct device {\n" + "\n".join(m for m in DEVICE if m != missing) + "\n};" +
              USE_OF_DEVICE.replace("RECORD", "list" if missing.startswith("using list") else "net.record(list) && net.copy_output(list, 0, 3, 0)"), [cure])
             for missing, cure in DEVICE.items()]
PROGRAMS.append(("a pipeline that owns what it names",
                 "struct owner { owner(); owner(const owner&); owner& operator=(const owner&); ~owner(); };\n" +
                 "struct device {\n" + "\n".join(DEVICE).replace("using pipeline = int", "using pipeline = owner").replace("int&)", "owner&)")
                 .replace("destroy_pipeline(int)", "destroy_pipeline(owner)").replace("long&, int, const", "long&, owner, const") + "\n};" +
                 USE_OF_DEVICE.replace("RECORD", "net.record(list)"), ["make the device's `pipeline` a handle, not an owner"]))


def header_of(text):
    """What a program includes."""
    return "gpu" if "nsk::gpu::" in text else "all_ops"


def precompiled(tree, folder, compiler, header):
    """Flags that give a program a header, read once for all programs of a compiler."""
    source = pathlib.Path(folder) / f"{pathlib.Path(compiler).name}_{header}.hpp"
    if not source.exists():
        source.write_text(f"#include <netsuke/{header}.hpp>\n")
        whole = [READ_WHOLE] if is_clang(compiler) else []
        run([compiler, "-std=c++17", f"-I{tree.include}", *library_flags(compiler), *whole, "-x", "c++-header", source, "-o", f"{source}.gch"])
    return ["-include-pch", f"{source}.gch"] if is_clang(compiler) else ["-include", source]


def fault_of(said, cures):
    """Why the output of a compiler is not one sentence per mistake with its cure; '' where it is."""
    lines = [line for line in said.splitlines() if line.strip() and not re.match(r"In file included from | +from ", line)]
    errors = [line for line in lines if re.search(r"\berror:", line)]
    if len(errors) != len(cures):
        others = [e for e in errors if not any(re.search(cure, e) for cure in cures)]
        return f"{len(errors)} errors, not {len(cures)}{': ' + others[0][:200] if others else ''}"
    for error in errors:
        cure = next((cure for cure in cures if re.search(cure, error)), None)
        if cure is None:
            return f"an error does not name the cure: {error[:200]}"
        cures = [*cures[:cures.index(cure)], *cures[cures.index(cure) + 1:]]
    return f"{len(lines)} lines, at most {MAX_LINES}" if len(errors) == 1 and len(lines) > MAX_LINES else ""


def attempt(tree, folder, compiler, program):
    """A violation, or None. Nothing is left for the linker to find, so no code is generated."""
    what, text, cures = program
    source = pathlib.Path(folder) / f"{pathlib.Path(compiler).name}_{(PROGRAMS + TOGETHER).index(program)}.cpp"
    source.write_text(f"{FEW if NET in text else ''}{text}\n")
    header = precompiled(tree, folder, compiler, header_of(text))
    said = run([compiler, "-std=c++17", *header, f"-I{tree.include}", *library_flags(compiler), *NO_QUOTES[is_clang(compiler)], "-fsyntax-only", source])
    fault = fault_of(said.stderr, cures)
    return f"{compiler}, {what}: {fault}" if fault else None


def sentences(tree):
    """Each wrong program is answered with one sentence that names the cure, in at most four lines, by g++ and clang++."""
    with scratch_folder() as folder:
        if tree.root == REPOSITORY:
            parallel(lambda job: precompiled(tree, folder, *job), itertools.product(compilers(), ("all_ops", "gpu")))
            jobs = itertools.product(compilers(), PROGRAMS + TOGETHER)
            return [v for v in parallel(lambda job: attempt(tree, folder, *job), jobs) if v]
        # A planted violation needs the compiler that goes on furthest behind an error, and the first program that shows it.
        found = (attempt(tree, folder, compilers()[-1], program) for program in PROGRAMS)
        return list(itertools.islice(filter(None, found), 1))


def unasserted(sentence):
    """Plants a session that does not assert what `sentence` says."""
    return lambda tree: tree.replace("run/session.hpp", rf"^ *static_assert\([^;]*{sentence}\);$", "")


def repeated(tree):
    """Plants a clock that is read although it is none."""
    tree.replace("run/impl/slices.hpp", r"if constexpr \(!is_clock<Clock>\)", "if constexpr (false)")


GUARDS = {
    "sentences": (sentences, [
        ("no sentence about elements", unasserted("NSK_IMPL_ELEMENT")),
        ("no sentence about operators", unasserted("NSK_IMPL_SETTINGS_OPS")),
        ("no sentence about jobs", unasserted("NSK_IMPL_JOBS")),
        ("no sentence about a device", lambda t: t.replace("gpu/session.hpp", r"^.*NSK_IMPL_GPU_BARRIER\);$", "")),
        ("a sentence without its cure", lambda t: t.replace("run/impl/requirements.hpp", r"that is called as clock\(\) and returns", "")),
        ("a second error behind the sentence", repeated),
    ]),
}
