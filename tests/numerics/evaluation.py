"""Makes evaluation.json: perplexities of a model and of a coarse copy of it, and
how far they are apart.

    python evaluation.py            # write it
    python evaluation.py --check    # compare what is stored

Needs what requirements.txt pins. Transformers computes the logits of every
window from the stored weights in f64 (norms and softmax as it does them, in
f32), torch their log-softmax and all that follows in f64.
"""

import argparse
import json
import math
import pathlib

import numpy as np
import torch

from reference import AutoModelForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
STORED = HERE / "evaluation.json"
FIXTURE = "llama-mha"
# The bits of an f32 that are cleared in every weight of the copy: 3 bits of 23
# are left behind the point.
CLEARED_BITS = 20
VOCABULARY, TOKENS = 97, 150
# (tokens of the text, tokens of a window): several windows and a rest, odd
# windows, the smallest, one window exactly, texts shorter than one.
CASES = ((150, 64), (150, 37), (150, 3), (64, 64), (40, 64), (2, 64))
# Of the largest logit: nearer ones could change places by rounding.
MIN_GAP = 1e-4
# Of each number, between machines.
TOLERANCE = 1e-6


def windows(length, context):
    """(begin, end, first scored token) of every window; the rule of tenon
    evaluate, and of llama.cpp's perplexity tool where there are whole
    windows."""
    if length < context:
        return [(0, length, 1)]
    return [(begin, begin + context, begin + context // 2 + 1)
            for begin in range(0, length - context + 1, context)]


@torch.no_grad()
def log_probabilities(model, tokens, length, context):
    """f64 [scored tokens, vocabulary], each row from the tokens before."""
    rows = []
    for begin, end, first in windows(length, context):
        logits = model(torch.tensor([tokens[begin:end]])).logits[0]
        logits = logits[first - 1 - begin:-1].double()
        best = logits.topk(2).values
        gap = ((best[:, 0] - best[:, 1]) / logits.abs().max()).min()
        if gap < MIN_GAP:
            raise SystemExit(f"the best two logits are {gap} apart: "
                             "choose another seed")
        rows.append(logits.log_softmax(-1))
    return torch.cat(rows)


def evaluate(models, tokens, length, context):
    own, other = (log_probabilities(model, tokens, length, context)
                  for model in models)
    scored = [tokens[i] for begin, end, first in windows(length, context)
              for i in range(first, end)]
    places = torch.arange(len(scored)), torch.tensor(scored)
    divergences = (other.exp() * (other - own)).sum(-1)
    return {
        "tokens": length,
        "context": context,
        "scored_tokens": len(scored),
        "windows": len(windows(length, context)),
        "perplexity": math.exp(-own[places].mean()),
        "against": {
            "perplexity": math.exp(-other[places].mean()),
            "mean_kl_divergence": float(divergences.mean()),
            "p99_kl_divergence": float(divergences.quantile(0.99)),
            "top1_agreement": float(
                (own.argmax(-1) == other.argmax(-1)).double().mean()),
        },
    }


def load():
    return AutoModelForCausalLM.from_pretrained(
        HERE / "fixtures" / FIXTURE, dtype=torch.float64,
        attn_implementation="eager").eval()


def coarse(model):
    for weight in model.parameters():
        bits = weight.data.float().numpy().view(np.int32)
        bits &= -1 << CLEARED_BITS
        weight.data = torch.from_numpy(bits.view(np.float32)).double()
    return model


def differs(value, stored):
    if isinstance(value, dict):
        return value.keys() != stored.keys() or any(
            differs(value[key], stored[key]) for key in value)
    if isinstance(value, list):
        return len(value) != len(stored) or any(map(differs, value, stored))
    if isinstance(value, float):
        return abs(value - stored) > TOLERANCE * abs(value)
    return value != stored


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    models = coarse(load()), load()
    tokens = np.random.default_rng(7).integers(VOCABULARY, size=TOKENS).tolist()
    made = {"fixture": FIXTURE, "cleared_bits": CLEARED_BITS, "token_ids": tokens,
            "cases": [evaluate(models, tokens, *case) for case in CASES]}
    if arguments.check:
        stored = json.loads(STORED.read_text())
        if differs(made, stored):
            raise SystemExit(f"{STORED} differs from what is computed")
    else:
        STORED.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
