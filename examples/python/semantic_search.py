#!/usr/bin/env python3
"""Finds the paragraphs of a folder's text files that are nearest to a question.

    semantic_search.py MODEL FOLDER QUESTION [--count 5]

MODEL is a sentence model: an artifact or a sentence-transformers directory
(scripts/fetch-minilm prints one). Embeddings are kept in FOLDER/.embeddings.npz
and made again for files that have changed.
"""

import argparse
import pathlib

import numpy as np
import tenon

SUFFIXES = {".txt", ".md", ".rst"}


def unit(vectors):
    """Not every sentence model ends in a normalisation."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def paragraphs(path):
    """(line, text) of each paragraph."""
    line, found = 1, []
    for part in path.read_text(errors="replace").split("\n\n"):
        if part.strip():
            found.append((line + len(part) - len(part.lstrip("\n")),
                          part.strip()))
        line += part.count("\n") + 2
    return found


class Index:
    """Places, texts and unit vectors of all paragraphs below a folder."""

    def __init__(self, model, folder):
        kept = folder / ".embeddings.npz"
        known = {}
        if kept.exists():
            with np.load(kept) as stored:
                known = dict(zip(stored["keys"].tolist(), stored["vectors"]))
        self.places, self.texts, keys = [], [], []
        for path in sorted(folder.rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            for line, text in paragraphs(path):
                self.places.append(f"{path.relative_to(folder)}:{line}")
                self.texts.append(text)
                keys.append(text)
        missing = list(dict.fromkeys(k for k in keys if k not in known))
        # All at once: texts of many lengths share the steps.
        known.update(zip(missing, unit(model.embed(missing)) if missing else []))
        self.made = len(missing)
        self.vectors = np.array([known[key] for key in keys])
        if missing:
            np.savez_compressed(kept, keys=np.array(keys),
                                vectors=self.vectors)

    def nearest(self, vector, count):
        if not self.texts:
            return []
        cosines = self.vectors @ vector
        return [(float(cosines[i]), self.places[i], self.texts[i])
                for i in np.argsort(-cosines, kind="stable")[:count]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("question")
    parser.add_argument("--count", type=int, default=5)
    arguments = parser.parse_args()
    with tenon.load(arguments.model) as model:
        index = Index(model, arguments.folder)
        print(f"{len(index.texts)} paragraphs, {index.made} embedded now")
        for cosine, place, text in index.nearest(
                unit(model.embed(arguments.question)), arguments.count):
            print(f"{cosine:.3f}  {place}  {' '.join(text.split())[:80]}")


if __name__ == "__main__":
    main()
