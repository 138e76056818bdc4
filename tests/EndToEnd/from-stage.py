"""Compiling on from a dump gives the artifact of one uninterrupted run.

from-stage.py TENON WORK FIXTURE...

From the end of every stage `--from-stage` writes the same artifact, byte for
byte, in f32. The first fixture in bf16 too, and of that every dump of
--dump-stages is read back. For avx2, whose code is made fastest.
"""

import json
import re
import sys

import support

STAGES = ["transformer", "fused", "placed", "buffers", "llvm"]


def check(test, fixture, dtype, read=False):
    what = f"{fixture.name}, {dtype}"
    options = [*fixture.options, "--dtype", dtype, "--target-cpu", "avx2"]
    dumps = test.work / f"{fixture.name}-{dtype}"
    whole = test.compile(fixture.path, "whole", "--dump-stages", dumps,
                         *options).read_bytes()
    files = sorted(dumps.rglob("*.mlir"))
    # A dump of every pass, gates included, and one of every stage.
    test.check(len(files) > 30, f"{what}: {len(files)} dumps")
    for file in files if read else []:
        done = test.run("tenon-opt", file, "-o", test.work / "read.mlir")
        if done.returncode != 0:
            test.check(False, f"{what}, {file.name}: {done.stderr[-300:]}")
    for number, stage in enumerate(STAGES, 1):
        dump = dumps / f"{number}-{stage}.mlir"
        rest = test.compile(dump, stage, "--from-stage", stage, "--weights",
                            fixture.path).read_bytes()
        test.check(rest == whole, f"{what}, from {stage}: {len(rest)} bytes, "
                                  f"those of {len(whole)} expected")


def check_levels(test, fixture):
    """Levels are those that the dump was made for, of each stage's dump."""
    dumps = test.work / "levels"
    whole = test.compile(fixture.path, "whole", "--dump-stages", dumps,
                         "--target-cpu", "avx2,avx2_vnni").read_bytes()

    def rest(dump, stage):
        return test.compile(dumps / dump, stage, "--from-stage", stage,
                            "--weights", fixture.path)
    test.check(rest("2-fused.mlir", "fused").read_bytes() == whole,
               "two levels from fused")
    for level in "avx2", "avx2_vnni":
        artifact = rest(f"3-placed.{level}.mlir", "placed")
        inspected = json.loads(test.need("tenon", "inspect", artifact,
                                         "--json"))
        found = (inspected["compiled"]["target_cpu"],
                 [code["level"] for code in inspected["code"]])
        test.check(found == ([level], [level]),
                   f"levels from placed for {level}: {found}")


