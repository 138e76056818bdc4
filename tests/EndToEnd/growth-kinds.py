"""Every kind of model: functions and code are those of two layers.

growth-kinds.py TENON WORK EXAMPLES

From the example configs of families, with 2 and 64 layers: the graph, the
fused and the placed level, and assembly have the same functions. All but the
entries are the same to the letter; an entry has one more call per layer.
"""

import collections
import json
import pathlib
import re
import sys

import support

DEPTHS = (2, 64)
# One family of each kind, and the keys that say how deep it is.
FAMILIES = {
    "gpt2": ["n_layer"],
    "bert": ["num_hidden_layers"],
    "mixtral": ["num_hidden_layers"],
    "deepseek_v3": ["num_hidden_layers"],
    "t5": ["num_layers", "num_decoder_layers"],
    "vit": ["num_hidden_layers"],
}


def functions(text):
    """The text of each function, and of those that are entries a count of
    calls of layers."""
    bodies = {}
    for body in re.split(r"\n(?=  (?:func|llvm)\.func )", text)[1:]:
        name = re.search(r"@([\w.]+)", body).group(1)
        bodies[name] = body.rsplit("\n  }", 1)[0]
    return bodies


def sizes(text):
    """Instructions of each function of assembly."""
    found, name = collections.Counter(), None
    for line in text.splitlines():
        label = re.match(r"([\w.]+):", line)
        if label and not label.group(1).startswith(".L"):
            name = label.group(1)
        elif name and re.match(r"\s+[a-z]", line):
            found[name] += 1
    return found


def compare(test, family, keys, examples):
    settings = json.loads((examples / f"{family}.json").read_text())
    # Deep models are all of the kind that comes after any first layers.
    if family == "deepseek_v3":
        settings["first_k_dense_replace"] = 1
    levels = {}
    for depth in DEPTHS:
        for key in keys:
            settings[key] = depth
        path = test.work / f"{family}-{depth}.json"
        path.write_text(json.dumps(settings))
        for level in "transformer", "fused", "placed", "asm":
            text = test.need("tenon-compile", "compile", path, "--emit", level,
                             "--target-cpu", "avx2")
            levels.setdefault(level, []).append(text)
    for level in "transformer", "fused", "placed":
        few, many = map(functions, levels[level])
        entries = [name for name, body in few.items()
                   if "transformer.role" in body]
        changed = [name for name in few
                   if name not in entries and few[name] != many.get(name)]
        test.check(entries and list(few) == list(many) and not changed,
                   f"{family}, {level}: {len(many)} functions, expected "
                   f"{len(few)}; changed: {changed}")
        calls = [many[name].count("layer") - few[name].count("layer")
                 for name in entries]
        test.check(all(calls), f"{family}, {level}: entries call layers")
    few, many = map(sizes, levels["asm"])
    changed = {name: (few[name], many[name]) for name in few
               if few[name] != many[name]
               and not name.startswith("tenon_entry_")}
    test.check(set(few) == set(many) and not changed,
               f"{family}, assembly: changed {changed}")


def main():
    test = support.Test(sys.argv[1:3])
    for family, keys in FAMILIES.items():
        compare(test, family, keys, pathlib.Path(sys.argv[3]))
    test.finish()


if __name__ == "__main__":
    main()
