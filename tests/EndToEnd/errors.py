"""What a user sees when something is wrong: one line and an exit status.

errors.py TENON WORK

Every wrong model, file or request ends with exit status 1 and one line on
stderr that begins with `tenon: error:` and names file or field. A compile that
fails leaves nothing behind, and an artifact of the same name as it was.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy

import models
import support


class Errors:
    def __init__(self, test):
        self.test = test
        self.good = models.llama(test.work / "good", 2)
        self.artifact = test.compile(self.good, "good")
        self.count = 0

    def compile_fails(self, what, model, *parts, options=()):
        """Compiles to a new name and over an artifact; neither may leave a
        trace."""
        out = self.test.work / f"out-{self.count}"
        self.count += 1
        out.mkdir()
        command = ["tenon-compile", "compile", model, "-o", out / "x.tenon",
                   *options]
        self.test.expect_error(what, *parts, command=command)
        left = sorted(path.name for path in out.rglob("*"))
        self.test.check(not left, f"{what}: leaves {left}, expected nothing")
        before = self.artifact.read_bytes()
        shutil.copy(self.artifact, out / "x.tenon")
        done = self.test.run(*command)
        left = sorted(path.name for path in out.rglob("*"))
        self.test.check(
            done.returncode == 1 and left == ["x.tenon"]
            and (out / "x.tenon").read_bytes() == before,
            f"{what}: an artifact of that name stays, beside {left}")

    def model(self, name):
        """A copy of the good model to damage."""
        path = self.test.work / name
        shutil.copytree(self.good, path)
        return path

    def config(self, what, *parts, **changes):
        path = self.model(f"config-{self.count}")
        config = json.loads((path / "config.json").read_text())
        config.update(changes)
        (path / "config.json").write_text(json.dumps(config))
        self.compile_fails(what, path, *parts)

    def weights(self, what, change, *parts):
        path = self.model(f"weights-{self.count}")
        tensors = models.read_safetensors(path / "model.safetensors")
        change(tensors)
        models.write_safetensors(path / "model.safetensors", tensors)
        self.compile_fails(what, path, *parts)

    def descriptions(self):
        self.compile_fails("no such model", self.test.work / "none", "none")
        self.config("unknown architecture", "config.json", "gigantic",
                    model_type="gigantic",
                    architectures=["GiganticForCausalLM"])
        self.config("key that changes the result", "config.json",
                    "attention_softcap", attention_softcap=30.0)
        self.config("unhandled value", "config.json", "hidden_act", "mish",
                    hidden_act="mish")
        self.config("unhandled scaling", "config.json", "ntk",
                    rope_scaling={"rope_type": "ntk", "factor": 4.0})
        self.config("no heads", "config.json", "num_attention_heads", "0",
                    num_attention_heads=0)
        self.config("negative layers", "config.json", "num_hidden_layers",
                    "-1", num_hidden_layers=-1)
        self.config("heads that do not divide", "config.json",
                    "num_key_value_heads", num_key_value_heads=3)
        path = self.model("config-cut")
        text = (path / "config.json").read_text()
        (path / "config.json").write_text(text[:len(text) // 2])
        self.compile_fails("truncated config", path, "config.json")
        (path / "config.json").unlink()
        self.compile_fails("no config", path, "config.json")

    def checkpoints(self):
        name = "model.layers.1.mlp.up_proj.weight"

        def replaced(entry):
            return lambda tensors: tensors.update({name: entry(*tensors[name])})
        self.weights("missing tensor", lambda tensors: tensors.pop(name), name)
        self.weights(
            "unknown tensor",
            lambda tensors: tensors.update({"model.extra.weight": tensors[name]}),
            "model.extra.weight")
        self.weights("layer too many", lambda tensors: tensors.update(
            {name.replace(".1.", ".2."): tensors[name]}),
            name.replace(".1.", ".2."))
        self.weights("wrong shape", replaced(
            lambda dtype, shape, data: (dtype, shape[::-1], data)),
            name, "64", "48")
        self.weights("wrong type", replaced(
            lambda dtype, shape, data: ("I32", shape, data)), name, "I32")
        self.weights("shape beyond its bytes", replaced(
            lambda dtype, shape, data: (dtype, [shape[0] + 1, shape[1]], data)),
            name)
        path = self.model("weights-cut")
        file = path / "model.safetensors"
        data = file.read_bytes()
        for length in 0, 7, 100, len(data) // 2, len(data) - 1:
            file.write_bytes(data[:length])
            self.compile_fails(f"weights cut at {length}", path,
                               "model.safetensors")
        file.write_bytes(data + b"\0")
        self.compile_fails("weights with a surplus byte", path,
                           "model.safetensors")
        file.write_text("version https://git-lfs.github.com/spec/v1\n"
                        "oid sha256:0\nsize 9\n")
        self.compile_fails("pointer in place of weights", path,
                           "model.safetensors", "LFS")
        file.unlink()
        self.compile_fails("no weights", path, "safetensors")
        (path / "pytorch_model.bin").write_bytes(b"\x80\x02.")
        self.compile_fails("pickled weights", path, "safetensors")

    def tokenizers(self):
        path = self.model("tokenizer")
        for what, text in {
                "truncated tokenizer": '{"version": "1.0", "model": {"ty',
                "tokenizer that is a list": "[]",
                "tokenizer of unknown kind": '{"model": {"type": "Magic"}}',
                }.items():
            (path / "tokenizer.json").write_text(text)
            self.compile_fails(what, path, "tokenizer.json")
            self.test.expect_error(f"tokenize: {what}", "tokenizer.json",
                                   command=["tenon", "tokenize",
                                            path / "tokenizer.json",
                                            "--text", "a"])

    def artifacts(self):
        data = self.artifact.read_bytes()
        path = self.test.work / "damaged.tenon"

        def damaged(what, content):
            path.write_bytes(content)
            for command in (["run", path, "--token-ids", "1",
                             "--max-new-tokens", "1"],
                            ["inspect", path, "--verify"],
                            ["bench", path, "--prompt-tokens", "1"],
                            ["evaluate", path, "--token-ids", "1,2"]):
                self.test.expect_error(f"{command[0]}: {what}",
                                       "damaged.tenon",
                                       command=["tenon", *command])
        # Less than a header is no artifact, so inspect would take it for one
        # model's description.
        for length in 16, 100, 5000, len(data) // 2, len(data) - 1:
            damaged(f"artifact cut at {length}", data[:length])
        damaged("artifact of another version",
                data[:8] + bytes([data[8] ^ 0x40]) + data[9:])
        # One changed bit each: in the code, the manifest and a weight.
        def changed(at):
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        damaged("artifact with changed code",
                changed(data.index(b"\x7fELF") + 500))
        damaged("artifact with a changed manifest",
                changed(data.rindex(b"max_sequence")))
        norm = models.read_safetensors(
            self.good / "model.safetensors")["model.norm.weight"][2]
        path.write_bytes(changed(data.index(norm)))
        self.test.expect_error("changed weight", "damaged.tenon", "norm.weight",
                               command=["tenon", "inspect", path, "--verify"])
        for name, content in {"empty": b"", "text": b"hello\n"}.items():
            path.write_bytes(content)
            self.test.expect_error(f"run: {name} file", "damaged.tenon",
                                   command=["tenon", "run", path,
                                            "--token-ids", "1"])
        self.test.expect_error("run: no file", "none.tenon", command=[
            "tenon", "run", self.test.work / "none.tenon", "--token-ids", "1"])

    def requests(self):
        most, vocabulary = models.POSITIONS, models.VOCABULARY
        run = ["tenon", "run", self.artifact]
        for what, parts, options in (
                ("token beyond the vocabulary", [str(vocabulary)],
                 ["--token-ids", f"1,{vocabulary}"]),
                ("prompt beyond the context", [str(most)],
                 ["--token-ids", support.joined([1] * (most + 1))]),
                ("output beyond the context", [str(most)],
                 ["--token-ids", support.joined([1] * (most + 1)),
                  "--output", self.test.work / "o.npy"]),
                ("file of tokens that is not there", ["none.npy"],
                 ["--token-ids", "@none.npy"]),
                ("text without a tokenizer", ["good.tenon", "tokenizer"],
                 ["--prompt", "a"])):
            self.test.expect_error(what, *parts, command=[*run, *options])
        self.test.check(not list(self.test.work.glob("o.npy*")),
                        "a failed run leaves no output")
        self.test.expect_error("bench beyond the context", str(most), command=[
            "tenon", "bench", self.artifact, "--prompt-tokens", most + 1])
        bert = self.test.compile(models.bert(self.test.work / "bert", 1),
                                 "bert")
        self.test.expect_error("an encoder generates nothing", "bert.tenon",
                               command=["tenon", "run", bert,
                                        "--token-ids", "1"])
        self.test.expect_error(
            "segment beyond the model's", "5", command=[
                "tenon", "run", bert, "--token-ids", "1,2", "--token-types",
                "0,5", "--output", self.test.work / "o.npy"])
        self.test.expect_error("nothing to embed", "gives no embeddings",
                               command=["tenon", "embed", self.artifact,
                                        "--text", "a"])
        short, empty = self.test.work / "short", self.test.work / "no-text"
        short.write_text("a")
        empty.write_text("")
        evaluate = ["tenon", "evaluate", self.artifact]
        ids = ["--token-ids", "1,2,3"]
        for what, parts, options in (
                ("one token to score", ["1 token", "at least 2"],
                 ["--token-ids", "1"]),
                ("scoring beyond the vocabulary",
                 [f"id {vocabulary} (token 1)", "good.tenon"],
                 ["--token-ids", f"1,{vocabulary}"]),
                ("windows of two tokens", ["--context is 2", f"3 to {most}"],
                 [*ids, "--context", 2]),
                ("windows beyond the model", [f"--context is {most + 1}"],
                 [*ids, "--context", most + 1]),
                ("scoring text without a tokenizer",
                 ["good.tenon", "tokenizer"], ["--text", short]),
                ("no text to score", ["no-text: empty"], ["--text", empty]),
                ("scoring against an encoder",
                 ["--against", "bert.tenon", "is an encoder"],
                 [*ids, "--against", bert]),
                ("scoring against a folder", ["--against", "is a directory"],
                 [*ids, "--against", self.test.work])):
            self.test.expect_error(what, *parts, command=[*evaluate, *options])
        self.test.expect_error("scoring an encoder", "bert.tenon",
                               "is an encoder: expected a decoder",
                               command=["tenon", "evaluate", bert, *ids])
        other = self.test.compile(support.FIXTURES / "llama-mha", "other")
        self.test.expect_error(
            "other vocabularies", "other.tenon", "'vocabulary' is 97",
            f"expected {vocabulary}",
            command=[*evaluate, *ids, "--against", other])
        t5 = self.test.compile(support.FIXTURES / "t5-relu", "t5")
        self.test.expect_error("scoring an encoder-decoder", "t5.tenon",
                               "is an encoder-decoder: expected a decoder",
                               command=["tenon", "evaluate", t5, *ids])
        done = self.test.run("tenon", *run[1:], "--token-ids",
                             support.joined([1] * (most - 1)),
                             "--max-new-tokens", 9, "--json")
        answer = json.loads(done.stdout or "{}")
        self.test.check(done.returncode == 0
                        and len(answer.get("token_ids", [])) == 2
                        and answer.get("finish_reason") == "context",
                        f"generation ends at the context's end: {answer}")

    def usage(self):
        for command in (["tenon"], ["tenon", "frobnicate"], ["tenon", "run"],
                        ["tenon", "run", self.artifact],
                        ["tenon", "run", self.artifact, "--frobnicate"],
                        ["tenon-compile"], ["tenon-compile", "compile"],
                        ["tenon-compile", "compile", self.good, "--dtype",
                         "int3", "-o", self.test.work / "y.tenon"],
                        ["tenon-compile", "compile", self.good, "--emit", "x"],
                        ["tenon-compile", "compile", self.good, "--emit",
                         "fused", "--max-seq-len", "0"],
                        *(["tenon-compile", "compile", self.good, "--emit",
                           "placed", f"--target-cpu={levels}"]
                          for levels in ("z80", "avx2,", ",avx2",
                                         "avx2,,avx512", "avx2,z80")),
                        ["tenon", "compile"],
                        ["tenon", "compile", self.good, "--frobnicate"]):
            done = self.test.run(*command)
            self.test.check(done.returncode == 2 and done.stderr,
                            f"{command[0]} {command[1:]}: exit status "
                            f"{done.returncode}, expected 2: "
                            f"{done.stderr[:200]!r}")
        self.compile_fails("longer than the model", self.good,
                           str(models.POSITIONS),
                           options=["--max-seq-len", models.POSITIONS + 1])
        self.compile_fails("a name that no weight has", self.good,
                           "--quantize-exclude is '*attn_v*'",
                           "model.embed_tokens.weight",
                           options=["--quantize", "int4", "--quantize-exclude",
                                    "*q_proj*,*attn_v*"])
        self.compile_fails("a name of vectors alone", self.good,
                           "--quantize-exclude is '*norm*': expected names of "
                           "matrices",
                           options=["--quantize", "int4", "--quantize-exclude",
                                    "*norm*"])
        self.compile_fails("integers for latent vectors",
                           next(support.FIXTURES.glob("deepseek*")),
                           "--kv-cache is 'int8': expected auto, f32 or bf16",
                           "latent vectors", options=["--kv-cache", "int8"])
        done = self.test.run("tenon", "compile", self.good, "--emit", "fused",
                             "--disable-pass", "merge-qkv,")
        self.test.check(done.returncode == 2 and "none of them empty"
                        in done.stderr, f"an empty pass: {done.stderr!r}")

    def outputs(self):
        """Places that cannot be written, and files that must not be."""
        work = self.test.work
        path = self.model("outputs")
        nested = path / "1_Pooling"
        nested.mkdir()
        (nested / "config.json").write_text("{}")
        os.symlink(path / "model.safetensors", work / "link.safetensors")
        os.link(path / "config.json", work / "hard.json")
        tokens = work / "tokens.npy"
        numpy.save(tokens, numpy.array([1, 2]))
        before = {file: file.read_bytes() for file in [
            *path.glob("*.*"), nested / "config.json", self.artifact, tokens]}
        compiles = ["tenon", "compile", path]
        emits = [*compiles, "--emit", "fused"]
        runs = ["tenon", "run", self.artifact, "--token-ids"]
        anywhere = [
            ("a folder that is not there", work / "none" / "x", "No such"),
            ("a folder", work, "is a directory"),
            ("a file for a folder", tokens / "x", "Not a directory"),
            ("a name that is too long", work / ("x" * 300), "too long")]
        rows = [(what, [*command, option, place], why)
                for command, option in ((compiles, "-o"), (emits, "-o"),
                                        ([*runs, "1"], "--output"))
                for what, place, why in anywhere]
        inputs = [path / "model.safetensors", path / "config.json",
                  nested / "config.json", work / "link.safetensors",
                  work / "hard.json"]
        rows += [(f"{place.name} of the checkpoint", [*command, "-o", place],
                  "is also an input")
                 for command in (compiles, emits) for place in inputs]
        for what, command, place in (
                ("the artifact", [*runs, "1"], self.artifact),
                ("the file of tokens", [*runs, f"@{tokens}"], tokens)):
            rows.append((f"run over {what}", [*command, "--output", place],
                         "is also an input"))
        rows.append(("dumps where a file is",
                     [*emits, "-o", work / "x", "--dump-stages", tokens],
                     "directory"))
        for what, command, why in rows:
            self.test.expect_error(what, why, command=command)
        self.test.check(all(file.read_bytes() == content
                            for file, content in before.items()),
                        "no input has changed")
        left = sorted(file.name for file in path.iterdir())
        self.test.check(left == ["1_Pooling", "config.json",
                                 "model.safetensors"],
                        f"nothing is left beside the checkpoint: {left}")
        # What an earlier compilation wrote there may be replaced.
        for _ in range(2):
            self.test.need(*compiles, "-o", path / "x.tenon")
            self.test.need(*emits, "-o", path / "x.mlir")

    def places(self):
        """Devices, FIFOs and links are written into, not replaced."""
        work = self.test.work
        for emitted in ([], ["--emit", "fused"], ["--emit", "asm"]):
            self.test.need("tenon", "compile", self.good, *emitted,
                           "-o", "/dev/null")
        self.test.need("tenon", "run", self.artifact, "--token-ids", "1",
                       "--output", "/dev/null")
        self.test.check(pathlib.Path("/dev/null").is_char_device(),
                        "/dev/null is a device")
        fifo = work / "fifo"
        os.mkfifo(fifo)
        (work / "link").symlink_to(work / "behind")
        for options in (["--emit", "fused"], []):
            command = ["tenon", "compile", self.good, *options, "-o"]
            with open(work / "read", "wb") as file:
                reader = subprocess.Popen(["cat", fifo], stdout=file)
            self.test.need(*command, fifo)
            reader.wait()
            read = (work / "read").read_bytes()
            self.test.need(*command, work / "link")
            self.test.check(fifo.is_fifo() and (work / "link").is_symlink()
                            and read == (work / "behind").read_bytes() != b"",
                            f"{options}: a FIFO and a link are written into")

    def special_files(self):
        """No command waits for a FIFO that is no input."""
        fifo = self.test.work / "silent"
        os.mkfifo(fifo)
        path = self.model("special")
        for name in ("config.json", "model.safetensors", "tokenizer.json",
                     "generation_config.json"):
            content = ((path / name).read_bytes()
                       if (path / name).exists() else None)
            (path / name).unlink(missing_ok=True)
            os.mkfifo(path / name)
            self.compile_fails(f"{name} is a FIFO", path, name, "a FIFO")
            (path / name).unlink()
            if content is not None:
                (path / name).write_bytes(content)
        gguf = self.test.work / "silent.gguf"
        os.mkfifo(gguf)
        mlir = self.test.work / "silent.mlir"
        os.mkfifo(mlir)
        run = ["run", self.artifact]
        for command in (
                ["run", fifo, "--token-ids", "1"], ["inspect", fifo],
                ["inspect", gguf], ["inspect", mlir], ["bench", fifo],
                ["embed", fifo, "--text", "a"],
                ["tokenize", fifo, "--text", "a"],
                ["evaluate", fifo, "--token-ids", "1,2"],
                ["evaluate", self.artifact, "--text", fifo],
                ["evaluate", self.artifact, "--token-ids", "1,2",
                 "--against", fifo],
                [*run, "--token-ids", f"@{fifo}"],
                [*run, "--prompt-file", fifo],
                ["compile", gguf, "-o", self.test.work / "x.tenon"],
                ["compile", mlir, "-o", self.test.work / "x.tenon"],
                ["compile", "--from-stage", "fused", mlir, "--weights",
                 self.good, "-o", self.test.work / "x.tenon"],
                ["run", "/dev/zero", "--token-ids", "1"]):
            what = " ".join(str(part) for part in command)
            self.test.expect_error(what, "not a regular file",
                                   command=["tenon", *command])

    def standard_output(self):
        """A full or closed standard output is an error like others."""
        for command in (["--help"], ["--version"], ["run", "--help"],
                        ["compile", "--help"],
                        ["inspect", self.good], ["inspect", self.artifact],
                        ["inspect", "--families"],
                        ["bench", self.artifact, "--prompt-tokens", 2,
                         "--new-tokens", 2, "--repeat", 1],
                        ["run", self.artifact, "--token-ids", "1",
                         "--max-new-tokens", 2],
                        ["evaluate", self.artifact, "--token-ids", "1,2"],
                        ["compile", self.good, "--emit", "fused"],
                        ["compile", self.good, "--emit", "asm"],
                        ["bisect", self.good, "--token-ids", "1,2"]):
            for what, stream in (("full", open("/dev/full", "w")),
                                 ("read-only", open("/dev/null"))):
                with stream:
                    done = subprocess.run(
                        [self.test.tenon, *map(str, command)], stdout=stream,
                        stderr=subprocess.PIPE, text=True)
                self.test.check(
                    done.returncode == 1 and done.stderr.count("\n") == 1
                    and "cannot write to standard output" in done.stderr,
                    f"{what} output of {command[0]}: exit status "
                    f"{done.returncode}: {done.stderr[-300:]!r}")

    def messages(self):
        """What a user typed or a file is called cannot drive a terminal."""
        odd = "\x1b[31m\u009b\n"
        for what, command, status in (
                ("path", ["run", odd, "--token-ids", "1"], 1),
                ("model", ["compile", odd, "-o", "x"], 1),
                ("output", ["compile", self.good, "-o", f"{odd}/x"], 1),
                ("dumps", ["compile", self.good, "--emit", "fused",
                           "--dump-stages", f"/dev/null/{odd}"], 1),
                ("level", ["compile", self.good, "-o", "x", "--target-cpu",
                           odd], 2),
                ("command", [odd], 2),
                ("option", ["run", self.artifact, f"--{odd}"], 2),
                ("compile's option", ["compile", self.good, f"--{odd}"], 2)):
            line = self.test.expect_error(
                f"control characters in the {what}", "\\x1b[31m",
                command=["tenon", *command], status=status)
            self.test.check(line.strip().isprintable(), f"{what}: {line!r}")

    def changed_files(self):
        """An artifact that shrinks or is written to while it runs."""
        data = self.artifact.read_bytes()
        path = self.test.work / "changing.tenon"
        for what, change in (("shrank", lambda file: file.truncate(9000)),
                             ("was written to", lambda file: file.write(
                                 data[:100] * (len(data) // 100)))):
            path.write_bytes(data)
            running = subprocess.Popen(
                [self.test.tenon, "bench", str(path), "--prompt-tokens", "9",
                 "--new-tokens", "9", "--repeat", str(1 << 20)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # Until its threads are there it is still being opened.
            tasks = pathlib.Path(f"/proc/{running.pid}/task")
            while running.poll() is None and len(list(tasks.iterdir())) < 2:
                time.sleep(0.01)
            time.sleep(0.1)
            with open(path, "r+b") as file:
                change(file)
            errors = running.communicate()[1]
            self.test.check(
                running.returncode == 1 and f"changing.tenon: {what}" in errors
                and errors.count("\n") == 1,
                f"a file that {what}: exit status {running.returncode}: "
                f"{errors!r}")

    def unusable_numbers(self):
        """NaN in the model's output: what is named, and nothing on stdout."""
        path = self.model("nan")
        tensors = models.read_safetensors(path / "model.safetensors")
        dtype, shape, data = tensors["model.norm.weight"]
        tensors["model.norm.weight"] = (
            dtype, shape, b"\x00\x00\xc0\x7f" * (len(data) // 4))
        models.write_safetensors(path / "model.safetensors", tensors)
        artifact = self.test.compile(path, "nan")
        self.test.expect_error(
            "NaN in what is scored", "window 1", "nan.tenon",
            "logit of token 0 is NaN",
            command=["tenon", "evaluate", artifact, "--token-ids", "1,2"])
        for options in [], ["--num-beams", "2"]:
            done = self.test.run("tenon", "run", artifact, "--token-ids", "1,2",
                                 *options)
            self.test.check(
                done.returncode == 1 and done.stdout == ""
                and "nan.tenon: step 1: logit of token 0 is NaN" in done.stderr,
                f"NaN: {done.stdout!r} {done.stderr!r}")

    def dumps(self):
        """Dumps of a compilation that fails are said, or there are none."""
        folder = self.test.work / "dumps"
        done = self.test.run("tenon", "compile", self.test.work / "none", "-o",
                             self.test.work / "x", "--dump-stages", folder)
        self.test.check(done.returncode == 1 and not folder.exists(),
                        "a model that cannot be read leaves no folder")
        (folder / "3-placed.mlir").mkdir(parents=True)
        line = self.test.expect_error(
            "a dump that cannot be written", "3-placed.mlir", "the IR until "
            f"then is in {folder}", command=[
                "tenon", "compile", self.good, "-o", self.test.work / "x",
                "--dump-stages", folder])
        self.test.check((folder / "2-fused.mlir").exists(), line)
        # A dump is not written over what it is made from.
        shutil.rmtree(folder)
        self.test.need("tenon", "compile", self.good, "--emit", "fused", "-o",
                       self.test.work / "x.mlir", "--dump-stages", folder)
        fused = folder / "2-fused.mlir"
        before = fused.read_bytes()
        self.test.expect_error("output over a dump", "is also an input",
                               command=["tenon", "compile", "--from-stage",
                                        "fused", fused, "--emit", "placed",
                                        "-o", fused])
        self.test.check(fused.read_bytes() == before, "the dump is as it was")


def main():
    test = support.Test(sys.argv[1:])
    errors = Errors(test)
    errors.descriptions()
    errors.checkpoints()
    errors.tokenizers()
    errors.artifacts()
    errors.requests()
    errors.usage()
    errors.outputs()
    errors.places()
    errors.special_files()
    errors.standard_output()
    errors.messages()
    errors.changed_files()
    errors.unusable_numbers()
    errors.dumps()
    test.finish()


if __name__ == "__main__":
    main()
