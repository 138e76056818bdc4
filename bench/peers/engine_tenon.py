"""Tenon itself, through its C interface, so that it is measured as peers are."""

import ctypes
import os
import subprocess

import protocol

FORMATS = {
    "decoder": {name: name for name in
                ("bf16", "int8", "int4", "q8_0", "q4_0", "q4_k_m")},
    "encoder": {name: name for name in ("f32", "bf16", "int8")},
}
SUFFIX = ".tenon"
# Those that keep what a GGUF file holds: `convert` is given that file.
KEPT = ("q8_0", "q4_0", "q4_k_m")
STEP, ENCODE = 0, 1
NO_ROWS, LAST_ROW, ALL_ROWS = 0, 1, 2


class Item(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("sequence", ctypes.c_int64),
                ("tokens", ctypes.POINTER(ctypes.c_int32)),
                ("token_types", ctypes.c_void_p),
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


def library():
    """libtenon of the build that TENON_BUILD names."""
    path = os.path.join(os.environ["TENON_BUILD"], "runtime", "CApi",
                        "libtenon.so")
    tenon = ctypes.CDLL(path)
    tenon.tenon_version.restype = ctypes.c_char_p
    tenon.tenon_last_error.restype = ctypes.c_char_p
    return tenon


def version():
    return library().tenon_version().decode()


def convert(checkpoint, format, output):
    options = {"int8": ["--quantize", "int8"], "int4": ["--quantize", "int4"],
               "f32": ["--dtype", "f32"], "bf16": ["--dtype", "bf16"]}
    tool = os.path.join(os.environ["TENON_BUILD"], "bin", "tenon")
    done = subprocess.run([tool, "compile", checkpoint, "-o", output]
                          + options.get(format, []), stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise protocol.Cannot(done.stderr.strip().splitlines()[-1])


class Session:
    def __init__(self, file, threads, cache_tokens):
        self.tenon = library()
        model = ctypes.c_void_p()
        self.need(self.tenon.tenon_model_load(file.encode(),
                                              ctypes.byref(model)))
        self.handle = ctypes.c_void_p()
        self.need(self.tenon.tenon_session_create(
            model, ctypes.c_int64(threads), ctypes.c_int64(cache_tokens),
            ctypes.byref(self.handle)))

    def need(self, status):
        if status != 0:
            raise protocol.Cannot(self.tenon.tenon_last_error().decode())

    def run(self, entry, rows, sequences, texts):
        items = (Item * len(texts))()
        outputs = (Output * len(texts))()
        for item, output, sequence, ids in zip(items, outputs, sequences,
                                               texts):
            item.struct_size = ctypes.sizeof(Item)
            item.sequence = sequence
            item.tokens = (ctypes.c_int32 * len(ids))(*ids)
            item.token_count = len(ids)
            item.output_rows = rows
            output.struct_size = ctypes.sizeof(Output)
        self.need(self.tenon.tenon_session_run(
            self.handle, entry, items, ctypes.c_size_t(len(texts)), outputs))
        for output in outputs:
            if output.status != 0:
                raise protocol.Cannot(output.error.decode())
        return outputs


class Decoder:
    def __init__(self, file, format, threads, sequences, context):
        page = 64
        room = sequences * -(-context // page) * page
        self.session = Session(file, threads, room)
        self.sequences = []

    def prefill(self, prompts):
        tenon, handle = self.session.tenon, self.session.handle
        for sequence in self.sequences:
            self.session.need(tenon.tenon_sequence_end(
                handle, ctypes.c_int64(sequence)))
        self.sequences = []
        for _ in prompts:
            made = ctypes.c_int64()
            self.session.need(tenon.tenon_sequence_create(
                handle, ctypes.byref(made)))
            self.sequences.append(made.value)
        return self.run(prompts)

    def step(self, ids):
        return self.run([[one] for one in ids])

    def run(self, texts):
        return self.session.run(STEP, LAST_ROW, self.sequences, texts)


class Encoder:
    def __init__(self, file, format, threads):
        self.session = Session(file, threads, 0)

    def encode(self, texts):
        return self.session.run(ENCODE, ALL_ROWS, [0] * len(texts), texts)


protocol.main(globals())
