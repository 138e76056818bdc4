"""Compiles the GGUF files of tests/gguf and compares with Transformers.

    gguf-files.py TENON WORK [NAME...]
"""

import json
import pathlib
import shutil
import sys

import numpy
import support

FIXTURES = pathlib.Path(__file__).parent.parent / "gguf" / "fixtures"
# What does not depend on the level: its code is made fastest.
AVX2 = "--target-cpu", "avx2"


def compare(test, entry):
    name = entry["name"]
    artifact = test.compile(FIXTURES / f"{name}.gguf", name, "--dtype", "f32",
                            "--activations", "exact", *AVX2)
    reference = numpy.load(FIXTURES / f"{name}.npy")
    _, limit = support.REFERENCE_TOLERANCE["f32"]
    error = support.largest_error(test.outputs(artifact, entry["tokens"]),
                                  reference)
    test.check(error <= limit, f"{name}: error {error:.1e}, at most {limit}")
    answer = json.loads(test.need(
        "tenon", "run", artifact, "--token-ids",
        support.joined(entry["tokens"]), "--max-new-tokens",
        len(entry["greedy"]), "--temperature", 0, "--ignore-eos", "--json"))
    test.check(answer["token_ids"] == entry["greedy"],
               f"{name}: greedy {answer['token_ids']}, expected "
               f"{entry['greedy']}")
    artifact.unlink()


def check_tokenizer(test):
    """The artifact has the file's tokenizer."""
    references = json.loads((FIXTURES / "tokenizers.json").read_text())
    lines = test.work / "lines.json"
    lines.write_text(json.dumps(references["texts"]))
    for name, expected in (
            ("llama-f32", [ids for ids, _ in references["spm"]]),
            ("qwen2-bf16", references["splits"]["qwen2"])):
        artifact = test.compile(FIXTURES / f"{name}.gguf", name, *AVX2)
        ids = json.loads(test.need("tenon", "tokenize", artifact,
                                   "--json-lines", lines))
        test.check(ids == expected, f"{name}: ids of texts")
        artifact.unlink()


def check_types(test):
    """Matrices keep the file's formats; f16 becomes f32."""
    for name, stored in (("qwen2-bf16", "bf16"), ("gemma-f16", "f32"),
                         ("llama-q8_0", "q8_0"),
                         ("llama-q4_k", "q4_k+q6_k+q8_0")):
        artifact = test.compile(FIXTURES / f"{name}.gguf", name, *AVX2)
        inspected = json.loads(test.need("tenon", "inspect", artifact,
                                         "--json"))
        kept = inspected["model"]["weight_type"]
        test.check(kept == stored,
                   f"{name}: matrices are {kept}, expected {stored}")
        test.check_inspected(FIXTURES / f"{name}.gguf", artifact)
        artifact.unlink()


def check_names(test, entry):
    """A file is told by how it begins, whatever it is called."""
    path = test.work / "sha256-0123456789abcdef"
    shutil.copy(FIXTURES / f"{entry['name']}.gguf", path)
    options = ["--token-ids", support.joined(entry["tokens"]),
               "--max-new-tokens", 2, "--temperature", 0, "--ignore-eos"]
    answers = [test.need("tenon", "run", model, *options)
               for model in (path, test.compile(path, "unnamed"))]
    test.check(answers[0] == answers[1], f"{path.name}: {answers}")
    test.check_inspected(path, test.work / "unnamed.tenon")


def check_transposed(test):
    """What the checkpoint has the other way round keeps its blocks too."""
    for name, part, count in (("gpt2-q8_0", ".mlp.c_", 2),
                              ("gpt-oss-q8_0", ".experts.", 6)):
        artifact = test.compile(FIXTURES / f"{name}.gguf", name, *AVX2)
        inspected = json.loads(test.need("tenon", "inspect", artifact,
                                         "--json"))
        layouts = [weight["layout"] for weight in inspected["weights"]["list"]
                   if part in weight["name"] and "bias" not in weight["name"]]
        test.check(layouts == ["panels.q8_0"] * count,
                   f"{name}: {part} in {layouts}, expected {count} in q8_0")
        artifact.unlink()


def check_quantize(test, entry):
    """--quantize rounds weights, of quantised files too, and nothing else."""
    reference = numpy.load(FIXTURES / f"{entry['name']}.npy")
    for choice, least, most in (("int8", 1e-4, 2e-2), ("int4", 5e-3, 2e-1)):
        what = f"{entry['name']} as {choice}"
        artifact = test.compile(FIXTURES / f"{entry['name']}.gguf", what,
                                "--quantize", choice, "--dtype", "f32",
                                "--activations", "exact", *AVX2)
        values = test.outputs(artifact, entry["tokens"])
        error = support.l2_error(values, reference)
        test.check(least <= error <= most,
                   f"{what}: L2 error {error:.1e}, {least} to {most}")
        # Decode-sized steps and prefills multiply the same weights.
        steps = json.loads(test.need(
            "tenon", "run", artifact, "--token-ids",
            support.joined(entry["tokens"]), "--max-new-tokens", 8,
            "--temperature", 0, "--ignore-eos", "--json"))["token_ids"]
        whole = test.outputs(artifact, entry["tokens"] + steps[:-1])
        greedy = whole[len(entry["tokens"]) - 1:].argmax(axis=1).tolist()
        test.check(greedy == steps, f"{what}: steps give {steps}, a prefill "
                                    f"{greedy}")
        artifact.unlink()


