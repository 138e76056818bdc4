#!/usr/bin/env python3
"""Prints the expected results of SamplingBeamTest.cpp.

Runs the generate() of Transformers (5.23) on a toy model whose logits are small
exact numbers that depend on the last two tokens and the length.
"""

import json

import torch
from transformers import (GenerationConfig, PretrainedConfig, PreTrainedModel,
                          StoppingCriteria)
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutputWithPast

VOCABULARY = 12
END = 1


def row(sequence, bonus):
    """The same as toyLogits of the test."""
    last = sequence[-1]
    before = sequence[-2] if len(sequence) > 1 else 0
    return [
        ((token * 7 + last * 13 + before * 5 + len(sequence) * 3) * 37 % 101) / 16
        + (bonus if token == END else 0)
        for token in range(VOCABULARY)
    ]


class ToyConfig(PretrainedConfig):
    model_type = "toy"


class Toy(PreTrainedModel, GenerationMixin):
    config_class = ToyConfig

    def __init__(self, config):
        super().__init__(config)
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.bonus = 0
        self.post_init()

    def prepare_inputs_for_generation(self, input_ids, **_):
        return {"input_ids": input_ids}

    def forward(self, input_ids, **_):
        logits = torch.zeros(*input_ids.shape, VOCABULARY)
        for index, sequence in enumerate(input_ids.tolist()):
            logits[index, -1] = torch.tensor(row(sequence, self.bonus))
        return CausalLMOutputWithPast(logits=logits)


class Pair(StoppingCriteria):
    """As a stop string that two tokens make."""

    def __init__(self, first, second):
        self.pair = first, second

    def __call__(self, input_ids, scores, **_):
        return ((input_ids[:, -2] == self.pair[0])
                & (input_ids[:, -1] == self.pair[1]))


# Ended by a pair of tokens, and all texts of a search.
MANY = [
    # prompt, bonus of the end token, pair, settings
    ([2], 2, (6, 8), dict(num_beams=3, max_length=10)),
    ([2], -2, (9, 6), dict(num_beams=4, max_length=12, length_penalty=2.0)),
    ([2], 0, (4, 9), dict(num_beams=3, max_length=10, early_stopping=True)),
    ([2], 3, None, dict(num_beams=4, max_length=9)),
]


CASES = [
    # prompt, bonus of the end token, settings
    ([2], 0, dict(num_beams=3, max_length=8)),
    ([2], 0, dict(num_beams=3, max_length=8, length_penalty=2.0)),
    ([2], 3, dict(num_beams=3, max_length=8, length_penalty=-1.0)),
    ([2], 3, dict(num_beams=3, max_length=12, length_penalty=3.0)),
    ([2], 2, dict(num_beams=4, max_length=12, early_stopping=True)),
    ([2], 2, dict(num_beams=4, max_length=12, early_stopping=False)),
    ([2], 4, dict(num_beams=2, max_length=12, early_stopping=True)),
    ([2], 4, dict(num_beams=2, max_length=12, early_stopping=False)),
    ([2], 1, dict(num_beams=2, max_length=10, forced_bos_token_id=5,
                  forced_eos_token_id=1)),
    ([2], 1, dict(num_beams=2, max_length=10, no_repeat_ngram_size=2,
                  repetition_penalty=1.5)),
    ([2, 7, 3], 4, dict(num_beams=3, max_length=10, min_length=7)),
    ([2], 2, dict(num_beams=3, max_length=10, suppress_tokens=[4, 6],
                  renormalize_logits=True)),
    ([2], 1, dict(num_beams=3, max_length=10, eos_token_id=[1, 8])),
    ([2], 2, dict(num_beams=8, max_length=7)),
    ([2], 3, dict(num_beams=2, max_length=14, length_penalty=2.0,
                  early_stopping=False)),
    ([2], 3, dict(num_beams=2, max_length=14, length_penalty=2.0,
                  early_stopping="never")),
    ([2], 6, dict(num_beams=2, max_length=14, length_penalty=2.0,
                  early_stopping="never")),
    ([2], 3, dict(num_beams=2, max_length=14, length_penalty=-1.0,
                  early_stopping="never")),
    ([2], 2, dict(num_beams=1, max_length=10, no_repeat_ngram_size=2,
                  repetition_penalty=1.5, forced_eos_token_id=1,
                  min_length=5)),
]


def main():
    model = Toy(ToyConfig()).eval()
    for prompt, bonus, settings in CASES:
        model.bonus = bonus
        config = GenerationConfig(
            return_dict_in_generate=True, output_scores=True, use_cache=False,
            do_sample=False, pad_token_id=0,
            **{"eos_token_id": END, **settings})
        answer = model.generate(torch.tensor([prompt]), generation_config=config)
        new = answer.sequences[0, len(prompt):].tolist()
        scores = getattr(answer, "sequences_scores", None)
        print(json.dumps([prompt, bonus, settings, new,
                          None if scores is None else scores[0].item()]))
    for prompt, bonus, pair, settings in MANY:
        model.bonus = bonus
        config = GenerationConfig(
            return_dict_in_generate=True, output_scores=True, use_cache=False,
            do_sample=False, pad_token_id=-1, eos_token_id=END,
            num_return_sequences=settings["num_beams"], **settings)
        answer = model.generate(
            torch.tensor([prompt]), generation_config=config,
            stopping_criteria=[Pair(*pair)] if pair else [])
        print(json.dumps([
            prompt, bonus, pair, settings,
            [([token for token in new if token >= 0], score)
             for new, score in zip(
                 answer.sequences[:, len(prompt):].tolist(),
                 answer.sequences_scores.tolist())]]))


if __name__ == "__main__":
    main()
