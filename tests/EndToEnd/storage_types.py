"""Models whose tensors are stored in types drawn at random.

storage_types.py TENON WORK COUNT [--seed SEED] [--levels LEVEL,...]
                 [FIXTURE|FAMILY...]

COUNT times, families in turn: the tensors of a fixture that is stored in bf16
are rewritten in f32, f16 or bf16, all of which hold its values, drawn tensor by
tensor or alike in all layers. The model is compiled for all levels with --dtype auto and for one of
them with --dtype f32. At every level that this machine runs it must give what
Transformers gives: in f32 at the tolerance of f32, with --dtype auto at that of
bf16 where matmuls or the cache are bf16.
"""

import argparse
import random
import re
import shutil
import sys

import models
import numpy
import support

# In f16 only numbers below 1e-5 lose bits of bf16, beyond the eighth digit.
TYPES = ["F32", "F16", "BF16"]


def widened(data):
    """What bytes of bf16 stand for."""
    words = numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32)
    return (words << 16).view(numpy.float32)


def stored_as(values, dtype):
    if dtype == "BF16":
        return (values.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
    kind = numpy.float16 if dtype == "F16" else numpy.float32
    return values.astype(kind).tobytes()


class Draw:
    """A copy of a fixture's checkpoint with other types, made from `seed`."""

    def __init__(self, fixture, path, seed):
        choose = random.Random(seed)
        self.fixture = fixture
        self.path = path
        by_tensor = choose.random() < 0.5
        self.few_tokens = choose.choice([8, 64])
        chosen = {}
        self.matrices = set()
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(fixture.path, path)
        for file in sorted(path.glob("*.safetensors")):
            tensors = models.read_safetensors(file)
            for name, (dtype, shape, data) in tensors.items():
                if dtype != "BF16":
                    continue
                role = name if by_tensor else re.sub(r"\d+", "#", name)
                if role not in chosen:
                    chosen[role] = choose.choice(TYPES)
                tensors[name] = (chosen[role], shape,
                                 stored_as(widened(data), chosen[role]))
                if len(shape) > 1:
                    self.matrices.add(chosen[role])
            models.write_safetensors(file, tensors)
        self.what = (f"{fixture.name} seed {seed}, types by "
                     f"{'tensor' if by_tensor else 'role'}")

    def precision(self, dtype, level):
        """What the result may be rounded to."""
        if dtype == "f32" or "BF16" not in self.matrices:
            return "f32"
        has_cache = self.fixture.kind in ("logits", "image_logits",
                                             "seq2seq")
        return "bf16" if has_cache or level in ("avx512_bf16", "amx") else "f32"


def compare(test, draw, artifact, dtype, level):
    """Runs at `level`; says whether every result is within its tolerance."""
    measure, most = support.REFERENCE_TOLERANCE[draw.precision(dtype, level)]
    distance = (support.largest_error if measure == "largest"
                else support.l2_error)
    for given, options, reference, skipped in draw.fixture.runs():
        path = test.work / "output.npy"
        done = test.run("tenon", "run", artifact, *options, "--output", path,
                        isa=support.LEVELS[level])
        what = f"{draw.what}: {dtype} {level}, {given}"
        if done.returncode != 0:
            test.check(False, f"{what}: {done.stderr[-500:]}")
            continue
        error = distance(numpy.load(path)[skipped:], reference)
        path.unlink()
        if not error <= most:
            test.check(False, f"{what}: {measure} error {error:.2e}, at most "
                              f"{most:.0e}")
        else:
            test.passed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tenon")
    parser.add_argument("work")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", default=",".join(support.LEVELS))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    test = support.Test([arguments.tenon, arguments.work, *arguments.names])
    native = test.native_level()
    levels = arguments.levels.split(",")
    runnable = [level for level in levels
                if support.runnable(level, native)]
    families = {}
    for fixture in support.fixtures(test.names):
        if fixture.dtype == "bf16":
            families.setdefault(fixture.family, []).append(fixture)
    turn = list(families.values())
    compiled = 0
    for number in range(arguments.count):
        seed = arguments.seed + number
        kinds = turn[seed % len(turn)]
        fixture = kinds[seed // len(turn) % len(kinds)]
        draw = Draw(fixture, test.work / "model", seed)
        one = runnable[seed % len(runnable)]
        for dtype, targets in ("auto", levels), ("f32", [one]):
            artifact = test.work / "model.tenon"
            done = test.run("tenon-compile", "compile", draw.path, "-o",
                            artifact, "--dtype", dtype, "--target-cpu",
                            ",".join(targets), "--few-tokens", draw.few_tokens,
                            *fixture.options)
            if done.returncode != 0:
                test.check(False, f"{draw.what}: {dtype}: {done.stderr[-500:]}")
                continue
            for level in targets:
                if level in runnable:
                    compare(test, draw, artifact, dtype, level)
        compiled += 1
        if compiled % 10 == 0 or compiled == arguments.count:
            print(f"{compiled} models at {', '.join(levels)}: {test.passed} "
                  f"results, {test.failures} failures", flush=True)
    test.finish()


if __name__ == "__main__":
    main()
