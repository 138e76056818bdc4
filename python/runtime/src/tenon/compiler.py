"""Compiling models, by the package tenon-compiler or a tenon-compile that is
installed otherwise."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
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


def find_tool() -> str:
    """The path of the command tenon of this package."""
    return str(pathlib.Path(__file__).parent / "bin" / "tenon")


def installed_compiler() -> str | None:
    """The path of tenon-compile: of $TENON_COMPILE, the package tenon-compiler,
    or the PATH; None where there is none."""
    if named := os.environ.get("TENON_COMPILE"):
        return named
    try:
        import tenon_compiler
    except ImportError:
        pass
    else:
        return tenon_compiler.executable()
    return shutil.which("tenon-compile")


def _need_compiler() -> str:
    if found := installed_compiler():
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


def _run(command: list[str],
         progress: Callable[[CompileProgress], None] | None,
         remarks: Callable[[str], None] | None = None,
         **environment: str) -> str:
    """The standard output of a command that compiles; its notes are
    warnings."""
    try:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   errors="replace",
                                   env={**os.environ, **environment})
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
            elif line.startswith("remark: "):
                if remarks is not None:
                    remarks(line.removeprefix("remark: ").rstrip())
            elif line.strip():
                lines.append(line.strip())
        output = running.stdout.read()
    except BaseException:
        running.kill()
        raise
    finally:
        running.stderr.close()
        running.stdout.close()
        status = running.wait()
    errors = [line.removeprefix("tenon: error: ") for line in lines
              if line.startswith("tenon: error: ")]
    if status != 0:
        raise CompileError("\n".join(errors or lines[-1:])
                           or f"{command[0]} ended with status {status}")
    for line in lines:
        warnings.warn(line.removeprefix("tenon: "), stacklevel=3)
    return output


def compile(model: str | os.PathLike, output: str | os.PathLike, *,
            progress: Callable[[CompileProgress], None] | None = None,
            remarks: Callable[[str], None] | None = None,
            **options) -> str:
    """Compiles a model description into an artifact, and answers its path.

    Args:
        model: a Hugging Face directory, a GGUF or a .mlir file.
        output: the artifact; what was there is replaced when it is complete.
        progress: called with a CompileProgress as it goes on.
        remarks: called with each remark: what was fused, placed and packed,
            and why not.
        options: those of `tenon compile` with underscores: quantize="int4",
            dtype="bf16", target_cpu=["avx2", "avx512"], max_seq_len=4096, ...

    Notes of the compiler are warnings.

    Raises: CompileError, with the compiler's line.
    """
    path = os.fspath(output)
    _run([_need_compiler(), "compile", os.fspath(model), "-o", path,
          "--progress=json", *_arguments(options),
          *(["--remarks"] if remarks else [])], progress, remarks)
    return path


def compiled(model: str | os.PathLike,
             progress: Callable[[CompileProgress], None] | None = None,
             **options) -> str:
    """The path of a model's artifact in the folder that the command `tenon
    cache` lists, after compiling it if it is not there."""
    return _run([find_tool(), "cache", "add", os.fspath(model),
                 "--progress=json", *_arguments(options)], progress,
                TENON_COMPILE=_need_compiler()).strip()
