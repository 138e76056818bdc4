"""What a caller may ask of a generation."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Literal

from .errors import InvalidArgument


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """How tokens are chosen, and what ends a text.

    None leaves a setting to the model's own generation_config.json.

    Attributes:
        max_new_tokens: the most new tokens; without any setting 128.
        min_new_tokens: nothing ends a text before.
        temperature: 0 takes the likeliest token.
        top_k: draws from so many likeliest tokens; 0: all.
        top_p: draws from the likeliest tokens that have this share; 1: all.
        min_p: leaves out tokens less likely than this share of the likeliest.
        typical_p: draws from tokens of typical surprise with this share.
        seed: of the draws; None draws a seed, which Completion.seed tells.
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
        stop_tokens: token ids that end a text.
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
    logit_bias: Mapping[int, float] = dataclasses.field(default_factory=dict)
    bad_words: Sequence[str | Sequence[int]] = ()
    stop: str | Sequence[str] = ()
    stop_tokens: Sequence[int] = ()
    include_stop: bool = False
    ignore_eos: bool = False
    echo: bool = False
    logprobs: int | None = None
    prompt_lookup_num_tokens: int = 0
    prefix_tokens: int = 0
    images: Sequence = dataclasses.field(default=(), compare=False)

    def replace(self, **changes) -> Settings:
        """A copy with other values; an unknown name is a TypeError."""
        return dataclasses.replace(self, **changes)

    # What the extension module reads beside the fields.

    @property
    def _bias_pairs(self) -> list[list[float]]:
        return [[float(token_id(k, "logit_bias")), float(v)]
                for k, v in self.logit_bias.items()]

    @property
    def _bad_word_ids(self) -> list[list[int]]:
        for word in self.bad_words:
            if isinstance(word, str):
                raise InvalidArgument(
                    f"bad_words has the text {word!r}: expected token ids where"
                    " there is no tokenizer")
        return [token_ids(word, "bad_words") for word in self.bad_words]

    @property
    def _stop_texts(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else list(self.stop)

    @property
    def _stop_ids(self) -> list[int]:
        return token_ids(self.stop_tokens, "stop_tokens")


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
