"""What a new user types and reads: a table of wrong inputs, each with its one
line, and notes on what is worth knowing.

messages.py TENON WORK EXAMPLE
"""

import json
import pathlib
import shutil
import sys

import numpy

import models
import support

USAGE = 2


class Messages:
    def __init__(self, test, example):
        self.test = test
        self.work = test.work
        self.example = example
        self.good = models.llama(self.work / "good", 2)
        self.artifact = test.compile(self.good, "good")

    def folder(self, name, *files, **texts):
        """A folder with empty files, and with files that have a text."""
        path = self.work / name
        path.mkdir()
        for file in files:
            (path / file).write_bytes(b"")
        for file, text in texts.items():
            (path / f"{file}.json").write_text(text)
        return path

    def config(self, name, **changes):
        """The good model with other settings."""
        path = self.work / name
        shutil.copytree(self.good, path)
        config = json.loads((path / "config.json").read_text())
        config.update(changes)
        (path / "config.json").write_text(json.dumps(config))
        return path

    def table(self):
        """(what, command, exit status, parts of the line)"""
        work, good, artifact = self.work, self.good, self.artifact
        out = ["-o", work / "none.tenon"]
        ids = ["--token-ids", "1"]
        weights = good / "model.safetensors"
        gguf = self.folder("ggufs", "b.gguf", "a.gguf", "README.md")
        diffusers = self.folder("diffusers", model_index="{}")
        adapter = self.folder("adapter", adapter_config="{}")
        empty = self.folder("empty")
        text = work / "notes.txt"
        text.write_text("hello")
        tokenizer = work / "tokenizer.json"
        tokenizer.write_text("{}")
        narrow = work / "narrow.npy"
        numpy.save(narrow, numpy.zeros((1, 3), numpy.float32))
        mlir = work / "layer.mlir"
        mlir.write_text("")
        hub = "no-such-organisation/Some-Model.1"
        fetch = f"hf download {hub} --local-dir Some-Model.1"
        unread = self.config("unread", logit_scale=2, clip=True,
                             rope_scaling={"type": "linear", "factor": 2,
                                           "twist": 1})
        keys = "--ignore-config-key clip,logit_scale,rope_scaling.twist"
        quantised = {name: self.config(f"quantised-{name}",
                                       quantization_config=form)
                     for name, form in {
                         "bitsandbytes": {"quant_method": "bitsandbytes",
                                          "load_in_4bit": True},
                         "hqq": {"quant_method": "hqq"}}.items()}
        rows = [
            # What is no model.
            ("missing path", ["compile", work / "none", *out], 1,
             ["none: no such file or directory"]),
            ("missing path to inspect", ["inspect", work / "none"], 1,
             ["none: no such file or directory"]),
            ("hub id", ["compile", hub, *out], 1, [fetch]),
            ("hub id to inspect", ["inspect", hub], 1, [fetch]),
            ("diffusers folder", ["compile", diffusers, *out], 1,
             ["diffusers pipeline"]),
            ("adapter", ["compile", adapter, *out], 1,
             ["PEFT adapter", "merge_and_unload"]),
            ("folder with GGUF files", ["compile", gguf, *out], 1,
             ["GGUF files", "(a.gguf, b.gguf)"]),
            ("folder without anything", ["compile", empty, *out], 1,
             ["has no config.json"]),
            ("weights alone", ["compile", weights, *out], 1,
             ["nothing but weights", str(good)]),
            ("config alone", ["compile", good / "config.json", *out], 1,
             ["has no weights", str(good)]),
            ("artifact as a model", ["compile", artifact, *out], 1,
             ["is an artifact", f"tenon run {artifact}"]),
            ("any file as a model", ["compile", text, *out], 1,
             ["is no model", "GGUF"]),
            ("any file to inspect", ["inspect", text], 1, ["is no model"]),
            ("a tokenizer as a model", ["compile", tokenizer, *out], 1,
             ["'model_type' is missing", "as the config.json of a model"]),
            # What is no artifact.
            ("run nothing", ["run", work / "none.tenon", *ids], 1,
             ["none.tenon: no such file or directory"]),
            ("run a hub id", ["run", hub, *ids], 1, [fetch]),
            ("run a folder", ["run", empty, *ids], 1,
             ["is a directory: expected an artifact", "config.json"]),
            ("run a broken GGUF file", ["run", gguf / "a.gguf", *ids], 1,
             ["a.gguf: "]),
            ("run weights", ["run", weights, *ids], 1,
             ["model's weights", str(good)]),
            ("run a config", ["run", good / "config.json", *ids], 1,
             ["is a file of a model", str(good)]),
            ("run MLIR", ["run", mlir, *ids], 1,
             [f"tenon compile {mlir} -o layer.tenon"]),
            ("artifact and an option of models",
             ["run", artifact, *ids, "--kv-cache", "int8"], 1,
             ["is an artifact", "--kv-cache expects a model"]),
            ("artifact and no cache", ["run", artifact, *ids, "--no-cache"],
             1, ["is an artifact", "--no-cache expects a model"]),
            # Settings.
            ("all keys that are not read", ["compile", unread, *out], 1,
             ["'logit_scale' is 2", "'clip' is true",
              "'rope_scaling.twist' is 1", "does not read these keys",
              "(if not: tenon compile --ignore-config-key "]),
            ("a key that is not there",
             ["compile", good, *out, "--ignore-config-key", "x"], 1,
             ["--ignore-config-key is 'x'"]),
            ("a key that is read",
             ["compile", good, *out, "--ignore-config-key", "hidden_size"], 1,
             ["--ignore-config-key is 'hidden_size'"]),
            ("bitsandbytes", ["compile", quantised["bitsandbytes"], *out], 1,
             ["quantised (bitsandbytes, 4 bits)", "dequantize()"]),
            ("HQQ", ["compile", quantised["hqq"], *out], 1,
             ["quantised (hqq)"]),
            # Options.
            ("two outputs", ["compile", good, *out, *out], USAGE,
             ["--output is given 2 times"]),
            ("two models", ["compile", good, good, *out], USAGE, [str(good)]),
            ("two seeds", ["run", artifact, *ids, "--seed", 1, "--seed", 2],
             USAGE, ["--seed is given 2 times"]),
            ("a seed of 65 bits", ["run", artifact, *ids, "--seed", 2**64],
             USAGE, ["--seed is '18446744073709551616': expected a whole number"
                     " from -9223372036854775808 to 18446744073709551615"]),
            ("text and ids", ["run", artifact, *ids, "--prompt", "a",
                              "--json"], USAGE, ["not both"]),
            ("file and ids", ["run", artifact, *ids, "--prompt-file", text],
             USAGE, ["not both"]),
            ("too many threads", ["run", artifact, *ids, "--threads",
                                  "100000"], USAGE,
             ["--threads is 100000", "CPU"]),
            ("fewer than no threads", ["bench", artifact, "--threads", "-1"],
             USAGE, ["--threads is -1"]),
            ("a calibration of text",
             ["compile", good, "--emit", "fused", "--quantize", "int8",
              "--calibrate", text], USAGE,
             ["--calibrate is for an artifact, not for text"]),
            ("a form of calls of text",
             ["compile", good, "--until-after", "fused", "--tool-format",
              "none"], USAGE,
             ["--tool-format is for an artifact, not for text"]),
            ("a length that is no number",
             ["run", artifact, *ids, "--max-new-tokens", "many"], USAGE,
             ["--max-new-tokens is 'many'", "a whole number"]),
            ("a type that there is not",
             ["compile", good, *out, "--dtype", "int3"], USAGE,
             ["--dtype is 'int3': expected one of {auto, f32, bf16}"]),
            ("a pass that there is not",
             ["compile", good, *out, "--disable-pass", "x"], USAGE,
             ["--disable-pass is 'x': expected one of"]),
            ("a mistyped option", ["compile", good, *out, "--quantise",
                                   "int4"], USAGE,
             ["unknown option '--quantise': did you mean --quantize?"]),
            ("no name of a folder", ["compile", good, *out, "--dump-stages=",
                                     "--remarks"], USAGE,
             ["--dump-stages is '': expected at least one character"]),
            ("two ends", ["compile", good, "--emit", "fused", "--until-after",
                          "placed"], USAGE, ["--until-after", "--emit"]),
            ("weights of a model that has its own",
             ["compile", good, *out, "--weights", good], 1,
             ["--weights is", "expected it with a .mlir model only"]),
            ("keys of a model in MLIR",
             ["bisect", mlir, "--ignore-config-key", "x"], 1,
             ["--ignore-config-key", "no config.json"]),
            ("a reference of another width",
             ["bisect", good, *ids, "--against", narrow], 1,
             ["the reference is 1 x 3: expected 1 x "]),
            ("no command of the cache", ["cache"], USAGE,
             ["tenon: error: cache: expected one of list, clear, add, path"]),
            ("no command", [], USAGE, ["tenon: error: expected one of "]),
            ("a prompt that is too long",
             ["run", artifact, "--token-ids", ",".join(65 * "1")], 1,
             ["tenon: error: the prompt has 65 tokens: expected at most 64, "
              "the model's longest sequence"]),
            ("the second prompt is too long",
             ["run", artifact, "--json", *ids, "--token-ids",
              ",".join(65 * "1")], 1, ["prompt 2: the prompt has 65 tokens"]),
            ("nothing to embed", ["embed", artifact], USAGE,
             ["--text, --text-file and --input"]),
            ("nothing to evaluate", ["evaluate", artifact], USAGE,
             ["expected one of --text, --token-ids"]),
            ("text and ids to evaluate", ["evaluate", artifact, *ids, "--text",
                                          text], USAGE,
             ["--text is given beside --token-ids"]),
            ("two sources of text", ["embed", artifact, "--text", "a",
                                     "--text-file", text], USAGE,
             ["--text, --text-file and --input"]),
            ("a file of text that is not there",
             ["run", artifact, "--prompt-file", work / "none.txt"], 1,
             ["none.txt"]),
            ("FLOPs of no tokens", ["inspect", good, "--context", "0"], 1,
             ["0: expected 1 to 64"]),
            ("FLOPs of too many tokens", ["inspect", good, "--context", "65"],
             1, ["65: expected 1 to 64"]),
            ("FLOPs of an artifact", ["inspect", artifact, "--context", "9"],
             1, ["--context: expected a model that is not compiled"]),
            ("memory plan of a model", ["inspect", good, "--memory-plan"], 1,
             ["--memory-plan: expected an artifact"]),
            ("matmuls of a model", ["inspect", good, "--matmuls"], 1,
             ["--matmuls: expected an artifact"]),
        ]
        for what, command, status, parts in rows:
            self.test.expect_error(what, *parts, status=status,
                                   command=["tenon", *command])
        done = self.test.run("tenon", "compile", unread, *out, *keys.split())
        self.test.check(done.returncode == 0
                        and done.stderr.count("is ignored") == 3,
                        f"keys that are to be ignored: {done.stderr!r}")

    def encoders(self):
        """What is said of a model of hidden states is what works."""
        artifact = self.test.compile(support.FIXTURES / "bert-gelu", "bert")
        line = self.test.expect_error(
            "run an encoder", "use --output FILE.npy",
            command=["tenon", "run", artifact, "--token-ids", "1,2,3"])
        self.test.check("embed" not in line, f"advice: {line!r}")
        line = self.test.expect_error(
            "serve an encoder", "this model gives features of tokens",
            command=["tenon", "serve", artifact, "--port", "0"])
        self.test.check(line.count(str(artifact)) == 1, f"path: {line!r}")

    def notes_of(self, model, *options):
        out = self.work / "noted.tenon"
        done = self.test.run("tenon", "compile", model, "-o", out,
                             "--target-cpu", "avx2", *options)
        self.test.check(done.returncode == 0,
                        f"compile {model}: {done.stderr[-300:]}")
        return done.stderr.splitlines()

    def expect_note(self, what, model, *parts, options=()):
        notes = self.notes_of(model, *options)
        self.test.check(len(notes) == 1
                        and all(part in notes[0]
                                for part in ("tenon: note: ", *parts)),
                        f"{what}: {notes}, expected one with {parts}")

    def stored_form(self):
        half = self.config("half")
        tensors = models.read_safetensors(half / "model.safetensors")
        for name, (_, shape, data) in tensors.items():
            values = numpy.frombuffer(data, numpy.float32)
            tensors[name] = ("F16", shape,
                             values.astype(numpy.float16).tobytes())
        models.write_safetensors(half / "model.safetensors", tensors)
        stored = sum(len(data) for _, shape, data in tensors.values()
                     if len(shape) == 2)
        sizes = [f"{stored * share / 1e6:.2f} MB" for share in (2, 1, 1)]
        self.expect_note("half precision kept in f32", half, "F16",
                         f"f32: {sizes[0]} instead of {sizes[1]}",
                         "--dtype bf16", f"to {sizes[2]}")
        for form in ("--emit", "transformer"), ("--emit", "asm"), (
                "--until-after", "placed"):
            self.expect_note(f"the same of text, {form}", half, "F16",
                             options=form)
        for dtype in "f32", "bf16":
            notes = self.notes_of(half, "--dtype", dtype)
            self.test.check(not notes, f"asked for {dtype}: {notes}")
        notes = self.notes_of(self.good)
        self.test.check(not notes, f"f32 kept in f32: {notes}")

    def tokenizers(self):
        other = self.config("other-tokenizer")
        for name in "vocab.json", "merges.txt":
            (other / name).write_text("")
        self.expect_note("tokenizer in other files", other,
                         "no tokenizer.json", "(vocab.json, merges.txt)",
                         "save_pretrained")
        path = self.work / "contradicted"
        shutil.copytree(self.example, path)
        notes = self.notes_of(path)
        self.test.check(not notes, f"files that agree: {notes}")
        tokens = json.loads((path / "tokenizer.json").read_text())
        first = tokens["added_tokens"][0]
        for name, content, parts in (
                ("added_tokens.json", {first["content"]: 7, "<new>": 8},
                 [f"'{first['content']}' is 7, and {first['id']} in it",
                  "1 more"]),
                ("special_tokens_map.json",
                 {"eos_token": {"content": "<nowhere>"}},
                 ["eos_token '<nowhere>' is not in it"]),
                ("tokenizer_config.json", {"added_tokens_decoder": {
                    str(first["id"]): {"content": "<other>"}}},
                 ["token '<other>' is not in it"]),
                ("tokenizer_config.json", {"do_lower_case": True},
                 ["do_lower_case is true"]),
                ("tokenizer_config.json",
                 {"add_eos_token": True, "eos_token": first["content"]},
                 ["add_eos_token is true"])):
            file = path / name
            before = file.read_text() if file.exists() else None
            file.write_text(json.dumps(content))
            self.expect_note(f"{name} that contradicts", path, name,
                             "contradicts tokenizer.json, which is used",
                             *parts)
            file.unlink()
            if before is not None:
                file.write_text(before)

    def multimodal(self):
        """The text model of Gemma 3 gives what it gives alone."""
        fixture = support.first_of_each(support.fixtures(["gemma3_text"]))[0]
        alone = self.test.compile(fixture.path, "alone")
        expected = self.test.outputs(alone, fixture.tokens)
        config = json.loads((fixture.path / "config.json").read_text())
        tensors = models.read_safetensors(fixture.path / "model.safetensors")
        for body, head in (("language_model.model.",
                            "language_model.lm_head."),
                           ("model.language_model.", "lm_head.")):
            path = self.folder(f"multimodal-{body.count('.')}-{body[0]}")
            (path / "config.json").write_text(json.dumps({
                "model_type": "gemma3", "text_config": config,
                "vision_config": {"model_type": "siglip_vision_model"},
                "tie_word_embeddings":
                    config.get("tie_word_embeddings", True),
                "mm_tokens_per_image": 256}))
            renamed = {
                name.replace("lm_head.", head, 1)
                if name.startswith("lm_head.")
                else name.replace("model.", body, 1): tensor
                for name, tensor in tensors.items()}
            vision = ("F32", [2, 2], bytes(16))
            renamed["vision_tower.a.weight"] = vision
            renamed["multi_modal_projector.b.weight"] = vision
            models.write_safetensors(path / "model.safetensors", renamed)
            artifact = self.test.compile(path, "multimodal")
            got = self.test.outputs(artifact, fixture.tokens)
            self.test.check(numpy.array_equal(got, expected),
                            f"the text model behind {body}")

    def images_in_text(self):
        """A step that holds no image, and a graph beside which nothing says
        what an image is."""
        llava = support.FIXTURES / "llava-gqa"
        graph, out = self.work / "llava.mlir", self.work / "images.tenon"
        self.test.need("tenon", "compile", llava, "--emit", "transformer", "-o",
                       graph)
        for options, part in (
                ([llava, "--max-tokens-per-step", 9],
                 "--max-tokens-per-step is 9: expected at least 10, the tokens "
                 "of an image of"),
                ([graph, "--weights", llava],
                 "takes images, and nothing says how they become rows")):
            done = self.test.run("tenon", "compile", *options, "-o", out)
            self.test.check(done.returncode == 1 and part in done.stderr
                            and not out.exists(), f"{part}: {done.stderr!r}")

    def running(self):
        run = ["run", self.artifact, "--token-ids", "1,2", "--json"]

        def answer(*options):
            return json.loads(self.test.need("tenon", *run, *options))
        hot = ["--temperature", 100, "--max-new-tokens", 20]
        first, second = answer(*hot), answer(*hot)
        self.test.check(first["seed"] != second["seed"]
                        and first["token_ids"] != second["token_ids"],
                        "a fresh seed each time")
        again = answer(*hot, "--seed", first["seed"])
        self.test.check(again["token_ids"] == first["token_ids"],
                        "the printed seed gives the same tokens")
        negative = answer(*hot, "--seed", -5)
        same = answer(*hot, "--seed", 2**64 - 5)
        self.test.check(negative["token_ids"] == same["token_ids"]
                        and negative["seed"] == same["seed"] == 2**64 - 5,
                        f"a seed below 0: {negative}")
        for count, reason in ((10, "length"), (63, "length"), (64, "context")):
            done = self.test.run("tenon", *run, "--max-new-tokens", count)
            got = json.loads(done.stdout)
            self.test.check(
                got["finish_reason"] == reason
                and len(got["token_ids"]) == min(count, 63)
                and ("longest sequence of 64 tokens" in done.stderr)
                == (reason == "context"),
                f"{count} new tokens: {got['finish_reason']}, {done.stderr!r}")

    def standard_input(self):
        example = self.test.compile(self.example, "example")
        text = "Once upon a time"
        options = ["run", example, "--max-new-tokens", 5, "--temperature", 0]
        expected = self.test.need("tenon", *options, "--prompt", text)
        got = self.test.run("tenon", *options, "--prompt-file", "-",
                            input=text)
        self.test.check(got.stdout == expected and expected.strip(),
                        f"prompt from standard input: {got}")

    def inspect(self):
        for name, levels in (("t5-buckets", ",".join(support.LEVELS)),
                             ("deepseek_v3-yarn-older", "avx2,avx512"),
                             ("llava-gqa", "avx2,avx512")):
            model = support.FIXTURES / name
            artifact = self.work / "levels.tenon"
            self.test.need("tenon", "compile", model, "-o", artifact,
                           "--target-cpu", levels)
            for path in artifact, model:
                text = self.test.need("tenon", "inspect", path)
                lines = text.splitlines()
                empty = [line for line in lines
                         if line.rstrip().endswith((" -", ":"))]
                self.test.check(len(lines) <= 25 and not empty,
                                f"{name}: {len(lines)} lines, expected at "
                                f"most 25; without a value: {empty}")
            plain = self.test.need("tenon", "inspect", artifact)
            for option, title in (("--memory-plan", "Memory plan, avx2:"),
                                  ("--matmuls", "Library matmuls, avx512")):
                more = self.test.need("tenon", "inspect", artifact, option)
                self.test.check(more.startswith(plain) and title in more
                                and title not in plain,
                                f"{name}: {option}")
        # In f32, F16 in shards, F16 and bf16.
        for name in ("llama-mha", "llama-sharded-llama3", "granite-bias",
                     "granite-tied-older"):
            self.test.check_inspected(
                support.FIXTURES / name,
                self.test.compile(support.FIXTURES / name, "inspected",
                                  "--target-cpu", "avx2"))
        config = self.config("config-alone", torch_dtype="bfloat16")
        (config / "model.safetensors").unlink()
        done = self.test.run("tenon", "inspect", config)
        self.test.check(
            done.returncode == 0 and "llama, bf16 weights" in done.stdout
            and "has no weights" in done.stderr,
            f"a directory without weights: {done}")
        short, whole = (json.loads(self.test.need(
            "tenon", "inspect", self.good, "--json", *options))
            for options in (["--context", 10], []))
        flops = [each["flops_per_token"] for each in (short, whole)]
        self.test.check(flops[0]["context"] == 10
                        and flops[1]["context"] == models.POSITIONS
                        and flops[0]["decode"] < flops[1]["decode"],
                        f"FLOPs at a context: {flops}")
        table = models.VOCABULARY * models.HIDDEN
        parameters = whole["parameters"]
        self.test.check(
            parameters["without_embeddings"] == parameters["total"] - 2 * table
            and whole["parameters_active_without_embeddings"]
            == parameters["without_embeddings"],
            f"parameters without embeddings: {parameters}")

    def help(self):
        text = self.test.need("tenon", "compile", "--help")
        self.test.check("tenon compile [OPTIONS]" in text
                        and "/" not in text.split("[OPTIONS]")[0]
                        and all(kind in text for kind in (
                            "Hugging Face directory", "GGUF", ".mlir",
                            "config.json")),
                        f"compile --help: {text[:60]!r}")


def main():
    test = support.Test(sys.argv[1:3])
    messages = Messages(test, pathlib.Path(sys.argv[3]))
    messages.table()
    messages.encoders()
    messages.stored_form()
    messages.tokenizers()
    messages.multimodal()
    messages.images_in_text()
    messages.running()
    messages.standard_input()
    messages.inspect()
    messages.help()
    test.finish()


if __name__ == "__main__":
    main()
