"""Many requests at once on one model."""

from __future__ import annotations

import asyncio
import collections
import json
import os
import secrets
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from . import _native
from .errors import (BY_STATUS, Cancelled, InvalidArgument, NotFound,
                     QueueFull)
from .local import Local
from .resources import Resources
from .results import Choice, Chunk, Completion, TokenLogprob, ToolCall, Usage
from .settings import Prompt, Settings, settings_of

if TYPE_CHECKING:
    from .model import Model

# By tenon_finish and tenon_request_state.
_FINISH = (None, "eos", "length", "error", "context", "stop")
_STATES = ("queued", "prefilling", "decoding", "finished", "cancelled",
           "failed")


def _logprobs(raw) -> list[TokenLogprob] | None:
    if raw is None:
        return None
    return [TokenLogprob(logprob, tuple(top)) for logprob, top in raw]


class _Signal:
    """Wakes threads and coroutines that wait for what is true under its
    lock."""

    def __init__(self):
        self.lock = threading.Condition()
        self._waiting: list[tuple[asyncio.AbstractEventLoop,
                                  asyncio.Future]] = []

    def wait(self, ready: Callable[[], object],
             timeout: float | None = None) -> bool:
        """Whether it is ready within `timeout` seconds."""
        with self.lock:
            return bool(self.lock.wait_for(ready, timeout))

    async def until(self, ready: Callable[[], object]) -> None:
        """As wait(), in a coroutine."""
        while True:
            with self.lock:
                if ready():
                    return
                loop = asyncio.get_running_loop()
                woken = loop.create_future()
                self._waiting.append((loop, woken))
            await woken

    def notify(self) -> None:
        """Within the lock: what is waited for may be true."""
        self.lock.notify_all()
        waiting, self._waiting = self._waiting, []
        for loop, woken in waiting:
            try:
                loop.call_soon_threadsafe(
                    lambda woken=woken: woken.done() or woken.set_result(None))
            except RuntimeError:
                pass  # The loop was closed, so nobody waits.


