"""Compiled models against what Transformers computes from the same weights.

numerics.py TENON WORK DTYPE TARGET [--one-each] [FIXTURE|FAMILY...]

Every fixture, or with --one-each the first of each family, is compiled with
--dtype DTYPE for --target-cpu TARGET and must meet REFERENCE_TOLERANCE,
natively and with oneDNN limited to TARGET; in f32 what it generates is equal
too. A prefill of 32 tokens and four steps of one must run no matmul through
oneDNN's reference implementation. TARGET `all` is one artifact with code for
every level, which is limited to each level that this machine runs.
"""

import json
import sys

import support

PREFILL = 32


def compare(test, fixture, artifact, dtype, isa, what):
    measure, most = support.REFERENCE_TOLERANCE[dtype]
    for given, options, reference, skipped in fixture.runs():
        values = test.output(artifact, options, isa)
        # A long reference keeps its last rows alone.
        shape = (skipped + reference.shape[0], reference.shape[1])
        if values.shape != shape:
            test.check(False, f"{what}, {given}: shape {values.shape}, "
                              f"expected {shape}")
            continue
        error = (support.largest_error if measure == "largest"
                 else support.l2_error)(values[skipped:], reference)
        test.check(error <= most, f"{what}, {given}: {measure} error "
                                  f"{error:.2e}, at most {most:.0e}")
    if dtype != "f32":
        return
    for way, options, expected in fixture.generations():
        answer = json.loads(test.need("tenon", "run", artifact, *options,
                                      "--json", isa=isa))
        test.check(answer["token_ids"] == expected,
                   f"{what}, {way}: tokens {answer['token_ids']}, expected "
                   f"{expected}")


def count_matmuls(test, fixture, artifact, isa, what):
    inspected = json.loads(test.need("tenon", "inspect", artifact, "--json"))
    few = inspected["model"]["few_tokens"]
    if PREFILL <= few:
        test.check(False, f"{what}: {PREFILL} tokens are few, up to {few} are")
        return
    report = json.loads(test.need(
        "tenon", "bench", artifact, "--prompt-tokens", PREFILL,
        "--new-tokens", 4, "--repeat", 1, "--json", isa=isa))
    code, = (code for code in inspected["code"]
             if code["level"] == report["level"])
    primitives = len(code["primitives"])
    slow, library = report["reference_matmuls"], report["library_matmuls"]
    # A level whose matmuls are all generated has no primitives.
    test.check(slow == 0 and (library >= primitives > 0 or library == primitives == 0),
               f"{what}: {library} library matmuls of {primitives} primitives, "
               f"{slow} by a reference implementation, expected 0")


def main():
    arguments = sys.argv[1:]
    dtype, target = arguments[2:4]
    one_each = "--one-each" in arguments
    if one_each:
        arguments.remove("--one-each")
    test = support.Test(arguments[:2] + arguments[4:])
    native = test.native_level()
    if target == "native":
        limits = [None]
    elif target == "all":
        target = ",".join(support.LEVELS)
        limits = [None] + [isa for level, isa in support.LEVELS.items()
                           if support.runnable(level, native)]
    elif not support.runnable(target, native):
        if not test.emulate(target):
            test.skip(f"{dtype} at {target}", f"this machine has {native}")
            return
        limits = [None]
    else:
        limits = [None, support.LEVELS[target]]
    chosen = support.fixtures(test.names)
    if one_each:
        chosen = support.first_of_each(chosen)
    for fixture in chosen:
        artifact = test.compile(fixture.path, fixture.name, "--dtype", dtype,
                                "--target-cpu", target, *fixture.options)
        for isa in limits:
            what = f"{fixture.name} {dtype} {native if target == 'native' else target}"
            if test.emulated:
                what += " emulated"
            if isa:
                what += f" under {isa}"
            compare(test, fixture, artifact, dtype, isa, what)
            if fixture.kind not in ("seq2seq", "image", "image_logits"):
                count_matmuls(test, fixture, artifact, isa, what)
        artifact.unlink()
    test.finish()


if __name__ == "__main__":
    main()
