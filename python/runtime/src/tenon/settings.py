"""What a caller may ask of a generation."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from .errors import InvalidArgument

# A text, or its token ids.
Prompt = str | Sequence[int] | np.ndarray


_AT_LEAST = {"max_new_tokens": 0, "min_new_tokens": 0, "temperature": 0,
             "top_k": 0, "min_p": 0, "n": 1, "first_choice": 0, "num_beams": 1,
             "logprobs": 0, "prompt_lookup_num_tokens": 0, "prefix_tokens": 0}
_ABOVE_ZERO = ("top_p", "typical_p", "repetition_penalty")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """How tokens are chosen, and what ends a text.

    None leaves a setting to the model's own generation_config.json, and to its
    default where that says nothing.

    Raises: InvalidArgument, for numbers below the range of a setting.

    Attributes:
        max_new_tokens: the most new tokens; without any setting 128.
        min_new_tokens: nothing ends a text before.
        temperature: 0 takes the likeliest token.
        top_k: draws from so many likeliest tokens; 0: all.
        top_p: draws from the likeliest tokens that have this share; 1: all.
        min_p: leaves out tokens less likely than this share of the likeliest.
        typical_p: draws from tokens of typical surprise with this share.
        seed: of the draws, -2^63 to 2^64 - 1; one below 0 is the same 64 bits.
            None draws a seed, which Completion.seed tells.
        n: texts for one prompt.
        first_choice: the number of the first of these; a text depends on the
            seed and its number.
        num_beams: 1: no beam search.
        length_penalty, early_stopping: of beam search; "never" and the booleans
            mean what they mean in Transformers.
        repetition_penalty: 1: none.
        presence_penalty, frequency_penalty: -2 to 2.
        logit_bias: added to the scores of token ids, -100 to 100.
        bad_words: texts, or sequences of token ids, that never occur.
        stop: texts that end a text.
        stop_token_ids: token ids that end a text.
        include_stop: what has ended a text is a part of it.
        ignore_eos: end-of-sequence tokens end nothing.
        echo: a text begins with the prompt.
        logprobs: tokens have log-probabilities, and so do so many likeliest
            ones in their place; with `echo` the prompt's tokens too.
        prompt_lookup_num_tokens: so many tokens are guessed from earlier text
            and checked in one step; the answer is the same.
        prefix_tokens: first tokens of the prompt that see each other, in
            models with a prefix mask.
        images: of the prompt, in models that read them: PNG or JPEG files, or
            pixel values [channels, height, width] float32, in the order of the
            image tokens, of which the prompt has one for each; of a
            conversation, of {"type": "image"} in messages.
        json_schema: a JSON schema that the text fulfils, as JSON or what JSON
            can hold; of this and the next four at most one.
        regex: a regular expression that all of the text matches.
        ebnf: a grammar that the text follows, in llama.cpp's dialect (GBNF).
        choice: texts, one of which the text is.
        json_object: the text is an object in JSON.
        fixed_order: keys come in the order in which the schema has them.
        format: whether formats of strings in a schema are "asserted" or an
            "annotation"; None: as the schema's dialect has it.
    """

    max_new_tokens: int | None = None
    min_new_tokens: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    seed: int | None = None
    n: int = 1
    first_choice: int = 0
    num_beams: int | None = None
    length_penalty: float | None = None
    early_stopping: bool | Literal["never"] | None = None
    repetition_penalty: float | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] | None = None
    bad_words: Sequence[str | Sequence[int]] | None = None
    stop: str | Sequence[str] | None = None
    stop_token_ids: Sequence[int] | None = None
    include_stop: bool = False
    ignore_eos: bool = False
    echo: bool = False
    logprobs: int | None = None
    prompt_lookup_num_tokens: int = 0
    prefix_tokens: int = 0
    images: Sequence | None = dataclasses.field(default=None, compare=False)
    json_schema: str | Mapping | bool | None = None
    regex: str | None = None
    ebnf: str | None = None
    choice: Sequence[str] | None = None
    json_object: bool = False
    fixed_order: bool = False
    format: Literal["asserted", "annotation"] | None = None

    def __post_init__(self):
        # Numbers out of range may mean "not set" in C, as None does here. What
        # is no number, or too large, is found where the model is known.
        for name, least in _AT_LEAST.items():
            value = getattr(self, name)
            if isinstance(value, numbers.Real) and not value >= least:
                raise InvalidArgument(f"{name} is {value}: expected at least"
                                      f" {least}")
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is None and field.default is not None:
                raise InvalidArgument(f"{field.name} is None: expected a value"
                                      f" as {field.default!r}, its default")
        for name in _ABOVE_ZERO:
            value = getattr(self, name)
            if isinstance(value, numbers.Real) and not value > 0:
                raise InvalidArgument(f"{name} is {value}: expected above 0")
        if (isinstance(self.length_penalty, numbers.Real)
                and not math.isfinite(self.length_penalty)):
            raise InvalidArgument(f"length_penalty is {self.length_penalty}:"
                                  " expected a finite number")

    def replace(self, **changes) -> Settings:
        """A copy with other values; an unknown name is a TypeError."""
        return dataclasses.replace(self, **changes)

    # What the extension module reads beside the fields.

    @property
    def _seed_bits(self) -> int | None:
        if self.seed is None:
            return None
        try:
            number = operator.index(self.seed)
        except TypeError:
            number = None
        if number is None or not -2**63 <= number < 2**64:
            raise InvalidArgument(f"seed is {self.seed!r}: expected a whole"
                                  " number from -9223372036854775808 to"
                                  " 18446744073709551615")
        return number % 2**64

    @property
    def _bias_pairs(self) -> list[list[float]]:
        if not isinstance(self.logit_bias or {}, Mapping):
            raise InvalidArgument(f"logit_bias is {self.logit_bias!r}: expected"
                                  " numbers by token id")
        return [[float(token_id(k, "logit_bias")), _number(v, "logit_bias")]
                for k, v in (self.logit_bias or {}).items()]

    @property
    def _bad_word_ids(self) -> list[list[int]]:
        words = self.bad_words or ()
        for word in words:
            if isinstance(word, str):
                raise InvalidArgument(
                    f"bad_words has the text {word!r}: expected token ids where"
                    " there is no tokenizer")
        return [token_ids(word, "bad_words") for word in words]

    @property
    def _stop_texts(self) -> list[str]:
        return ([self.stop] if isinstance(self.stop, str)
                else list(self.stop or ()))

    @property
    def _schema_text(self) -> str | None:
        if self.json_schema is None or isinstance(self.json_schema, str):
            return self.json_schema
        try:
            return json.dumps(self.json_schema)
        except (TypeError, ValueError) as problem:
            raise InvalidArgument(f"json_schema: {problem}: expected what JSON"
                                  " can hold") from None

    @property
    def _choices(self) -> list[str]:
        if self.choice is None:
            return []
        if isinstance(self.choice, str) or not self.choice:
            raise InvalidArgument(f"choice is {self.choice!r}: expected a list"
                                  " of at least one text")
        return list(self.choice)

    @property
    def _stop_token_ids(self) -> list[int]:
        if self.stop_token_ids is None:
            return []
        return token_ids(self.stop_token_ids, "stop_token_ids")


def _number(value, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} has {value!r}: expected a number"
                              ) from None


def token_id(value, name: str) -> int:
    """A whole number in the range of token ids, of any integer type."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{name} has {value!r}: expected a token id"
                              ) from None
    if not 0 <= number < 2**31:
        raise InvalidArgument(f"{name} has {number}: expected 0 to 2147483647,"
                              " a token id")
    return number


def token_ids(values, name: str) -> list[int]:
    """A list of token ids, from any sequence or array of integers."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InvalidArgument(f"{name} is {values!r}: expected token ids")
    return [token_id(value, name) for value in values]


def settings_of(settings: Settings | None, changes: dict) -> Settings:
    """`settings`, or the model's own, with `changes`."""
    if settings is not None and not isinstance(settings, Settings):
        raise InvalidArgument(f"settings is {settings!r}: expected Settings")
    try:
        return dataclasses.replace(settings or Settings(), **changes)
    except TypeError:
        known = [field.name for field in dataclasses.fields(Settings)]
        unknown = sorted(set(changes) - set(known))
        raise InvalidArgument(
            f"unknown setting {', '.join(map(repr, unknown))}: expected one of"
            f" {', '.join(known)}") from None
