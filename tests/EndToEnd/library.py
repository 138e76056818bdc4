"""Just enough of libtenon's C interface (runtime/tenon.h) for tests."""

import ctypes

import numpy

NONE, LAST, ALL = 0, 1, 2
STEP, ENCODE, EMBED = 0, 1, 2
CANCELLED, INTERNAL = 7, 8


class Item(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("sequence", ctypes.c_int64),
                ("tokens", ctypes.POINTER(ctypes.c_int32)),
                ("token_types", ctypes.POINTER(ctypes.c_int32)),
                ("token_count", ctypes.c_size_t),
                ("output_rows", ctypes.c_int),
                ("prefix", ctypes.c_int64)]


class Output(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("status", ctypes.c_int),
                ("error", ctypes.c_char_p),
                ("values", ctypes.POINTER(ctypes.c_float)),
                ("rows", ctypes.c_size_t),
                ("width", ctypes.c_size_t)]


class Settings(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("max_new_tokens", ctypes.c_int64),
                ("temperature", ctypes.c_double),
                ("top_k", ctypes.c_int64),
                ("top_p", ctypes.c_double),
                ("num_beams", ctypes.c_int64),
                ("length_penalty", ctypes.c_double),
                ("early_stopping", ctypes.c_int32),
                ("ignore_eos", ctypes.c_int32),
                ("seed", ctypes.c_uint64),
                ("prefix_tokens", ctypes.c_int64)]


class Piece(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("tokens", ctypes.POINTER(ctypes.c_int32)),
                ("token_count", ctypes.c_size_t),
                ("text", ctypes.c_void_p),
                ("text_bytes", ctypes.c_size_t),
                ("finish", ctypes.c_int)]


class Failure(RuntimeError):
    """What tenon_last_error says, and the status of the call."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Session:
    """A model and one session of it; a failed call raises Failure."""

    def __init__(self, library, artifact, cache_tokens, threads=0):
        self.library = ctypes.CDLL(str(library))
        self.library.tenon_last_error.restype = ctypes.c_char_p
        self.library.tenon_model_destroy.argtypes = [ctypes.c_void_p]
        self.library.tenon_session_destroy.argtypes = [ctypes.c_void_p]
        model = ctypes.c_void_p()
        self._call("tenon_model_load", str(artifact).encode(),
                   ctypes.byref(model))
        self.session = ctypes.c_void_p()
        try:
            self._call("tenon_session_create", model, ctypes.c_int64(threads),
                       ctypes.c_int64(cache_tokens),
                       ctypes.byref(self.session))
        finally:
            # The session keeps its model alive.
            self.library.tenon_model_destroy(model)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.tenon_session_destroy(self.session)

    def _call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise Failure(self.library.tenon_last_error().decode(), status)

    def cancel(self):
        """From any thread: ends the call that runs."""
        self._call("tenon_session_cancel", self.session)

    def create(self):
        sequence = ctypes.c_int64()
        self._call("tenon_sequence_create", self.session,
                   ctypes.byref(sequence))
        return sequence.value

    def end(self, sequence):
        self._call("tenon_sequence_end", self.session,
                   ctypes.c_int64(sequence))

    def fork(self, sequence):
        fork = ctypes.c_int64()
        self._call("tenon_sequence_fork", self.session,
                   ctypes.c_int64(sequence), ctypes.byref(fork))
        return fork.value

    def truncate(self, sequence, length):
        self._call("tenon_sequence_truncate", self.session,
                   ctypes.c_int64(sequence), ctypes.c_int64(length))

    def length(self, sequence):
        length = ctypes.c_int64()
        self._call("tenon_sequence_length", self.session,
                   ctypes.c_int64(sequence), ctypes.byref(length))
        return length.value

    def run(self, entry, *items):
        """One ragged batch. Items are (sequence, tokens, types or None);
        every output row is asked for. Gives per item an array [rows, width],
        or the item's error as a string."""
        return self._run(lambda *arguments: self._call(
            "tenon_session_run", self.session, ctypes.c_int(entry),
            *arguments), items)

    def encode_sources(self, *items):
        """Items are (sequence, tokens of its source text). Gives the encoder's
        rows of each, or the item's error as a string."""
        return self._run(lambda *arguments: self._call(
            "tenon_session_encode_sources", self.session, *arguments),
            [(sequence, tokens, None) for sequence, tokens in items])

    def encode_source(self, sequence, tokens):
        answer, = self.encode_sources((sequence, tokens))
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def _run(self, call, items):
        structures = (Item * len(items))()
        kept = []

        def integers(values):
            array = numpy.ascontiguousarray(values, dtype=numpy.int32)
            kept.append(array)
            return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))

        for structure, (sequence, tokens, types) in zip(structures, items):
            structure.sequence = sequence
            structure.tokens = integers(tokens)
            structure.token_count = len(tokens)
            structure.struct_size = ctypes.sizeof(Item)
            structure.output_rows = ALL
            if types is not None:
                structure.token_types = integers(types)
        outputs = (Output * len(items))()
        for output in outputs:
            output.struct_size = ctypes.sizeof(Output)
        call(structures, ctypes.c_size_t(len(items)), outputs)
        return [output.error.decode() if output.status else
                numpy.ctypeslib.as_array(
                    output.values, (output.rows, output.width)).copy()
                for output in outputs]

    def step(self, *items):
        return self.run(STEP, *((s, tokens, None) for s, tokens in items))

    def generate(self, tokens, most_steps=None, **settings):
        """New tokens and their text (bytes), to the end or so many steps.
        Settings are those of tenon_settings by name."""
        self.library.tenon_generation_destroy.argtypes = [ctypes.c_void_p]
        given = Settings()
        self.library.tenon_settings_init(ctypes.byref(given))
        for name, value in settings.items():
            setattr(given, name, value)
        prompt = numpy.ascontiguousarray(tokens, dtype=numpy.int32)
        generation = ctypes.c_void_p()
        self._call("tenon_generation_create", self.session,
                   ctypes.byref(given),
                   prompt.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
                   ctypes.c_size_t(len(prompt)), ctypes.byref(generation))
        new, text, steps = [], b"", 0
        try:
            piece = Piece()
            piece.struct_size = ctypes.sizeof(Piece)
            while piece.finish == 0 and steps != most_steps:
                self._call("tenon_generation_next", generation,
                           ctypes.byref(piece))
                new += piece.tokens[:piece.token_count]
                text += ctypes.string_at(piece.text, piece.text_bytes)
                steps += 1
        finally:
            self.library.tenon_generation_destroy(generation)
        return new, text
