"""`tenon bench --profile`.

profile.py TENON WORK

Every kernel of the code that runs is there, once per layer and step, with the
bytes of its packed weights; FLOPs add up to the model's, and output is the
same. Nothing is said of times but that they add up.
"""

import json
import struct
import sys
import xml.etree.ElementTree

import models
import support

LAYERS = 3


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def manifest_of(artifact):
    """What the file says of itself; runtime/Artifact/Format.h."""
    data = artifact.read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 24)
    return json.loads(data[offset:offset + size])


class Profiles:
    """An artifact, what it says of its code, and its profiles."""

    def __init__(self, test, artifact):
        self.test, self.artifact = test, artifact
        self.manifest = manifest_of(artifact)
        self.scopes = [scope["name"] for scope in self.manifest["scopes"]]
        self.weights = {weight["name"]: weight["bytes"]
                        for weight in self.manifest["weights"]}

    def bench(self, *options):
        answer = json.loads(self.test.need(
            "tenon", "bench", self.artifact, "--json", "--profile", *options))
        level = answer["level"]
        self.code = next(code for code in self.manifest["code"]
                         if code["level"] == level)
        self.answer = answer
        return {phase["phase"]: phase for phase in answer["profile"]}

    def check_phase(self, what, phase, repeat, steps, tokens, kind):
        """A phase of `repeat * steps` steps with `repeat * tokens` tokens, which
        are the rows of its layers' kernels, in functions of the kind."""
        check = self.test.check
        check(phase["steps"] == repeat * steps
              and phase["tokens"] == repeat * tokens,
              f"{what}: {phase['steps']} steps of {phase['tokens']} tokens")
        kernels = self.code["kernels"]
        # Every kernel of these programs runs: of each function that is called,
        # all are there, for every layer that another of it is there for.
        seen = {}
        for line in phase["kernels"]:
            kernel = kernels[line["kernel"]]
            check_line = (line["text"] == kernel["text"]
                          and line["function"] == kernel["function"]
                          and line["reason"] == kernel["reason"]
                          and line["calls"] == repeat * steps
                          and (line["library"] is not None)
                          == (kernel["primitive"] is not None))
            if not check_line:
                check(False, f"{what}: {line}")
            seen.setdefault(line["function"], {}).setdefault(
                line["layer"], set()).add(line["kernel"])
        layers = {layer for layer in self.scopes
                  if layer.split(".")[-1].isdigit()}
        called = seen.get("layer" + kind, {})
        check(layers and set(called) == layers,
              f"{what}: layer{kind} for {sorted(called)}; {sorted(seen)}")
        for name, by_layer in seen.items():
            whole = {number for number, kernel in enumerate(kernels)
                     if kernel["function"] == name}
            good = all(numbers == whole for numbers in by_layer.values())
            check(good, f"{what}: {len(whole)} kernels of {name} in "
                        f"{len(by_layer)} layers")
        in_layers = [line for line in phase["kernels"]
                     if line["layer"] in layers]
        check(all(line["rows"] == repeat * tokens for line in in_layers),
              f"{what}: kernels of layers have {tokens} rows a round")
        # Times are those of the clock, added up.
        summed = (sum(line["seconds"] for line in phase["kernels"])
                  + phase["between_kernels_seconds"]
                  + phase["outside_steps_seconds"])
        check(close(summed, phase["seconds"])
              and phase["between_kernels_seconds"] >= 0
              and phase["outside_steps_seconds"] >= 0,
              f"{what}: {summed} of {phase['seconds']} seconds")
        shares = all(close(line["share_of_limit"],
                           line["bound_seconds"] / line["seconds"])
                     for line in phase["kernels"] if line["seconds"])
        check(shares, f"{what}: shares are of the time")

    def weight_bytes(self, phase, layer, key):
        """Bytes of weights that matmuls with `key` say that they read, and
        those in the file."""
        said = sum(self.code["kernels"][line["kernel"]]["cost"]["weight_bytes"]
                   for line in phase["kernels"]
                   if line["layer"] == layer and key in line["text"])
        stored = sum(size for name, size in self.weights.items()
                     if (layer or "") in name and key in name)
        return said, stored


def flops_of(phase):
    return sum(line["flops"] for line in phase["kernels"])


def check_picture(test, path, phases):
    root = xml.etree.ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    circles = root.findall(f"{space}circle")
    labels = [title.text for title in root.iter(f"{space}title")]
    numbers = [float(circle.get(name)) for circle in circles
               for name in ("cx", "cy", "r")]
    test.check(root.tag == f"{space}svg" and circles
               and all(0 <= number <= 900 for number in numbers)
               and all(any(label.startswith(f"{phase} matmul")
                           for label in labels) for phase in phases),
               f"{path.name}: circles {labels}")


