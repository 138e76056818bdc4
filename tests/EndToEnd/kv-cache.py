"""Formats of caches: what --kv-cache int8 and bf16 cost, and bits of rows.

kv-cache.py TENON WORK

Outputs are compared with Transformers', whose cache is exact. Through the C
interface, a row's bits must not depend on the sequences beside it, on the
threads, nor on what other sequences left on its pages.
"""

import sys

import numpy

import library
import support

# Grouped heads, soft caps with windows, ALiBi, relative biases over a source
# text, sinks, heads of odd size.
FAMILIES = ("llama", "gemma2", "bloom", "t5", "gpt_oss", "phi")


def compare(test, fixture, level, dtype, cache):
    what = f"{fixture.name}, {dtype} at {level}, cache of {cache}"
    artifact = test.compile(fixture.path, "model", "--dtype", dtype,
                            "--kv-cache", cache, "--target-cpu", level,
                            *fixture.options)
    for given, options, reference, skipped in fixture.runs():
        values = test.output(artifact, options)
        error = support.l2_error(values[skipped:], reference)
        most = support.CACHE_TOLERANCE[cache] if dtype == "f32" else \
            support.REFERENCE_TOLERANCE["bf16"][1]
        # An error of nothing would be a cache of f32.
        test.check(1e-5 < error <= most,
                   f"{what}, {given}: L2 error {error:.1e}, at most {most:.0e}")
    artifact.unlink()


def rows(session, prompts, steps):
    """Outputs of all prompts in one batch, then of one token more each."""
    sequences = [session.create() for _ in prompts]
    first = session.step(*zip(sequences, prompts))
    then = session.step(*zip(sequences, steps))
    for sequence in sequences:
        session.end(sequence)
    return [numpy.concatenate(both) for both in zip(first, then)]


def check_bits(test, fixture, cache):
    # Three sequences' next tokens are decode-sized, as one's are.
    artifact = test.compile(fixture.path, "bits", "--dtype", "bf16",
                            "--kv-cache", cache, "--few-tokens", "8")
    tokens = fixture.tokens
    prompts = [tokens[10 * i:10 * i + n] for i, n in enumerate((70, 17, 129))]
    steps = [tokens[200 + i:201 + i] for i in range(len(prompts))]
    path = test.bin.parent / "runtime" / "CApi" / "libtenon.so"
    alone = []
    for prompt, step in zip(prompts, steps):
        with library.Session(path, artifact, 512, threads=1) as session:
            alone += rows(session, [prompt], [step])
    for threads in (1, 2, 3):
        with library.Session(path, artifact, 512, threads=threads) as session:
            for use in ("new", "used"):
                together = rows(session, prompts, steps)
                test.check(all(map(numpy.array_equal, together, alone)),
                           f"{fixture.name}, cache of {cache}: {threads} "
                           f"threads, {use} pages: bits of each alone")
    artifact.unlink()


def main():
    test = support.Test(sys.argv[1:])
    native = test.native_level()
    levels = ["avx2"] + [native] * (native != "avx2")
    fixtures = support.first_of_each(support.fixtures(FAMILIES))
    for fixture in fixtures:
        for level in levels:
            compare(test, fixture, level, "f32", "int8")
    for fixture in fixtures[:2]:
        compare(test, fixture, native, "f32", "bf16")
        compare(test, fixture, native, "bf16", "int8")
    for cache in ("bf16", "int8"):
        check_bits(test, support.fixtures(["llama-long"])[0], cache)
    test.finish()


main()
