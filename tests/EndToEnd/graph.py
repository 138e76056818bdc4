"""Models in the graph IR, with what no family of today uses.

Takes the text that a fixture is imported as, rewrites its rotations and masks
(windows, prefixes),
compiles it with the fixture's weights, and compares with a plain forward pass
in f64.
"""

import json
import re
import struct
import subprocess
import sys

import numpy as np

from support import FIXTURES, REFERENCE_TOLERANCE, largest_error

FIXTURE = FIXTURES / "llama-mha"


def read_weights(path):
    """The f32 tensors of one safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in info["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(
            info["shape"]).astype(np.float64)
    return tensors


def rotate(heads, style, dim, base):
    """[T, heads, head_dim] rotated by position."""
    angles = np.outer(np.arange(len(heads)), base ** (-np.arange(0, dim, 2) / dim))
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    first = slice(0, dim, 2) if style == "interleaved" else slice(0, dim // 2)
    second = slice(1, dim, 2) if style == "interleaved" else slice(dim // 2, dim)
    result = heads.copy()
    result[..., first] = heads[..., first] * cos - heads[..., second] * sin
    result[..., second] = heads[..., second] * cos + heads[..., first] * sin
    return result


def norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def forward(weights, config, ids, style, dim, base, window, prefix):
    """Logits [T, V] of a LLaMA with these rotations, window and prefix."""
    heads, eps = config["num_attention_heads"], config["rms_norm_eps"]
    tokens = len(ids)
    distance = np.arange(tokens)[:, None] - np.arange(tokens)
    hidden = (distance < 0) | (distance >= window)
    hidden[:prefix, :prefix] = False
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        def of(key):
            return weights[f"model.layers.{layer}.{key}.weight"]
        n = norm(x, of("input_layernorm"), eps)
        q, k, v = ((n @ of(f"self_attn.{part}_proj").T).reshape(tokens, heads, -1)
                   for part in "qkv")
        q, k = (rotate(part, style, dim, base) for part in (q, k))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
        scores[:, hidden] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", scores, v).reshape(tokens, -1)
        x = x + attended @ of("self_attn.o_proj").T
        n = norm(x, of("post_attention_layernorm"), eps)
        gate = n @ of("mlp.gate_proj").T
        up = n @ of("mlp.up_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ of("mlp.down_proj").T
    return norm(x, weights["model.norm.weight"], eps) @ weights["lm_head.weight"].T


def main():
    tenon, work = sys.argv[1:]
    config = json.loads((FIXTURE / "config.json").read_text())
    weights = read_weights(FIXTURE / "model.safetensors")
    ids = np.load(FIXTURE / "input_ids.npy")
    imported = subprocess.run(
        [tenon, "compile", str(FIXTURE), "--emit", "transformer"],
        check=True, capture_output=True, text=True).stdout
    failed = 0
    for style, dim, window, prefix in (("half", 24, 1000, 0), ("half", 16, 1000, 0),
                                       ("half", 24, 1000, 7),
                                       ("interleaved", 24, 1000, 0),
                                       ("interleaved", 10, 5, 0)):
        text, rotations = re.subn(r"<half, dim = \d+, base = [^>]*>",
                                  f"<{style}, dim = {dim}, base = 500.0>", imported)
        text, masks = re.subn(r"(scale \S+)", rf"\1 window {window}", text)
        if prefix:
            text, masks = re.subn(r"attention causal\b(.*) window \d+",
                                  r"attention prefix\1", text)
        if rotations != 2 or masks != 1:
            sys.exit("the imported text does not look as expected")
        path = f"{work}.mlir"
        with open(path, "w") as file:
            file.write(text)
        expected = forward(weights, config, ids, style, dim, 500.0, window, prefix)
        for few in ("1", "64"):
            subprocess.run([tenon, "compile", path, "--weights", str(FIXTURE), "-o",
                            f"{work}.tenon", "--few-tokens", few], check=True)
            subprocess.run([tenon, "run", f"{work}.tenon", "--token-ids",
                            f"@{FIXTURE}/input_ids.npy", "--output", f"{work}.npy",
                            "--max-new-tokens", "1", "--prefix-tokens", str(prefix)],
                           check=True, stdout=subprocess.DEVNULL)
            error = largest_error(np.load(f"{work}.npy"), expected)
            print(f"{style} {dim} window {window} prefix {prefix} few {few}: {error:.2e}")
            failed += not error <= REFERENCE_TOLERANCE["f32"][1]
    sys.exit(failed)


if __name__ == "__main__":
    main()
