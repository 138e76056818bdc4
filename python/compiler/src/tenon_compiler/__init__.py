"""The compiler of Tenon; tenon.compile() runs it."""

import pathlib


def executable() -> str:
    """The path of tenon-compile."""
    return str(pathlib.Path(__file__).parent / "bin" / "tenon-compile")
