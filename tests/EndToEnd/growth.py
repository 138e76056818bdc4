"""What grows with a model's depth: one call per layer, and nothing else.

growth.py TENON WORK

Models of 2 and of 64 layers are compiled with --dump-stages. From L0 to L3 the
functions must be the same but for the entry, in which the deeper model has 62
more scopes, calls and, from L3 on, destinations of calls. Native code has the
same functions, of the same sizes but for the entry's.
"""

import collections
import json
import re
import sys

import numpy

import models
import support

FEW, MANY = 2, 64
STAGES = 4
# The most bytes of native code for one more call.
CALL_BYTES = 256

# What the entry may have once per layer: its scope, its call, and where the
# call puts its rows.
PER_LAYER = re.compile(
    r"% = (transformer|dnn)\.scope |([%, ]+= )?(func\.)?call @layer|"
    r"([%, ]+= )?(transformer|dnn)\.dispatch @layer|"
    # Destinations of calls.
    r"% = tensor\.empty\(%\)|% = dnn\.buffer ")


def functions(text):
    """The lines of each function by its name; "" has the rest.

    What a dump says of the model behind the module is left out."""
    found, name = collections.defaultdict(list), ""
    for line in text.split("\n{-#")[0].splitlines():
        start = re.match(r"  (?:func\.func|llvm\.func)\b.*?@([\w.$-]+|\".*?\")",
                         line)
        if start:
            name = start.group(1)
        found[name].append(line)
        if line == "  }" or (start and not line.endswith("{")):
            name = ""
    return found


def normalized(line):
    """A line of the entry without values' names and places in the sequence."""
    line = re.sub(r"%\w+(?:[#:]\d+)?", "%", line.strip())
    line = re.sub(r"(layers?\.)\d+\b", r"\1N", line)
    line = re.sub(r"\b(number|layer|at) \d+", r"\1 N", line)
    return re.sub(r"plan <(\d+ bytes) from \d+ to \d+>", r"plan <\1>", line)


def compare_dump(test, small, large, what):
    few, many = functions(small), functions(large)
    entries = [name for name in few
               if few[name][0].startswith("  func.func @")]
    test.check(list(few) == list(many) and entries and len(few) > 2,
               f"{what}: functions {list(many)}, expected {list(few)}")
    changed = [name for name in few
               if name not in entries and few[name] != many.get(name)]
    test.check(not changed, f"{what}: changed functions: {changed}")
    for name in entries:
        counts = [collections.Counter(map(normalized, f[name]))
                  for f in (few, many)]
        wrong, calls = [], 0
        for line in sorted(counts[0] | counts[1]):
            more = counts[1][line] - counts[0][line]
            if more == MANY - FEW and PER_LAYER.match(line):
                calls += "@layer" in line
            elif more != 0:
                wrong.append(f"{more:+} {line}")
        test.check(not wrong and calls == 1,
                   f"{what}: {calls} kinds of calls of @layer, expected 1; "
                   f"other lines that grow: {wrong}")


def instructions(text):
    """The number of instructions of each function of assembly text."""
    types = set(re.findall(r"\.type\s+([^\s,]+),@function", text))
    found, name = collections.Counter(), None
    for line in text.splitlines():
        label = re.match(r'([^\s:#]+):', line)
        if label:
            if label.group(1) in types:
                name = label.group(1)
                found[name] = 0
        elif name and re.match(r"\s+[a-z]", line):
            found[name] += 1
        if re.match(r"\s+\.size\s", line):
            name = None
    return found


def compare(test, family):
    dumps, code, assembly, llvm = [], [], [], []
    for layers in FEW, MANY:
        name = f"{family.__name__}-{layers}"
        model = family(test.work / name, layers)
        dump = test.work / f"{name}-stages"
        artifact = test.compile(model, name, "--dump-stages", dump)
        dumps.append({str(path.relative_to(dump)): path.read_text()
                      for path in sorted(dump.rglob("*.mlir"))})
        code.append(json.loads(
            test.need("tenon", "inspect", artifact, "--json"))["code"][0])
        assembly.append(instructions(test.need(
            "tenon-compile", "compile", model, "--emit", "asm")))
        llvm.append(functions(test.need(
            "tenon-compile", "compile", model, "--emit", "llvm")))
        values = test.outputs(artifact, range(20))
        test.check(bool(numpy.isfinite(values).all()) and values.std() > 0,
                   f"{name}: output of shape {values.shape} is finite")
    what = family.__name__
    ends = [name for name in dumps[0] if re.match(rf"[1-{STAGES}]-\w+\.mlir",
                                                  name)]
    test.check(list(dumps[0]) == list(dumps[1]) and len(ends) == STAGES,
               f"{what}: dumps at the ends of stages: {ends}")
    for name in ends:
        compare_dump(test, dumps[0][name], dumps[1].get(name, ""),
                     f"{what} {name}")
    # The arena of L3 is an attribute of the module.
    test.check(dumps[0][ends[-1]].splitlines()[0]
               == dumps[1][ends[-1]].splitlines()[0],
               f"{what}: the same module attributes, arena included")
    for kind, (small, large) in {"LLVM": llvm, "assembly": assembly}.items():
        test.check(list(small) == list(large) and len(small) > 5,
                   f"{what}: {len(large)} functions in {kind}, expected "
                   f"{len(small)}")
    grown = {name: (count, assembly[1][name])
             for name, count in assembly[0].items()
             if assembly[1][name] != count}
    test.check(len(grown) == 1 and all("entry" in name for name in grown),
               f"{what}: functions with more instructions: {grown}, expected "
               f"the entry alone")
    more = code[1]["bytes"] - code[0]["bytes"]
    test.check(more <= (MANY - FEW) * CALL_BYTES,
               f"{what}: {more} more bytes of native code, at most "
               f"{CALL_BYTES} per layer")
    test.check(code[0]["arena_bytes"] == code[1]["arena_bytes"]
               and code[0]["primitives"] == code[1]["primitives"],
               f"{what}: arenas of {code[0]['arena_bytes']} and "
               f"{code[1]['arena_bytes']} bytes, the same primitives")


def main():
    test = support.Test(sys.argv[1:])
    compare(test, models.llama)
    compare(test, models.bert)
    test.finish()


if __name__ == "__main__":
    main()
