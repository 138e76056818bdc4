"""Log-likelihoods that lm-eval gets over HTTP, and those of `tenon run`.

compare.py TENON ARTIFACT MODEL WORK URL

MODEL is the directory with the tokenizer, and URL the address of a server of
ARTIFACT. Two tasks on paragraphs of examples/tiny-llama/heldout.txt: of several
ends of a sentence the likeliest, and whole paragraphs. Both are run twice by the same harness with
the same tokens: once as its model local-completions, once with `tenon run` in
place of the server. Every log-likelihood must be the same to the bit.
"""

import json
import math
import os
import pathlib
import subprocess
import sys

os.environ.update({"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                   "TOKENIZERS_PARALLELISM": "false"})

import lm_eval  # noqa: E402
from lm_eval.models.openai_completions import LocalCompletionsAPI  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "examples" /
        "tiny-llama" / "heldout.txt")
PARAGRAPHS = 24
ENDS = 4  # Of each sentence.


class InProcess(LocalCompletionsAPI):
    """The same tokens to `tenon run`, many at once."""

    def __init__(self, tenon, artifact, work, **arguments):
        super().__init__(**arguments)
        self.tenon, self.artifact, self.work = tenon, artifact, work

    def _loglikelihood_tokens(self, requests, **_):
        lines, starts = [], []
        for _, context, end in requests:
            # As local-completions cuts them: the last tokens that fit.
            tokens = (context + end)[-self.max_length:]
            starts.append(len(tokens) - len(end))
            lines.append(json.dumps({
                "token_ids": tokens, "echo": True, "logprobs": 1,
                "max_new_tokens": 0}) + "\n")
        prompts = self.work / "prompts.jsonl"
        prompts.write_text("".join(lines))
        answers = subprocess.run(
            [self.tenon, "run", self.artifact, "--prompts", prompts],
            check=True, capture_output=True, text=True).stdout.splitlines()
        found = []
        for answer, start in zip(answers, starts, strict=True):
            scores = json.loads(answer)["prompt_logprobs"][start:]
            found.append((sum(score["logprob"] for score in scores),
                          all(score["token_id"] == score["top"][0]["token_id"]
                              for score in scores)))
        return found


def write_tasks(work):
    """Tasks and their data, as local files."""
    texts = TEXT.read_text("utf-8").split("\n\n")[:PARAGRAPHS]
    sentences = [text.partition(".")[0] for text in texts]
    parts = [sentence.rpartition(", ") for sentence in sentences
             if ", " in sentence]
    choices = [
        {"begin": begin + ",",
         "ends": [parts[(at + k) % len(parts)][2] for k in range(ENDS)],
         "right": 0}
        for at, (begin, _, _) in enumerate(parts)]
    for name, rows in (("choices", choices),
                       ("whole", [{"text": text} for text in texts])):
        (work / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows))
    common = {"dataset_path": "json", "test_split": "test"}
    tasks = {
        "choices": {"output_type": "multiple_choice", "doc_to_text": "{{begin}}",
                    "doc_to_choice": "{{ends}}", "doc_to_target": "right",
                    "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]},
        "whole": {"output_type": "loglikelihood_rolling", "doc_to_text": "",
                  "doc_to_target": "{{text}}",
                  "metric_list": [{"metric": "word_perplexity"},
                                  {"metric": "bits_per_byte"}]}}
    for name, task in tasks.items():
        # JSON is YAML.
        (work / f"{name}.yaml").write_text(json.dumps({
            "task": name, **common, **task,
            "dataset_kwargs": {"data_files": {
                "test": str(work / f"{name}.jsonl")}}}))
    return list(tasks)


def evaluate(model, names, work):
    """Results, and log-likelihoods by task: (task, document, request)."""
    results = lm_eval.simple_evaluate(
        model=model, tasks=names, log_samples=True, bootstrap_iters=0,
        task_manager=TaskManager(include_path=str(work),
                                 include_defaults=False))
    found = {}
    for name in names:
        for sample in results["samples"][name]:
            for at, answer in enumerate(sample["filtered_resps"]):
                found[name, sample["doc_id"], at] = answer
    return results["results"], found


def main():
    tenon, artifact, model, work, url = sys.argv[1:]
    work = pathlib.Path(work)
    names = write_tasks(work)
    arguments = {
        "model": "tiny", "base_url": f"{url}/v1/completions",
        "tokenizer": model, "tokenizer_backend": "huggingface",
        "max_length": json.loads((pathlib.Path(model) / "config.json").read_text())
        ["max_position_embeddings"], "num_concurrent": 4, "batch_size": 4}
    served, over_http = evaluate(
        LocalCompletionsAPI(**arguments), names, work)
    alone, in_process = evaluate(
        InProcess(tenon, artifact, work, **arguments), names, work)
    different = [key for key in over_http if over_http[key] != in_process[key]]
    for key in different[:10]:
        print(f"{key}: {over_http[key]} over HTTP, {in_process[key]} alone")
    for name in names:
        count = sum(key[0] == name for key in over_http)
        metrics = {key.partition(",")[0]: value
                   for key, value in served[name].items()
                   if isinstance(value, float) and "stderr" not in key}
        print(f"{name}: {count} log-likelihoods, " + ", ".join(
            f"{key} {value:.6g}" for key, value in metrics.items()))
        if any(math.isnan(value) for value in metrics.values()):
            sys.exit(f"{name}: NaN: expected a number")
    if set(over_http) != set(in_process) or different or served != alone:
        sys.exit(f"{len(different)} of {len(over_http)} log-likelihoods differ")
    print(f"all {len(over_http)} are the same over HTTP and in process")


main()
