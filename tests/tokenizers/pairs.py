#!/usr/bin/env python3
"""Writes pairs.json: what the package `tokenizers` makes of pairs of texts.

    python3 pairs.py      (the versions of requirements.txt)

Each case has the tokenizer's file, two texts, whether special tokens are added,
"truncation" as the file would have it or null, and the ids and types.
"""

import json
import pathlib

import tokenizers

HERE = pathlib.Path(__file__).resolve().parent
# BERT's template, RoBERTa's processor, templates with and without types, one
# behind another processor, and none.
FILES = ("minilm", "roberta", "xlm_roberta", "t5", "llama2", "llama3", "gpt2")
TEXTS = (("How many people live in Berlin?",
          "Berlin has 3,520,031 registered inhabitants in 891.82 km²."),
         ("a", ""), ("", "b"), ("naïve  café", "no"),
         ("one two three four five six seven eight nine", "ten eleven"))
CUTS = [{"max_length": length, "strategy": strategy, "stride": 0,
         "direction": direction}
        for length in (7, 8, 13, 14) for strategy in ("LongestFirst", "OnlyFirst")
        for direction in ("Right", "Left")]


def encoded(text, first, second, special):
    """Ids and types; null where the package refuses."""
    try:
        made = tokenizers.Tokenizer.from_str(text).encode(
            first, second, add_special_tokens=special)
    except Exception:
        return None
    return [made.ids, made.type_ids]


def main():
    cases = []
    for name in FILES:
        file = json.loads((HERE / f"{name}.json").read_text("utf-8"))
        file["padding"] = None
        for first, second in TEXTS:
            for special in True, False:
                for cut in [None] + (CUTS if name in ("minilm", "roberta") and special else []):
                    file["truncation"] = cut
                    cases.append({"file": name, "first": first,
                                  "second": second, "special": special,
                                  "truncation": cut, "encoded": encoded(
                                      json.dumps(file), first, second, special)})
    text = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (HERE / "pairs.json").write_text(f"[\n{text}\n]\n", "utf-8")


main()
