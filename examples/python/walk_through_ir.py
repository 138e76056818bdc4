# A walk from a model's config to what the machine runs, in cells for editors
# that know `# %%` (VS Code, PyCharm, Jupytext); as a script it prints it all.
#
#     walk_through_ir.py MODEL_DIRECTORY

# %% A model becomes one file; every pass leaves a dump
import collections
import difflib
import pathlib
import re
import sys
import tempfile

import tenon

MODEL = sys.argv[1] if len(sys.argv) > 1 else "examples/tiny-llama"
work = pathlib.Path(tempfile.mkdtemp(prefix="tenon-walk-"))
dumps = work / "dumps"
remarks = []
artifact = tenon.compile(MODEL, work / "model.tenon", dump_stages=dumps,
                         remarks=remarks.append)
stages = sorted(dumps.glob("*.mlir"))
print("stages:", ", ".join(stage.stem for stage in stages))


# %% The operations of a function, stage by stage
def function(text, name):
    """The body of the function `name` of a dump."""
    found = re.search(rf"^  func\.func \w* ?@{re.escape(name)}\(.*?^  }}", text,
                      re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def operations(text):
    """How often each operation occurs."""
    return collections.Counter(
        re.findall(r"^\s+(?:%[^=]*= )?(transformer\.[a-z_]+)", text,
                   re.MULTILINE))


layer = function(stages[0].read_text(), "layer")
print("\nthe layer, as the model's paper has it:\n")
print(layer)
for stage in stages[:2]:
    counted = operations(function(stage.read_text(), "layer")
                         or function(stage.read_text(), "layer.few"))
    print(f"\n{stage.stem}: {sum(counted.values())} operations:",
          ", ".join(f"{n} {name}" for name, n in counted.most_common(8)))

# %% What one pass does: the difference of two dumps
passes = sorted((dumps / stages[1].stem).glob("*.mlir"))
print("\npasses of", stages[1].stem + ":",
      ", ".join(p.stem for p in passes))
for before, after in zip(passes, passes[1:]):
    lines = [line for line in difflib.unified_diff(
        function(before.read_text(), "layer").splitlines(),
        function(after.read_text(), "layer").splitlines(), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))]
    if lines:
        print(f"\n{after.stem}:")
        print("\n".join(line[:110] for line in lines[:12]))

# %% Why it was done, and why not
print("\nremarks by pass:")
by_pass = collections.defaultdict(list)
for remark in remarks:
    if found := re.search(r"\] (\w+) \|.*Remark=\"?(.*?)\"?$", remark):
        by_pass[found[1]].append(found[2])
for name, said in by_pass.items():
    print(f"{len(said):4}  {name}: {said[0][:90]}")

# %% What is in the artifact
model = tenon.load(artifact)
print(f"\n{model}: {pathlib.Path(artifact).stat().st_size} bytes")
print(model.generate("In the beginning", max_new_tokens=12,
                     temperature=0).text)
