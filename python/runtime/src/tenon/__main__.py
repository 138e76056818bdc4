"""The command `tenon`: the tool of the runtime, and of the compiler where that
is installed."""

import os
import pathlib
import sys


def main() -> None:
    tool = pathlib.Path(__file__).parent / "bin" / "tenon"
    if sys.argv[1:2] == ["compile"] or sys.argv[1:2] == ["bisect"]:
        from .compiler import find_compiler
        from .errors import CompileError
        try:
            tool = find_compiler()
        except CompileError as problem:
            sys.exit(f"tenon: error: {problem}")
    os.execv(tool, ["tenon", *sys.argv[1:]])


if __name__ == "__main__":
    main()
