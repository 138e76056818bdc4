"""Text to token ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import _native
from .settings import token_ids


class Tokenizer:
    """The tokenizer of an artifact; Model.tokenizer is one."""

    def __init__(self, native: _native.Model):
        self._native = native

    def encode(self, text: str, *, special_tokens: bool = True,
               max_tokens: int | None = None) -> list[int]:
        """The token ids of `text`, with the tokens that the model expects
        around a text if `special_tokens`; at most `max_tokens`, cut on the side
        that the tokenizer says, or all of them."""
        return self._native.encode(text, special_tokens, max_tokens)

    def decode(self, tokens: Iterable[int], *,
               special_tokens: bool = False) -> str:
        """The text of `tokens`, without special ones unless
        `special_tokens`."""
        return self._native.decode(token_ids(tokens, "tokens"), special_tokens)

    def decode_stream(self, tokens: Iterable[int], *,
                      special_tokens: bool = False) -> Iterator[str]:
        """The text of one token after another, in whole characters; its parts
        make decode()."""
        decoder = _native.Decoder(self._native, special_tokens)
        for token in tokens:
            yield decoder.push(token)
        yield decoder.finish()
