"""Every family has its example, its numeric test and its place in the README.

families.py TENON WORK EXAMPLES README

The graph of each config of EXAMPLES/families is the file beside it, which reads
back as the same graph.
"""

import json
import pathlib
import re
import sys

import support


def missing(test, what, all_names, names):
    test.check(all_names == names,
               f"{what}: missing {sorted(all_names - names)}, of no family "
               f"{sorted(names - all_names)}")


def main():
    test = support.Test(sys.argv[1:3])
    examples = pathlib.Path(sys.argv[3]) / "families"
    readme = pathlib.Path(sys.argv[4]).read_text()
    families = {family["model_type"] for family in json.loads(
        test.need("tenon-compile", "inspect", "--families", "--json"))}
    for ending in "json", "mlir":
        missing(test, f"examples/families/*.{ending}", families,
                {path.stem for path in examples.glob(f"*.{ending}")})
    tested = "".join(
        path.read_text() for path in
        pathlib.Path(__file__).parent.glob("numerics-f32-*.test")
        if " f32 avx2" in path.read_text())
    named = set(re.findall(r"[\w-]+", tested))
    missing(test, "numerics-f32-*.test", families, families & named)
    # "also" and the like stand beside the names.
    table = " ".join(re.findall(r"^\| [a-z -]+ \| (.*) \|$", readme, re.MULTILINE))
    missing(test, "README.md", families,
            families & set(re.findall(r"[\w-]+", table)))

    for path in sorted(examples.glob("*.mlir")):
        graph, config = path.read_text(), path.with_suffix(".json")
        for source in config, path:
            made = test.need("tenon-compile", "compile", source, "--emit",
                             "transformer")
            test.check(made == graph, f"{source.name}: its graph is "
                                      f"{config.stem}.mlir")
    test.finish()


if __name__ == "__main__":
    main()
