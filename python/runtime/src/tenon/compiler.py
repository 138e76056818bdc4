"""Compiling models, by the package tenon-compiler or a tenon-compile that is
installed otherwise."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Callable

from .errors import CompileError


@dataclasses.dataclass(frozen=True)
class CompileProgress:
    """Where a compilation is.

    Attributes:
        phase: what it does: "reading the model", "weights", ...
        share: how much of the phase is done, 0 to 1; None where it is not
            known.
    """

    phase: str
    share: float | None


def find_compiler() -> str:
    """The path of tenon-compile: of $TENON_COMPILE, the package tenon-compiler,
    or the PATH.

    Raises: CompileError, where there is none.
    """
    if named := os.environ.get("TENON_COMPILE"):
        return named
    try:
        import tenon_compiler
    except ImportError:
        pass
    else:
        return tenon_compiler.executable()
    if found := shutil.which("tenon-compile"):
        return found
    raise CompileError("tenon-compile was not found: install the package"
                       " tenon-compiler, or name it by TENON_COMPILE")


def _arguments(options: dict) -> list[str]:
    found: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(option)
        elif isinstance(value, (list, tuple)):
            found.append(f"{option}={','.join(map(str, value))}")
        else:
            found.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return found


def compile(model: str | os.PathLike, output: str | os.PathLike, *,
            progress: Callable[[CompileProgress], None] | None = None,
            **options) -> str:
    """Compiles a model description into an artifact, and answers its path.

    Args:
        model: a Hugging Face directory, a .gguf or a .mlir file.
        output: the artifact; what was there is replaced when it is complete.
        progress: called with a CompileProgress as it goes on.
        options: those of `tenon compile` with underscores: quantize="int4",
            dtype="bf16", target_cpu=["avx2", "avx512"], max_seq_len=4096, ...

    Notes of the compiler are warnings.

    Raises: CompileError, with the compiler's line.
    """
    command = [find_compiler(), "compile", os.fspath(model), "-o",
               os.fspath(output), "--progress=json", *_arguments(options)]
    try:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True,
                                   errors="replace")
    except OSError as problem:
        raise CompileError(f"{command[0]}: cannot start: {problem.strerror}"
                           ) from None
    lines: list[str] = []
    try:
        for line in running.stderr:
            if line.startswith('{"progress":'):
                if progress is not None:
                    now = json.loads(line)["progress"]
                    progress(CompileProgress(now["phase"], now.get("share")))
            elif line.strip():
                lines.append(line.strip())
    except BaseException:
        running.kill()
        raise
    finally:
        running.stderr.close()
        status = running.wait()
    errors = [line.removeprefix("tenon: error: ") for line in lines
              if line.startswith("tenon: error: ")]
    if status != 0:
        raise CompileError("\n".join(errors or lines[-1:])
                           or f"{command[0]} ended with status {status}")
    for line in lines:
        warnings.warn(line.removeprefix("tenon: "), stacklevel=2)
    return os.fspath(output)
