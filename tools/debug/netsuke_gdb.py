# SPDX-License-Identifier: MIT
"""Shows netsuke's types in gdb as what they mean: a span's elements, a status by name, a tensor's type and shape.

In gdb, or in ~/.gdbinit:    source /path/to/netsuke_gdb.py

Names begin with the library's inline namespace, nsk::v0_1_0_avx2 for example; every version and instruction set is accepted.
"""
import re

import gdb
import gdb.printing

# What gdb calls the elements of a tensor. float16 has no type in C++: its bits are shown.
ELEMENTS = {"float32": "float", "float16": "unsigned short", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
            "int32": "int", "int64": "long long", "boolean": "bool"}


def name_of(enumerator):
    """The last part of an enumerator's name: "float32"."""
    return str(enumerator).rsplit("::", 1)[-1]


def array_at(pointer, count):
    """`count` elements behind a pointer, as one value."""
    return pointer.dereference().cast(pointer.type.target().strip_typedefs().array(count - 1))


class Span:
    """span<T>: its size and its elements."""

    def __init__(self, value):
        self.data, self.size = value["m_data"], int(value["m_size"])

    def to_string(self):
        return f"span of {self.size}"

    def children(self):
        return ((f"[{i}]", (self.data + i).dereference()) for i in range(self.size))

    def display_hint(self):
        return "array"


def status_text(value):
    code, where = name_of(value["m_code"]), int(value["m_where"])
    return code if where < 0 else f"{code} at {where}"


class Status:
    """status: the code's name, and the step, tensor or port that it refers to."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return status_text(self.value)


class Halo:
    """halo: pixels around a tensor."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return ", ".join(f"{side} {int(self.value[side])}" for side in ("top", "left", "bottom", "right"))


class TensorView:
    """tensor_view: element type and shape; strides, border and the first line of elements below."""

    def __init__(self, value):
        self.value, self.rank = value, int(value["rank"])
        self.type = name_of(value["type"])

    def lengths(self, member):
        return [int(self.value[member][i]) for i in range(self.rank)]

    def to_string(self):
        return f"{self.type} {self.lengths('shape')}"

    def children(self):
        yield "data", self.value["data"]
        yield "stride", str(self.lengths("stride"))
        yield "border", self.value["border"]
        yield "fill", self.value["fill"]
        shape, stride = self.lengths("shape"), self.lengths("stride")
        if int(self.value["data"]) != 0 and self.rank > 0 and shape[-1] > 0 and stride[-1] == 1:
            element = gdb.lookup_type(ELEMENTS[self.type])
            yield "first_line", array_at(self.value["data"].cast(element.pointer()), shape[-1])


class Model:
    """model: whether it is open, and its weights."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "not open" if int(self.value["m_view"]["m_table"]) == 0 else f"open, {int(self.value['m_weights']['m_size'])} bytes of weights"


class Session:
    """session: whether it can run, and where run_for() stands."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        if name_of(self.value["m_status"]["m_code"]) != "ok":
            return f"cannot run: {status_text(self.value['m_status'])}"
        return ", ".join(f"{name} {int(self.value['m_' + name])}" for name in ("lanes", "step", "tile", "flags"))

    def children(self):
        yield "status", self.value["m_status"]
        yield "arena", self.value["m_arena"]
        yield "profiler", self.value["m_profiler"]


PRINTERS = {"span<.*>": Span, "status": Status, "halo": Halo, "tensor_view": TensorView, "model": Model, "session<.*>": Session}


def register(objfile=None):
    printers = gdb.printing.RegexpCollectionPrettyPrinter("netsuke")
    for pattern, printer in PRINTERS.items():
        printers.add_printer(re.sub(r"\W", "", pattern), rf"^nsk::(v\w+::)?{pattern}$", printer)
    gdb.printing.register_pretty_printer(objfile, printers, replace=True)


register()
