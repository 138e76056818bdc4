"""Compiled models, and what they are asked."""

from __future__ import annotations

import asyncio
import collections
import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import overload

import numpy as np

from . import _native
from .compiler import compiled
from .engine import Engine, Request
from .errors import InvalidArgument
from .local import Local
from .resources import Resources
from .results import Completion, Label
from .session import Session
from .settings import Prompt, Settings, settings_of, token_ids
from .tokenizer import Tokenizer

# Tokens that are encoded at once: enough to keep all cores busy.
_ENCODE_TOKENS = 8192


# How a model that is not compiled is.
_COMPILE_OPTIONS = ("quantize", "calibrate", "dtype", "kv_cache", "activations",
                    "progress")


def load(path: str | os.PathLike, **options) -> Model:
    """Loads an artifact; or a model, a Hugging Face directory or a GGUF file,
    which is compiled the first time and kept, as the command `tenon run` does.

    Args:
        path: of the artifact or model.
        options: those of Model. With a model also quantize, calibrate ("auto"),
            dtype, kv_cache, activations and progress, as of compile().

    Raises: as Model; CompileError.
    """
    compiling = {name: options.pop(name) for name in _COMPILE_OPTIONS
                 if name in options}
    if os.path.isdir(path) or _is_gguf(path):
        path = compiled(path, **compiling)
    elif compiling:
        raise InvalidArgument(f"{path}: is no directory and no GGUF file:"
                              f" {next(iter(compiling))} is for models that"
                              " are not compiled")
    return Model(path, **options)


def _is_gguf(path: str | os.PathLike) -> bool:
    """By its name, or by how it begins: Ollama names files by their hash."""
    if os.fspath(path).endswith(".gguf"):
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"GGUF"