def check_excluded(test):
    """What --quantize-exclude names keeps the file's format, as does what has
    too few rows; a note says that the rest is quantised again."""
    def layouts(what, *options, note=None):
        artifact = test.work / f"{what}.tenon"
        done = test.run("tenon", "compile", FIXTURES / "llama-q4_k.gguf", "-o",
                        artifact, *AVX2, *options)
        test.check(done.returncode == 0
                   and (done.stderr.count("\n") == 1 and note in done.stderr
                        if note else not done.stderr),
                   f"{what}: {done.stderr!r}")
        inspected = json.loads(test.need("tenon", "inspect", artifact,
                                         "--json"))
        artifact.unlink()
        return {weight["name"]: weight["layout"]
                for weight in inspected["weights"]["list"]}

    whole = layouts("as it is")
    some = layouts("some excluded", "--quantize", "int8",
                   "--quantize-exclude", "*down_proj*,*v_proj*",
                   note="--quantize int8 quantises matrices that are quantised "
                        "already, so that errors add up: ")
    kept = [name for name in whole
            if any(part in name for part in ("down_", "v_proj", "embed", "lm_"))]
    test.check(sorted(whole[name] for name in kept)
               == ["panels.q4_k"] + 3 * ["panels.q6_k"],
               f"excluded in the file: {[whole[name] for name in kept]}")
    wrong = {name: layout for name, layout in some.items()
             if layout != (whole[name] if name in kept or
                           "panels" not in whole[name] else "panels.q8_0")}
    test.check(not wrong, f"formats beside excluded ones: {wrong}")


def check_activations(test, entry):
    """Rows of integers, 8 bits in a prefill and 16 in decode-sized steps; or
    none, by option."""
    for level in "avx2", "avx2_vnni", "avx512_vnni":
        if not support.runnable(level, test.native_level()):
            continue
        for activations, prefill, step in (
                ("auto", (1e-3, 4e-2), (1e-6, 2e-4)),
                ("exact", (0, 2e-6), (0, 2e-6))):
            check_rows(test, entry, level, activations, prefill, step)


def check_mixture(test, entry):
    """The same of experts, at a level below most machines'."""
    check_rows(test, entry, "avx2", "auto", (1e-6, 2e-4), (1e-6, 2e-4))


def check_tiles(test, entry):
    """Rows of bf16 in tiles, emulated where there are none. Formats with one
    scale in a group and with two, which a layer mixes, share the registers."""
    artifact = test.compile(FIXTURES / f"{entry['name']}.gguf",
                            f"{entry['name']} for amx", "--target-cpu", "amx",
                            "--few-tokens", 3)
    if not support.runnable("amx", test.native_level()):
        if not test.emulate("amx"):
            test.skip(f"{entry['name']} at amx", "it cannot be emulated here")
            artifact.unlink()
            return
    reference = numpy.load(FIXTURES / f"{entry['name']}.npy")
    _, limit = support.REFERENCE_TOLERANCE["bf16"]
    for rows, tokens in (("prefill", entry["tokens"]),
                         ("step", entry["tokens"][:3])):
        error = support.l2_error(test.outputs(artifact, tokens),
                                 reference[:len(tokens)])
        test.check(error <= limit, f"{entry['name']} at amx: L2 error of a "
                                   f"{rows} {error:.1e}, at most {limit}")
    test.emulated = None
    artifact.unlink()


def check_rows(test, entry, level, activations, prefill, step):
    """Errors of a prefill and of a step within bounds, and equal bits."""
    what = f"{entry['name']} at {level}, {activations}"
    reference = numpy.load(FIXTURES / f"{entry['name']}.npy")
    artifact = test.compile(FIXTURES / f"{entry['name']}.gguf", what,
                            "--dtype", "f32", "--target-cpu", level,
                            "--activations", activations, "--few-tokens", 3)
    for rows, tokens, (least, most) in (
            ("prefill", entry["tokens"], prefill),
            ("step", entry["tokens"][:3], step)):
        error = support.l2_error(test.outputs(artifact, tokens),
                                 reference[:len(tokens)])
        test.check(least <= error <= most,
                   f"{what}: L2 error of a {rows} {error:.1e}, "
                   f"{least} to {most}")
    # However many rows are multiplied at once, blocks of them whole or not.
    whole = test.outputs(artifact, entry["tokens"])
    same = all(numpy.array_equal(test.outputs(artifact,
                                              entry["tokens"][:count]),
                                 whole[:count])
               for count in (4, 5, 6, 7, 11))
    test.check(same, f"{what}: rows of prefills of 4 to 11 tokens have the "
                     "bits that one of 12 gives them")
    artifact.unlink()


