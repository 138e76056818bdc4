"""Quantisation by what a text multiplies weights with.

calibrate.py TENON WORK EXAMPLE
"""

import json
import pathlib
import re
import shutil
import sys

import models
import numpy
import support

WORDS = [f"w{number}" for number in range(models.VOCABULARY)]


def tokenizer(path):
    """A tokenizer of one word for each id."""
    (path / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "unk_token": "w0",
                  "vocab": {word: i for i, word in enumerate(WORDS)}}}))
    return path


def mixture(path):
    """A mixture whose router gives all experts the same logit, so that the
    first two have all tokens."""
    width, inner, experts = 64, 96, 4
    shapes = {"model.embed_tokens.weight": (models.VOCABULARY, width),
              "lm_head.weight": (models.VOCABULARY, width),
              "model.norm.weight": (width,)}
    name = "model.layers.0."
    for norm in "input_layernorm", "post_attention_layernorm":
        shapes[f"{name}{norm}.weight"] = (width,)
    for part in "qkvo":
        shapes[f"{name}self_attn.{part}_proj.weight"] = (width, width)
    router = f"{name}block_sparse_moe.gate.weight"
    shapes[router] = (experts, width)
    for expert in range(experts):
        for part, shape in (("w1", (inner, width)), ("w2", (width, inner)),
                            ("w3", (inner, width))):
            shapes[f"{name}block_sparse_moe.experts.{expert}.{part}.weight"] = (
                shape)
    models.write_model(path, {
        "model_type": "mixtral", "hidden_act": "silu", "hidden_size": width,
        "intermediate_size": inner, "num_hidden_layers": 1,
        "num_attention_heads": 4, "num_key_value_heads": 4,
        "num_local_experts": experts, "num_experts_per_tok": 2,
        "max_position_embeddings": models.POSITIONS, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False, "torch_dtype": "float32",
        "vocab_size": models.VOCABULARY}, shapes)
    tensors = models.read_safetensors(path / "model.safetensors")
    kind, shape, data = tensors[router]
    tensors[router] = (kind, shape, bytes(len(data)))
    models.write_safetensors(path / "model.safetensors", tensors)
    return tokenizer(path)


def overflowing(path, factor=1e5):
    """A LLaMA of finite numbers, whose first gated product is not; with the
    default factor those of matrices are small enough for scales in f16."""
    models.llama(path, 2)
    tensors = models.read_safetensors(path / "model.safetensors")
    for part, by in (("post_attention_layernorm", 1e15),
                     ("mlp.gate_proj", factor), ("mlp.up_proj", factor)):
        name = f"model.layers.0.{part}.weight"
        kind, shape, data = tensors[name]
        large = numpy.float32(by) * numpy.frombuffer(data, numpy.float32)
        tensors[name] = kind, shape, large.tobytes()
    models.write_safetensors(path / "model.safetensors", tensors)
    return tokenizer(path)


