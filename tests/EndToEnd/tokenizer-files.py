"""Models whose tokenizer is in other files than tokenizer.json: their artifacts
have it, and commands take text.

tokenizer-files.py TENON WORK TOKENIZERS
"""

import json
import pathlib
import shutil
import sys

import models
import support

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tokenizers"))
from check import fnv


def lines_of(corpus):
    """As of directories.py."""
    return corpus[:5050:5] + corpus[5050:]


def main():
    test = support.Test(sys.argv[1:])
    tokenizers = pathlib.Path(test.names[0])
    lines = lines_of(json.loads((tokenizers / "corpus.json").read_text()))
    corpus = test.work / "lines.json"
    corpus.write_text(json.dumps(lines))
    good = models.llama(test.work / "good", 2)

    def with_files(name, **others):
        """The model with the files of a tokenizer."""
        path = test.work / f"{name}-model"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(good, path)
        for file in (tokenizers / "directories" / name).iterdir():
            if file.name not in ("config.json", "expected.txt"):
                shutil.copy(file, path)
        for file, content in others.items():
            (path / f"{file}.json").write_text(json.dumps(content))
        return path

    def notes_of(model, *options):
        done = test.run("tenon-compile", "compile", model, "-o",
                        test.work / "noted.tenon", *options)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stderr

    # One of each kind of files; what the classes do is for the unit tests.
    for name in "llama_legacy", "opt", "t5_listed", "distilbert":
        artifact = test.compile(with_files(name), name)
        ids = json.loads(test.need("tenon", "tokenize", artifact,
                                   "--json-lines", corpus))
        rows = (tokenizers / "directories" / name / "expected.txt"
                ).read_text().split()
        wrong = [number for number, row in enumerate(rows)
                 if fnv(ids[number]) != row[:6]]
        test.check(len(ids) == len(rows) and not wrong,
                   f"{name}: {len(ids)} lines of {len(rows)}, wrong {wrong}")

    # By the model's type alone.
    artifact = test.compile(with_files("llama_bare"), "llama")
    text = "Hello, world"
    ids = test.need("tenon", "tokenize", artifact, "--text", text).strip()
    back = test.need("tenon", "tokenize", artifact, "--decode", ids)
    test.check(back.rstrip("\n") == text, f"there and back: {back!r}")

    notes = notes_of(with_files("llama"))
    test.check(notes == "", f"no notes: {notes!r}")
    notes = notes_of(with_files("llama_legacy",
                                added_tokens={"<new>": 4000}))
    test.check("added_tokens.json: contradicts the vocabulary beside it" in
               notes and "'<new>' is 4000, and 80" in notes,
               f"an id that the token does not get: {notes!r}")
    notes = notes_of(with_files("llama", tokenizer_config={
        "tokenizer_class": "OddTokenizer"}))
    test.check("tokenizer_class is 'OddTokenizer': expected one of" in notes
               and "token ids but no text" in notes,
               f"a class that is not read: {notes!r}")

    damaged = with_files("llama")
    (damaged / "tokenizer.model").write_bytes(b"\x0a\xff")
    test.expect_error("a damaged model of SentencePiece",
                      "tokenizer.model: byte ", "the rest of a number",
                      command=["tenon-compile", "compile", damaged, "-o",
                               test.work / "damaged.tenon"])
    test.finish()


if __name__ == "__main__":
    main()