class Model(Local):
    """A compiled model, of any kind. May be used from any thread.

    An artifact holds native code: loading one means trusting it.

    Args:
        path: of the artifact that tenon.compile() has written.
        threads: 0: one per core.
        resources: threads and memory that it shares with other models;
            `threads` is 0 then.
        engine: options of the Engine that generates, by name.

    Raises: NotFound, DamagedFile, UnsupportedCpu.
    """

    def __init__(self, path: str | os.PathLike, *, threads: int = 0,
                 resources: Resources | None = None, **engine):
        known = Engine.__init__.__kwdefaults__
        for name in engine:
            if name not in known:
                raise TypeError(f"unknown option {name!r}: expected one of"
                                f" {', '.join(known)}")
        self._native = _native.Model(os.fspath(path))
        self._room = {"threads": threads, "resources": resources}
        self._engine_options = engine
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._session: Session | None = None
        self._described = json.loads(self._native.describe())
        self._kinds = {e["role"]: e["output"]
                       for e in self._described["entries"]}
        self.tokenizer = Tokenizer(self._native)

    def describe(self) -> dict:
        """What the artifact says of itself: model, entries, caches, code,
        weights, settings; as `tenon inspect --json` has it."""
        return json.loads(self._native.describe())

    @property
    def kind(self) -> str:
        """"decoder", "encoder-decoder", "encoder" or "vision"."""
        if "step" in self._kinds:
            return ("encoder-decoder" if self._native.max_source()
                    else "decoder")
        return "vision" if "encode_image" in self._kinds else "encoder"

    @property
    def max_length(self) -> int:
        """The most tokens of a text."""
        return self._native.max_sequence()

    @property
    def vocabulary_size(self) -> int:
        """Token ids are below this."""
        return self._native.vocabulary()

    def __repr__(self) -> str:
        return (f"<tenon.Model {self._described['file']!r}:"
                f" {self._described['model']['family']}, {self.kind}>")

    # Generation

    @property
    def engine(self) -> Engine:
        """The engine that generates, made when it is first asked for."""
        with self._lock:
            if self._engine is None:
                self._engine = _own_engine(self)
            return self._engine

    @overload
    def generate(self, prompt: Prompt, settings: Settings | None = None,
                 **changes) -> Completion: ...

    @overload
    def generate(  # type: ignore[overload-overlap]
            self, prompt: Iterable[Prompt], settings: Settings | None = None,
            **changes) -> list[Completion]: ...

    def generate(self, prompt, settings=None, **changes):
        """Goes on with a text, or answers it in encoder-decoders.

        Args:
            prompt: a text, or token ids; or a list of these, which run at once
                and are answered by a list.
            settings, changes: Settings, and fields of it by name.
        """
        if _is_one(prompt):
            submission = self.engine._submission(prompt, settings, **changes)
            return submission.submit_when_free().result()
        return self._all(prompt, settings, changes)

    def stream(self, prompt: Prompt, settings: Settings | None = None,
               **changes) -> Request:
        """As generate(), for one prompt, chunk by chunk: iterate over the
        answer by `for` or `async for`."""
        return self.engine.submit(prompt, settings, **changes)

    async def agenerate(self, prompt: Prompt, settings: Settings | None = None,
                        **changes) -> Completion:
        """As generate(), for one prompt, in a coroutine: what takes long, such
        as compiling a schema, is done on another thread."""
        submission = await asyncio.to_thread(
            lambda: self.engine._submission(prompt, settings, **changes))
        return await (await submission.asubmit_when_free()).completion()

    def chat(self, messages, settings: Settings | None = None, *, tools=None,
             template: Mapping | None = None, **changes) -> Completion:
        """Answers a conversation by the model's chat template. Nothing in a
        message becomes a special token.

        Args:
            messages: a text of the user, or dicts with "role" and "content".
            tools: descriptions of tools, as OpenAI's API has them. The answer
                has `tool_calls`, if the artifact says how its model writes
                them; of tools with "strict": True they fulfil the schemas.
            template: other variables of the template by name.
            settings, changes: Settings, and fields of it by name.
        """
        submission = self.engine._chat_submission(
            messages, settings, tools=tools, template=template, **changes)
        return submission.submit_when_free().result()

    async def achat(self, messages, settings: Settings | None = None, *,
                    tools=None, template: Mapping | None = None,
                    **changes) -> Completion:
        """As chat(), in a coroutine; see agenerate()."""
        submission = await asyncio.to_thread(
            lambda: self.engine._chat_submission(
                messages, settings, tools=tools, template=template, **changes))
        return await (await submission.asubmit_when_free()).completion()

    def chat_stream(self, messages, settings: Settings | None = None, *,
                    tools=None, template: Mapping | None = None,
                    **changes) -> Request:
        """As chat(), chunk by chunk."""
        return self.engine.submit_chat(messages, settings, tools=tools,
                                       template=template, **changes)

    def chat_prompt(self, messages, *, tools=None,
                    add_generation_prompt: bool = True,
                    **template) -> list[int]:
        """The token ids of the prompt that chat() runs. Arguments of calls in
        `messages` are objects, or JSON texts as in answers."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        talk = dict(template, messages=messages, tools=tools,
                    add_generation_prompt=add_generation_prompt)
        try:
            text = json.dumps(talk)
        except (TypeError, ValueError) as problem:
            raise InvalidArgument(f"messages: {problem}: expected what JSON can"
                                  " hold") from None
        return self._native.chat_prompt(text)

    @overload
    def translate(self, texts: str, settings: Settings | None = None,
                  **changes) -> str: ...

    @overload
    def translate(  # type: ignore[overload-overlap]
            self, texts: Sequence[str], settings: Settings | None = None,
            **changes) -> list[str]: ...

    def translate(self, texts, settings=None, **changes):
        """The answers of an encoder-decoder, as texts."""
        if self.kind != "encoder-decoder":
            raise InvalidArgument(f"{self!r} does not translate: expected an"
                                  " encoder-decoder")
        if isinstance(texts, str):
            return self.generate(texts, settings, **changes).text
        return [c.text for c in self._all(texts, settings, changes)]

    def logits(self, prompt: Prompt) -> np.ndarray:
        """The scores of the next token after each token of `prompt`:
        [tokens, vocabulary] float32."""
        tokens = self._prompt(prompt)
        session = Session(self, cache_tokens=len(tokens), **self._room)
        return session.sequence().append(tokens, rows="all")

    # Encoders

    def embed(self, texts: str | Sequence[str], *,
              progress=None) -> np.ndarray:
        """One vector per text: [width] float32 of a text, [texts, width] of
        several. Longer texts than the model takes are cut.

        Args:
            progress: called with the number of texts done and that of all.
        """
        self._expect("embed", "embeddings")
        rows = self._encode_all(_native.Entry.EMBED, texts, progress, cut=True)
        return rows[0][0] if isinstance(texts, str) else (
            np.concatenate(rows) if rows
            else np.empty((0, self._width("embed")), np.float32))

    def encode(self, texts, *, token_types: Sequence[int] | None = None,
               progress=None) -> np.ndarray | list[np.ndarray]:
        """The model's output for every token of a text, [tokens, width]
        float32: hidden states, or logits of masked language models; of a list
        of texts a list.

        Args:
            texts: a text, or token ids; or a list of these.
            token_types: of one text, a type per token; None: all 0.
            progress: called with the number of texts done and that of all.
        """
        self._expect("encode", "outputs of texts")
        if self._kinds["encode"] in ("classes", "pooled"):
            raise InvalidArgument(f"{self!r} has one output for a text: expected"
                                  " classify()")
        one = _is_one(texts)
        rows = self._encode_all(_native.Entry.ENCODE, [texts] if one else texts,
                                progress, cut=False, token_types=token_types)
        return rows[0] if one else rows

    def classify(self, inputs, *, token_types: Sequence[int] | None = None,
                 top: int | None = 5) -> list[Label] | list[list[Label]]:
        """Classes of a text, or of an image: the likeliest first.

        Args:
            inputs: a text; of a vision model the path of a PNG or JPEG file, or
                pixels [channels, height, width]; or a list of these, answered
                by a list.
            token_types: of one text, a type per token; None: all 0.
            top: how many classes; None: all.
        """
        if top is not None and top < 0:
            raise InvalidArgument(f"top is {top}: expected at least 0, or None")
        if self.kind == "vision":
            self._expect_classes("encode_image")
            one = isinstance(inputs, (str, os.PathLike, np.ndarray))
            images = [self._pixels(i) for i in ([inputs] if one else inputs)]
            with self._lock:
                rows = (self._own_session()._native.run_images(self._native,
                                                               images)
                        if images else [])
        else:
            self._expect("encode", "classes")
            self._expect_classes("encode")
            one = _is_one(inputs)
            rows = self._encode_all(_native.Entry.ENCODE,
                                    [inputs] if one else inputs, None,
                                    cut=False, token_types=token_types)
        names = self._described["labels"]
        answers = [_labels(row[0], names, top) for row in rows]
        return answers[0] if one else answers

    def image_features(self, image) -> np.ndarray:
        """What a vision model answers for an image, [rows, width] float32: class
        scores, or features of the class token and of every patch."""
        self._expect("encode_image", "features of images")
        with self._lock:
            return self._own_session()._native.run_images(
                self._native, [self._pixels(image)])[0]

    def close(self) -> None:
        """Ends its engine; what still runs is cancelled. The model can be used
        again."""
        with self._lock:
            engine, self._engine, self._session = self._engine, None, None
        if engine is not None:
            engine.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # What these stand on

    def _all(self, prompts: Iterable, settings: Settings | None,
             changes: dict) -> list[Completion]:
        if not isinstance(prompts, Iterable):
            raise InvalidArgument(f"prompt is {prompts!r}: expected a text,"
                                  " token ids, or a list of these")
        engine = self.engine
        waiting: collections.deque[Request] = collections.deque()
        answers: list[Completion] = []
        try:
            for prompt in prompts:
                # What has failed is heard of soon.
                while waiting and waiting[0]._ended:
                    answers.append(waiting.popleft().result())
                submission = engine._submission(prompt, settings, **changes)
                waiting.append(submission.submit_when_free())
            while waiting:
                answers.append(waiting.popleft().result())
        finally:
            for request in waiting:
                request.cancel()
        return answers

    def _prompt(self, prompt, max_tokens: int | None = None) -> list[int]:
        if isinstance(prompt, str):
            prompt = self.tokenizer.encode(prompt, max_tokens=max_tokens)
        tokens = token_ids(prompt, "prompt")
        if not tokens:
            raise InvalidArgument("prompt has no tokens: expected at least one")
        return tokens

    def _settings(self, settings: Settings) -> Settings:
        """With the token ids of bad words, as they are written at the beginning
        of a text and behind a space, and the pixels of images."""
        if settings.images is not None:
            settings = settings.replace(
                images=[self._pixels(image) for image in settings.images])
        if not any(isinstance(word, str) for word in settings.bad_words or ()):
            return settings
        words: list[Sequence[int]] = []
        for word in settings.bad_words:
            if not isinstance(word, str):
                words.append(word)
                continue
            bare = word.lstrip(" ")
            alone, behind = (self.tokenizer.encode(text, special_tokens=False)
                             for text in (bare, " " + bare))
            if not alone:
                raise InvalidArgument(f"bad_words has {word!r}, which has no"
                                      " tokens: expected at least one")
            words.append(alone)
            # Behind a space that is a token of its own, the word is the same.
            if len(behind) == len(alone) and behind[0] != alone[0]:
                words.append(behind)
        return settings.replace(bad_words=words)

    def _expect(self, role: str, what: str) -> None:
        if role not in self._kinds:
            raise InvalidArgument(
                f"{self!r} gives no {what}: it has"
                f" {', '.join(sorted(self._kinds))}")

    def _expect_classes(self, role: str) -> None:
        if self._kinds[role] != "classes":
            raise InvalidArgument(f"{self!r} gives no classes: it has"
                                  f" {self._kinds[role]}")

    def _width(self, role: str) -> int:
        return next(e["width"] for e in self._described["entries"]
                    if e["role"] == role)

    def _own_session(self) -> Session:
        if self._session is None:
            self._session = Session(self, **self._room)
        return self._session

    def _pixels(self, image) -> np.ndarray:
        if isinstance(image, (str, os.PathLike)):
            return self._native.read_image(os.fspath(image))
        try:
            pixels = np.ascontiguousarray(image, dtype=np.float32)
        except (TypeError, ValueError):
            raise InvalidArgument(f"image is {image!r}: expected a path or"
                                  " pixels") from None
        if pixels.ndim != 3:
            raise InvalidArgument(f"pixels have the shape {pixels.shape}:"
                                  " expected [channels, height, width]")
        return pixels

    def _encode_all(self, entry, texts, progress, *, cut: bool,
                    token_types=None) -> list[np.ndarray]:
        """The rows of each text, encoded in ragged batches of like lengths."""
        texts = [texts] if isinstance(texts, str) else list(texts)
        if token_types is not None:
            if len(texts) != 1:
                raise InvalidArgument("token_types is for one text: expected no"
                                      f" more, not {len(texts)}")
            token_types = token_ids(token_types, "token_types")
        facts = self._described["model"]
        limit = min(facts["max_text_tokens"] or self.max_length,
                    self.max_length, facts["max_tokens_per_step"])
        tokens = [self._prompt(text, limit if cut else None) for text in texts]
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        rows: list[np.ndarray] = [None] * len(tokens)
        done = 0
        while done < len(order):
            batch = [order[done]]
            total = len(tokens[batch[0]])
            for i in order[done + 1:]:
                total += len(tokens[i])
                if total > _ENCODE_TOKENS:
                    break
                batch.append(i)
            with self._lock:
                answers = self._own_session()._native.run(
                    entry, [_native.Item(tokens[i], token_types=token_types,
                                         output_rows=_native.OutputRows.ALL)
                            for i in batch])
            for i, answer in zip(batch, answers):
                rows[i] = answer
            done += len(batch)
            if progress is not None:
                progress(done, len(order))
        return rows


def _own_engine(model: Model) -> Engine:
    return Engine(model, **model._room, **model._engine_options)


def _is_one(prompt) -> bool:
    """Whether it is a text or token ids, not a list of them."""
    if isinstance(prompt, str):
        return True
    if isinstance(prompt, np.ndarray):
        return prompt.ndim == 1
    return (isinstance(prompt, Sequence) and len(prompt) != 0
            and isinstance(prompt[0], (int, np.integer)))


def _labels(row: np.ndarray, names: list[str], top: int | None) -> list[Label]:
    exps = np.exp(row.astype(np.float64) - row.max())
    shares = exps / exps.sum()
    order = np.argsort(-row, kind="stable")[:top]
    return [Label(int(i), names[i] if i < len(names) else None, float(row[i]),
                  float(shares[i])) for i in order]
