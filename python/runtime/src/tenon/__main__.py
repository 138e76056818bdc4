"""The command `tenon`: the tool of the runtime, and of the compiler where that
is installed."""

import os
import sys

from .compiler import find_tool, installed_compiler


def main() -> None:
    tool = find_tool()
    if compiler := installed_compiler():
        os.environ["TENON_COMPILE"] = compiler
    os.execv(tool, ["tenon", *sys.argv[1:]])


if __name__ == "__main__":
    main()