def errors(test, fixture):
    dump = test.work / f"{fixture.name}-f32" / "2-fused.mlir"
    compile = ["tenon-compile", "compile"]
    out = ["-o", test.work / "x.tenon"]
    test.expect_error("another stage", "is a dump of stage 'fused'",
                      "expected one of 'placed'",
                      command=[*compile, dump, "--from-stage", "placed",
                               "--weights", fixture.path, *out])
    test.expect_error("no weights", "--from-stage needs --weights", status=2,
                      command=[*compile, dump, "--from-stage", "fused", *out])
    plain = test.work / "plain.mlir"
    plain.write_text("module {}\n")
    test.expect_error("no state", "has no resource 'tenon.state'",
                      command=[*compile, plain, "--from-stage", "fused",
                               "--weights", fixture.path, *out])
    damaged = test.work / "damaged.mlir"
    damaged.write_text(dump.read_text().replace("max_tokens_per_step", "max"))
    test.expect_error("damaged state", "tenon.state",
                      command=[*compile, damaged, "--from-stage", "fused",
                               "--weights", fixture.path, *out])
    test.expect_error("past pass", "--disable-pass is 'merge-qkv'",
                      "expected a pass behind the stage 'fused'",
                      command=[*compile, dump, "--from-stage", "fused",
                               "--disable-pass", "merge-qkv",
                               "--weights", fixture.path, *out])
    placed = dump.with_name("3-placed.mlir").read_text()
    level, other = (("avx2", "avx512") if "#dnn.target<avx2," not in placed
                    else ("avx2_vnni", "avx2"))
    moved = test.work / "moved.mlir"
    moved.write_text(re.sub(r"#dnn\.target<\w+, vector = \d+, registers = "
                            r"\d+, dot = \[[^]]*\]",
                            f"#dnn.target<{level}, vector = 256, "
                            "registers = 16, dot = []", placed))
    test.expect_error("another level", "attribute 'dnn.target' is for "
                      f"'{level}': expected", "as the resource 'tenon.state'",
                      command=[*compile, moved, "--from-stage", "placed",
                               "--weights", fixture.path, *out])
    damaged.write_text(re.sub(r"(target_cpu.{1,8}?)avx\w+", r"\1z80",
                              dump.read_text()))
    test.expect_error("unknown level", "field 'compiled.target_cpu'",
                      "expected different CPU levels",
                      command=[*compile, damaged, "--from-stage", "fused",
                               "--weights", fixture.path, *out])
    for option, value in (("--dtype", "bf16"), ("--few-tokens", "3")):
        test.expect_error(f"past {option}", "--from-stage", option, status=2,
                          command=[*compile, dump, "--from-stage", "fused",
                                   option, value, "--weights", fixture.path,
                                   *out])
    test.expect_error("required pass", "--disable-pass is 'plan-memory'",
                      status=2, command=[*compile, fixture.path, "--disable-pass",
                               "plan-memory", *out])


