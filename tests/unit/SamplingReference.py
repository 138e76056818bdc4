#!/usr/bin/env python3
"""Prints SamplingReference.inc, what SamplingReferenceTest.cpp expects.

Scores and distributions are those of the logits processors of Transformers
(5.23), applied in the order in which its generate() applies them; presence and
frequency penalties, which it has not, by OpenAI's formula. The random numbers
are Philox's, in Python's integers.

    python SamplingReference.py > SamplingReference.inc
"""

import torch
from transformers import (
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    NoBadWordsLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SuppressTokensLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)
from transformers.generation import SequenceBiasLogitsProcessor

VOCABULARY = 24
# Tokens of a prompt of five, and what was generated after it.
SEQUENCE, PROMPT = [3, 17, 3, 8, 5, 11, 3, 11, 11, 20, 8], 5


def logits(row):
    """The same as rowOf of the test; no two are equal."""
    return torch.tensor([[((token * 37 + row * 29 + 11) % 101) / 16 - 3
                          for token in range(VOCABULARY)]])


def floats(values):
    return "{" + ", ".join(
        "Never" if v == float("-inf") else f"{v:.9g}f" if "." in f"{v:.9g}"
        or "e" in f"{v:.9g}" else f"{v:.9g}.0f" for v in values) + "}"


def rules():
    """Scores after rules of generation, each alone and several together."""
    ids = torch.tensor([SEQUENCE])

    def counted(presence, frequency):
        def apply(_, scores):
            counts = torch.zeros_like(scores)
            for token in SEQUENCE[PROMPT:]:
                counts[0, token] += 1
            return scores - frequency * counts - presence * (counts > 0)
        return apply

    def bad_words():
        # The end of a word follows; the other half does not; one token alone.
        return NoBadWordsLogitsProcessor([[20, 8, 4], [8, 8, 6], [9], [8, 2]],
                                         eos_token_id=[1])

    def min_new_tokens(count):
        return MinNewTokensLengthLogitsProcessor(PROMPT, count, [1, 2])

    bias = SequenceBiasLogitsProcessor([[[7], 2.5], [[11], -1.25], [[3], 0.5]])
    cases = [
        ("bias", [bias]),
        ("repetition", [RepetitionPenaltyLogitsProcessor(1.3)]),
        ("reward", [RepetitionPenaltyLogitsProcessor(0.8)]),
        ("presence", [counted(0.7, 0)]),
        ("frequency", [counted(0, 0.4)]),
        ("badWords", [bad_words()]),
        ("minNewTokens", [min_new_tokens(7)]),
        ("enoughNewTokens", [min_new_tokens(6)]),
        ("together", [bias, RepetitionPenaltyLogitsProcessor(1.3),
                      counted(-0.5, 0.25), bad_words(), min_new_tokens(7),
                      SuppressTokensLogitsProcessor([6, 13])]),
    ]
    for name, processors in cases:
        scores = logits(0)
        for processor in processors:
            scores = processor(ids, scores)
        print(f"const Row {name}Scores = {floats(scores[0].tolist())};")


def distributions():
    """What is left to draw from, and how likely it is."""
    cases = [
        # temperature, top-k, top-p, min-p, typical-p
        (1.0, 0, 1.0, 0.0, 1.0),
        (0.7, 0, 1.0, 0.0, 1.0),
        (1.6, 5, 1.0, 0.0, 1.0),
        (1.0, 0, 0.6, 0.0, 1.0),
        (1.0, 0, 0.95, 0.0, 1.0),
        (1.0, 0, 1.0, 0.15, 1.0),
        (2.0, 0, 1.0, 0.4, 1.0),
        (1.0, 0, 1.0, 0.0, 0.5),
        (1.0, 0, 1.0, 0.0, 0.2),
        (1.3, 0, 1.0, 0.0, 0.9),
        (1.5, 12, 0.8, 0.1, 1.0),
        (1.5, 12, 0.9, 0.05, 0.6),
        (3.0, 10, 0.7, 0.0, 0.5),
    ]
    print("const DistributionCase Distributions[] = {")
    for number, (temperature, k, p, min_p, typical) in enumerate(cases):
        scores = TemperatureLogitsWarper(temperature)(None, logits(number))
        if k:
            scores = TopKLogitsWarper(k)(None, scores)
        if p < 1:
            scores = TopPLogitsWarper(p)(None, scores)
        if min_p > 0:
            scores = MinPLogitsWarper(min_p)(None, scores)
        if typical < 1:
            scores = TypicalLogitsWarper(typical)(None, scores)
        left = torch.softmax(scores.double(), -1)[0].tolist()
        print(f"    {{{{{temperature}, {k}, {p}, {min_p}, {typical}, 0}},\n"
              f"     {{{', '.join(f'{value:.9g}' for value in left)}}}}},")
    print("};")


def philox(counter, key):
    """Philox4x32-10 (Salmon et al., SC 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ k[0], second & 0xFFFFFFFF,
             first >> 32 ^ c[3] ^ k[1], first & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def draws():
    """Tokens drawn from softmax(logits) by inversion, in the order of ids."""
    print("const DrawCase Draws[] = {")
    for seed, choice, position in [
            (0, 0, 0), (42, 0, 0), (42, 0, 1), (42, 0, 2), (42, 1, 0),
            (42, 1, 1), (42, 7, 1), (43, 0, 0), (2**32 + 42, 0, 0),
            (2**64 - 1, 2**32 - 1, 2**40 + 5), (7, 3, 100000)]:
        words = philox(
            [position & 0xFFFFFFFF, position >> 32, choice, 0],
            [seed & 0xFFFFFFFF, seed >> 32])
        uniform = ((words[1] << 32 | words[0]) >> 11) / 2**53
        chances = torch.softmax(logits(1).double(), -1)[0].tolist()
        total = 0
        for token, chance in enumerate(chances):
            total += chance
            if uniform < total:
                break
        print(f"    {{{seed}u, {choice}u, {position}, {uniform.hex()}, {token}}},")
    print("};")


if __name__ == "__main__":
    print("// Made by SamplingReference.py.")
    print("// clang-format off")
    rules()
    distributions()
    draws()
    print("// clang-format on")
