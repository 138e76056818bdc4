"""Which code runs at which CPU level.

levels.py TENON WORK

- One artifact for two levels runs the better one, or the lower one where the
  better is lacking, and gives the reference's logits at both.
- An artifact for a level that is lacking ends with an error that names the
  features.
"""

import json
import sys

import support


def main():
    test = support.Test(sys.argv[1:])
    native = test.native_level()
    fixture, = support.fixtures(["llama-gqa-llama3"])

    def level_in_force(artifact, isa):
        return json.loads(test.need(
            "tenon", "bench", artifact, "--prompt-tokens", 16, "--new-tokens",
            1, "--repeat", 1, "--json", isa=isa))["level"]

    for dtype, (measure, most) in support.REFERENCE_TOLERANCE.items():
        if not support.runnable("avx512", native):
            test.skip(f"{dtype} for two levels", f"this machine has {native}")
            continue
        artifact = test.compile(fixture.path, f"two-{dtype}", "--dtype", dtype,
                                "--target-cpu", "avx2,avx512")
        for isa, expected in {None: "avx512", "AVX512_CORE": "avx512",
                              "AVX2": "avx2"}.items():
            level = level_in_force(artifact, isa)
            values = test.outputs(artifact, fixture.tokens, isa=isa)
            error = (support.largest_error if measure == "largest" else
                     support.l2_error)(values, fixture.reference)
            test.check(level == expected and error <= most,
                       f"{dtype} for two levels under {isa}: code for {level},"
                       f" expected {expected}; {measure} error {error:.2e}, "
                       f"at most {most:.0e}")

    # Code can be made for levels that this machine lacks.
    for level, features in {
            "avx512": ["avx512f", "avx512bw"],
            "avx512_bf16": ["avx512f", "avx512bf16"],
            "amx": ["amx-tile", "amx-bf16"]}.items():
        artifact = test.compile(fixture.path, level, "--dtype", "bf16",
                                "--target-cpu", level)
        run = ["tenon", "run", artifact, "--token-ids", "1",
               "--max-new-tokens", "1"]
        test.expect_error(f"code for {level} under AVX2", f"{level}.tenon",
                          level, *features, command=run, isa="AVX2")
        if not support.runnable(level, native):
            test.expect_error(f"code for {level} on {native}",
                              f"{level}.tenon", features[-1], command=run)
        # What is in it can be looked at anywhere.
        inspected = json.loads(test.need("tenon", "inspect", artifact,
                                         "--json", isa="AVX2"))
        test.check(inspected["code"][0]["level"] == level,
                   f"inspect of code for {level} under AVX2")
    test.finish()


if __name__ == "__main__":
    main()
