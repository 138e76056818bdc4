"""Optional passes change no result.

optional-passes.py TENON WORK [FIXTURE|FAMILY...]

The first fixture of every family is compiled without any optional pass, and
those named in EACH without each of them alone; outputs must be those of
Transformers, within the same tolerance as with all passes.
"""

import re
import sys

import support

# One of each kind: plain, MLA with experts, an encoder, an encoder-decoder.
EACH = ["qwen3-window", "deepseek_v2-bias", "bert-relu", "bart-untied"]


def optional_passes(test):
    """What the compiler says can be left out."""
    done = test.run("tenon-compile", "compile", "x", "--disable-pass", "?")
    names = re.search(r"\{([^}]*)\}", done.stderr)
    return names.group(1).replace(" ", "").split(",") if names else []


def check(test, fixture, disabled, what):
    artifact = test.compile(fixture.path, "model", "--dtype", "f32",
                            "--disable-pass", ",".join(disabled),
                            *fixture.options)
    for given, options, reference, skipped in fixture.runs():
        values = test.output(artifact, options)[skipped:]
        error = support.largest_error(values, reference)
        # Whole models reach 2e-6: a pass must not cost accuracy either.
        test.check(error <= 1e-5, f"{fixture.name}, {given}, without {what}: "
                                  f"{error:.2e}, at most 1e-05")


def main():
    test = support.Test(sys.argv[1:])
    names = optional_passes(test)
    test.check(len(names) >= 10, f"optional passes: {names}")
    for fixture in support.first_of_each(support.fixtures(test.names)):
        check(test, fixture, names, "any optional pass")
    for fixture in support.fixtures(EACH):
        for name in names:
            check(test, fixture, [name], name)
    test.finish()


if __name__ == "__main__":
    main()
