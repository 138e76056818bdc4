"""What one engine is asked, and how it answers: the same for Tenon and peers.

An engine is a file engine_NAME.py here, which needs nothing but Python until
one of these is called:

  FORMATS   {"decoder" or "encoder": {format: format of Tenon beside it}}
  SUFFIX    how the names of its files end
  version() what is installed
  convert(checkpoint, format, output)
            writes the engine's file or folder for a Hugging Face directory
  Decoder(file, format, threads, sequences, context), loaded, with
    prefill(prompts)  starts afresh with lists of token ids, one per sequence;
                      returns when the logits of the last tokens are there
    step(ids)         one more token of every sequence, likewise
  Encoder(file, format, threads), loaded, with
    encode(texts)     lists of token ids; returns when every hidden state is
                      there

and ends with protocol.main(globals()). As a process it takes one command and
prints one line of JSON; whatever libraries print goes to stderr:

  engine_NAME.py version
  engine_NAME.py convert CHECKPOINT FORMAT OUTPUT
  engine_NAME.py measure FILE FORMAT JSON

JSON says what to measure, {"kind": KIND, "threads": N, "vocabulary": N} and

  decode  "sequences", "prompt", "new": answers prefill_s and decode_s, for
          all prompts and for all new tokens after them
  start   "prompt": answers first_token_s, from before loading to the first
          logits, and peak_mb, resident memory of the whole process
  encode  "lengths": answers encode_s, for one pass over texts of these lengths

An answer {"cannot": WHY} is an engine's no.
"""

import json
import os
import random
import statistics
import sys
import time

# Prompts are warmed up with no more tokens than this, all together.
WARM_TOKENS = 512


class Cannot(Exception):
    """The engine does not do this; the text says why."""


def texts(lengths, vocabulary):
    """Lists of random token ids, the same for every engine."""
    draw = random.Random(1)
    return [[draw.randrange(vocabulary) for _ in range(length)]
            for length in lengths]


def padded(texts):
    """Arrays for engines that take texts of one length, by their usual names."""
    import numpy

    ids = numpy.zeros((len(texts), max(map(len, texts))), numpy.int64)
    mask = numpy.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
        mask[row, :len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask,
            "token_type_ids": numpy.zeros_like(ids)}


def seconds(work, *arguments):
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin


def measure_decode(engine, file, format, asked):
    sequences, prompt, new = asked["sequences"], asked["prompt"], asked["new"]
    prompts = texts([prompt] * sequences, asked["vocabulary"])
    steps = texts([sequences] * new, asked["vocabulary"])
    model = engine["Decoder"](file, format, asked["threads"], sequences,
                              prompt + new)
    warm = min(prompt, max(1, WARM_TOKENS // sequences))
    model.prefill([ids[:warm] for ids in prompts])
    for ids in steps[:4]:
        model.step(ids)
    return {"prefill_s": seconds(model.prefill, prompts),
            "decode_s": seconds(lambda: [model.step(ids) for ids in steps])}


def measure_start(engine, file, format, asked):
    prompts = texts([asked["prompt"]], asked["vocabulary"])
    # Imports are Python's, not the engine's.
    engine["version"]()
    begin = time.perf_counter()
    model = engine["Decoder"](file, format, asked["threads"], 1,
                              asked["prompt"] + 1)
    model.prefill(prompts)
    first = time.perf_counter() - begin
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status
                    if line.startswith("VmHWM:"))
    return {"first_token_s": first, "peak_mb": peak * 1024 / 1e6}


def measure_encode(engine, file, format, asked):
    ids = texts(asked["lengths"], asked["vocabulary"])
    model = engine["Encoder"](file, format, asked["threads"])
    model.encode(ids)
    times = []
    # At least three passes, and a second of them.
    while len(times) < 3 or sum(times) < 1:
        times.append(seconds(model.encode, ids))
    return {"encode_s": statistics.median(times)}


MEASURES = {"decode": measure_decode, "start": measure_start,
            "encode": measure_encode}


def answer(engine, arguments):
    match arguments:
        case ["version"]:
            return {"version": engine["version"]()}
        case ["convert", checkpoint, format, output]:
            engine["convert"](checkpoint, format, output)
            return {}
        case ["measure", file, format, asked]:
            asked = json.loads(asked)
            wanted = "Encoder" if asked["kind"] == "encode" else "Decoder"
            if wanted not in engine:
                raise Cannot(f"no {wanted.lower()}s here")
            return MEASURES[asked["kind"]](engine, file, format, asked)
    sys.exit(__doc__)


def one_line(failure):
    lines = str(failure).strip().splitlines() or ["no reason given"]
    return f"{type(failure).__name__}: {lines[-1]}"[:300]


def main(engine):
    if engine["__name__"] != "__main__":
        return
    # Answers keep stdout; what libraries print there joins stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        result = answer(engine, sys.argv[1:])
    except Cannot as failure:
        result = {"cannot": str(failure)}
    except Exception as failure:
        result = {"cannot": one_line(failure)}
    print(json.dumps(result), file=answers, flush=True)
    # Nothing that a library still does at exit can change the answer.
    os._exit(0)
