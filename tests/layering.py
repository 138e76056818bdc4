"""Checks that no folder uses what it must not.

    layering.py sources CHECKOUT       every #include and .td include
    layering.py libraries FILE...      what executables and libraries load
    layering.py symbols LIBRARY...     functions that two sources define, and
                                       threads without startThread()
    layering.py self-check             that the rules catch what they should

Prints one line per violation; exit status 1 if there is any.
"""

import pathlib
import re
import subprocess
import sys

# Prefixes of included files that a folder must not use, with the reason.
FORBIDDEN = {
    "runtime": {
        r"(dialects|passes|compiler)/": "the runtime knows no compiler",
        r"(mlir|llvm|lld)(-c)?/": "the runtime must build without LLVM",
        r"boost/": "connections are the server's alone",
    },
    "dialects": {
        r"(passes|compiler)/": "dialects know no passes",
        r"runtime/(?!Abi/(Types|Limits|CpuLevel)\.h$)":
            "dialects share formats, geometry, limits and CPU levels with the"
            " runtime and nothing else",
    },
    "passes": {
        r"compiler/": "passes know IR only",
        r"runtime/(?!Abi/\w+\.h$)":
            "passes share the ABI with the runtime and nothing else",
        r"llvm/Support/CommandLine\.h$": "passes have options, not globals",
        r"mlir/InitAll": "only tenon-opt registers everything",
    },
    "compiler": {
        r"mlir/InitAll": "only tenon-opt registers everything",
    },
    "python": {
        r"(runtime|dialects|passes|compiler)/":
            "the Python package is built on what is installed",
        r"(mlir|llvm|lld)(-c)?/": "the runtime's wheel needs no LLVM",
    },
}
ALLOWED = {("compiler/Tools/tenon-opt.cpp", r"mlir/InitAll"),
           ("runtime/Http/Connection.h", r"boost/"),
           ("runtime/Http/Connection.cpp", r"boost/"),
           ("runtime/Http/HttpServer.cpp", r"boost/")}
SUFFIXES = {".h", ".cpp", ".c", ".td"}
INCLUDE = re.compile(r'^\s*#?\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
FORBIDDEN_LIBRARIES = re.compile(r"\blib(LLVM|MLIR|lld|clang)\S*")


def violations_in(name, text):
    """Lines about the includes of the file `name` (relative to the checkout)."""
    found = []
    for included in INCLUDE.findall(text):
        # "../Abi/X.h" and the like would slip past the rules.
        if included.startswith("."):
            found.append(f"{name}: includes {included}: name it from the top")
        for pattern, reason in FORBIDDEN[name.split("/")[0]].items():
            if re.match(pattern, included) and (name, pattern) not in ALLOWED:
                found.append(f"{name}: includes {included}: {reason}")
    return found


def check_sources(checkout):
    root = pathlib.Path(checkout)
    found, files = [], 0
    for folder in FORBIDDEN:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                files += 1
                name = path.relative_to(root).as_posix()
                found += violations_in(name, path.read_text())
    if files == 0:
        found.append(f"{checkout}: no source files found")
    return found


def check_libraries(files):
    found = []
    for file in files:
        run = subprocess.run(["ldd", file], capture_output=True, text=True)
        # ldd of what is no executable, or of a static one, shows nothing.
        if run.returncode != 0 or "libstdc++" not in run.stdout:
            found.append(f"{file}: ldd answers {run.stdout or run.stderr!r}")
        for library in sorted(
            {m.group(0) for m in FORBIDDEN_LIBRARIES.finditer(run.stdout)}
        ):
            found.append(f"{file}: loads {library}: it must run without LLVM")
    return found


def check_symbols(libraries):
    """A function outside of headers has no twin, inline or not: the linker
    would take either for both."""
    defined, strong = {}, set()
    for library in libraries:
        lines = subprocess.run(["nm", "-A", "--defined-only", library],
                               capture_output=True, text=True, check=True)
        for line in lines.stdout.splitlines():
            file, _, rest = line.partition(".o:")
            _, kind, symbol = rest.split(maxsplit=2)
            if kind in "TW" and "5tenon" in symbol:
                defined.setdefault(symbol, set()).add(
                    file.rpartition(":")[2].rpartition("/")[2])
                if kind == "T":
                    strong.add(symbol)
    found = [f"{symbol}: defined in {', '.join(sorted(defined[symbol]))}"
             for symbol in sorted(strong) if len(defined[symbol]) > 1]
    if not strong:
        found.append("no function found")
    return found


def check_threads(libraries):
    """A thread that does not start is an error, which std::thread throws."""
    found, starts = [], 0
    for library in libraries:
        lines = subprocess.run(["nm", "-A", "--undefined-only", library],
                               capture_output=True, text=True, check=True)
        for line in lines.stdout.splitlines():
            if "_ZNSt6thread15_M_start_thread" not in line:
                continue
            starts += 1
            if not library.endswith("/libTenonSupport.a"):
                found.append(f"{line.rpartition(':')[0]}: starts a std::thread:"
                             " expected startThread() of Support/Thread.h")
    if starts == 0:
        found.append("no thread found")
    return found


def self_check():
    cases = [
        ("runtime/A.cpp", '#include "mlir/IR/Builders.h"', True),
        ("runtime/A.cpp", "# include <llvm/ADT/StringRef.h>", True),
        ("runtime/A.cpp", '#include "compiler/B.h"', True),
        ("runtime/A.cpp", '#include "runtime/B.h"\n#include <vector>', False),
        ("dialects/A.td", 'include "passes/B.td"', True),
        ("dialects/A.td", 'include "mlir/IR/OpBase.td"', False),
        ("dialects/A.h", '#include "runtime/Abi/TenonRt.h"', True),
        ("passes/A.cpp", '#include "runtime/Abi/TenonRt.h"', False),
        ("passes/A.cpp", '#include "runtime/Packing/Layout.h"', True),
        ("passes/A.cpp", '#include "runtime/Packing/Packer.h"', True),
        ("passes/A.cpp", '#include "runtime/Support/Json.h"', True),
        ("passes/A.cpp", '#include "compiler/B.h"', True),
        ("python/runtime/native/A.cpp", '#include "runtime/tenon.h"', True),
        ("python/runtime/native/A.cpp", "#include <tenon/tenon.h>", False),
        ("passes/A.cpp", '#include "../compiler/B.h"', True),
        ("compiler/A.cpp", '#include "mlir/InitAllDialects.h"', True),
        ("compiler/Tools/tenon-opt.cpp", '#include "mlir/InitAllDialects.h"',
         False),
    ]
    return [
        f"{name}: {text!r}: expected {'a' if expected else 'no'} violation"
        for name, text, expected in cases
        if bool(violations_in(name, text)) != expected
    ]


def main(arguments):
    if arguments[:1] == ["sources"] and len(arguments) == 2:
        found = check_sources(arguments[1])
    elif arguments[:1] == ["libraries"] and len(arguments) > 1:
        found = check_libraries(arguments[1:])
    elif arguments[:1] == ["symbols"] and len(arguments) > 1:
        found = check_symbols(arguments[1:]) + check_threads(arguments[1:])
    elif arguments == ["self-check"]:
        found = self_check()
    else:
        sys.exit(__doc__)
    print("\n".join(found) if found else "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
