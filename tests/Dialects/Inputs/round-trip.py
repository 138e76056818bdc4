#!/usr/bin/env python3
"""Fails when a file does not come back from its generic form or bytecode.

round-trip.py TENON-OPT FOLDER: every .mlir below the folder.
"""

import pathlib
import subprocess
import sys


def opt(tool, source, *flags):
    """What the tool makes of the bytes of a module."""
    done = subprocess.run([tool, *flags], input=source, capture_output=True, check=False)
    if done.returncode != 0:
        raise ValueError(" ".join(flags) + ": " + done.stderr.decode()[:2000])
    return done.stdout


def difference(tool, source):
    """What does not survive, or None."""
    printed = opt(tool, source, "--verify-roundtrip")
    ways = {
        "own form": printed,
        "generic form": opt(tool, source, "--mlir-print-op-generic"),
        "bytecode": opt(tool, source, "--emit-bytecode"),
    }
    for name, form in ways.items():
        if opt(tool, form) != printed:
            return f"{name}: expected the same module, got another one"
    return None


def main():
    tool, folder = sys.argv[1:]
    files = sorted(pathlib.Path(folder).rglob("*.mlir"))
    if not files:
        sys.exit(f"round-trip: {folder}: expected .mlir files")
    wrong = []
    for path in files:
        try:
            message = difference(tool, path.read_bytes())
        except ValueError as error:
            message = str(error)
        if message:
            wrong.append(f"round-trip: {path}: {message}")
    print("\n".join(wrong), file=sys.stderr)
    print(f"{len(files) - len(wrong)} of {len(files)} files survive")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