def split(path, folder, parts):
    """Divides a file as llama.cpp's gguf-split does; the first part has the
    keys and no tensor. Returns its path."""
    data = path.read_bytes()
    at = 8

    def take(size):
        nonlocal at
        at += size
        return data[at - size:at]

    def number(size):
        return int.from_bytes(take(size), "little")

    def skip_value(kind):
        if kind == 8:
            take(number(8))
        elif kind == 9:
            element, count = number(4), number(8)
            for _ in range(count):
                skip_value(element)
        else:
            take([1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8][kind])

    tensor_count, key_count = number(8), number(8)
    begin = at
    for _ in range(key_count):
        take(number(8))
        skip_value(number(4))
    keys = data[begin:at]
    tensors = []
    for _ in range(tensor_count):
        begin = at
        take(number(8))
        take(8 * number(4))
        take(4)
        tensors.append((data[begin:at], number(8)))
    start = -(-at // 32) * 32
    ends = sorted(offset for _, offset in tensors)[1:] + [len(data) - start]
    places = dict(zip(sorted(offset for _, offset in tensors), ends))

    def key(name, kind, value):
        return (len(name).to_bytes(8, "little") + name.encode()
                + kind.to_bytes(4, "little") + value)

    folder.mkdir(parents=True)
    for part in range(parts):
        mine = tensors[part - 1::parts - 1] if part else []
        content = key("split.no", 2, part.to_bytes(2, "little"))
        content += key("split.count", 2, parts.to_bytes(2, "little"))
        content += key("split.tensors.count", 5,
                       tensor_count.to_bytes(4, "little"))
        count = 3
        if part == 0:
            content, count = keys + content, key_count + 3
        body = b""
        for info, offset in mine:
            content += info + len(body).to_bytes(8, "little")
            body += data[start + offset:start + places[offset]]
            body += bytes(-len(body) % 32)
        head = (data[:8] + len(mine).to_bytes(8, "little")
                + count.to_bytes(8, "little") + content)
        (folder / f"m-{part + 1:05}-of-{parts:05}.gguf").write_bytes(
            head + bytes(-len(head) % 32) + body)
    return folder / f"m-00001-of-{parts:05}.gguf"


def check_parts(test, entry):
    """A file in parts is the same model; no part of it is overwritten."""
    name = entry["name"]
    options = ["--dtype", "f32", *AVX2]
    first = split(FIXTURES / f"{name}.gguf", test.work / "parts", 3)
    whole = test.compile(FIXTURES / f"{name}.gguf", "whole", *options)
    parts = test.compile(first, "parts", *options)
    test.check(numpy.array_equal(test.outputs(whole, entry["tokens"]),
                                 test.outputs(parts, entry["tokens"])),
               f"{name} in parts: the bits of one file")
    last = first.with_name("m-00003-of-00003.gguf")
    content = last.read_bytes()
    done = test.run("tenon-compile", "compile", first, "-o", last)
    test.check(done.returncode == 1 and last.read_bytes() == content,
               f"a part as output: exit status {done.returncode}, "
               f"{done.stderr!r}")


def check_errors(test):
    """One line that names the file and what is wrong."""
    good = (FIXTURES / "llama-q8_0.gguf").read_bytes()
    for what, data, part in (
            ("cut", good[:-500], "expected them within"),
            ("empty", b"", "expected 'GGUF'"),
            ("type", good.replace(b"llama.block_count", b"llama.block_cuont"),
             "llama.block_count")):
        path = test.work / f"{what}.gguf"
        path.write_bytes(data)
        test.expect_error(what, str(path), part, command=(
            "tenon-compile", "compile", path, "-o", test.work / "x.tenon"))


def main():
    test = support.Test(sys.argv[1:])
    entries = json.loads((FIXTURES / "index.json").read_text())
    for entry in entries:
        if not test.names or entry["name"] in test.names:
            compare(test, entry)
    if not test.names:
        check_tokenizer(test)
        check_types(test)
        check_transposed(test)
        check_excluded(test)
        for entry in entries:
            if entry["name"] in ("llama-f32", "llama-q4_k"):
                check_quantize(test, entry)
            if entry["name"] == "qwen3moe-q8_0":
                check_mixture(test, entry)
            if entry["name"] == "llama-q4_k":
                check_activations(test, entry)
                check_tiles(test, entry)
                check_parts(test, entry)
                check_names(test, entry)
        check_errors(test)
    test.finish()


if __name__ == "__main__":
    main()
