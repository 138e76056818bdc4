"""Compares the stages of a model of 2 layers with those of one of 64.

    depth.py TENON_OPT MODEL [--levels avx2,avx512_bf16]

MODEL is the text of a model of two layers. The one of 64 is made from it by
repeating the call of the last layer. After each stage up to `buffers` both
modules must have the same functions and the same text, but for the entry:
there only lines that name a scope or dispatch a layer may be more.
"""

import argparse
import re
import subprocess
import sys

STAGES = ["transformer", "fused", "placed", "buffers"]
LAYERS = 64


def results_of(call):
    """The values that a call gives, as their users write them."""
    names = call.split(" = ")[0].strip()
    if names.endswith(":2"):
        return [names[:-2] + "#0", names[:-2] + "#1"]
    return names.split(", ")


def rename(text, names):
    """The text with every value that is a key of `names` called otherwise."""
    return re.sub(r"%[\w#]+", lambda match: names.get(match[0], match[0]), text)


def deepen(text, layers):
    """The model's text with the last of its two layers repeated."""
    lines = text.splitlines()
    scopes = [i for i, line in enumerate(lines) if " layer 1" in line]
    if len(scopes) != 1:
        sys.exit("depth.py: expected one line with the scope of layer 1")
    at = scopes[0]
    scope, call = lines[at], lines[at + 1]
    before = [line for line in lines[:at] if "= call @layer(" in line]
    if "= call @layer(" not in call or len(before) != 1:
        sys.exit("depth.py: expected calls of layer 0, and of layer 1 behind its scope")
    inputs, outputs = results_of(before[0]), results_of(call)
    scope_name = scope.split(" = ")[0].strip()
    out, last = lines[: at + 2], outputs
    for layer in range(2, layers):
        new_scope = f"%scope_of_{layer}"
        new = [f"%layer_{layer}#{i}" for i in range(len(outputs))]
        names = {scope_name: new_scope, **dict(zip(inputs, last))}
        out.append(
            rename(scope, names)
            .replace("layers.1", f"layers.{layer}")
            .replace("layer 1", f"layer {layer}")
        )
        operands = rename(call.split(" = ", 1)[1], names)
        out.append(f"    %layer_{layer}:{len(outputs)} = {operands}")
        last = new
    names = dict(zip(outputs, last))
    return "\n".join(out + [rename(line, names) for line in lines[at + 2 :]]) + "\n"


def run(tool, text, stages, level):
    """The module after `stages`, its entry's lines apart from the rest."""
    flags = [f"--stage-{stage}=level={level}" for stage in stages]
    done = subprocess.run([tool, *flags], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"depth.py: {' '.join(flags)}: {done.stderr}")
    rest, entry, inside = [], [], False
    for line in done.stdout.splitlines():
        if re.match(r"  func\.func @step\(", line):
            inside = True
        (entry if inside else rest).append(line)
        if inside and line == "  }":
            inside = False
    if not entry:
        sys.exit("depth.py: expected an entry @step")
    return rest, entry


def check(stage, few, many):
    """What must hold of one stage; the first difference as text, or None."""
    for a, b in zip(few[0], many[0]):
        if a != b:
            return f"outside the entry:\n  2 layers: {a}\n  64 layers: {b}"
    if len(few[0]) != len(many[0]):
        return f"{len(few[0])} and {len(many[0])} lines outside the entry"
    repeated = {"transformer": ["call", "scope"], "fused": ["dispatch", "scope"]}.get(
        stage, ["dispatch", "scope", "empty", "buffer"]
    )
    counts = {}
    for line in many[1]:
        op = re.match(r"\s*(?:%[^=]+ = )?(?:\w+\.)?(\w+) ?", line)
        counts.setdefault(op.group(1) if op else line, []).append(line)
    for line in few[1]:
        op = re.match(r"\s*(?:%[^=]+ = )?(?:\w+\.)?(\w+) ?", line)
        counts[op.group(1) if op else line].pop()
    for op, lines in counts.items():
        if lines and op not in repeated:
            return f"in the entry, {len(lines)} more of: {lines[-1]}"
    if len(counts["scope"]) != LAYERS - 2:
        return f"{len(counts['scope'])} more scopes: expected {LAYERS - 2}"
    call = "call" if stage == "transformer" else "dispatch"
    if len(counts[call]) != LAYERS - 2:
        return f"{len(counts[call])} more calls: expected {LAYERS - 2}"
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("tool")
    arguments.add_argument("model")
    arguments.add_argument("--levels", default="avx2,avx512_bf16")
    options = arguments.parse_args()
    with open(options.model, encoding="utf-8") as file:
        text = file.read()
    deep = deepen(text, LAYERS)
    for level in options.levels.split(","):
        for index, stage in enumerate(STAGES):
            stages = STAGES[: index + 1]
            why = check(
                stage,
                run(options.tool, text, stages, level),
                run(options.tool, deep, stages, level),
            )
            if why:
                sys.exit(f"depth.py: {level}, after stage {stage}: {why}")
            print(f"{level} {stage}: equal")


if __name__ == "__main__":
    main()
