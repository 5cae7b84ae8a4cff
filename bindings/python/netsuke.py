# SPDX-License-Identifier: MIT
"""netsuke for Python, by ctypes: for tests, tools and experiments. Needs the shared library netsuke_c and nothing else.

    import netsuke
    library = netsuke.Library("build/bindings/libnetsuke_c.so")    # no path: the one of the package, as pip installs it
    net = library.open("model.nsk").session()
    net.write(0, array)                  # anything with a buffer of the port's bytes, in the engine's layout (NHWC)
    net.run()
    scores = net.read(0)                 # a memoryview of the port's type and shape; numpy.asarray(scores) copies nothing

    net.write_image(0, pixels, width, height, "bgra")    # a frame, as the model wants it; returns where its pixels are
    crowd = netsuke.Batcher(net.model, agents=100, slots=100)             # rows of many callers: ask, run, read
    log, trace = netsuke.RunLog(library, 256), netsuke.Trace(library)     # times of runs; bars of net.watch(trace)

Errors are netsuke.Error: its code, name, and the text that says which step or port is at fault and what to do.
"""
import ctypes
import pathlib
import sys
import time

C_VERSION = 1
PIXEL_FORMATS = {"rgba": (0, 4), "bgra": (1, 4), "rgb": (2, 3), "bgr": (3, 3), "grey": (4, 1)}  # enum nsk_pixel_format, bytes of a pixel
ORDERS, FITS, EDGES = ("grey", "rgb", "bgr", "rgba", "bgra"), ("stretch", "letterbox", "crop"), ("repeat", "fill")  # as netsuke/c/image.h numbers them
STANDINGS = ("idle", "waiting", "answered")  # enum nsk_agent_standing
STAGES = ("input", "inference", "output")  # enum nsk_trace_stage
CLOCK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
FORMATS = ["f", "e", "b", "B", "h", "i", "q", "?"]  # of enum nsk_type, as struct and memoryview name them


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("where", ctypes.c_int32)]


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_int32)), ("source_shape", ctypes.POINTER(ctypes.c_int64)),
                ("mean", ctypes.POINTER(ctypes.c_float)), ("deviation", ctypes.POINTER(ctypes.c_float)), ("color", ctypes.c_char_p),
                ("elements", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("type", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("source_rank", ctypes.c_int32), ("normalisation_count", ctypes.c_int32), ("label_count", ctypes.c_int32),
                ("rows", ctypes.c_int32)]

    def shape_list(self):
        return [self.shape[i] for i in range(self.rank)]


class Image(ctypes.Structure):
    """Pixels of the caller, which the object keeps: anything with a buffer. `stride` is the bytes from a row to the one below."""
    _fields_ = [("pixels", ctypes.c_void_p), ("stride", ctypes.c_int64), ("width", ctypes.c_int32), ("height", ctypes.c_int32), ("format", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]

    @classmethod
    def of(cls, pixels, width, height, pixel_format="rgba", stride=None):
        view = memoryview(pixels).cast("B")
        number, pixel_bytes = PIXEL_FORMATS[pixel_format]
        stride = width * pixel_bytes if stride is None else stride
        if width < 1 or height < 1 or stride < width * pixel_bytes or view.nbytes < stride * (height - 1) + width * pixel_bytes:
            raise ValueError(f"{view.nbytes} bytes are no {pixel_format} image of {width} x {height} pixels with rows of {stride} bytes")
        block = (ctypes.c_char * view.nbytes).from_buffer_copy(view) if view.readonly else (ctypes.c_char * view.nbytes).from_buffer(view)
        image = cls(ctypes.addressof(block), stride, width, height, number, 0)
        image.block = block
        return image


class ImageSettings(ctypes.Structure):
    """What to take of an image: nsk_image_settings. ORDERS, FITS and EDGES number the choices."""
    _fields_ = [("scale", ctypes.c_float * 4), ("offset", ctypes.c_float * 4), ("fill", ctypes.c_float * 4), ("centre_x", ctypes.c_float),
                ("centre_y", ctypes.c_float), ("width", ctypes.c_float), ("height", ctypes.c_float), ("angle", ctypes.c_float), ("whole", ctypes.c_int32),
                ("fit", ctypes.c_int32), ("edge", ctypes.c_int32), ("order", ctypes.c_int32), ("mirrored", ctypes.c_int32)]


class TensorSettings(ctypes.Structure):
    """How numbers become levels: nsk_tensor_settings."""
    _fields_ = [("scale", ctypes.c_float * 4), ("offset", ctypes.c_float * 4), ("order", ctypes.c_int32), ("alpha", ctypes.c_int32)]


class ImageMap(ctypes.Structure):
    """Where the pixels of a tensor are in the image."""
    _fields_ = [("image_from_tensor", ctypes.c_double * 6), ("tensor_from_image", ctypes.c_double * 6)]

    def to_image(self, x, y):
        return self._apply(self.image_from_tensor, x, y)

    def to_tensor(self, x, y):
        return self._apply(self.tensor_from_image, x, y)

    @staticmethod
    def _apply(m, x, y):
        return m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]


class RecurrentPair(ctypes.Structure):
    _fields_ = [("input", ctypes.c_char_p), ("output", ctypes.c_char_p)]


class BatcherOptions(ctypes.Structure):
    _fields_ = [("recurrent_states", ctypes.POINTER(RecurrentPair)), ("recurrent_state_count", ctypes.c_int32), ("agents", ctypes.c_int32),
                ("slots", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Watch(ctypes.Structure):
    _fields_ = [("clock", CLOCK), ("clock_user", ctypes.c_void_p), ("trace", ctypes.c_void_p), ("step_nanoseconds", ctypes.POINTER(ctypes.c_int64)),
                ("steps", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Length(ctypes.Structure):
    """A length that a session chooses, from `minimum` to `bound` in steps of `step`; the name is bytes."""
    _fields_ = [("name", ctypes.c_char_p), ("minimum", ctypes.c_int32), ("bound", ctypes.c_int32), ("step", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Step(ctypes.Structure):
    """A step of a model's plan: texts are bytes."""
    _fields_ = [("name", ctypes.c_char_p), ("op_name", ctypes.c_char_p), ("macs", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


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
             "nsk_status_format", "nsk_run_log_required_bytes", "nsk_run_log_line", "nsk_trace_required_bytes")
    TEXTS = ("nsk_status_text", "nsk_status_name", "nsk_library_version", "nsk_library_isa", "nsk_model_name", "nsk_model_producer",
             "nsk_model_label", "nsk_model_metadata")
    # Functions that return a number: they take handles, which are addresses, and 32-bit numbers.
    NUMBERS = {"nsk_c_version": ctypes.c_uint32, "nsk_format_version": ctypes.c_uint32, "nsk_model_signature": ctypes.c_uint64,
               "nsk_model_variant_count": ctypes.c_int32, "nsk_model_input_count": ctypes.c_int32, "nsk_model_output_count": ctypes.c_int32,
               "nsk_model_find_variant": ctypes.c_int32, "nsk_model_find_input": ctypes.c_int32, "nsk_model_find_output": ctypes.c_int32,
               "nsk_model_max_batch": ctypes.c_int32, "nsk_session_lanes": ctypes.c_int32, "nsk_session_step_count": ctypes.c_int32,
               "nsk_session_tile_count": ctypes.c_int32, "nsk_session_state_bytes": ctypes.c_uint64, "nsk_session_flags": ctypes.c_uint32,
               "nsk_model_step_count": ctypes.c_int32, "nsk_batcher_row_bytes": ctypes.c_uint64, "nsk_batcher_standing": ctypes.c_int32,
               "nsk_batcher_served": ctypes.c_int32, "nsk_batcher_served_agent": ctypes.c_int32, "nsk_run_log_runs": ctypes.c_uint64,
               "nsk_run_log_percentile": ctypes.c_int64, "nsk_run_log_worst_slice": ctypes.c_int64, "nsk_trace_dropped": ctypes.c_uint64}

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

    def lengths(self, variant=0):
        """The lengths that a session chooses."""
        lengths = []
        while True:
            length = Length()
            try:
                self.library.call("nsk_model_length", self.handle, variant, len(lengths), ctypes.byref(length), ctypes.c_size_t(ctypes.sizeof(Length)))
            except Error as end:
                if end.name != "no_such_length":
                    raise
                return lengths
            lengths.append(length)

    def steps(self, variant=0):
        """The steps of the plan, in order."""
        steps = [Step() for _ in range(max(0, self.library.c.nsk_model_step_count(self.handle, variant)))]
        for i, step in enumerate(steps):
            self.library.call("nsk_model_step", self.handle, variant, i, ctypes.byref(step), ctypes.c_size_t(ctypes.sizeof(Step)))
        return steps

    def image_settings(self, i=0, variant=0):
        """How input `i` wants its images; to be changed and given to write_image."""
        how = ImageSettings()
        self.library.call("nsk_model_image_settings", self.handle, variant, i, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how)), model=self.handle,
                          variant=variant)
        return how

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
        """Output `i`, of the port's shape; flat where a length is below its bound."""
        port = self.outputs[i] if 0 <= i < len(self.outputs) else Port()
        size = ctypes.c_uint64()
        self.call("nsk_session_output", self.handle, i, ctypes.byref(ctypes.c_void_p()), ctypes.byref(size))
        block = (ctypes.c_char * size.value)()
        self.call("nsk_session_read", self.handle, i, block, size)
        flat = memoryview(block).cast("B")
        return flat.cast(FORMATS[port.type], port.shape_list()) if size.value == port.bytes else flat.cast(FORMATS[port.type])

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

    def set_length(self, name, value):
        """Computes with a length of the model from now on; inputs and outputs then have as many elements as follow from it."""
        self.call("nsk_session_set_length", self.handle, name.encode(), value)

    def selftest(self):
        self.call("nsk_session_selftest", self.handle)

    def write_image(self, i, pixels, width, height, pixel_format="rgba", stride=None, settings=None, row=0):
        """Samples a frame into input `i`, by default as the model wants its images, and returns the ImageMap."""
        image, where = Image.of(pixels, width, height, pixel_format, stride), ImageMap()
        how = (None, 0) if settings is None else (ctypes.byref(settings), ctypes.sizeof(settings))
        self.call("nsk_session_write_image", self.handle, i, row, ctypes.byref(image), how[0], ctypes.c_size_t(how[1]), ctypes.byref(where))
        return where

    def read_image(self, i, pixel_format="rgba", settings=None, row=0):
        """Output `i` as (pixels, width, height), by default of numbers from 0 to 1."""
        port = self.outputs[i] if 0 <= i < len(self.outputs) else Port()
        height, width = port.shape_list()[-3:-1] if port.rank >= 3 else (1, 1)
        pixels = bytearray(width * height * PIXEL_FORMATS[pixel_format][1])
        image = Image.of(pixels, width, height, pixel_format)
        how = (None, 0) if settings is None else (ctypes.byref(settings), ctypes.sizeof(settings))
        self.call("nsk_session_read_image", self.handle, i, row, how[0], ctypes.c_size_t(how[1]), ctypes.byref(image))
        return pixels, width, height

    def watch(self, trace=None):
        """Notes the steps of runs from now on: as bars of a Trace, and in the array that it returns, the nanoseconds of each step, summed up."""
        count = max(0, self.library.c.nsk_session_step_count(self.handle))
        sums = (ctypes.c_int64 * count)()
        watch = Watch(_now, None, trace.handle if trace else None, ctypes.cast(sums, ctypes.POINTER(ctypes.c_int64)), count, 0)
        self.call("nsk_session_watch", self.handle, ctypes.byref(watch), ctypes.c_size_t(ctypes.sizeof(watch)))
        self.watched = (trace, sums)  # as long as the session writes there
        return sums

    def unwatch(self):
        self.call("nsk_session_watch", self.handle, None, ctypes.c_size_t(0))
        self.watched = None


@CLOCK
def _now(_user):
    return time.perf_counter_ns()


class Batcher:
    """Rows of many agents, 0 to agents - 1, answered by one run: ask on any thread, run on one. `states` has pairs of an input's and an output's name, the
    recurrent states of each agent."""

    def __init__(self, model, agents, slots, variant=0, states=()):
        self.model, self.library, self.variant, size = model, model.library, variant, ctypes.c_uint64()
        pairs = (RecurrentPair * max(1, len(states)))(*(RecurrentPair(a.encode(), b.encode()) for a, b in states))
        options = BatcherOptions(pairs, len(states), agents, slots, 0)
        how = (ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        self.call("nsk_batcher_required_bytes", model.handle, variant, *how, ctypes.byref(size))
        self.memory, at = block_of(max(64, size.value))  # 0 is a refusal, whose reason the next call says
        self.handle, self.outputs = ctypes.c_void_p(), model.outputs(variant)
        self.call("nsk_batcher_open", ctypes.c_void_p(at), ctypes.c_size_t(size.value), model.handle, variant, *how, ctypes.byref(self.handle))

    def call(self, name, *arguments):
        self.library.call(name, *arguments, model=self.model.handle, variant=self.variant)

    def ask(self, agent, row):
        """Hands over an agent's row: its inputs that are no recurrent states, one behind the other."""
        view = memoryview(row).cast("B")
        block = (ctypes.c_char * view.nbytes).from_buffer_copy(view)
        self.call("nsk_batcher_ask", self.handle, agent, block, ctypes.c_uint64(view.nbytes))

    def run(self, session):
        """Answers the oldest rows; returns their agents."""
        self.call("nsk_batcher_run", self.handle, session.handle, None)
        return [self.library.c.nsk_batcher_served_agent(self.handle, row) for row in range(self.library.c.nsk_batcher_served(self.handle))]

    def standing(self, agent):
        """"idle", "waiting" or "answered"; None for an agent that is none."""
        number = self.library.c.nsk_batcher_standing(self.handle, agent)
        return STANDINGS[number] if number >= 0 else None

    def read(self, agent, i):
        """A copy of an agent's part of output `i`, as a flat memoryview of the port's type."""
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("nsk_batcher_output", self.handle, agent, i, ctypes.byref(data), ctypes.byref(size))
        return memoryview(ctypes.string_at(data.value, size.value)).cast(FORMATS[self.outputs[i].type])

    def states(self, agent):
        """The recurrent states of an agent, to be read and changed while it does not wait."""
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("nsk_batcher_recurrent_states", self.handle, agent, ctypes.byref(data), ctypes.byref(size))
        block = (ctypes.c_char * size.value).from_address(data.value)
        block.owner = self  # the view keeps the memory
        return memoryview(block).cast("B")

    def reset(self, agent):
        self.call("nsk_batcher_reset", self.handle, agent)


class RunLog:
    """Times of the last runs, in nanoseconds."""

    def __init__(self, library, runs):
        self.library, size = library, library.c.nsk_run_log_required_bytes(runs)
        self.memory, at = block_of(size)
        self.handle = ctypes.c_void_p()
        library.call("nsk_run_log_open", ctypes.c_void_p(at), ctypes.c_size_t(size), ctypes.byref(self.handle))

    def describe(self, model, variant=0, lanes=1):
        """Adds name and bytes of a model to the line."""
        self.model = model
        self.library.call("nsk_run_log_describe", self.handle, model.handle, variant, lanes, model=model.handle, variant=variant)

    def slice(self, nanoseconds, complete=True):
        self.library.call("nsk_run_log_slice", self.handle, ctypes.c_int64(nanoseconds), int(complete))

    def percentile(self, percent):
        return self.library.c.nsk_run_log_percentile(self.handle, percent)

    def line(self):
        """A line of JSON."""
        text = ctypes.create_string_buffer(2049)
        self.library.c.nsk_run_log_line(self.handle, text, ctypes.c_size_t(len(text)))
        return text.value.decode()


class Trace:
    """Bars for ui.perfetto.dev, in a text of so many bytes. Times are those of time.perf_counter_ns."""

    def __init__(self, library, size=1 << 20, process="netsuke"):
        self.library, self.text = library, ctypes.create_string_buffer(size)
        self.memory, at = block_of(library.c.nsk_trace_required_bytes())
        self.handle = ctypes.c_void_p()
        library.call("nsk_trace_open", ctypes.c_void_p(at), ctypes.c_size_t(library.c.nsk_trace_required_bytes()), self.text, ctypes.c_size_t(size),
                     process.encode(), ctypes.byref(self.handle))

    def stage(self, name, begin, end):
        """A stage of a frame: "input", "inference" or "output"."""
        self.library.call("nsk_trace_add_stage", self.handle, STAGES.index(name), ctypes.c_int64(begin), ctypes.c_int64(end))

    def add(self, name, begin, end, track=0, category=""):
        self.library.call("nsk_trace_add", self.handle, name.encode(), category.encode(), track, ctypes.c_int64(begin), ctypes.c_int64(end))

    def finish(self):
        """The JSON; the next bars begin another one."""
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.library.call("nsk_trace_finish", self.handle, ctypes.byref(data), ctypes.byref(size))
        json = ctypes.string_at(data.value, size.value).decode()
        self.library.call("nsk_trace_restart", self.handle, b"netsuke")
        return json
