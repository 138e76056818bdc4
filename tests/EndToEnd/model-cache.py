"""Models in place of artifacts, and the folder that they are compiled into.

model-cache.py TENON WORK EXAMPLE
"""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time

import models
import support

GGUF = (pathlib.Path(__file__).parent.parent / "gguf" / "fixtures"
        / "llama-q8_0.gguf")
WRITE = "--prompt", "Once upon", "--max-new-tokens", "8", "--temperature", "0"
IDS = "--token-ids", "1,2,3", "--max-new-tokens", "4", "--temperature", "0"


class ModelCache:
    def __init__(self, test, example):
        self.test = test
        self.work = test.work
        self.folder = test.work / "model-cache"  # support.Test.run says so.
        self.environment = dict(os.environ, TENON_CACHE_DIR=str(self.folder))
        self.model = test.work / "model"
        shutil.copytree(example, self.model)

    def check(self, good, what):
        self.test.check(good, what)

    def files(self, suffix):
        return sorted(self.folder.glob("*" + suffix))

    def empty(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [self.test.tenon, *map(str, arguments)], text=True,
            stdout=subprocess.PIPE,
            **{"stderr": subprocess.PIPE, "env": self.environment, **options})

    def listed(self):
        return json.loads(self.test.need("tenon", "cache", "list", "--json"))

    def once(self):
        """The first run compiles, later ones do not; nothing else is said."""
        artifact = self.test.compile(self.model, "direct")
        expected = self.test.need("tenon", "run", artifact, *WRITE)
        self.check(self.listed() == [], "nothing is listed before")
        self.check(not self.folder.exists(), "and no folder made for that")
        first = self.test.run("tenon", "run", self.model, *WRITE)
        stored = self.files(".tenon")
        self.check((first.returncode, first.stdout, first.stderr)
                   == (0, expected, ""), f"first run: {first}")
        self.check(len(stored) == 1
                   and stored[0].read_bytes() == artifact.read_bytes(),
                   f"the artifact that tenon compile writes: {stored}")
        before = stored[0].stat()
        for form in (self.model, f"{self.model}/", os.path.relpath(self.model)):
            again = self.test.run("tenon", "run", form, *WRITE)
            self.check((again.stdout, again.stderr) == (expected, "")
                       and self.files(".tenon") == stored
                       and stored[0].stat().st_mtime_ns == before.st_mtime_ns,
                       f"{form}: from the cache: {again.stderr}")
        # The other commands use it too.
        for command in (["evaluate", self.model, "--text",
                         self.model / "heldout.txt"],
                        ["bench", self.model, "--prompt-tokens", "4",
                         "--new-tokens", "2", "--repeat", "1"],
                        ["tokenize", self.model, "--text", "a word"]):
            done = self.test.run("tenon", *command)
            self.check(done.returncode == 0 and done.stderr == ""
                       and self.files(".tenon") == stored,
                       f"{command[0]}: {done.stderr}")
        self.test.expect_error(
            "an error names the model", f"error: {self.model}: ",
            "chat template", command=["tenon", "chat", self.model])
        entry, = self.listed()
        self.check(entry["model"] == str(self.model)
                   and entry["path"] == str(stored[0])
                   and entry["bytes"] == before.st_size
                   and entry["options"]["quantize"] == "none"
                   and "error" not in entry, f"listed: {entry}")
        self.check(f"{self.folder.stat().st_mode & 0o777:o}" == "700",
                   "the folder is for its user alone")

    def options(self):
        """Every setting is an artifact of its own; so is every content."""
        count = len(self.listed())
        for options in (["--quantize", "int8"],
                        ["--quantize", "int4", "--activations", "exact"],
                        ["--quantize", "int4", "--calibrate", "auto"],
                        ["--dtype", "f32"], ["--kv-cache", "int8"]):
            for _ in range(2):
                self.test.need("tenon", "run", self.model, *options, *WRITE)
            count += 1
            self.check(len(self.listed()) == count, f"{options}: one more")
        self.check("--quantize int4 --activations exact"
                   in self.test.need("tenon", "cache", "list"), "in the list")
        done = self.test.run("tenon", "evaluate", self.model, "--quantize",
                             "int8", "--against", self.model, "--text",
                             self.model / "heldout.txt", "--json")
        self.check(done.returncode == 0
                   and json.loads(done.stdout)["against"][
                       "mean_kl_divergence"] > 0
                   and json.loads(done.stdout)["against"]["file"]
                   == str(self.model)
                   and len(self.listed()) == count,
                   f"against the model as it is: {done}")
        settings = self.model / "generation_config.json"
        before = settings.read_text()
        settings.write_text(json.dumps(dict(json.loads(before), top_k=3)))
        self.test.need("tenon", "run", self.model, *WRITE)
        self.check(len(self.listed()) == count + 1, "other settings: one more")
        settings.write_text(before)
        self.test.need("tenon", "run", self.model, *WRITE)
        self.check(len(self.listed()) == count + 1, "and the first again")
        self.test.expect_error("a value", "--quantize", "int3",
                               command=["tenon", "run", self.model,
                                        "--quantize", "int3", *WRITE],
                               status=2)

    def add(self):
        """What compiles and runs nothing."""
        count = len(self.listed())
        add = "tenon", "cache", "add", "--progress=json", "--quantize=int8"
        settings = self.model / "generation_config.json"
        before = settings.read_text()
        settings.write_text(json.dumps(dict(json.loads(before), top_k=4)))
        first, again = (self.test.run(*add, self.model) for _ in range(2))
        settings.write_text(before)
        told = [json.loads(line)["progress"]
                for line in first.stderr.splitlines()]
        self.check(first.returncode == 0 and len(self.listed()) == count + 1
                   and first.stdout == self.listed()[0]["path"] + "\n"
                   and told[0]["share"] is None
                   and told[-1] == {"phase": "weights", "share": 1},
                   f"cache add: {first}")
        self.check((again.stdout, again.stderr) == (first.stdout, ""),
                   f"cache add again: {again}")
        self.test.expect_error("an artifact", "expected a model",
                               command=["tenon", "cache", "add",
                                        first.stdout.strip()])
        # Another compiler than the one beside the tool.
        other = self.work / "compiler"
        other.write_text("#!/bin/sh\necho tenon: error: the other >&2\nexit 1\n")
        other.chmod(0o755)
        done = self.start("cache", "add", self.model, stderr=subprocess.PIPE,
                          env=dict(self.environment,
                                   TENON_COMPILE=str(other)))
        self.check("the other" in done.communicate()[1]
                   and done.returncode == 1, "TENON_COMPILE is started")

    def gguf(self):
        copy = self.work / "any name.gguf"
        shutil.copy(GGUF, copy)
        count = len(self.listed())
        outputs = {self.test.need("tenon", "run", path, *IDS)
                   for path in (GGUF, copy)}
        self.check(len(outputs) == 1 and len(self.listed()) == count + 1,
                   "a GGUF file under two names is one artifact")
        before = copy.read_bytes()
        self.test.expect_error(
            "the model as an output", "is also an input",
            command=["tenon", "run", copy, *IDS, "--output", copy])
        self.check(copy.read_bytes() == before, "the model is as it was")

    def tokenizers(self):
        """A directory's own, and that of a GGUF file."""
        bare = self.work / "bare"
        bare.mkdir()
        self.test.expect_error("a directory without anything",
                               "is a directory: expected an artifact",
                               command=["tenon", "tokenize", bare,
                                        "--text", "a"])
        shutil.copy(self.model / "tokenizer.json", bare)
        count = len(self.listed())
        ids = self.test.need("tenon", "tokenize", bare, "--text", "a word")
        self.check(ids == self.test.need("tenon", "tokenize", self.model,
                                         "--text", "a word")
                   and len(self.listed()) == count,
                   f"tokenizer.json alone: {ids}")
        self.test.expect_error(
            "a GGUF file's", f"{GGUF}: ", "has no tokenizer",
            command=["tenon", "tokenize", GGUF, "--text", "a"])

    def no_cache(self):
        folder = self.work / "temporary"
        folder.mkdir()
        before = {path: path.stat().st_mtime_ns
                  for path in self.folder.iterdir()}
        expected = self.test.need("tenon", "run", self.model, *WRITE)
        done = self.start("run", self.model, "--no-cache", *WRITE,
                          env=dict(self.environment, TMPDIR=str(folder),
                                   TENON_CACHE_DIR=str(self.work / "none")))
        output, errors = done.communicate()
        self.check((done.returncode, output, errors) == (0, expected, ""),
                   f"--no-cache: {errors}")
        self.check(not list(folder.iterdir())
                   and not (self.work / "none").exists()
                   and set(before) == set(self.folder.iterdir()),
                   "and nothing is kept")

    def together(self):
        """Two processes: the second waits, and says so on a terminal."""
        self.empty()
        first = self.start("run", self.model, *WRITE)
        while not self.files(".lock"):
            time.sleep(0.001)
        master, slave = pty.openpty()
        second = self.start("run", self.model, *WRITE, stderr=slave)
        os.close(slave)
        output, errors = first.communicate()
        other = second.communicate()[0]
        shown = b""
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:  # The other end is closed.
            pass
        os.close(master)
        self.check(first.returncode == second.returncode == 0
                   and output == other != "" and errors == "",
                   f"both write the same: {errors}")
        self.check(b"waiting for another process" in shown
                   and b"compiling" not in shown, f"the second says: {shown}")
        self.check(len(self.files(".tenon")) == 1 and not self.files(".new"),
                   "one artifact")

    def interrupted(self):
        """Killed while compiling: the compiler ends too, nothing is used."""
        for sent in signal.SIGKILL, signal.SIGTERM, signal.SIGINT:
            self.empty()
            # What runs the tests may ignore SIGINT.
            run = self.start("run", self.model, *WRITE,
                             preexec_fn=lambda: signal.signal(
                                 signal.SIGINT, signal.SIG_DFL))
            children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
            while not (compiler := children.read_text().split()):
                time.sleep(0.001)
            run.send_signal(sent)
            run.communicate()
            self.check(run.returncode == -sent, f"ended by {sent.name}")
            compiler = pathlib.Path(f"/proc/{compiler[0]}/stat")
            end = time.monotonic() + 60
            while (time.monotonic() < end and compiler.exists()
                   and compiler.read_text().split(")")[1].split()[0] != "Z"):
                time.sleep(0.01)
            self.check(time.monotonic() < end, "the compiler ends too")
            self.check(not self.files(".tenon") and not self.files(".new")
                       and self.listed() == [],
                       f"{sent.name}: nothing is left to be used")
            done = self.test.run("tenon", "run", self.model, *WRITE)
            self.check(done.returncode == 0 and done.stderr == ""
                       and len(self.files(".tenon")) == 1,
                       f"{sent.name}: the next compiles: {done.stderr}")
        self.empty()
        run = self.start("run", self.model, *WRITE)
        children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
        while not (compiler := children.read_text().split()):
            time.sleep(0.001)
        os.kill(int(compiler[0]), signal.SIGKILL)
        errors = run.communicate()[1]
        self.check(run.returncode == 1 and errors.count("\n") == 1
                   and "tenon-compile was ended by signal 9" in errors,
                   f"a compiler that is killed: {errors}")

    def damaged(self):
        expected = self.test.need("tenon", "run", self.model, *WRITE)
        artifact, = self.files(".tenon")
        whole = artifact.read_bytes()
        for what, data in (("cut", whole[:len(whole) // 2]),
                           ("other", b"x" + whole[1:]), ("empty", b"")):
            artifact.write_bytes(data)
            done = self.test.run("tenon", "run", self.model, *WRITE)
            self.check(done.stdout == expected and done.stderr.count("\n") == 1
                       and done.stderr.startswith(f"tenon: note: {artifact}: ")
                       and done.stderr.endswith(": compiled again\n"),
                       f"{what}: {done.stderr}")
            self.check(artifact.read_bytes() == whole, f"{what}: whole again")
        artifact.with_suffix(".json").write_text("{}")
        entry, = self.listed()
        self.check("missing field 'format'" in entry["error"],
                   f"listed as unusable: {entry}")
        self.check("unusable" in self.test.need("tenon", "cache", "list"),
                   "in text too")

    def wrong(self):
        """What cannot be compiled leaves nothing."""
        self.empty()
        broken = self.work / "broken"
        shutil.copytree(self.model, broken)
        config = json.loads((broken / "config.json").read_text())
        (broken / "config.json").write_text(
            json.dumps(dict(config, hidden_act="no such")))
        cut = self.work / "cut.gguf"
        cut.write_bytes(GGUF.read_bytes()[:1000])
        for path, part in ((broken, "hidden_act"), (cut, "cut.gguf: ")):
            self.test.expect_error(f"{path.name}", part,
                                   command=["tenon", "run", path, *IDS])
        self.check(not self.files(".tenon") and not self.files(".json")
                   and not self.files(".new"), "nothing is kept")
        os.chmod(self.folder, 0o777)
        self.test.expect_error("a folder that others write to",
                               "others may write to it",
                               command=["tenon", "run", self.model, *WRITE])
        self.empty()
        self.folder.write_text("")
        self.test.expect_error("a file in its place", "cannot make the folder",
                               command=["tenon", "run", self.model, *WRITE])
        self.folder.unlink()
        # The runtime alone.
        alone = self.work / "alone" / "tenon"
        alone.parent.mkdir()
        shutil.copy(self.test.tenon, alone)
        done = subprocess.run([alone, "run", self.model, *WRITE], text=True,
                              capture_output=True, env=self.environment)
        self.check(done.returncode == 1 and done.stderr.count("\n") == 1
                   and f"{self.model}: " in done.stderr
                   and "runtime-only build" in done.stderr,
                   f"without the compiler: {done.stderr}")

    def commands(self):
        self.empty()
        self.check(self.test.need("tenon", "cache", "path")
                   == f"{self.folder}\n", "cache path")
        self.check(self.test.need("tenon", "cache", "clear")
                   == "removed 0 artifacts, 0.0 MB\n", "nothing to clear")
        small = models.llama(self.work / "small", 1)
        self.test.need("tenon", "run", small, *IDS)
        self.test.need("tenon", "run", small, "--dtype", "f32", *IDS)
        (self.folder / "mine.txt").write_text("")
        self.check(self.test.need("tenon", "cache", "clear", "--older-than",
                                  "1") == "removed 0 artifacts, 0.0 MB\n"
                   and len(self.listed()) == 2, "all are younger than a day")
        old, young = (pathlib.Path(entry["path"]).with_suffix(".json")
                      for entry in self.listed())
        os.utime(old, (time.time() - 3 * 86400,) * 2)
        self.test.need("tenon", "cache", "clear", "--older-than", "2.5")
        self.check(not old.exists() and young.exists()
                   and not old.with_suffix(".tenon").exists(), "the older one")
        self.check(self.test.need("tenon", "cache", "clear").startswith(
            "removed 1 artifact, "), "the other")
        self.check([path.name for path in sorted(self.folder.iterdir())]
                   == ["content", "mine.txt"], "what is not its own stays")
        for arguments in (["cache"], ["cache", "clear", "--older-than", "-1"],
                          ["cache", "list", "x"]):
            self.test.expect_error(" ".join(arguments), "tenon: error",
                                   command=["tenon", *arguments], status=2)


def main():
    test = support.Test(sys.argv[1:3])
    cache = ModelCache(test, pathlib.Path(sys.argv[3]))
    cache.once()
    cache.options()
    cache.add()
    cache.gguf()
    cache.tokenizers()
    cache.no_cache()
    cache.together()
    cache.interrupted()
    cache.damaged()
    cache.wrong()
    cache.commands()
    test.finish()


if __name__ == "__main__":
    main()
