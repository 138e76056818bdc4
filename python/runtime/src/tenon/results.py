"""What comes of a request."""

from __future__ import annotations

import dataclasses

from .errors import Error


@dataclasses.dataclass(frozen=True)
class TokenLogprob:
    """Log-probabilities of the model's scores, before settings change them.

    Attributes:
        logprob: of the token itself.
        top_logprobs: pairs of token id and log-probability, likeliest first.
    """

    logprob: float
    top_logprobs: tuple[tuple[int, float], ...]


@dataclasses.dataclass(frozen=True)
class Chunk:
    """What a step has added to one text.

    Attributes:
        choice: which text, 0 to n - 1.
        text: whole characters; often empty, and behind its tokens where stop
            texts might begin.
        token_ids: new ones; of a beam search none before the last chunk.
        logprobs: one per token if they were asked for, else None.
        finish_reason: "eos", "length", "context", "stop" or "error" in the last
            chunk of a text, else None.
        stop_reason: the text or token id that has ended it, with "stop".
    """

    choice: int
    text: str
    token_ids: list[int]
    logprobs: list[TokenLogprob] | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None


@dataclasses.dataclass(frozen=True)
class ToolCall:
    """A tool call.

    Attributes:
        id: nine letters and digits; of equal requests the same.
        name: the function.
        arguments: a text that is a JSON object.
    """

    id: str
    name: str
    arguments: str


@dataclasses.dataclass
class Choice:
    """One text of a completion; attributes as of Chunk.

    Attributes:
        error: what has ended the text, with the reason "error".
        finish_reason: "tool_calls" too, where it ended by itself and has some.
        tool_calls: of an answer to a chat with tools, where the artifact says
            how its model writes calls; then `text` is what is around them.
        reasoning: what the model thought before such an answer.
    """

    text: str = ""
    token_ids: list[int] = dataclasses.field(default_factory=list)
    logprobs: list[TokenLogprob] | None = None
    finish_reason: str | None = None
    stop_reason: str | int | None = None
    error: Error | None = None
    tool_calls: list[ToolCall] = dataclasses.field(default_factory=list)
    reasoning: str = ""


@dataclasses.dataclass(frozen=True)
class Usage:
    """How a request went.

    Attributes:
        prompt_tokens, completion_tokens: of the prompt, and of all texts.
        cached_tokens: of the prompt, from the prefix cache.
        queued_s: seconds from submitting to the first step.
        first_token_s: seconds from submitting to the first new token.
        longest_gap_s: seconds between two steps that brought new tokens.
        total_s: seconds from submitting to the end.
    """

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    queued_s: float
    first_token_s: float
    longest_gap_s: float
    total_s: float


@dataclasses.dataclass(frozen=True)
class Completion:
    """All that has come of a request.

    Attributes:
        choices: the texts, `n` of them.
        prompt_token_ids: what they go on with, or answer.
        prompt_logprobs: of the prompt's tokens from the second on, with `echo`
            and `logprobs`; else empty.
        seed: of the draws: with it the same comes out again.
        usage: tokens and times.
    """

    choices: list[Choice]
    prompt_token_ids: list[int]
    prompt_logprobs: list[TokenLogprob]
    seed: int
    usage: Usage

    @property
    def text(self) -> str:
        """The first text."""
        return self.choices[0].text

    @property
    def token_ids(self) -> list[int]:
        """The new tokens of the first text."""
        return self.choices[0].token_ids

    @property
    def finish_reason(self) -> str:
        """Of the first text."""
        return self.choices[0].finish_reason

    @property
    def tool_calls(self) -> list[ToolCall]:
        """Of the first text."""
        return self.choices[0].tool_calls

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Label:
    """A class that a model has put something into.

    Attributes:
        index: the number of the class.
        name: what the model calls it, or None.
        score: the model's own.
        probability: by softmax over all classes.
    """

    index: int
    name: str | None
    score: float
    probability: float