def decoder(test):
    model = models.llama(test.work / "llama", LAYERS)
    artifact = test.compile(model, "llama", "--dtype", "bf16", "--few-tokens",
                            "8")
    profiles = Profiles(test, artifact)
    picture = test.work / "roofline.svg"
    phases = profiles.bench("--prompt-tokens", 20, "--new-tokens", 5,
                            "--repeat", 2, "--profile-svg", picture)
    test.check(list(phases) == ["prefill", "decode"], f"phases {list(phases)}")
    profiles.check_phase("prefill", phases["prefill"], 2, 1, 20, ".many")
    profiles.check_phase("decode", phases["decode"], 2, 5, 5, ".few")
    check_picture(test, picture, phases)
    for layer in range(LAYERS):
        for key in "o_proj", "down_proj":
            for name, phase in phases.items():
                said, stored = profiles.weight_bytes(
                    phase, f"model.layers.{layer}", key)
                test.check(said == stored > 0, f"{name}: {key} of layer "
                           f"{layer}: {said} bytes, {stored} in the file")
    # The last of 21 to 25 tokens, of two rounds: as the estimate of a model
    # counts them.
    expected = 2 * sum(
        json.loads(test.need("tenon", "inspect", model, "--json", "--context",
                             context))["flops_per_token"]["decode"]
        for context in range(21, 26))
    test.check(flops_of(phases["decode"]) == expected,
               f"decode: {flops_of(phases['decode'])} FLOPs, expected "
               f"{expected}")
    prefill = json.loads(test.need("tenon", "inspect", model, "--json",
                                   "--context", 20))["flops_per_token"]
    test.check(abs(flops_of(phases["prefill"]) / 40 - prefill["prefill"]) <= 20,
               f"prefill: {flops_of(phases['prefill']) / 40} FLOPs per token, "
               f"expected {prefill['prefill']} but for rounding")
    # Sequences side by side, and prompts in parts.
    both = profiles.bench("--prompt-tokens", 3, "--new-tokens", 2, "--repeat",
                          1, "--batch", 2)
    profiles.check_phase("batch of 2", both["decode"], 1, 2, 4, ".few")
    text = test.need("tenon", "bench", artifact, "--prompt-tokens", 3,
                     "--new-tokens", 2, "--profile", "--profile-layers")
    parts = ["limits: ", "prefill: ", "decode: ", "decode by layer:",
             "between kernels", "outside of steps", "model.layers.2",
             "\n  [1] ", "layer.few: "]
    test.check(all(part in text for part in parts),
               f"tables have {[part for part in parts if part not in text]} "
               "not")
    return artifact


def quantised(test):
    """Weights are counted as they are stored."""
    model = models.llama(test.work / "wide", 1)
    artifact = test.compile(model, "quantised", "--quantize", "int8")
    profiles = Profiles(test, artifact)
    phases = profiles.bench("--prompt-tokens", 20, "--new-tokens", 1,
                            "--repeat", 1)
    for name, phase in phases.items():
        said, stored = profiles.weight_bytes(phase, "model.layers.0",
                                             "down_proj")
        test.check(said == stored > 0, f"{name}, int8: {said} bytes, {stored} "
                                       "in the file")


def encoder(test):
    artifact = test.compile(models.bert(test.work / "bert", LAYERS), "bert")
    phases = Profiles(test, artifact)
    encode = phases.bench("--prompt-tokens", 20, "--repeat", 2, "--batch", 2)
    test.check(list(encode) == ["encode"], f"phases {list(encode)}")
    kernels = encode["encode"]["kernels"]
    attention = [line for line in kernels if line["operation"] == "attention"]
    test.check(len(attention) == LAYERS and
               all(line["flops"] == 2 * 2 * 20 * 20 * 4 * models.HIDDEN
                   for line in attention),
               f"encode: {len(attention)} kernels of attention")


def errors(test, artifact):
    test.expect_error("a picture without a profile", "--profile-svg",
                      "--profile", status=2,
                      command=["tenon", "bench", artifact, "--profile-svg",
                               test.work / "x.svg"])
    test.expect_error("layers without a profile", "--profile-layers",
                      "--profile", status=2,
                      command=["tenon", "bench", artifact,
                               "--profile-layers"])
    test.expect_error("a picture in place of the artifact", "llama.tenon",
                      command=["tenon", "bench", artifact, "--profile",
                               "--profile-svg", artifact])
    test.expect_error("a picture in no folder", "nowhere",
                      command=["tenon", "bench", artifact, "--profile",
                               "--profile-svg", test.work / "nowhere/x.svg"])


def main():
    test = support.Test(sys.argv[1:3])
    artifact = decoder(test)
    quantised(test)
    encoder(test)
    errors(test, artifact)
    test.finish()


if __name__ == "__main__":
    main()
