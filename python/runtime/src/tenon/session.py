"""Steps of a model, for programs that choose tokens themselves."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from collections.abc import Sequence as Items
from typing import TYPE_CHECKING, Literal

import numpy as np

from . import _native
from .errors import InvalidArgument
from .local import Local
from .resources import Resources
from .settings import Settings, settings_of, token_ids

if TYPE_CHECKING:
    from .model import Model

_ROWS = {
    "none": _native.OutputRows.NONE,
    "last": _native.OutputRows.LAST,
    "all": _native.OutputRows.ALL,
}


def _output_rows(rows: str) -> _native.OutputRows:
    if rows not in _ROWS:
        raise InvalidArgument(f"rows is {rows!r}: expected one of"
                              f" {', '.join(map(repr, _ROWS))}")
    return _ROWS[rows]


class Session(Local):
    """Sequences of a decoder, and the cache that holds them.

    Arrays that it answers are memory of the runtime, not copied, and stay as
    they are. Calls from several threads run one after another, cancel() apart.

    Args:
        model: a Model.
        threads: 0: one per core.
        cache_tokens: of all sequences together; 0: one of full length.
        resources: threads and memory that it shares; `threads` is 0 then.
    """

    def __init__(self, model: Model, *, threads: int = 0, cache_tokens: int = 0,
                 resources: Resources | None = None):
        if resources is not None and threads != 0:
            raise InvalidArgument(f"threads is {threads}: expected 0, for"
                                  " threads that are shared")
        self.model = model
        self._native = _native.Session(model._native, threads, cache_tokens,
                                       resources and resources._native)
        self._lock = threading.RLock()
        # Sequences that nobody holds any more.
        self._left: list[int] = []

    @contextlib.contextmanager
    def _turn(self) -> Iterator[_native.Session]:
        """The native session, while no other call runs on it."""
        with self._lock:
            while self._left:
                self._native.end_sequence(self._left.pop())
            yield self._native

    def sequence(self) -> Sequence:
        """A new, empty sequence."""
        with self._turn() as native:
            return Sequence(self, native.create_sequence())

    def step(self, items: Items[tuple[Sequence, Items[int]]], *,
             rows: Literal["none", "last", "all"] = "last"
             ) -> list[np.ndarray]:
        """Appends tokens to several sequences in one ragged batch; of each the
        logits, [rows, vocabulary] float32."""
        items = list(items)
        for sequence, _ in items:
            if sequence._session is not self:
                raise InvalidArgument("a sequence is of another session:"
                                      " expected one of this session")
        return self._run([
            _native.Item(token_ids(tokens, "tokens"), sequence._id,
                         output_rows=_output_rows(rows))
            for sequence, tokens in items
        ])

    def _run(self, items: list) -> list[np.ndarray]:
        with self._turn() as native:
            return native.run(_native.Entry.STEP, items)

    def cancel(self) -> None:
        """From any thread: the step that runs raises Cancelled; all sequences
        are as before it."""
        self._native.cancel()


class Sequence(Local):
    """Tokens and what the cache holds of them; ends with its object."""

    def __init__(self, session: Session, number: int):
        self._session = session
        self._id = number

    def __len__(self) -> int:
        with self._session._turn() as native:
            return native.length(self._id)

    def append(self, tokens: Items[int], *, prefix: int = 0,
               rows: Literal["none", "last", "all"] = "last") -> np.ndarray:
        """Runs `tokens`; the logits, [rows, vocabulary] float32.

        Args:
            prefix: so many first tokens see each other, in models with a prefix
                mask; only in the first step.
        """
        return self._session._run([
            _native.Item(token_ids(tokens, "tokens"), self._id,
                         output_rows=_output_rows(rows), prefix=prefix)
        ])[0]

    def fork(self) -> Sequence:
        """A sequence with the same tokens; both share cache until one goes
        on."""
        with self._session._turn() as native:
            return Sequence(self._session, native.fork_sequence(self._id))

    def truncate(self, length: int) -> None:
        """Drops the tokens from the first `length` on."""
        with self._session._turn() as native:
            native.truncate_sequence(self._id, length)

    def end(self) -> None:
        """Gives its cache back. Nothing happens the second time."""
        with self._session._turn() as native:
            number, self._id = self._id, 0
            if number:
                native.end_sequence(number)

    def __del__(self):
        # In any thread, also while a step runs: the next call ends it.
        if getattr(self, "_id", 0):
            self._session._left.append(self._id)


class Sampler(Local):
    """Chooses tokens from logits, as generation does: what it draws depends on
    logits, settings and position only."""

    def __init__(self, model: Model, settings: Settings | None = None,
                 **changes):
        settings = settings_of(settings, changes)
        self._native = _native.Sampler(model._native, model._settings(settings))

    def pick(self, logits: np.ndarray, position: int | None = None) -> int:
        """A token id, from one row of logits.

        Args:
            position: how many tokens are before it; None: one more than the
                last time, beginning with 0.
        """
        rows = np.ascontiguousarray(logits, dtype=np.float32)
        if rows.ndim == 0 or rows.size != rows.shape[-1]:
            raise InvalidArgument(f"logits have the shape {rows.shape}: expected"
                                  " one row")
        if position is not None:
            self._native.seek(position)
        return self._native.pick(rows.reshape(-1))
