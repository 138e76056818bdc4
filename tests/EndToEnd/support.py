"""What the end-to-end tests share: tools, fixtures, tolerances, checks.

Every script is called as `SCRIPT TENON WORK [FIXTURE...]`: the tool, whose
folder has tenon-compile too, and a folder for what the test writes.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy

FIXTURES = pathlib.Path(__file__).parent.parent / "numerics" / "fixtures"

# The tolerances of all numeric tests, by element type of the matrices. A
# result beyond them is a defect; the references' own noise is in
# tests/numerics/README.md.
#
#   type  compared with                                measure     at most
#   f32   Transformers (eager, f32)                    largest     1e-4
#   bf16  Transformers (eager, f32)                    L2          3e-2
#   f32   the same model, cut into other steps         largest     1e-5
#
# largest: the largest error as a share of the reference's largest magnitude.
# L2: the norm of the error as a share of the reference's norm.
REFERENCE_TOLERANCE = {"f32": ("largest", 1e-4), "bf16": ("L2", 3e-2)}
# L2, of f32 models with a cache of another type.
CACHE_TOLERANCE = {"int8": 2e-2, "bf16": 1e-2}
EQUIVALENCE_TOLERANCE = 1e-5

# What generation begins with, and how far it goes.
GREEDY_PROMPT = 9
NEW_TOKENS = 16

# CPU levels in ascending order and what limits oneDNN to each.
LEVELS = {
    "avx2": "AVX2",
    "avx2_vnni": "AVX2_VNNI",
    "avx512": "AVX512_CORE",
    "avx512_vnni": "AVX512_CORE_VNNI",
    "avx512_bf16": "AVX512_CORE_BF16",
    "amx": "AVX512_CORE_AMX",
}


def largest_error(value, reference):
    """The largest error as a share of the largest magnitude; NaN if any is."""
    return float(abs(value - reference).max() / abs(reference).max())


def l2_error(value, reference):
    difference = value.astype(numpy.float64) - reference
    return float(numpy.linalg.norm(difference) / numpy.linalg.norm(reference))


class Test:
    """The tools and what has failed so far."""

    def __init__(self, arguments):
        self.tenon = arguments[0]
        self.bin = pathlib.Path(self.tenon).parent
        self.work = pathlib.Path(arguments[1])
        self.names = arguments[2:]
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.failures = 0
        self.passed = 0
        self.emulated = None

    def emulate(self, level):
        """Runs models at a level that this machine lacks from here on, by
        tests/emulation; says whether that is possible."""
        native = self.native_level()
        order = list(LEVELS)
        possible = level == "avx2_vnni" or (
            level == "amx" and order.index(native) >= order.index("avx512_bf16"))
        if possible:
            self.emulated = level
        return possible

    def check(self, good, what):
        """Records a result; `what` says what was measured and expected."""
        if good:
            self.passed += 1
        else:
            self.failures += 1
        print("ok  " if good else "FAIL", what, flush=True)

    def skip(self, what, why):
        print("skip", f"{what}: {why}", flush=True)

    def finish(self):
        """Ends the script; a test that checked nothing has failed too."""
        print(f"{self.passed} passed, {self.failures} failed")
        sys.exit(0 if self.passed and not self.failures else 1)

    def run(self, tool, *arguments, isa=None, input=None):
        """Runs a tool of the build; `isa` limits the CPU level in force."""
        environment = dict(os.environ)
        environment.pop("ONEDNN_MAX_CPU_ISA", None)
        environment["TENON_CACHE_DIR"] = str(self.work / "model-cache")
        if isa:
            environment["ONEDNN_MAX_CPU_ISA"] = isa
        if self.emulated and tool == "tenon":
            tool = "tenon-emulated"
            environment["TENON_EMULATED_LEVEL"] = self.emulated
        return subprocess.run(
            [str(self.bin / tool), *map(str, arguments)],
            capture_output=True, text=True, errors="replace",
            env=environment, input=input)

    def need(self, tool, *arguments, isa=None):
        """The output of a run that must succeed."""
        done = self.run(tool, *arguments, isa=isa)
        if done.returncode != 0:
            print("FAIL", tool, *arguments, f"ISA {isa}")
            print(f"exit status {done.returncode}: {done.stderr[-2000:]}")
            sys.exit(1)
        return done.stdout

    def compile(self, model, name, *options):
        """The artifact of a model, in the work folder."""
        path = self.work / f"{name}.tenon"
        self.need("tenon-compile", "compile", model, "-o", path, *options)
        return path

    def check_inspected(self, model, artifact):
        """Checks that inspect says of the model what compiling it by default
        made of it."""
        said, made = (json.loads(self.need("tenon", "inspect", path, "--json"))
                      for path in (model, artifact))
        expected = {**made["estimates"],
                    "weight_type": made["model"]["weight_type"]}
        self.check(said == expected, f"{model}: inspect says {said}, expected "
                                     f"{expected}")

    def outputs(self, artifact, tokens, types=None, isa=None):
        """The model's output for every token: f32 [T, width]."""
        return self.output(artifact, token_options(tokens, types), isa)

    def output(self, artifact, options, isa=None):
        """The model's output of `tenon run` with these options: f32 [rows,
        width]."""
        path = self.work / "output.npy"
        self.need("tenon", "run", artifact, *options, "--output", path,
                  isa=isa)
        values = numpy.load(path)
        path.unlink()
        return values

    def expect_error(self, what, *parts, command, status=1, isa=None):
        """Checks the exit status and that stderr is one line, beginning with
        `tenon: error:`, that has all `parts`. Returns the line."""
        done = self.run(*command, isa=isa)
        line = done.stderr
        good = (done.returncode == status
                and line.startswith("tenon: error: ")
                and line.count("\n") == 1 and line.endswith("\n")
                and all(part in line for part in parts))
        self.check(good, f"{what}: exit status {done.returncode}, expected "
                         f"{status} and {list(parts)}: {line[-500:]!r}")
        return line

    def native_level(self):
        """The level that this machine's native code has."""
        artifact = self.compile(FIXTURES / "llama-mha", "native-level")
        code = json.loads(self.need("tenon", "inspect", artifact, "--json"))
        artifact.unlink()
        return code["code"][0]["level"]


