"""The listings of docs/tutorial.md are what the compiler writes.

tutorial.py TENON WORK DOCS EXAMPLES

A listing is a fenced block with a file name behind its language. Each of its
lines begins a line of that file, or is part of one, in order; "..." leaves
lines out, and without it the next line but one of the file is the furthest.
"""

import re
import sys
import pathlib

import support


def listings(text):
    """Pairs of a file's name and the lines shown of it."""
    for name, body in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text,
                                 re.MULTILINE | re.DOTALL):
        yield name, body.splitlines()


def missing(shown, lines):
    """The first shown line that is not where it should be, or None."""
    at, anywhere = 0, True
    for line in shown:
        if line.strip() == "...":
            anywhere = True
            continue
        end = len(lines) if anywhere else at + 3
        for number in range(at, min(end, len(lines))):
            if line.strip() in lines[number]:
                at, anywhere = number + 1, False
                break
        else:
            return line
    return None


def main():
    test = support.Test(sys.argv[1:3])
    docs, examples = map(pathlib.Path, sys.argv[3:5])
    model = examples / "tiny-llama"
    level = ["--target-cpu", "avx512_bf16"]
    dumps = test.work / "dumps"
    test.need("tenon", "compile", model, "-o", test.work / "tiny.tenon", *level,
              "--dump-stages", dumps)
    test.need("tenon", "compile", model, "--emit", "asm", *level, "-o",
              dumps / "code.s")
    (dumps / "config.json").write_bytes((model / "config.json").read_bytes())
    for name, shown in listings((docs / "tutorial.md").read_text()):
        lost = missing(shown, (dumps / name).read_text().splitlines())
        test.check(lost is None, f"{name}: {len(shown)} lines" +
                   (f", not found: {lost}" if lost else ""))
    test.finish()


if __name__ == "__main__":
    main()