class Calibrate:
    def __init__(self, test, example):
        self.test = test
        self.work = test.work
        self.example = example
        self.text = self.words("words.txt", 300)

    def file(self, name, content):
        path = self.work / name
        path.write_bytes(content if isinstance(content, bytes)
                         else content.encode())
        return path

    def words(self, name, count):
        random = numpy.random.default_rng(1)
        return self.file(name, " ".join(
            WORDS[i] for i in random.integers(0, len(WORDS), count)))

    def compiled(self, artifact):
        inspected = json.loads(self.test.need("tenon", "inspect", artifact,
                                              "--json"))
        return inspected["compiled"]

    def quality(self):
        """The example is nearer to itself with a text than without, be it one
        that it generates."""
        whole = self.test.compile(self.example, "whole", "--dtype", "f32")
        content = (self.example / "heldout.txt").read_text()
        half = len(content) // 2
        text = self.file("text.txt", content[:half])
        other = self.file("other.txt", content[half:])
        options = ["--activations", "exact", "--target-cpu", "avx2",
                   "--quantize"]
        for bits, count, gain in (("int4", 3, 0.6), ("int8", 2, 0.85)):
            plain, *calibrated = [
                json.loads(self.test.need(
                    "tenon", "evaluate",
                    self.test.compile(self.example, f"{bits}-{name}", *options,
                                      bits, *more),
                    "--text", other, "--against", whole, "--json"))["against"][
                        "mean_kl_divergence"]
                for name, more in (("plain", []),
                                   ("text", ["--calibrate", text]),
                                   ("auto", ["--calibrate", "auto"]))[:count]]
            self.test.check(max(calibrated) < gain * plain,
                            f"{bits}: divergences {calibrated}, expected a "
                            f"share of at most {gain} of {plain}")
        said = self.compiled(self.work / "int4-text.tenon")
        tokens = said.get("calibration", {}).get("tokens")
        self.test.check(
            tokens and 1500 < tokens <= 2048
            and len(said["calibration"]["text_xxh3"]) == 16
            and "calibration" not in self.compiled(
                self.work / "int4-plain.tenon"),
            f"inspect: {said}")
        fewer = self.test.compile(self.example, "fewer", *options, "int4",
                                  "--calibrate", text, "--calibrate-tokens",
                                  600)
        found = self.compiled(fewer)["calibration"]
        self.test.check(
            found["tokens"] == 512
            and found["text_xxh3"] == said["calibration"]["text_xxh3"],
            f"at most 600 tokens: {found}")

    def generated(self):
        """Text that the model generates, which is the same each time."""
        said = self.compiled(self.work / "int4-auto.tenon")["calibration"]
        self.test.check(said == {"tokens": 2048, "text": "auto"},
                        f"generated: {said}")
        bare = models.llama(self.work / "tokenless", 2)
        artifacts = [
            self.test.compile(bare, f"again-{number}", "--quantize", "int4",
                              "--calibrate", "auto", "--calibrate-tokens", 200,
                              "--target-cpu", "avx2")
            for number in range(2)]
        self.test.check(
            artifacts[0].read_bytes() == artifacts[1].read_bytes(),
            "a model without a tokenizer generates the same text again")
        self.test.check(
            self.compiled(artifacts[0])["calibration"]["tokens"] == 192,
            "at most 200 tokens, in windows of 64, the context")

    def remarks(self):
        model = mixture(self.work / "mixture")
        out = self.work / "mixture.tenon"
        done = self.test.run("tenon", "compile", model, "-o", out,
                             "--quantize", "int8", "--calibrate",
                             self.words("many.txt", 2000), "--remarks", "--quantize-exclude", "lm_head.*")
        lines = [line for line in done.stderr.splitlines()
                 if "Calibrate" in line]

        def about(name):
            return [line for line in lines if name in line]
        experts = about("block_sparse_moe.experts.*.w")
        self.test.check(
            len(experts) == 3 and all(
                ", of its outputs " in line
                and "2 of 4 experts got no token" in line for line in experts),
            f"experts without tokens: {done.stderr[-2000:] if not experts else experts}")
        attention = about("self_attn")
        shares = [re.search(r": error ([\d.]+) %, of its outputs ([\d.]+) %\"",
                            line) for line in attention]
        self.test.check(
            len(shares) == 2 and all(
                found and float(found[2]) < 0.6 * float(found[1])
                for found in shares),
            f"errors of attention: {attention}")
        self.test.need("tenon", "run", out, "--token-ids", "1,2,3",
                       "--max-new-tokens", 3)

    def unweighted(self):
        """An embedding that nothing is multiplied with."""
        out = self.work / "untied.tenon"
        path = self.work / "untied"
        shutil.copytree(self.example, path)
        config = json.loads((path / "config.json").read_text())
        self.test.check(config["tie_word_embeddings"] is True,
                        "the example's head is its embedding")
        tensors = models.read_safetensors(path / "model.safetensors")
        table = "model.embed_tokens.weight"
        tensors["lm_head.weight"] = tensors[table]
        models.write_safetensors(path / "model.safetensors", tensors)
        config["tie_word_embeddings"] = False
        (path / "config.json").write_text(json.dumps(config))
        text = self.file("short.txt",
                         (self.example / "heldout.txt").read_text()[:2000])
        done = self.test.run("tenon", "compile", path, "-o", out, "--quantize",
                             "int4", "--calibrate", text, "--remarks")
        lines = [line for line in done.stderr.splitlines()
                 if "the text multiplied nothing with it" in line]
        self.test.check(len(lines) == 1 and table in lines[0],
                        f"a table alone has no outputs: {lines}")

    def encoder(self):
        model = tokenizer(models.bert(self.work / "bert", 2))
        out = self.test.compile(model, "bert", "--quantize", "int8",
                                "--calibrate", self.text)
        found = self.compiled(out)["calibration"]
        self.test.check(found["tokens"] == 300, f"an encoder: {found}")

    def errors(self):
        work = self.work
        llama = tokenizer(models.llama(work / "llama", 2))
        bare = models.llama(work / "bare", 2)
        out = ["-o", work / "none.tenon"]
        empty = self.file("empty.txt", "")
        short = self.file("few.txt", " ".join(WORDS))
        binary = self.file("binary.txt", b"w1 \xff" * 100)
        others = {}
        for name in "t5-gated", "vit-features":
            others[name] = work / name
            shutil.copytree(support.FIXTURES / name, others[name])
            tokenizer(others[name])
        wide = work / "wide"
        shutil.copytree(bare, wide)
        shutil.copy(self.example / "tokenizer.json", wide)
        prose = self.example / "heldout.txt"
        int4 = ["--quantize", "int4"]
        for what, command, status, parts in (
                ("no file", [llama, *int4, "--calibrate", work / "no.txt"], 1,
                 ["no.txt: cannot open: No such file or directory"]),
                ("a folder", [llama, *int4, "--calibrate", work], 1,
                 [f"{work}: is a directory"]),
                ("an empty file", [llama, *int4, "--calibrate", empty], 1,
                 ["empty.txt: empty: expected text"]),
                ("few tokens", [llama, *int4, "--calibrate", short], 1,
                 ["few.txt: 61 tokens: expected at least 64"]),
                ("no text", [llama, *int4, "--calibrate", binary], 1,
                 ["binary.txt: ", "UTF-8"]),
                ("ids beyond the vocabulary",
                 [wide, *int4, "--calibrate", prose], 1,
                 ["heldout.txt: token id ", "expected 0 to 60"]),
                ("no tokenizer", [bare, *int4, "--calibrate", self.text], 1,
                 [f"{bare}: has no tokenizer: expected one for --calibrate"]),
                ("inputs beyond f32", [overflowing(work / "wild"), *int4,
                                       "--calibrate", self.text], 1,
                 ["calibration: the inputs of tensor "
                  "'model.layers.1.mlp.gate_proj.weight' become infinite"]),
                ("numbers beyond scales",
                 [overflowing(work / "large", 1e12), *int4], 1,
                 ["tensor 'model.layers.0.mlp.gate_proj.weight' has a number "
                  "beyond 7.40e+06: expected smaller ones for iq4_nl"]),
                ("an encoder-decoder",
                 [others["t5-gated"], *int4, "--calibrate", self.text], 1,
                 ["t5-gated: --calibrate: this model is an encoder-decoder: "
                  "expected a decoder or an encoder of texts"]),
                ("a vision model",
                 [others["vit-features"], *int4, "--calibrate", self.text], 1,
                 ["vit-features: --calibrate: this model is a vision model"]),
                ("no decoder", [tokenizer(models.bert(work / "auto-bert", 2)),
                                *int4, "--calibrate", "auto"], 1,
                 ["auto-bert: --calibrate: this model generates no text: "
                  "expected a decoder with a head, or a text file"]),
                ("a vision model that generates",
                 [others["vit-features"], *int4, "--calibrate", "auto"], 1,
                 ["vit-features: --calibrate: this model is a vision model"]),
                ("nothing to quantise",
                 [llama, "--quantize", "none", "--calibrate", self.text], 2,
                 ["--calibrate needs --quantize int8 or int4"]),
                ("no --quantize", [llama, "--calibrate", self.text],
                 2, ["--calibrate requires --quantize"]),
                ("too few tokens asked for",
                 [llama, *int4, "--calibrate", self.text,
                  "--calibrate-tokens", "63"], 2, ["--calibrate-tokens"]),
                ("tokens of no text", [llama, *int4, "--calibrate-tokens", 99],
                 2, ["--calibrate-tokens requires --calibrate"]),
                ("a dump", [llama, "--from-stage", "fused", *int4,
                            "--calibrate", self.text], 2, ["--from-stage"])):
            self.test.expect_error(what, *parts, status=status,
                                   command=["tenon", "compile", *command, *out])
            self.test.check(not (work / "none.tenon").exists(),
                            f"{what}: leaves nothing")


def main():
    test = support.Test(sys.argv[1:3])
    calibrate = Calibrate(test, pathlib.Path(sys.argv[3]))
    calibrate.quality()
    calibrate.generated()
    calibrate.remarks()
    calibrate.unweighted()
    calibrate.encoder()
    calibrate.errors()
    test.finish()


if __name__ == "__main__":
    main()
