"""Code runs on threads with small stacks, and gives what it gives on others.

small-stacks.py TENON WORK EXAMPLE
"""

import resource
import sys

import numpy
import support

# For 64 KiB of scratch, what else kernels need, and the library.
SMALL_STACK = 256 << 10


def main():
    *arguments, example = sys.argv[1:]
    test = support.Test(arguments)
    artifact = test.compile(example, "example", "--quantize", "int4")
    tokens = list(range(1, 101))
    usual = test.outputs(artifact, tokens)
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    # Of every thread of a process that begins now.
    resource.setrlimit(resource.RLIMIT_STACK, (SMALL_STACK, most))
    test.check(numpy.array_equal(test.outputs(artifact, tokens), usual),
               "output of threads with small stacks")
    test.finish()


if __name__ == "__main__":
    main()
