# SPDX-License-Identifier: MIT
"""netsuke for Python, by ctypes: for tests, tools and experiments. Needs the shared library netsuke_c and nothing else.

    import netsuke
    library = netsuke.Library("build/bindings/libnetsuke_c.so")    # no path: the one of the package, as pip installs it
    net = library.open("model.nsk").session()
    net.write(0, array)                  # anything with a buffer of the port's bytes, in the engine's layout (NHWC)
    net.run()
    scores = net.read(0)                 # a memoryview of the port's type and shape; numpy.asarray(scores) copies nothing

Errors are netsuke.Error: its code, name, and the text that says which step or port is at fault and what to do.
"""
import ctypes
import pathlib
import sys

C_VERSION = 1
FORMATS = ["f", "e", "b", "B", "h", "i", "q", "?"]  # of enum nsk_type, as struct and memoryview name them


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("where", ctypes.c_int32)]


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int32)), ("source_shape", ctypes.POINTER(ctypes.c_int64)),
                ("mean", ctypes.POINTER(ctypes.c_float)), ("deviation", ctypes.POINTER(ctypes.c_float)), ("color", ctypes.c_char_p),
                ("elements", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("source_rank", ctypes.c_int32), ("normalisation_count", ctypes.c_int32), ("label_count", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]

    def shape_list(self):
        return [self.shape[i] for i in range(self.rank)]


class Error(Exception):
    """A call that did not succeed. `code` and `where` are the status's, `name` is for logs; the text has the names of the model's steps and ports
    where the handle of a model is given."""

    def __init__(self, library, status, model=None, variant=0):
        self.code, self.where = status.code, status.where
        self.name = library.nsk_status_name(status.code).decode()
        text = ctypes.create_string_buffer(2048)
        library.nsk_status_format(status, model, ctypes.c_int32(variant), text, ctypes.c_size_t(len(text)))
        super().__init__(f"{self.name}: {text.value.decode(errors='replace')}")


class Library:
    """The shared library netsuke_c, at a path or beside this module."""

    NAMES = {"win32": "netsuke_c.dll", "darwin": "libnetsuke_c.dylib"}
    SIZES = ("nsk_handle_alignment", "nsk_arena_alignment", "nsk_file_alignment", "nsk_over_read_bytes", "nsk_model_required_bytes", "nsk_session_required_bytes",
             "nsk_status_format")
    TEXTS = ("nsk_status_text", "nsk_status_name", "nsk_library_version", "nsk_library_isa", "nsk_model_name", "nsk_model_producer",
             "nsk_model_label", "nsk_model_metadata")
    # Functions that return a number: they take handles, which are addresses, and 32-bit numbers.
    NUMBERS = {"nsk_c_version": ctypes.c_uint32, "nsk_format_version": ctypes.c_uint32, "nsk_model_signature": ctypes.c_uint64,
               "nsk_model_variant_count": ctypes.c_int32, "nsk_model_input_count": ctypes.c_int32, "nsk_model_output_count": ctypes.c_int32,
               "nsk_model_find_variant": ctypes.c_int32, "nsk_model_find_input": ctypes.c_int32, "nsk_model_find_output": ctypes.c_int32,
               "nsk_model_max_batch": ctypes.c_int32, "nsk_session_lanes": ctypes.c_int32, "nsk_session_step_count": ctypes.c_int32,
               "nsk_session_tile_count": ctypes.c_int32, "nsk_session_state_bytes": ctypes.c_uint64, "nsk_session_flags": ctypes.c_uint32}

    def __init__(self, path=None):
        self.c = ctypes.CDLL(str(path or pathlib.Path(__file__).resolve().parent / self.NAMES.get(sys.platform, "libnetsuke_c.so")))
        for name in self.SIZES:
            getattr(self.c, name).restype = ctypes.c_size_t
        for name in self.TEXTS:
            getattr(self.c, name).restype = ctypes.c_char_p
        for name, result in self.NUMBERS.items():
            getattr(self.c, name).restype = result
        self.call("nsk_check_library", ctypes.c_uint32(C_VERSION))

    def call(self, name, *arguments, model=None, variant=0):
        """Calls a function that returns a status; `model` is the handle of the model that it is about."""
        function = getattr(self.c, name)
        function.restype = Status
        status = function(*arguments)
        if status.code:
            raise Error(self.c, status, model, variant)

    def open(self, source):
        """A model of a path or of bytes."""
        return Model(self, source if isinstance(source, (bytes, bytearray)) else open(source, "rb").read())


def block_of(size, alignment=64):
    """(owner, address) of zeroed memory at a multiple of `alignment`."""
    owner = (ctypes.c_char * (size + alignment))()
    address = ctypes.addressof(owner)
    return owner, address + (-address) % alignment


class Model:
    def __init__(self, library, data):
        self.library = library
        size = len(data)
        self.file, address = block_of(size)
        ctypes.memmove(address, bytes(data), size)
        library.c.nsk_prepare_required_bytes.restype = ctypes.c_size_t
        prepared = library.c.nsk_prepare_required_bytes(ctypes.c_void_p(address), ctypes.c_size_t(size))
        if prepared:  # a small file
            small, given = self.file, address
            self.file, address = block_of(prepared)
            library.call("nsk_prepare", ctypes.c_void_p(given), ctypes.c_size_t(size), ctypes.c_void_p(address), ctypes.c_size_t(prepared))
            size = prepared
        self.memory, at = block_of(library.c.nsk_model_required_bytes())
        self.handle = ctypes.c_void_p()
        library.call("nsk_model_open", ctypes.c_void_p(at), ctypes.c_size_t(library.c.nsk_model_required_bytes()), ctypes.c_void_p(address),
                     ctypes.c_size_t(size), ctypes.c_uint32(1), ctypes.byref(self.handle))

    @property
    def name(self):
        return self.library.c.nsk_model_name(self.handle).decode()

    def _ports(self, kind, variant):
        ports = []
        for i in range(getattr(self.library.c, f"nsk_model_{kind}_count")(self.handle, variant)):
            ports.append(Port())
            self.library.call(f"nsk_model_{kind}", self.handle, variant, i, ctypes.byref(ports[-1]), ctypes.c_size_t(ctypes.sizeof(Port)),
                              model=self.handle, variant=variant)
        return ports

    def inputs(self, variant=0):
        return self._ports("input", variant)

    def outputs(self, variant=0):
        return self._ports("output", variant)

    def session(self, variant=0, lanes=1):
        return Session(self, variant, lanes)


class Session:
    def __init__(self, model, variant, lanes):
        self.model, self.library, self.variant = model, model.library, variant
        c, size = self.library.c, ctypes.c_uint64()
        self.call("nsk_arena_required_bytes", model.handle, variant, lanes, ctypes.byref(size))
        self.arena, arena = block_of(size.value, c.nsk_arena_alignment())
        self.memory, at = block_of(c.nsk_session_required_bytes())
        self.handle = ctypes.c_void_p()
        self.call("nsk_session_open", ctypes.c_void_p(at), ctypes.c_size_t(c.nsk_session_required_bytes()), model.handle, variant,
                  ctypes.c_void_p(arena), ctypes.c_size_t(size.value), ctypes.byref(self.handle))
        self.inputs, self.outputs = model.inputs(variant), model.outputs(variant)

    def call(self, name, *arguments):
        self.library.call(name, *arguments, model=self.model.handle, variant=self.variant)

    def write(self, i, data):
        view = memoryview(data).cast("B")
        block = (ctypes.c_char * view.nbytes).from_buffer_copy(view)
        self.call("nsk_session_write", self.handle, i, block, ctypes.c_uint64(view.nbytes))

    def read(self, i):
        port = self.outputs[i] if 0 <= i < len(self.outputs) else Port()
        block = (ctypes.c_char * port.bytes)()
        self.call("nsk_session_read", self.handle, i, block, ctypes.c_uint64(port.bytes))
        return memoryview(block).cast("B").cast(FORMATS[port.type], port.shape_list())

    def run(self):
        self.call("nsk_session_run", self.handle, None)

    def run_for(self, macs):
        """Runs so many multiply-accumulates; returns whether the inference is complete."""
        complete = ctypes.c_int32()
        self.call("nsk_session_run_for_work", self.handle, ctypes.c_uint64(macs), None, ctypes.byref(complete))
        return complete.value != 0

    def save(self):
        """The states, to be given to load()."""
        snapshot = bytearray(self.library.c.nsk_session_state_bytes(self.handle))
        block = (ctypes.c_char * len(snapshot)).from_buffer(snapshot) if snapshot else None
        self.call("nsk_session_save", self.handle, block, ctypes.c_uint64(len(snapshot)))
        return snapshot

    def load(self, snapshot):
        block = (ctypes.c_char * len(snapshot)).from_buffer_copy(snapshot) if snapshot else None
        self.call("nsk_session_load", self.handle, block, ctypes.c_uint64(len(snapshot)))

    def reset(self):
        self.call("nsk_session_reset", self.handle)

    def seed(self, key, first_row=0):
        self.call("nsk_session_seed", self.handle, ctypes.c_uint64(key), ctypes.c_uint32(first_row))

    def set_batch(self, rows):
        self.call("nsk_session_set_batch", self.handle, rows)

    def selftest(self):
        self.call("nsk_session_selftest", self.handle)