class Request(Local):
    """A request that an engine has taken.

    Iterate over it, with `for` or `async for`, to get its chunks as they come,
    once; leaving such a loop cancels the request. result() and completion()
    wait for all of it, as often as they are called.
    """

    def __init__(self, engine: Engine, number: int, prompt: list[int],
                 settings: Settings, tools: list | None = None):
        self._engine = engine
        self._id = number
        self._prompt = prompt
        self._tools = tools
        self._settings = settings
        self._changed = _Signal()
        self._chunks: collections.deque[Chunk] = collections.deque()
        self._choices = [Choice() for _ in range(settings.n)]
        self._state = "queued"
        self._completion: Completion | None = None
        self._failure: Exception | None = None

    @property
    def state(self) -> str:
        """"queued", "prefilling", "decoding", "finished", "cancelled" or
        "failed"."""
        return self._state

    @property
    def prompt_token_ids(self) -> list[int]:
        """What was asked, as tokens."""
        return self._prompt

    def cancel(self) -> None:
        """Gives the request up, in any state; others do not notice."""
        self._engine._cancel(self)

    def result(self, timeout: float | None = None) -> Completion:
        """Waits for all of it, at most `timeout` seconds.

        Raises: TimeoutError; Cancelled; what the request has failed with.
        """
        self._engine._native.check_process()
        if not self._changed.wait(lambda: self._ended, timeout):
            raise TimeoutError(
                f"the request has not ended after {timeout} seconds")
        return self._outcome()

    async def completion(self) -> Completion:
        """As result(), for coroutines. One that is cancelled cancels the
        request."""
        self._engine._native.check_process()
        try:
            await self._changed.until(lambda: self._ended)
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self._outcome()

    def __iter__(self) -> Iterator[Chunk]:
        self._engine._native.check_process()
        try:
            while True:
                with self._changed.lock:
                    self._changed.wait(lambda: self._chunks or self._ended)
                    if not self._chunks:
                        break
                    chunk = self._chunks.popleft()
                yield chunk
        except GeneratorExit:
            self.cancel()
            raise
        self._outcome()

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        self._engine._native.check_process()
        try:
            while True:
                await self._changed.until(lambda: self._chunks or self._ended)
                if not self._chunks:
                    break
                yield self._chunks.popleft()
        except (GeneratorExit, asyncio.CancelledError):
            self.cancel()
            raise
        self._outcome()

    @property
    def _ended(self) -> bool:
        return self._completion is not None or self._failure is not None

    def _outcome(self) -> Completion:
        if self._failure is not None:
            raise self._failure
        return self._completion

    def _take(self, news: dict) -> None:
        """On the engine's thread: news of this request."""
        try:
            with self._changed.lock:
                if not self._ended:
                    self._read(news)
                    self._changed.notify()
        except Exception as problem:
            # Who waits must hear of it, and nobody else.
            self._fail(problem)
            self.cancel()

    def _read(self, news: dict) -> None:
        self._state = _STATES[news["state"]]
        if news["piece"] is not None:
            self._add(news["piece"], news)
        elif self._state == "finished":
            self._finish(news)
        else:
            self._failure = (BY_STATUS[news["status"]](news["error"])
                             if news["error"] is not None
                             else Cancelled("the request was cancelled"))

    def _add(self, piece: dict, news: dict) -> None:
        choice = self._choices[piece["choice"]]
        logprobs = _logprobs(piece["logprobs"])
        stop = piece["stop_string"]
        chunk = Chunk(piece["choice"], piece["text"], piece["token_ids"],
                      logprobs, _FINISH[piece["finish"]],
                      piece["stop_token_id"] if stop is None else stop)
        choice.text += chunk.text
        choice.token_ids += chunk.token_ids
        if self._settings.logprobs is not None:
            choice.logprobs = (choice.logprobs or []) + (logprobs or [])
        choice.finish_reason = chunk.finish_reason
        choice.stop_reason = chunk.stop_reason
        if news["error"] is not None:
            choice.error = BY_STATUS[news["status"]](news["error"])
        self._chunks.append(chunk)

    def _finish(self, news: dict) -> None:
        failures = [c.error for c in self._choices if c.error is not None]
        if len(failures) == len(self._choices):
            self._failure = failures[0]
            return
        if self._tools is not None:
            for choice in self._choices:
                self._read_calls(choice)
        self._completion = Completion(
            self._choices, self._prompt, _logprobs(news["prompt_logprobs"]),
            self._settings.seed, Usage(**news["usage"]))

    def _read_calls(self, choice: Choice) -> None:
        stopped = (isinstance(choice.stop_reason, str)
                   and not self._settings.echo)
        try:
            answer = json.loads(self._engine.model._native.parse_answer(
                self._prompt, choice.token_ids,
                choice.text if stopped else None, json.dumps(self._tools)))
        except NotFound:
            return  # Nothing says how the model writes calls.
        choice.text = answer["text"]
        choice.reasoning = answer.get("reasoning", "")
        choice.tool_calls = [ToolCall(call["id"], **call["function"])
                             for call in answer["tool_calls"]]
        if choice.tool_calls and choice.finish_reason in ("eos", "stop"):
            choice.finish_reason = "tool_calls"

    def _fail(self, failure: Exception) -> None:
        with self._changed.lock:
            if not self._ended:
                self._state = ("cancelled" if isinstance(failure, Cancelled)
                               else "failed")
                self._failure = failure
                self._changed.notify()