def check_edits(test, fixture):
    """An edit of the text changes the artifact as it does in a dump of an
    earlier stage, or is refused."""
    dumps = test.work / "edits"
    whole = test.compile(fixture.path, "whole", "--dump-stages", dumps,
                         "--target-cpu", "avx2")
    whole = test.outputs(whole, fixture.tokens)
    files = {stage: dumps / f"{number}-{stage}.mlir"
             for number, stage in enumerate(STAGES, 1)}

    def edited(stage, pattern, new):
        # The resources come last.
        module, mark, state = files[stage].read_text().partition("{-#")
        changed, count = re.subn(pattern, new, module)
        test.check(count > 0, f"{stage}: no '{pattern}' to edit")
        path = test.work / "edited.mlir"
        path.write_text(changed + mark + state)
        return path

    def rest(path, stage):
        return test.compile(path, "rest", "--from-stage", stage, "--weights",
                            fixture.path)

    def refused(stage, pattern, new, *parts):
        test.expect_error(f"{stage}, '{pattern}' to '{new}'", *parts, command=[
            "tenon-compile", "compile", edited(stage, pattern, new),
            "--from-stage", stage, "--weights", fixture.path, "-o",
            test.work / "x.tenon"])

    for pattern, new, stages in (
            (r"base = [0-9.e+]+", "base = 100.0", STAGES[:4]),
            (r" eps [0-9.e-]+", " eps 0.25", STAGES[:3]),
            (r'"self_attn.o_proj.weight"', '"self_attn.q_proj.weight^T"',
             STAGES[1:4])):
        outputs = [test.outputs(rest(edited(stage, pattern, new), stage),
                                fixture.tokens) for stage in stages]
        test.check((outputs[0] != whole).any(), f"'{pattern}': no change")
        for stage, output in zip(stages[1:], outputs[1:]):
            test.check((output == outputs[0]).all(), f"'{pattern}' at {stage}")
    for stage in STAGES[:2]:
        artifact = rest(edited(stage, r"transformer\.max_sequence = \d+",
                               "transformer.max_sequence = 16"), stage)
        said = json.loads(test.need("tenon", "inspect", artifact, "--json"))
        found = said["model"]["max_sequence"]
        test.check(found == 16, f"max_sequence at {stage}: {found}")

    refused("transformer", r"layer 0", "layer 7", "module_c20")
    refused("fused", r"transformer\.vocabulary = \d+",
            "transformer.vocabulary = 9000", "dnn_module_c4")
    refused("fused", r"transformer\.output = \"logits\", ", "", "module_c7")
    refused("fused", r"transformer\.max_sequence = \d+",
            r"transformer.max_source = 9 : i64, \g<0>", "module_c17")
    # Of one variant of a function alone.
    for variant in "few", "many":
        refused("fused", r"(?s)(@layer_window\." + variant +
                r"\(.*?)(%query, %cache_0 = transformer\.split_append [^\n]* to "
                r"%cache\[)%scope",
                r'\1%other = transformer.scope "other" layer 0\n\2%other',
                "module_c21")
    refused("placed", r"transformer\.max_sequence = \d+",
            "transformer.max_sequence = 16", "dnn_module_c4")
    refused("placed", r"mlp\.up_proj\.weight", "nonsense", "nonsense")
    refused("placed", r" index 1 ", " index 0 ", "dnn_module_c2", "got 0")
    refused("placed", r" index 1 ", " index 60 ", "dnn_module_c2", "got 60")
    refused("placed", r"number 1 ", "number 400 ", "dnn_module_c1", "got 400")
    refused("placed", r" layer 0", "", "dnn_module_c3")
    refused("placed", r"few_tokens = \d+", "few_tokens = 64", "dnn_module_c7")
    refused("placed", r"dnn\.count output_rows", "dnn.count tokens",
            "dnn_module_c8", "expected output_rows, got tokens")
    refused("placed", r"dnn\.count tokens", "dnn.count output_rows",
            "dnn_module_c8")
    refused("buffers", r" index 1 ", " index 0 ", "dnn_module_c2", "got 0")
    refused("buffers", r"transformer\.max_sequence = \d+",
            "transformer.max_sequence = 16", "'max_sequence' is 16",
            "as the resource 'tenon.state' says")
    refused("buffers", r"arena_bytes = \d+", "arena_bytes = 64",
            "dnn_buffer_c2")
    refused("buffers", r"\n *dnn\.kernel [^\n]* number 3 [^\n]*", "",
            "dnn_module_c10", "expected 3, which no kernel has, got 4")
    refused("buffers", r"dnn\.count output_rows", "dnn.count tokens",
            "dnn_module_c9")

    # By way of tenon-opt.
    moved = test.work / "moved.mlir"
    test.need("tenon-opt", files["transformer"], "--stage-fused",
              "--stage-placed=level=avx2", "-o", moved)
    rest(moved, "placed")
    # An end before the beginning, and at it.
    command = ["tenon-compile", "compile", files["placed"], "--from-stage",
               "placed"]
    for option in "--emit", "--until-after":
        test.expect_error(f"{option} before", f"{option} is 'fused'",
                          "expected 'placed'", status=2,
                          command=[*command, option, "fused"])
    text = test.need(*command, "--emit", "placed")
    test.check("dnn.split_append" in text and "tenon.state" not in text,
               f"--emit of the stage itself: {text[:200]}")


def check_merged(test):
    """What step and encode_image promise each other, after fusion too."""
    fixture, = support.fixtures(["llava-gqa"])
    dumps = test.work / "merged"
    test.need("tenon-compile", "compile", fixture.path, "--dump-stages", dumps,
              "--until-after", "fused", "-o", test.work / "fused.mlir")
    dump = dumps / "2-fused.mlir"
    text = dump.read_text()
    changed = re.sub(r"(transformer\.merge_features [^\n]* token )\d+",
                     r"\g<1>9999", text)
    test.check(changed != text, "merged features to edit")
    dump.write_text(changed)
    test.expect_error("a token that is none", "module_c18", "got 9999", command=[
        "tenon-compile", "compile", dump, "--from-stage", "fused", "--weights",
        fixture.path, "-o", test.work / "x.tenon"])


def main():
    test = support.Test(sys.argv[1:])
    chosen = support.fixtures(test.names)
    for fixture in chosen:
        check(test, fixture, "f32")
    check(test, chosen[0], "bf16", read=True)
    check_levels(test, chosen[0])
    errors(test, chosen[0])
    check_edits(test, chosen[0])
    check_merged(test)
    test.finish()


if __name__ == "__main__":
    main()
