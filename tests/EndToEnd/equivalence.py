"""One computation, cut into other steps or run by other code.

equivalence.py TENON WORK TARGET FIXTURE...

Compiled in f32 for --target-cpu TARGET, one prefill of all tokens, by code
for many tokens, is what every other way is compared with:

- chunked prefill, and token by token;
- code for few tokens against code for many (`--few-tokens`).
"""

import sys

import support

# Options of compiling, and what they mean for a prefill of T tokens.
WAYS = {
    "all at once, .many from 2 tokens on": ["--few-tokens", 1],
    "chunks of 64, .few": ["--few-tokens", 64, "--max-tokens-per-step", 64],
    "chunks of 16, .many": ["--max-tokens-per-step", 16],
    "chunks of 16, .few": ["--few-tokens", 16, "--max-tokens-per-step", 16],
    "chunks of 7, .few": ["--max-tokens-per-step", 7],
    "chunks of 7, .many": ["--few-tokens", 1, "--max-tokens-per-step", 7],
    "token by token": ["--max-tokens-per-step", 1],
}
ENCODER_WAYS = {
    ".many": ["--few-tokens", 1],
    ".few": ["--few-tokens", 64],
}


def main():
    target = sys.argv[3]
    test = support.Test(sys.argv[1:3] + sys.argv[4:])
    if target != "native" and not support.runnable(target,
                                                   test.native_level()):
        sys.exit(f"{target} does not run here")
    for fixture in support.fixtures(test.names):
        def outputs(options):
            artifact = test.compile(
                fixture.path, fixture.name, "--dtype", "f32", "--target-cpu",
                target, *options)
            values = test.outputs(artifact, fixture.tokens, fixture.types)
            artifact.unlink()
            return values
        whole = outputs([])
        for way, options in (WAYS if fixture.decodes
                             else ENCODER_WAYS).items():
            error = support.largest_error(outputs(options), whole)
            test.check(error <= support.EQUIVALENCE_TOLERANCE,
                       f"{fixture.name} {target} {way}: largest error "
                       f"{error:.2e}, at most "
                       f"{support.EQUIVALENCE_TOLERANCE:.0e}")
    test.finish()


if __name__ == "__main__":
    main()