class Engine(Local):
    """Runs requests on a model, all of them in each step. A request's tokens do not depend on what else runs.

    Args:
        model: a Model that generates text.
        threads: 0: one per core.
        cache_tokens: of all texts together; 0: as many texts of full length as
            may run, but at most a quarter of the machine's memory.
        source_tokens: the same of source texts that are answered.
        max_num_seqs: sequences that are generated at once.
        max_queued: requests that wait; one more raises QueueFull.
        max_step_ms: what a step may take: prompts are cut accordingly.
        prefix_cache: whether the beginnings of prompts are kept for others.
        resources: threads and memory that it shares; `threads` is 0 then.

    May be used from any thread, and in a `with` statement.
    """

    def __init__(self, model: Model, *, threads: int = 0, cache_tokens: int = 0,
                 source_tokens: int = 0, max_num_seqs: int = 8,
                 max_queued: int = 256, max_step_ms: float = 100.0,
                 prefix_cache: bool = True,
                 resources: Resources | None = None):
        # Zeros are defaults in C.
        for name, value in (("max_num_seqs", max_num_seqs),
                            ("max_queued", max_queued),
                            ("max_step_ms", max_step_ms)):
            if not value > 0:
                raise InvalidArgument(f"{name} is {value}: expected more than"
                                      " 0")
        self.model = model
        self._native = _native.Engine(
            self.model._native, threads, cache_tokens, source_tokens,
            max_num_seqs, max_queued, max_step_ms, prefix_cache,
            resources and resources._native)
        self.max_queued = max_queued
        self._mail = _Mail(self._native)
        # When nobody holds the engine any more, and at the interpreter's end.
        self._end = weakref.finalize(self, self._mail.close)

    def submit(self, prompt: Prompt, settings: Settings | None = None, *,
               timeout: float | None = None, salt: str = "",
               **changes) -> Request:
        """Queues a request.

        Args:
            prompt: a text, or token ids.
            settings, changes: Settings, and fields of it by name.
            timeout: seconds after which the request fails.
            salt: only requests of the same salt share cached prefixes.

        Raises: InvalidArgument, also in a process that was forked after the
            engine was made; OutOfCachePages, for what can never fit; QueueFull;
            Cancelled, when the engine is closed.

        What the text must be is compiled before it returns, which may take
        long: coroutines have asubmit().
        """
        return self._submission(prompt, settings, timeout=timeout, salt=salt,
                                **changes).submit()

    async def asubmit(self, prompt: Prompt, settings: Settings | None = None,
                      **terms) -> Request:
        """As submit(), in a coroutine: what takes long is done on another
        thread, and the event loop goes on."""
        return await _off_loop(lambda: self.submit(prompt, settings, **terms))

    def submit_chat(self, messages, settings: Settings | None = None, *,
                    tools=None, timeout: float | None = None, salt: str = "",
                    template: Mapping | None = None, **changes) -> Request:
        """Queues the answer to a conversation; see Model.chat()."""
        return self._chat_submission(
            messages, settings, tools=tools, timeout=timeout, salt=salt,
            template=template, **changes).submit()

    async def asubmit_chat(self, messages, settings: Settings | None = None,
                           **terms) -> Request:
        """As submit_chat(), in a coroutine; see asubmit()."""
        return await _off_loop(
            lambda: self.submit_chat(messages, settings, **terms))

    def _submission(self, prompt: Prompt, settings: Settings | None = None, *,
                    timeout: float | None = None, salt: str = "",
                    **changes) -> _Submission:
        settings = self.model._settings(settings_of(settings, changes))
        return _Submission(self, self.model._prompt(prompt), settings, timeout,
                           salt)

    def _chat_submission(self, messages, settings: Settings | None = None, *,
                         tools=None, timeout: float | None = None,
                         salt: str = "", template: Mapping | None = None,
                         **changes) -> _Submission:
        settings = self.model._settings(settings_of(settings, changes))
        prompt = self.model.chat_prompt(messages, tools=tools,
                                        **(template or {}))
        return _Submission(self, prompt, settings, timeout, salt, tools)

    def _has_place(self) -> bool:
        return self._native.statistics()["queued"] < self.max_queued

    def save_prefixes(self, path: str | os.PathLike) -> None:
        """Writes the beginnings of prompts that are kept to a file, for engines
        of later processes."""
        self._native.save_prefixes(os.fspath(path))

    def load_prefixes(self, path: str | os.PathLike) -> int:
        """Keeps the beginnings of prompts that save_prefixes() has written, in
        place of those that are kept; how many. None of a file that another
        artifact, version of Tenon or CPU has made.

        Raises: NotFound, DamagedFile.
        """
        return self._native.load_prefixes(os.fspath(path))

    def statistics(self) -> dict[str, int]:
        """Counts of requests, tokens and cache pages so far."""
        return self._native.statistics()

    def drain(self, timeout: float) -> bool:
        """Takes no more requests, and waits for those that there are, at most
        `timeout` seconds; then cancels them. Whether all could finish."""
        return self._native.drain(timeout)

    def close(self) -> None:
        """Cancels what still runs. Nothing happens the second time."""
        self._end()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _cancel(self, request: Request) -> None:
        # A fork's copy of a request that is left concerns nobody.
        if self._end.alive and self._native.is_here():
            self._native.cancel(request._id)


async def _off_loop(submit: Callable[[], Request | None]) -> Request | None:
    """What `submit` answers on another thread. A coroutine that is cancelled
    meanwhile cancels the request."""
    taken: list[Request | None] = []
    is_left = threading.Event()

    def take() -> None:
        taken.append(submit())
        if is_left.is_set():
            cancel()

    def cancel() -> None:
        for request in taken:
            if request is not None:
                request.cancel()

    try:
        await asyncio.to_thread(take)
    except asyncio.CancelledError:
        is_left.set()
        cancel()
        raise
    return taken[0]


