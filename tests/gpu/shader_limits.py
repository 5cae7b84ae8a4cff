#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the limits of every kernel from its SPIR-V (include/netsuke/gpu/generated/spirv/), and compares them with what devices promise.

  shader_limits.py [--seeded]      with --seeded: plants a violation of every limit, each of which must be reported
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPIRV = ROOT / "include/netsuke/gpu/generated/spirv"
# What OpenGL ES 3.1, Vulkan 1.1 and Direct3D 11 promise, or where compilers are known to fail (private arrays).
STORAGE_BINDINGS, CONSTANT_BYTES, GROUP_BYTES, GROUP_SIZE, PRIVATE_BYTES = {0, 1, 2, 3}, 128, 16384, (64, 1, 1), 16 * 16
TEXTURE_BINDINGS = {4, 5}
SHADER_CAPABILITY, IMAGE_QUERY = 1, 50
# Kernel -> (limit, reason): an exception to one limit.
EXCEPTIONS = {}

CAPABILITY, EXECUTION_MODE, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_ARRAY = 17, 16, 21, 22, 23, 28
TYPE_BOOL, TYPE_RUNTIME_ARRAY, TYPE_STRUCT, TYPE_POINTER, CONSTANT, SPEC_CONSTANT, VARIABLE = 20, 29, 30, 32, 43, 50, 59
DECORATE, MEMBER_DECORATE, LOCAL_SIZE, BINDING, OFFSET = 71, 72, 17, 33, 35
UNIFORM_CONSTANT, UNIFORM, WORKGROUP, PRIVATE, FUNCTION, PUSH_CONSTANT, STORAGE_BUFFER = 0, 2, 4, 6, 7, 9, 12


def kernels():
    """Name -> words of every kernel."""
    text = "".join(path.read_text() for path in sorted(SPIRV.glob("*.hpp")))
    return {name: [int(word, 0) for word in words.replace("\n", " ").split(",") if word.strip()]
            for name, words in re.findall(r"inline constexpr std::uint32_t (\w+)\[\] = \{(.*?)\};", text, re.S)}


def instructions(words):
    """(operation, index of its first operand, operands) of every instruction."""
    at = 5
    while at < len(words):
        count, operation = words[at] >> 16, words[at] & 0xffff
        yield operation, at + 1, words[at + 1:at + count]
        at += count


class Module:
    def __init__(self, words):
        self.types, self.constants, self.bindings, self.offsets = {}, {}, {}, {}
        self.variables, self.capabilities, self.group = [], [], None
        for operation, _, o in instructions(words):
            if operation == CAPABILITY:
                self.capabilities.append(o[0])
            elif operation == EXECUTION_MODE and o[1] == LOCAL_SIZE:
                self.group = tuple(o[2:])
            elif operation in (TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_ARRAY, TYPE_RUNTIME_ARRAY, TYPE_STRUCT, TYPE_POINTER):
                self.types[o[0]] = (operation, o[1:])
            elif operation in (CONSTANT, SPEC_CONSTANT):
                self.constants[o[1]] = o[2]
            elif operation == VARIABLE:
                self.variables.append((o[0], o[1], o[2]))
            elif operation == DECORATE and o[1] == BINDING:
                self.bindings[o[0]] = o[2]
            elif operation == MEMBER_DECORATE and o[2] == OFFSET:
                self.offsets[o[0], o[1]] = o[3]

    def size(self, number):
        """Bytes of a type."""
        operation, o = self.types[number]
        if operation in (TYPE_INT, TYPE_FLOAT):
            return o[0] // 8
        if operation == TYPE_BOOL:
            return 4
        if operation == TYPE_VECTOR:
            return self.size(o[0]) * o[1]
        if operation == TYPE_ARRAY:
            return self.size(o[0]) * self.constants[o[1]]
        if operation == TYPE_STRUCT:
            last = len(o) - 1
            return self.offsets.get((number, last), 4 * last) + self.size(o[last]) if o else 0
        raise ValueError(f"no size of type {operation}")

    def in_class(self, *classes):
        """(variable, type that it points to) of storage classes."""
        return [(variable, self.types[pointer][1][1]) for pointer, variable, storage in self.variables if storage in classes]


