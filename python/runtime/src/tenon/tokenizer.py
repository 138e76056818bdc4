"""Text to token ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import _native
from .errors import InvalidArgument
from .local import Local
from .settings import token_ids


class Tokenizer(Local):
    """The tokenizer of an artifact; Model.tokenizer is one."""

    def __init__(self, native: _native.Model):
        self._native = native

    def encode(self, text: str, *, special_tokens: bool = True,
               max_tokens: int | None = None) -> list[int]:
        """The token ids of `text`, with the tokens that the model expects
        around a text if `special_tokens`; at most `max_tokens`, cut on the side
        that the tokenizer says, or all of them."""
        if not isinstance(text, str):
            raise InvalidArgument(f"text is {text!r}: expected a text")
        if max_tokens is not None and max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}: expected at"
                                  " least 0, or None")
        return self._native.encode(text, special_tokens, max_tokens)

    def decode(self, tokens: Iterable[int], *,
               special_tokens: bool = False) -> str:
        """The text of `tokens`, without special ones unless
        `special_tokens`. An id that is no token's is an InvalidArgument."""
        return self._native.decode(token_ids(tokens, "tokens"), special_tokens)

    def decode_stream(self, tokens: Iterable[int], *,
                      special_tokens: bool = False) -> Iterator[str]:
        """The text of one token after another, in whole characters; its parts
        make decode()."""
        decoder = _native.Decoder(self._native, special_tokens)
        for token in tokens:
            yield decoder.push(token)
        yield decoder.finish()
