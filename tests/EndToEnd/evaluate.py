"""Perplexities and divergences of tenon evaluate.

evaluate.py TENON WORK EXAMPLE

A model and a coarse copy of it are compared with tests/numerics/evaluation.json,
which torch computed in f64; the quantised example with what numpy makes, in f64,
of the logits that `tenon run` writes for every window.
"""

import json
import math
import pathlib
import shutil
import sys

import numpy

import models
import support

# As a share of each number: of the logits it is the tolerance of all tests.
TOLERANCE = support.REFERENCE_TOLERANCE["f32"][1]
KL = ("mean_kl_divergence", "p99_kl_divergence")


class Evaluate:
    def __init__(self, test, example):
        self.test = test
        self.work = test.work
        self.example = example

    def evaluate(self, artifact, *options):
        return json.loads(self.test.need("tenon", "evaluate", artifact,
                                         *options, "--json"))

    def compare(self, what, answer, expected):
        """Every number of `expected`; counts must be equal."""
        for name, number in expected.items():
            if isinstance(number, dict):
                self.compare(f"{what}: {name}", answer.get(name, {}), number)
                continue
            value = answer.get(name)
            good = (value == number if isinstance(number, int) else
                    value is not None
                    and abs(value - number) <= TOLERANCE * abs(number))
            self.test.check(good, f"{what}: {name} is {value}, expected "
                                  f"{number}")

    def references(self):
        stored = json.loads((support.FIXTURES.parent / "evaluation.json")
                            .read_text())
        fixture = support.FIXTURES / stored["fixture"]
        path = self.work / "coarse"
        shutil.copytree(fixture, path)
        tensors = models.read_safetensors(path / "model.safetensors")
        for name, (dtype, shape, data) in tensors.items():
            bits = numpy.frombuffer(data, numpy.int32)
            tensors[name] = (dtype, shape,
                             (bits & (-1 << stored["cleared_bits"])).tobytes())
        models.write_safetensors(path / "model.safetensors", tensors)
        # Steps shorter than a window, which they do not divide.
        coarse = self.test.compile(path, "coarse", "--dtype", "f32",
                                   "--max-tokens-per-step", 10)
        whole = self.test.compile(fixture, "whole", "--dtype", "f32")
        ids = stored["token_ids"]
        for case in stored["cases"]:
            length, context = case.pop("tokens"), case.pop("context")
            self.compare(
                f"{length} tokens in windows of {context}", self.evaluate(
                    coarse, "--against", whole, "--token-ids",
                    support.joined(ids[:length]), "--context", context),
                case | {"window_tokens": min(length, context),
                        "unused_tokens": length % context
                        if length > context else 0})
        # By default a window is as long as the model.
        answer = self.evaluate(coarse, "--token-ids", support.joined(ids))
        self.compare("the default", answer, {
            "perplexity": stored["cases"][0]["perplexity"], "windows": 2})
        self.test.check("against" not in answer, "nothing to compare with")

    def window_logits(self, artifact, windows):
        return numpy.concatenate([
            self.test.outputs(artifact, window)[context_half(window) - 1:-1]
            for window in windows]).astype(numpy.float64)

    def texts(self):
        """Text, its first token in every window, a quantised model."""
        whole = self.test.compile(self.example, "example", "--dtype", "f32")
        small = self.test.compile(self.example, "int4", "--quantize", "int4",
                                  "--dtype", "f32")
        text = self.work / "text.txt"
        content = (self.example / "heldout.txt").read_text()[:1500]
        text.write_text(content)
        tokens = [int(token) for token in self.test.need(
            "tenon", "tokenize", whole, "--text", content).split(",")]
        context = 101
        windows = [[tokens[0], *tokens[i + 1:i + context]] for i in
                   range(0, len(tokens) - context + 1, context)]
        own, other = (log_softmax(self.window_logits(artifact, windows))
                      for artifact in (small, whole))
        scored = numpy.concatenate([window[context_half(window):]
                                    for window in windows])
        rows = numpy.arange(len(scored))
        divergences = (numpy.exp(other) * (other - own)).sum(axis=1)
        expected = {
            "perplexity": math.exp(-own[rows, scored].mean()),
            "mean_negative_log_likelihood": -own[rows, scored].mean(),
            "scored_tokens": len(scored), "windows": len(windows),
            "window_tokens": context,
            "unused_tokens": len(tokens) % context,
            "against": {
                "perplexity": math.exp(-other[rows, scored].mean()),
                "mean_kl_divergence": divergences.mean(),
                "p99_kl_divergence": numpy.percentile(divergences, 99),
                "top1_agreement": (own.argmax(axis=1)
                                   == other.argmax(axis=1)).mean()}}
        self.test.check(len(windows) > 2 and len(tokens) % context > 1,
                        f"{len(windows)} windows and a rest")
        options = ["--against", whole, "--context", context]
        self.compare("int4", self.evaluate(small, "--text", text, *options),
                     expected)
        done = self.test.run("tenon", "evaluate", small, "--text", "-",
                             *options, input=content)
        lines = dict(line.split("  ", 1) for line in done.stdout.splitlines())
        self.test.check(
            done.returncode == 0 and lines["perplexity"].strip()
            == f"{expected['perplexity']:.6g}" and len(lines) == 6,
            f"standard input: {done.stdout!r} {done.stderr!r}")
        answer = self.evaluate(whole, "--text", text, "--against", whole)
        against = answer["against"]
        self.test.check(
            all(against[name] == 0 for name in KL)
            and against["top1_agreement"] == 1
            and against["perplexity"] == answer["perplexity"],
            f"a model against itself: {answer}")
        short = self.work / "short.txt"
        short.write_text("She")
        answer = self.evaluate(whole, "--text", short)
        self.test.check(answer["scored_tokens"]
                        == answer["window_tokens"] - 1 >= 1
                        and answer["windows"] == 1, f"a word: {answer}")

    def mixed_formats(self):
        """A gate and what it is multiplied with need not be of one format."""
        exact = "--dtype", "f32", "--activations", "exact"
        whole = self.test.compile(self.example, "plain", *exact)
        text = self.work / "mixed.txt"
        text.write_text((self.example / "heldout.txt").read_text()[:4000])

        def divergence(kept):
            exclude = ("--quantize-exclude", kept) if kept else ()
            artifact = self.test.compile(
                self.example, "mixed", *exact, "--quantize", "int4", *exclude)
            return self.evaluate(artifact, "--text", text, "--against",
                                 whole)["against"]["mean_kl_divergence"]

        none, gate, up, both = map(divergence, (
            None, "*gate_proj*", "*up_proj*", "*gate_proj*,*up_proj*"))
        self.test.check(0 < both < min(gate, up) and max(gate, up) < none,
                        f"kept in f32: none {none}, gate {gate}, up {up}, both "
                        f"{both}: expected to fall")


def context_half(window):
    """The first scored token of a whole window."""
    return len(window) // 2 + 1


def log_softmax(logits):
    logits = logits - logits.max(axis=1, keepdims=True)
    return logits - numpy.log(numpy.exp(logits).sum(axis=1, keepdims=True))


def main():
    test = support.Test(sys.argv[1:3])
    evaluate = Evaluate(test, pathlib.Path(sys.argv[3]))
    evaluate.references()
    evaluate.texts()
    evaluate.mixed_formats()
    test.finish()


if __name__ == "__main__":
    main()
