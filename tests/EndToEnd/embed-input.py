"""tenon embed --input: files of texts, in batches.

embed-input.py TENON WORK
"""

import json
import os
import pty
import random
import subprocess
import sys
import threading

import numpy

import models
import support

POSITIONS = 150


def text_of(draw, words):
    return " ".join(f"w{draw.randrange(2, models.VOCABULARY)}"
                    for _ in range(words))


def read_to_end(terminal, into):
    try:
        while part := os.read(terminal, 4096):
            into += part
    except OSError:  # The other end is closed.
        pass


class EmbedInput:
    def __init__(self, test):
        self.test = test
        self.work = test.work
        self.model = models.sentence_bert(test.work / "model", POSITIONS)
        draw = random.Random(7)
        # Longer than the model takes, too: these are cut.
        self.texts = [text_of(draw, draw.choice(
            (1, 2, 3, 5, 7, 8, 9, 12, 20, 31, 40, 63, 64, 65, 70, 101, 128,
             149, 150, 190))) for _ in range(150)]
        self.file = self.write("texts.jsonl", (
            text if number % 2 else {"id": number, "text": text}
            for number, text in enumerate(self.texts)))

    def write(self, name, values):
        path = self.work / name
        path.write_text("".join(f"{json.dumps(value)}\n" for value in values))
        return path

    def embedded(self, *arguments, input=None):
        done = self.test.run("tenon", "embed", self.model, *arguments,
                             input=input)
        self.test.check(done.returncode == 0 and done.stderr == "",
                        f"embed {arguments[0]}: {done.stderr[-300:]}")
        return done.stdout

    def rows(self, output):
        lines = [json.loads(line) for line in output.splitlines()]
        self.test.check([line["index"] for line in lines]
                        == list(range(len(lines))), "indices in order")
        return numpy.array([line["embedding"] for line in lines],
                           dtype=numpy.float32)

    def array(self, path, *arguments, input=None):
        output = self.embedded("--input", path, "--output",
                               self.work / "out.npy", *arguments, input=input)
        self.test.check(output == "", "nothing on standard output")
        return numpy.load(self.work / "out.npy")

    def bits(self):
        """Of every text alone, in other forms of the model too."""
        for options in ([], ["--dtype", "bf16"], ["--quantize", "int8"]):
            rows = self.rows(self.embedded("--input", self.file, *options))
            alone = numpy.array([json.loads(self.embedded(
                "--text", text, "--json", *options))["embeddings"][0]
                for text in self.texts[:90]], dtype=numpy.float32)
            different = [number for number, row in enumerate(alone)
                         if (row != rows[number]).any()]
            self.test.check(rows.shape == (len(self.texts), models.HIDDEN)
                            and not different,
                            f"{options}: other bits than alone: {different}")
            array = self.array(self.file, *options)
            self.test.check(array.dtype == numpy.float32
                            and (array == rows).all(), "the array is the same")
            reordered = self.write("reordered.jsonl", reversed(self.texts))
            self.test.check((self.array(reordered, *options)
                             == rows[::-1]).all(), "in another order too")
            text = self.file.read_text()
            self.test.check((self.array("-", *options, input=text.replace(
                "\n", "\r\n\n")) == rows).all(), "from a pipe, blank lines")

    def windows(self):
        """More than what is in memory at once, of one length."""
        draw = random.Random(8)
        texts = [text_of(draw, 3) for _ in range(50)] * 100
        array = self.array(self.write("many.jsonl", texts))
        self.test.check(array.shape == (5000, models.HIDDEN)
                        and (array.reshape(100, 50, -1) == array[:50]).all(),
                        "equal texts of all windows are equal")

    def wrong(self):
        embed = ["tenon", "embed", self.model]
        for what, line in (("place", '"w2'), (":3: ", '7'),
                           ("expected a string", '{"text": 7}'),
                           ("missing field 'text'", '{"txt": "w2"}'),
                           ("expected a string, or an object", '["w2"]'),
                           ("UTF-8", '"\udcff"')):
            path = self.work / "wrong.jsonl"
            text = f'"w2"\n\n{line}\n"w3"\n'
            path.write_text(text, errors="surrogateescape")
            part = what if what != "place" else "invalid JSON"
            self.test.expect_error(
                line.encode(errors="replace"), part, f"{path}:3: ",
                command=[*embed, "--input", path])
            done = self.test.run("tenon", "embed", self.model, "--input", path,
                                 "--output", self.work / "none.npy")
            self.test.check(done.returncode == 1 and done.stdout == ""
                            and not (self.work / "none.npy").exists(),
                            "and no output")
        empty = self.write("empty.jsonl", [])
        self.test.expect_error("no texts", "has no texts",
                               command=[*embed, "--input", empty])
        no_tokens = self.write("no-tokens.jsonl", ["w2", ""])
        self.test.expect_error("a text without tokens", f"{no_tokens}:2: ",
                               command=[*embed, "--input", no_tokens])
        long = self.work / "long.jsonl"
        long.write_text('"' + "w2 " * (6 << 20) + '"\n')
        self.test.expect_error("a long line", f"{long}:1: is longer than",
                               command=[*embed, "--input", long])
        for path in (self.file, self.model / "config.json",
                     self.model / "model.safetensors"):
            self.test.expect_error(
                "an input as the output", "is also an input",
                command=[*embed, "--input", self.file, "--output", path])
        for options, part in ((["--text", "w2"], "expected one of"),
                              (["--json"], "takes no --json")):
            self.test.expect_error(
                f"--input {options}", part, status=2,
                command=[*embed, "--input", self.file, *options])
        self.test.expect_error("--output alone", "--output needs --input",
                               command=[*embed, "--text", "w2", "--output",
                                        "x.npy"], status=2)

    def terminal(self):
        """How far it is, where somebody sees it."""
        master, slave = pty.openpty()
        run = subprocess.Popen(
            [self.test.tenon, "embed", self.model, "--input",
             self.work / "many.jsonl"], stderr=slave, text=True,
            stdout=subprocess.PIPE, env=dict(
                os.environ, TENON_CACHE_DIR=str(self.work / "model-cache")))
        os.close(slave)
        # While it runs: a terminal that nobody reads is full some day.
        shown = bytearray()
        reader = threading.Thread(target=read_to_end, args=(master, shown))
        reader.start()
        output = run.communicate()[0]
        reader.join()
        os.close(master)
        shown = shown.decode()
        self.test.check(run.returncode == 0 and "\x1b" not in output
                        and "texts/s" in shown and " left" in shown,
                        f"progress: {shown[-200:]!r}")


def main():
    test = support.Test(sys.argv[1:3])
    embed = EmbedInput(test)
    embed.bits()
    embed.windows()
    embed.wrong()
    embed.terminal()
    test.finish()


if __name__ == "__main__":
    main()