class _Submission:
    """A request that is not queued yet."""

    def __init__(self, engine: Engine, prompt: list[int], settings: Settings,
                 timeout: float | None, salt: str, tools: list | None = None):
        if timeout is not None and not timeout > 0:
            raise InvalidArgument(f"timeout is {timeout}: expected more than 0"
                                  " seconds")
        if settings.seed is None:
            settings = settings.replace(seed=secrets.randbits(64))
        self._engine = engine
        self._prompt = prompt
        self._settings = settings
        self._terms = (timeout or 0.0, salt)
        self._tools = tools

    def submit(self) -> Request:
        engine, settings = self._engine, self._settings
        number, retry_after, refusal = engine._native.submit(
            engine.model._native, self._prompt, settings, settings.images or [],
            None if self._tools is None else json.dumps(self._tools),
            *self._terms)
        if number is None:
            raise QueueFull(refusal, retry_after)
        request = Request(engine, number, self._prompt, settings, self._tools)
        engine._mail.expect(request)
        return request

    def submit_when_free(self) -> Request:
        """As submit(), but waits for a place in a full queue."""
        mail = self._engine._mail
        while True:
            seen = mail.departures
            if (request := self._try()) is not None:
                return request
            mail.places.wait(lambda: mail.departures != seen)

    async def asubmit_when_free(self) -> Request:
        """The same in a coroutine."""
        mail = self._engine._mail
        while True:
            seen = mail.departures
            if (request := await _off_loop(self._try)) is not None:
                return request
            await mail.places.until(lambda: mail.departures != seen)

    def _try(self) -> Request | None:
        """Submits it, where there is a place."""
        if self._engine._has_place():
            try:
                return self.submit()
            except QueueFull:
                pass  # Another thread was faster.
        return None


class _Mail:
    """Hands news on, on a thread of its own, until it is closed. It does not
    hold the engine, which ends when nobody else does."""

    def __init__(self, native: _native.Engine):
        self._native = native
        self._lock = threading.Lock()
        # Those that run; they hold the engine.
        self._requests: dict[int, Request] = {}
        # News of requests that are not expected yet.
        self._early: dict[int, list[dict]] = {}
        # Requests that have left the queue, and who waits for their places.
        self.departures = 0
        self.places = _Signal()
        self._is_closed = False
        self._thread = threading.Thread(target=self._deliver, daemon=True,
                                        name="tenon-engine")
        self._thread.start()

    def expect(self, request: Request) -> None:
        """Hands a request its news, until it has ended."""
        with self._lock:
            is_closed = self._is_closed
            if not is_closed:
                self._requests[request._id] = request
                for news in self._early.pop(request._id, ()):
                    self._hand(news)
        if is_closed:
            request._fail(_closed())

    def close(self) -> None:
        if not self._native.is_here():
            return  # Its threads, which are to end, are another process's.
        self._is_closed = True
        self._native.wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._end(_closed())

    def _end(self, failure: Exception) -> None:
        self._is_closed = True
        self._native.close()
        with self._lock:
            left, self._requests = self._requests, {}
            self._early = {}
        for request in left.values():
            request._fail(failure)
        self._leave()

    def _leave(self) -> None:
        with self.places.lock:
            self.departures += 1
            self.places.notify()

    def _deliver(self) -> None:
        while not self._is_closed:
            try:
                news = self._native.wait(-1.0)
            except Exception as problem:
                # Whose news are lost, nobody knows.
                self._end(problem)
                return
            if news is not None:
                self._receive(news)

    def _receive(self, news: dict) -> None:
        number = news["request"]
        with self._lock:
            # It holds the engine, which must not end within the lock.
            request = self._requests.get(number)
            if request is not None:
                self._hand(news)
            else:
                self._early.setdefault(number, []).append(news)

    def _hand(self, news: dict) -> None:
        number = news["request"]
        request = self._requests[number]
        was_queued = request.state == "queued"
        if news["piece"] is None:
            del self._requests[number]
        request._take(news)
        if was_queued:
            self._leave()


def _closed() -> Cancelled:
    return Cancelled("the engine was closed")
