"""Compiles the example model in f32 and compares with PyTorch's numbers.

The perplexity over the held-out windows must agree to four digits, and the
greedy continuations stored in reference.json must be equal.
"""

import json
import subprocess
import sys


def main():
    tenon, example, artifact, perplexity = sys.argv[1:]
    subprocess.run([tenon, "compile", example, "-o", artifact, "--dtype", "f32"],
                   check=True)
    with open(f"{example}/reference.json") as file:
        reference = json.load(file)
    measured = json.loads(subprocess.run(
        [sys.executable, perplexity, artifact, f"{example}/heldout-ids.npy",
         "--tenon", tenon], check=True, capture_output=True, text=True).stdout)
    expected = reference["heldout"]["perplexity"]
    print("perplexity", measured["perplexity"], "expected", expected)
    if f"{measured['perplexity']:.4g}" != f"{expected:.4g}":
        sys.exit("the perplexities differ within four digits")
    for case in reference["greedy"]:
        answer = json.loads(subprocess.run(
            [tenon, "run", artifact, "--prompt", case["prompt"], "--json",
             "--temperature", "0", "--ignore-eos", "--max-new-tokens",
             str(len(case["new_ids"]))],
            check=True, capture_output=True, text=True).stdout)
        if answer["token_ids"] != case["new_ids"]:
            sys.exit(f"{case['prompt']!r}: got {answer['token_ids']}, "
                     f"expected {case['new_ids']}")


if __name__ == "__main__":
    main()
