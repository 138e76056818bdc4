"""Optional passes change no result.

optional-passes.py TENON WORK [FIXTURE|FAMILY...]

The first fixture of each family is compiled without any optional pass, and
those in WHERE without one: outputs must be those of Transformers, within the
same tolerance as with all passes. Every optional pass is in WHERE, with
fixtures whose code it changes. Models with quantised weights have the same bits
without fold-casts.
"""

import re
import sys

import support

# Plain, MLA with experts, an encoder, an encoder-decoder.
WHERE = {
    "fuse-activation": ["bert-masked"],
    "fuse-attention": ["qwen3-window", "bart-untied"],
    "merge-qkv": ["qwen3-window", "bart-untied"],
    "fuse-residual": ["deepseek_v2-bias", "bart-untied"],
    "fuse-add-norm": ["bert-masked"],
    "bubble-up-select": ["qwen3-window", "deepseek_v2-bias"],
    # Without bf16 there are no casts.
    "fold-casts": ["qwen3-window bf16"],
    "select-library-matmuls": ["deepseek_v2-bias", "bert-masked"],
    "cse": ["qwen3-window", "deepseek_v2-bias"],
    "loop-invariant-code-motion": ["qwen3-window", "deepseek_v2-bias"],
}

# What changes code for avx512 and above alone; other code is for avx2, which is
# made fastest.
NOT_AT_AVX2 = ["fold-casts", "select-library-matmuls"]

# Models with quantised weights, all and some of them: who quantises a row does
# not change its bits.
QUANTISED = [
    ("qwen3-window", "f32", []),
    ("mixtral-two-of-four", "f32", []),
    # What is plain reads what is not, as bf16.
    ("bert-masked", "bf16", ["--quantize-exclude", "*output.dense*"]),
    # What is quantised reads what is not.
    ("qwen3-window", "bf16", ["--quantize-exclude", "*gate_proj*,*up_proj*"]),
]


class OptionalPasses:
    def __init__(self, test):
        self.test = test
        self.native_level = test.native_level()
        self.whole = {}  # Artifacts with all passes, by fixture, type and level.

    def names(self):
        """What the compiler says can be left out."""
        done = self.test.run("tenon-compile", "compile", "x", "--disable-pass",
                             "?")
        names = re.search(r"\{([^}]*)\}", done.stderr)
        return names.group(1).replace(" ", "").split(",") if names else []

    def compile(self, fixture, dtype, target, *options):
        return self.test.compile(fixture.path, "model", "--dtype", dtype,
                                 "--target-cpu", target, *fixture.options,
                                 *options)

    def compare(self, fixture, artifact, dtype, what):
        # Whole models reach 2e-6: a pass must not cost accuracy either.
        measure, most = (support.largest_error, 1e-5) if dtype == "f32" else (
            support.l2_error, support.REFERENCE_TOLERANCE[dtype][1])
        for given, options, reference, skipped in fixture.runs():
            values = self.test.output(artifact, options)[skipped:]
            error = measure(values, reference)
            self.test.check(error <= most, f"{fixture.name}, {given}, {dtype}, "
                            f"without {what}: {error:.2e}, at most {most:.0e}")

    def without_any(self, names):
        for fixture in support.first_of_each(support.fixtures(self.test.names)):
            artifact = self.compile(fixture, "f32", "avx2", "--disable-pass",
                                    ",".join(names))
            self.compare(fixture, artifact, "f32", "any optional pass")

    def without_one(self, name, where):
        fixture, dtype = (where.split() + ["f32"])[:2]
        target = "native" if name in NOT_AT_AVX2 else "avx2"
        if target == "native" and not support.runnable("avx512",
                                                       self.native_level):
            self.test.skip(f"{where} without {name}",
                           f"this machine has {self.native_level}")
            return
        fixture, = support.fixtures([fixture])
        if (where, target) not in self.whole:
            self.whole[where, target] = self.compile(fixture, dtype,
                                                     target).read_bytes()
        artifact = self.compile(fixture, dtype, target, "--disable-pass", name)
        self.test.check(artifact.read_bytes() != self.whole[where, target],
                        f"{where}: {name} changes its code")
        self.compare(fixture, artifact, dtype, name)

    def quantised(self, name, dtype, options):
        fixture, = support.fixtures([name])
        outputs, code = [], []
        for disabled in [], ["--disable-pass", "fold-casts"]:
            artifact = self.compile(fixture, dtype, "native", "--quantize",
                                    "int8", *options, *disabled)
            code.append(artifact.read_bytes())
            outputs.append([self.test.output(artifact, given).tobytes()
                            for _, given, _, _ in fixture.runs()])
        self.test.check(code[0] != code[1] and outputs[0] == outputs[1],
                        f"{name} {dtype} {options}: int8 without fold-casts")


def main():
    test = support.Test(sys.argv[1:])
    passes = OptionalPasses(test)
    names = passes.names()
    test.check(sorted(names) == sorted(WHERE),
               f"passes of WHERE, expected {names}")
    passes.without_any(names)
    for name, fixtures in WHERE.items():
        for where in fixtures:
            passes.without_one(name, where)
    for name, dtype, options in QUANTISED:
        passes.quantised(name, dtype, options)
    test.finish()


if __name__ == "__main__":
    main()
