#!/usr/bin/env python3
"""Writes ties.json: Unigram models whose best paths hang on the last bit.

A token's score is nearly a multiple of its length, so that all ways to cut a
text are worth nearly the same: which one wins says in what order and type the
scores are added, how a tie ends, and how the scores' digits are read. Needs
the packages in requirements.txt.
"""

import json
import pathlib
import random
import struct

from tokenizers import Tokenizer

from building import config
from check import fnv

HERE = pathlib.Path(__file__).resolve().parent
UNITS = ["a", "ab", "aab", "a\xe9", "az"]
COUNTS = [7, 40, 150, 300, 1500]


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def make_model(draw):
    each = -9 * draw.random()
    score = draw.choice([lambda n: each * n, lambda n: single(each * n), lambda n: single(each) * n,
                         lambda n: round(each, 1) * n, lambda n: -n])
    words = {"a", "b", "\xe9"} | {"a" * draw.randint(2, 12) for _ in range(4)}
    words |= {"".join(draw.choice("aab\xe9") for _ in range(draw.randint(2, 6))) for _ in range(12)}
    vocab = [["<unk>", 0.0]] + [[word, score(len(word))] for word in sorted(words)]
    return {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": vocab}


def main():
    draw = random.Random(300)
    made = []
    for _ in range(10):
        # As text: other programs would spell the scores in another way.
        text = json.dumps(config(model=make_model(draw)))
        reference = Tokenizer.from_str(text)
        made.append({"tokenizer": text, "ids": {
            unit: [fnv(reference.encode(unit * count).ids) for count in COUNTS]
            for unit in UNITS}})
    (HERE / "ties.json").write_text(
        json.dumps({"counts": COUNTS, "models": made}, indent=0) + "\n")


if __name__ == "__main__":
    main()
