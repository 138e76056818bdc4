#!/usr/bin/env python3
"""Compares `tenon tokenize` on the corpus with the stored reference hashes.

Usage: check.py TENON. Prints the first line that differs; exit status 1 then.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def fnv(ids):
    value = 0x811c9dc5
    for byte in b"".join(i.to_bytes(4, "little") for i in ids):
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return "%06x" % (value >> 24 ^ value & 0xffffff)


def main():
    corpus = HERE / "corpus.json"
    lines = json.loads(corpus.read_text())
    for expected in sorted(HERE.glob("*.txt")):
        if expected.name == "requirements.txt":
            continue
        rows = expected.read_text().split()
        answer = subprocess.run(
            [sys.argv[1], "tokenize", expected.with_suffix(".json"), "--json-lines", corpus],
            check=True, capture_output=True, text=True)
        ids = json.loads(answer.stdout)
        if not len(ids) == len(rows) == len(lines):
            sys.exit(f"{expected.stem}: {len(ids)} answers, {len(rows)} expected")
        for number, row in enumerate(rows):
            if fnv(ids[number]) != row[:6]:
                sys.exit(f"{expected.stem}: line {number}, {lines[number]!r}: {ids[number]}")
        print(f"{expected.stem}: {len(rows)} lines")


if __name__ == "__main__":
    main()
