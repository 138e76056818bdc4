"""What a user sees when something is wrong: one line and an exit status.

errors.py TENON WORK

Every wrong model, file or request ends with exit status 1 and one line on
stderr that begins with `tenon: error:` and names file or field. A compile that
fails leaves nothing behind, and an artifact of the same name as it was.
"""

import json
import shutil
import sys

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
                            ["bench", path, "--prompt-tokens", "1"]):
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
                ("negative token", ["-1"], ["--token-ids", "1,-1"]),
                ("token that is no number", ["--token-ids", "x"],
                 ["--token-ids", "1,x"]),
                ("token beyond 64 bits", ["--token-ids"],
                 ["--token-ids", "99999999999999999999"]),
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
        self.test.expect_error("nothing to embed", command=[
            "tenon", "embed", self.artifact, "--text", "a"])
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
                        ["tenon", "compile"],
                        ["tenon", "compile", self.good, "--frobnicate"]):
            done = self.test.run(*command)
            self.test.check(done.returncode == 2 and done.stderr,
                            f"{command[0]} {command[1:]}: exit status "
                            f"{done.returncode}, expected 2: "
                            f"{done.stderr[:200]!r}")
        self.compile_fails("unknown level", self.good, "z80",
                           options=["--target-cpu", "z80"])
        self.compile_fails("longer than the model", self.good,
                           str(models.POSITIONS),
                           options=["--max-seq-len", models.POSITIONS + 1])
        self.compile_fails("no length", self.good, "0",
                           options=["--max-seq-len", "0"])
        self.test.expect_error("a folder that is not there", "none", command=[
            "tenon-compile", "compile", self.good, "-o",
            self.test.work / "none" / "x.tenon"])


def main():
    test = support.Test(sys.argv[1:])
    errors = Errors(test)
    errors.descriptions()
    errors.checkpoints()
    errors.tokenizers()
    errors.artifacts()
    errors.requests()
    errors.usage()
    test.finish()


if __name__ == "__main__":
    main()
