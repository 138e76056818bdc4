#!/usr/bin/env python3
"""Writes cases.json: what Jinja, set up as Transformers does it, makes of the
snippets below and of templates/*.jinja for every conversation. Needs
jinja2==3.1.6.

    generate.py
"""

import json
import pathlib

import jinja2

import conversations
import oracle
import snippets

HERE = pathlib.Path(__file__).resolve().parent


def folded(text):
    """32-bit FNV-1a, its high byte folded into the rest."""
    value = 0x811c9dc5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return f"{value >> 24 ^ value & 0xffffff:06x}"


def snippet(env, source):
    answer = oracle.render(env, source, snippets.VARIABLES)
    return [source, answer.get("text")]


def main():
    if jinja2.__version__ != "3.1.6":
        raise SystemExit("generate.py: error: expected jinja2 3.1.6, found "
                         + jinja2.__version__)
    env = oracle.environment()
    templates = {}
    for path in sorted((HERE / "templates").glob("*.jinja")):
        source = path.read_text()
        results = {}
        for name, given in conversations.matrix():
            answer = oracle.render(
                env, source, {**given, **conversations.MODEL})
            results[name] = folded(answer["text"]) if "text" in answer else None
        templates[path.name] = results
    rows = [snippet(env, source) for source in snippets.SNIPPETS]
    for source in snippets.FAILING:
        if snippet(env, source)[1] is not None:
            raise SystemExit(f"generate.py: error: {source!r} gives a text")
    for source, text in rows:
        if text is None:
            raise SystemExit(f"generate.py: error: {source!r}: "
                             f"{oracle.render(env, source, snippets.VARIABLES)}")
    made = {
        "variables": snippets.VARIABLES,
        "model": conversations.MODEL,
        "conversations": {
            name: {"messages": messages, "tools": None, "documents": None,
                   **more}
            for name, (messages, more) in conversations.BASES.items()},
        "templates": templates,
        "failing": snippets.FAILING}
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (HERE / "cases.json").write_text(
        text[:-1] + ',\n"snippets":[\n' + lines + "\n]}\n")
    print(f"{len(rows)} snippets, {len(snippets.FAILING)} that fail, "
          f"{len(templates)} templates of {len(results)} conversations each, "
          f"{sum(r is None for t in templates.values() for r in t.values())} "
          "of them errors")


if __name__ == "__main__":
    main()