def limits_of(words):
    """(limit, what was found) of every limit that a kernel breaks."""
    m = Module(words)
    storage = {m.bindings[v] for v, _ in m.in_class(STORAGE_BUFFER, UNIFORM)}
    textures = {m.bindings[v] for v, _ in m.in_class(UNIFORM_CONSTANT)}
    constants = sum(m.size(t) for _, t in m.in_class(PUSH_CONSTANT))
    group = sum(m.size(t) for _, t in m.in_class(WORKGROUP))
    private = [m.size(t) for _, t in m.in_class(FUNCTION, PRIVATE) if m.types[t][0] == TYPE_ARRAY]
    broken = []
    if not storage <= STORAGE_BINDINGS:
        broken.append(("storage bindings", f"{sorted(storage)}, allowed are {sorted(STORAGE_BINDINGS)}"))
    if not textures <= TEXTURE_BINDINGS or len(textures) > 1:
        broken.append(("texture bindings", f"{sorted(textures)}, allowed is one of {sorted(TEXTURE_BINDINGS)}"))
    if constants > CONSTANT_BYTES:
        broken.append(("constants", f"{constants} bytes, at most {CONSTANT_BYTES}"))
    if group > GROUP_BYTES:
        broken.append(("group memory", f"{group} bytes, at most {GROUP_BYTES}"))
    if max(private, default=0) > PRIVATE_BYTES:
        broken.append(("private arrays", f"{max(private)} bytes in one, at most {PRIVATE_BYTES}"))
    if m.group != GROUP_SIZE:
        broken.append(("group size", f"{m.group}, must be {GROUP_SIZE}"))
    if not set(m.capabilities) <= {SHADER_CAPABILITY, IMAGE_QUERY}:
        broken.append(("capabilities", f"{m.capabilities}, allowed are Shader and ImageQuery"))
    return broken


def check(found):
    """Violations of all kernels; exceptions are printed, and must be needed."""
    violations = []
    for name, words in found.items():
        broken = limits_of(words)
        excepted, reason = EXCEPTIONS.get(name, (None, None))
        if excepted and excepted not in [limit for limit, _ in broken]:
            violations.append(f"{name}: the exception for {excepted} is not needed")
        for limit, what in broken:
            if limit == excepted:
                print(f"  {name}: {limit}: {what}: excepted, {reason}")
            else:
                violations.append(f"{name}: {limit}: {what}")
    return violations


def changed(words, operation, wanted, operand, value):
    """The words with one operand of an instruction changed: the first instruction of which wanted(operands) holds."""
    copy = list(words)
    for found, at, operands in instructions(words):
        if found == operation and wanted(operands):
            copy[at + operand] = value
            return copy
    raise RuntimeError("seed: no such instruction")


def seeds(found):
    """Limit -> a kernel that breaks it."""
    tiled, to_tensor = found["conv_2d_tiled"], found["texture_to_tensor"]
    module = Module(tiled)
    (_, shared), *_ = module.in_class(WORKGROUP)
    length = module.types[shared][1][1]
    (_, block), *_ = module.in_class(PUSH_CONSTANT)
    last = len(module.types[block][1]) - 1
    local = next(t for _, t in module.in_class(FUNCTION) if module.types[t][0] == TYPE_ARRAY)
    count = module.types[local][1][1]
    return {
        "storage bindings": changed(tiled, DECORATE, lambda o: o[1] == BINDING and o[2] == 3, 2, 6),
        "texture bindings": changed(to_tensor, DECORATE, lambda o: o[1] == BINDING and o[2] == 4, 2, 7),
        "constants": changed(tiled, MEMBER_DECORATE, lambda o: o[0] == block and o[1] == last and o[2] == OFFSET, 3, 128),
        "group memory": changed(tiled, CONSTANT, lambda o: o[1] == length, 2, 1000),
        "private arrays": changed(tiled, CONSTANT, lambda o: o[1] == count, 2, 17),
        "group size": changed(tiled, EXECUTION_MODE, lambda o: o[1] == LOCAL_SIZE, 2, 128),
        "capabilities": changed(tiled, CAPABILITY, lambda o: True, 0, 9),
    }


def main():
    found = kernels()
    if not found:
        print(f"{SPIRV}: no kernels found")
        return 1
    if sys.argv[1:] == ["--seeded"]:
        silent = 0
        for limit, words in seeds(found).items():
            reports = [what for name, what in limits_of(words) if name == limit]
            print(f"  {'fires' if reports else 'SILENT'}: {limit}" + "".join(f": {r}" for r in reports))
            silent += not reports
        return 1 if silent else 0
    violations = check(found)
    for violation in violations:
        print(f"  {violation}")
    print(f"{len(found)} kernels, {len(violations)} violation(s)")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
