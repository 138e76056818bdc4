"""What models of one process share."""

from __future__ import annotations

from . import _native
from .local import Local


class Resources(Local):
    """Threads and memory for several models: their engines and sessions take
    turns on the threads, step by step, in the order in which they asked, and
    their caches and working memory stay below a limit together.

    Args:
        threads: 0: one per core.
        memory: bytes; 0: no limit. Weights, which are mapped files, do not
            count.
    """

    def __init__(self, *, threads: int = 0, memory: int = 0):
        self._native = _native.Resources(threads, memory)