def joined(tokens):
    return ",".join(str(int(token)) for token in tokens)


def token_options(tokens, types=None):
    """Options of `tenon run` for tokens and their types."""
    more = ["--token-types", joined(types)] if types is not None else []
    return ["--token-ids", joined(tokens), *more]


def runnable(level, native):
    """Whether a machine of level `native` runs code of `level`."""
    if level == "avx2_vnni":
        # Not every CPU of a higher level has its instructions.
        return "avx_vnni" in pathlib.Path("/proc/cpuinfo").read_text().split()
    order = list(LEVELS)
    return order.index(level) <= order.index(native)


class Fixture:
    """One stored model and its references; what a kind has not is None."""

    def __init__(self, entry):
        self.name = entry["name"]
        self.family = entry["family"]
        self.path = FIXTURES / self.name
        self.kind = entry["kind"]
        self.dtype = entry["dtype"]
        self.decodes = self.kind in ("logits", "image_logits")
        self.image_token = entry.get("image_token")
        longest = entry.get("max_seq_len")
        self.options = ["--max-seq-len", longest] if longest else []
        self.reference = numpy.load(self.path / entry["reference"])
        self.tokens = self.array("input_ids")
        self.types = self.array("token_type_ids")
        self.decoder_tokens = self.array("decoder_input_ids")
        greedy = self.array("greedy")
        self.greedy = None if greedy is None else greedy.tolist()

    def array(self, name):
        path = self.path / f"{name}.npy"
        return numpy.load(path) if path.exists() else None

    def runs(self):
        """Ways to run the model: what is put in, the options of `tenon run`,
        the rows that must come out, and how many come before them."""
        if self.kind == "image":
            return self.image_runs()
        if self.kind == "image_logits":
            return [(what, options, self.reference, 0)
                    for what, options in self.image_prompts()]
        options = token_options(self.tokens, self.types)
        rows = len(self.tokens)
        if self.kind == "classes":
            rows = 1
        elif self.kind == "seq2seq":
            options += ["--decoder-token-ids", joined(self.decoder_tokens)]
            rows = len(self.decoder_tokens)
        return [("tokens", options, self.reference,
                 rows - len(self.reference))]

    def image_runs(self):
        """The values of pixels, and the pictures they were made from, of
        which each has a row of the reference."""
        runs = []
        pictures = ["png", "jpeg"] if (self.path / "image.png").exists() else []
        for row, kind in enumerate(pictures):
            expected = self.reference[row:row + 1]
            for file in f"{kind}_values.npy", f"image.{kind}":
                runs.append((file, ["--image", self.path / file], expected, 0))
        return runs or [("pixels", ["--image", self.path / "pixel_values.npy"],
                         self.reference, 0)]

    def image_prompts(self):
        """Ways to give the text with its images, of which each has one token
        there: what they are, and the options."""
        if (self.path / "image.png").exists():
            ways = {"values": ["png_values.npy", "jpeg_values.npy"],
                    "pictures": ["image.png", "image.jpeg"]}
        else:
            ways = {"values": ["first_values.npy", "second_values.npy"]}
        rows = int((self.tokens == self.image_token).sum()) // 2
        prompt, place = [], 0
        while place < len(self.tokens):
            prompt.append(self.tokens[place])
            place += rows if prompt[-1] == self.image_token else 1
        return [(what, [*token_options(prompt),
                        *(option for file in files
                          for option in ("--image", self.path / file))])
                for what, files in ways.items()]

    def generations(self):
        """Ways to generate: what they are, the options of `tenon run`, and
        the new tokens that must come out."""
        if self.tokens is None:
            return []
        if self.decodes:
            options = token_options(self.tokens[:GREEDY_PROMPT])
        else:
            options = token_options(self.tokens, self.types)
        beams = ["--num-beams", 3, "--length-penalty"]
        ways = {
            "greedy": ["--temperature", 0, "--ignore-eos"],
            "beams": [*beams, "1.0"],
            "long_beams": [*beams, "2.0"],
            # As the checkpoint's own settings have it.
            "published": [],
        }
        found = [(way, [*options, "--max-new-tokens", NEW_TOKENS, *more],
                  self.array(way).tolist())
                 for way, more in ways.items()
                 if self.array(way) is not None]
        if self.kind == "image_logits":
            found += [(f"image_greedy of {what}",
                       [*given, "--max-new-tokens", NEW_TOKENS,
                        *ways["greedy"]], self.array("image_greedy").tolist())
                      for what, given in self.image_prompts()]
        return found


def fixtures(names=()):
    """All fixtures, or those of the given names and families."""
    entries = json.loads((FIXTURES / "index.json").read_text())
    known = {entry[key] for entry in entries for key in ("name", "family")}
    for name in names:
        if name not in known:
            sys.exit(f"no fixture or family is called {name}")
    return [Fixture(e) for e in entries
            if not names or e["name"] in names or e["family"] in names]


def first_of_each(chosen):
    """The first fixture of every family among `chosen`."""
    families = {}
    for fixture in chosen:
        families.setdefault(fixture.family, fixture)
    return list(families.values())
