"""The wheels, installed into an environment of their own, do what python/tests
and the examples say.

    python.py SOURCE BUILD WORK [PYTHON]

Needs no network: what is installed beside them lies in .venv/wheelhouse. That is
for .venv's interpreter; for another PYTHON pip fetches it.
"""

import csv
import os
import pathlib
import shutil
import subprocess
import sys

QUESTIONS = ["In the beginning", "A cat, and", "Once"]


class Environment:
    """A virtual environment below WORK, which knows nothing of SOURCE."""

    def __init__(self, source, build, work, interpreter=None):
        self.source, self.build, self.work = source, build, work
        self.interpreter = interpreter
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self.python = work / "venv" / "bin" / "python"
        self.variables = {
            **{name: value for name, value in os.environ.items()
               if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "TENON_COMPILE",
                               "CMAKE_PREFIX_PATH", "VIRTUAL_ENV")},
            "PATH": f"{self.python.parent}:/usr/bin:/bin",
            "TENON_CACHE_DIR": str(work / "cache"),
            "TENON_SOURCE": str(source),
        }

    def call(self, *command, **more):
        """The standard output of a command that must succeed."""
        done = subprocess.run(list(map(str, command)), cwd=self.work,
                              env=self.variables, stdout=subprocess.PIPE,
                              text=True, **more)
        if done.returncode != 0:
            sys.exit(f"FAIL {' '.join(map(str, command))}: exit status"
                     f" {done.returncode}\n{done.stdout}")
        return done.stdout

    def install(self):
        wheels = self.work / "wheels"
        # With .venv's interpreter, which the script's tools belong to.
        build = [self.source / "python" / "build-wheels", "--build-dir",
                 self.build, "--output", wheels]
        sources = ["--no-index", f"--find-links={wheels}",
                   f"--find-links={self.source / '.venv' / 'wheelhouse'}"]
        if self.interpreter:
            build += ["--python", self.interpreter]
            del sources[0]
        subprocess.run(build, check=True)
        self.call(self.interpreter or sys.executable, "-m", "venv",
                  self.work / "venv")
        self.call(self.python, "-m", "pip", "install", "--quiet",
                  "--disable-pip-version-check", *sources,
                  "tenon-runtime[compiler]", "pytest", "pandas")

    def example(self, name, *arguments, **more):
        return self.call(self.python,
                         self.source / "examples" / "python" / name, *arguments,
                         **more)


def check(good, what):
    print("ok  " if good else "FAIL", what, flush=True)
    if not good:
        sys.exit(1)


def run_examples(environment):
    source, work = environment.source, environment.work
    model = source / "examples" / "tiny-llama"

    table, answers = work / "table.csv", work / "answers.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([q] for q in QUESTIONS)])
    environment.example("batch_to_data_frame.py", model, table, "--column",
                        "text", "-o", answers, "--max-new-tokens", "6")
    with answers.open(newline="") as file:
        rows = list(csv.DictReader(file))
    check([row["text"] for row in rows] == QUESTIONS
          and all(row["answer"] and row["completion_tokens"] == "6" for row in rows),
          f"batch_to_data_frame.py: {rows}")

    walked = environment.example("walk_through_ir.py", model)
    check("transformer.gated_feed_forward" in walked
          and "05-merge-qkv:\n-" in walked and "tenon.Model" in walked,
          "walk_through_ir.py")

    # The model with a chat template.
    chats = work / "chats"
    shutil.copytree(model, chats)
    (chats / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.content }}\n{% endfor %}")
    talk = environment.example("chat.py", chats, "--max-new-tokens", "8",
                               input="Once\nand then\n" + "more " * 300 + "\n")
    check(talk.count("> ") == 4 and "expected at most 256" in talk,
          f"chat.py: {talk!r}")

    # Words of the vocabulary of python/tests/conftest.py's sentence model.
    sentences, = work.glob("pytest/**/sentences.tenon")
    texts = work / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("tok5 tok9\ntok7\n\n\ntok30 tok31\n")
    (texts / "b.md").write_text("tok50 tok51 tok52\n")
    found = [environment.example("semantic_search.py", sentences, texts,
                                 "tok30 tok31", "--count", "2").splitlines()
             for _ in range(2)]
    check(found[0][0] == "3 paragraphs, 3 embedded now"
          and found[1][0] == "3 paragraphs, 0 embedded now"
          and found[0][1:] == found[1][1:] and len(found[0]) == 3
          and found[0][1].startswith("1.000  a.txt:5  "),
          f"semantic_search.py: {found}")


def main():
    environment = Environment(*map(pathlib.Path, sys.argv[1:5]))
    environment.install()
    subprocess.run([environment.python, "-m", "pytest", "-q", "-p",
                    "no:cacheprovider", "--basetemp",
                    environment.work / "pytest",
                    environment.source / "python" / "tests"],
                   cwd=environment.work,
                   env={**environment.variables,
                        "PYTHONDONTWRITEBYTECODE": "1"}, check=True)
    run_examples(environment)


if __name__ == "__main__":
    main()
