#!/usr/bin/env python3
"""Answers a column of a table, all rows at once, into a data frame.

    batch_to_data_frame.py MODEL TABLE.csv --column question -o ANSWERS.csv
        [--template "Translate into French: {}"]

Rows run together through the engine: more of them in a step cost little more
than one. Each answer depends on its row alone. Needs pandas.
"""

import argparse

import pandas as pd
import tenon


def answer(model, prompts, **settings):
    """A row for each prompt: the answer, why it ended, and its tokens."""
    completions = model.generate(prompts, **settings)
    return pd.DataFrame({
        "answer": [c.text for c in completions],
        "finish_reason": [c.choices[0].finish_reason for c in completions],
        "prompt_tokens": [c.usage.prompt_tokens for c in completions],
        "cached_tokens": [c.usage.cached_tokens for c in completions],
        "completion_tokens": [c.usage.completion_tokens for c in completions],
        "seconds": [c.usage.total_s for c in completions],
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("table")
    parser.add_argument("--column", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--template", default="{}",
                        help="the prompt, with {} for the column's text")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.table)
    prompts = [arguments.template.replace("{}", str(text))
               for text in table[arguments.column]]
    with tenon.load(arguments.model, max_queued=len(prompts)) as model:
        answers = answer(model, prompts, temperature=0,
                         max_new_tokens=arguments.max_new_tokens)
    pd.concat([table, answers], axis=1).to_csv(arguments.output, index=False)
    print(answers[["prompt_tokens", "completion_tokens", "seconds"]].describe()
          .loc[["mean", "max"]].round(3))


if __name__ == "__main__":
    main()
