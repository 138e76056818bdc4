#!/usr/bin/env python3
"""Makes the GGUF files and their references beside it.

Each model of models.py has random weights in Transformers' form. They are
stored as llama.cpp's converter would store them, read back with the gguf
package, put into Transformers' form again, and evaluated there (eager, f32).
README.md describes the files.

  generate.py              all files
  generate.py llama-f32    one model
"""

import json
import os
import pathlib
import re
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gguf
import numpy as np
import safetensors.torch
import torch
import transformers
from gguf import GGMLQuantizationType as Type

import quantize
import tokens
from models import MODELS, sizes

HERE = pathlib.Path(__file__).resolve().parent
TOKENS, NEW_TOKENS = 12, 8
SEEDS = 30
# Of the largest logit: the least distance between the two best at each step.
MIN_GAP = 1e-3


def randomize(model, seed):
    """Every parameter and buffer random, none without effect."""
    generator = torch.Generator().manual_seed(seed)

    def noise(shape):
        return torch.randn(shape, generator=generator)

    state = model.state_dict()
    scale = 0.1 if "gemma" in model.config.model_type else 0.4
    for name, value in sorted(state.items()):
        if not value.is_floating_point():
            continue
        if re.search(r"(norm[^.]*|ln_\w+|norms\.\d+)\.weight$", name):
            neutral = 0 if "gemma" in model.config.model_type else 1
            value.copy_(neutral + 0.2 * noise(value.shape))
        elif value.ndim < 2 or name.endswith("bias"):
            value.copy_(0.2 * noise(value.shape))
        elif re.search(r"(embed|wte|wpe)", name):
            # Small enough that a tied head does not repeat the last token.
            value.copy_(noise(value.shape) * scale)
        elif re.search(r"(\.gate|router|gate_inp)\.weight$", name):
            value.copy_(noise(value.shape) * 2 / value.shape[-1] ** 0.5)
        else:
            value.copy_(noise(value.shape) * 1.2 / value.shape[-1] ** 0.5)


def create(model, seed):
    config = transformers.AutoConfig.for_model(
        model.model_type, **model.config)
    config._attn_implementation = "eager"
    made = transformers.AutoModelForCausalLM.from_config(
        config, attn_implementation="eager")
    with torch.no_grad():
        randomize(made, seed)
    return made.eval()


def stored_names(model, name, values, config, table):
    """(stored name, values, index of each value in `values`) triples."""
    order = np.arange(values.size, dtype=np.int64).reshape(values.shape)
    change = model.tensors or (lambda *_: None)
    changed = change(name, values, config) or [(name, values)]
    # The same on the elements' numbers; what Gemma adds to norms moves none.
    adds = model.model_type.startswith("gemma")
    moved = not adds and change(name, order, config) or [(name, order)]
    for (new, put), (_, at) in zip(changed, moved):
        mapped = table.get_name(new, try_suffixes=(".weight", ".bias"))
        if mapped is None:
            raise ValueError(f"{model.name}: no name for {new}")
        yield mapped, put, at


def stack(model, published, config):
    """Numbered matrices of experts and norms of heads as one each."""
    grouped, rest = {}, {}
    for name, values in published.items():
        match = re.search(r"\.(experts|norms)\.(\d+)(\.\w+)?\.weight$", name)
        if not match:
            rest[name] = ([name], values)
            continue
        if match[1] == "norms":
            whole = name[:match.start()] + ".weight"
        elif model.model_type == "mixtral":
            whole = (re.sub(r"^model\.|\.\d+(\.w\d\.weight)$", r"\1", name)
                     .replace("block_sparse_moe", "feed_forward"))
        else:
            whole = re.sub(r"\.\d+(\.\w+\.weight)$", r"\1", name)
        grouped.setdefault(whole, []).append((int(match[2]), name, values))
    for whole, parts in grouped.items():
        parts.sort(key=lambda part: part[0])
        rest[whole] = ([name for _, name, _ in parts],
                       np.stack([values for _, _, values in parts]))
    return rest


def kind_of(model, name, values):
    if values.ndim < 2 or re.search(r"ffn_gate_inp|position_embd|norm|exps.bias",
                                    name):
        return Type.F32
    for pattern, kind in model.kinds.items():
        if re.search(pattern, name):
            return kind
    for kind in model.kind, Type.Q8_0:
        if values.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0] == 0:
            return kind
    return Type.F16


def extra_tensors(config):
    """Rotation tables."""
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") == "llama3":
        dim = config.head_dim or config.hidden_size // config.num_attention_heads
        lengths = 2 * np.pi * rope["rope_theta"] ** (np.arange(0, dim, 2) / dim)
        original = rope["original_max_position_embeddings"]
        smooth = np.clip(
            (original / lengths - rope["low_freq_factor"])
            / (rope["high_freq_factor"] - rope["low_freq_factor"]), 0, 1)
        yield "rope_freqs.weight", 1 / ((1 - smooth) / rope["factor"] + smooth)
    if rope.get("rope_type") == "longrope":
        yield "rope_factors_long.weight", np.array(rope["long_factor"])
        yield "rope_factors_short.weight", np.array(rope["short_factor"])


def add_value(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def write(model, config, published, path):
    """Stores `published` and returns what was stored, in the same form."""
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[model.arch])
    if model.alignment != 32:
        writer.add_custom_alignment(model.alignment)
    writer.add_type("model")
    writer.add_name(model.name)
    writer.add_quantization_version(2)
    arch = gguf.MODEL_ARCH_NAMES[model.arch]
    metadata = dict(sizes(config))
    metadata.update((model.metadata or (lambda _: ()))(config))
    for key, value in metadata.items():
        add_value(writer, f"{arch}.{key}", value)
    if model.tokens:
        for key, value in tokens.metadata(model.tokens).items():
            add_value(writer, f"tokenizer.{key}", value)
    else:
        writer.add_string("tokenizer.ggml.model", "none")

    table = gguf.get_tensor_name_map(model.arch, metadata["block_count"])
    read_back = {}
    for name, (names, values) in stack(model, published, config).items():
        result = np.empty(values.size, np.float32)
        for mapped, put, at in stored_names(model, name, values, config, table):
            kind = kind_of(model, mapped, put)
            stored = quantize.encode(put, kind)
            writer.add_tensor(mapped, stored, raw_dtype=kind)
            shift = np.float32(
                1 if model.model_type.startswith("gemma")
                and name.endswith("norm.weight") else 0)
            result[at.ravel()] = quantize.decode(stored, kind).ravel() - shift
        result = result.reshape(values.shape)
        if len(names) == 1:
            read_back[names[0]] = result
        else:
            read_back.update(zip(names, result))
    for name, values in extra_tensors(config):
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    if model.version != 3:
        data = bytearray(path.read_bytes())
        data[4:8] = model.version.to_bytes(4, "little")
        path.write_bytes(data)
    return read_back


def signature(values):
    """One number that changes with any element and any order."""
    flat = values.astype(np.float64).ravel()
    index = np.arange(flat.size, dtype=np.uint64)
    weights = ((index * np.uint64(2654435761)) % np.uint64(1 << 32)
               ).astype(np.float64) / 2.0 ** 32 - 0.5
    return float(flat @ weights)


def evaluate(model, ids):
    """Logits, greedy tokens and the smallest gap of a greedy step."""
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].numpy()
        greedy, gap = [], np.inf
        for _ in range(NEW_TOKENS):
            last = model(torch.tensor([ids + greedy])).logits[0, -1]
            best = torch.topk(last, 2).values
            gap = min(gap, float((best[0] - best[1]) / last.abs().max()))
            greedy.append(int(last.argmax()))
    return logits.astype(np.float32), greedy, gap


def make(model, out):
    path = out / f"{model.name}.gguf"
    for seed in range(SEEDS):
        made = create(model, 100 * seed + len(model.name))
        with tempfile.TemporaryDirectory() as scratch:
            made.save_pretrained(scratch)
            file = pathlib.Path(scratch) / "model.safetensors"
            published = {name: value.float().numpy() for name, value in
                         safetensors.torch.load_file(file).items()}
            stored = write(model, made.config, published, path)
            safetensors.torch.save_file(
                {name: torch.from_numpy(np.ascontiguousarray(value))
                 for name, value in stored.items()}, file,
                metadata={"format": "pt"})
            again, info = transformers.AutoModelForCausalLM.from_pretrained(
                scratch, attn_implementation="eager", dtype=torch.float32,
                output_loading_info=True)
            if info["missing_keys"] or info["unexpected_keys"]:
                raise ValueError(f"{model.name}: {info}")
        random = np.random.default_rng(seed)
        ids = random.integers(3, 48, TOKENS).tolist()
        logits, greedy, gap = evaluate(again.eval(), ids)
        if gap >= MIN_GAP and len(set(greedy)) > 1 and \
                np.isfinite(logits).all():
            break
    else:
        raise ValueError(f"{model.name}: no seed gives clear tokens")
    # The rows of the last tokens alone where a vocabulary is large.
    np.save(out / f"{model.name}.npy", logits)
    print(f"{model.name}: seed {seed}, gap {gap:.1e}, "
          f"{path.stat().st_size} bytes", flush=True)
    return {"name": model.name, "tokens": ids, "greedy": greedy,
            "model_type": model.model_type,
            "config": {key: value for key, value in model.config.items()
                       if not isinstance(value, (dict, list))},
            "tensors": {name: [list(value.shape), float(f"{signature(value):.13g}")]
                        for name, value in sorted(stored.items())}}


def write_blocks(path):
    """Random bytes of each quantised type and what they stand for."""
    random = np.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "llama")
    for kind, scales in ((Type.Q8_0, (0,)), (Type.Q4_0, (0,)),
                         (Type.Q4_1, (0, 2)), (Type.Q5_0, (0,)),
                         (Type.Q5_1, (0, 2)), (Type.Q2_K, (80, 82)),
                         (Type.Q3_K, (108,)), (Type.Q4_K, (0, 2)),
                         (Type.Q5_K, (0, 2)), (Type.Q6_K, (208,)),
                         (Type.IQ4_NL, (0,)), (Type.IQ4_XS, (0,)),
                         (Type.MXFP4, ())):
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        stored = random.integers(0, 256, (5, size), dtype=np.uint8)
        for at in scales:
            # Finite, of either sign, one subnormal.
            values = random.standard_normal(5).astype(np.float16)
            values[3] = 3e-6
            stored[:, at:at + 2] = values[:, None].view(np.uint8)
        if kind == Type.MXFP4:
            # The ends of what stays finite, both subnormal scales.
            stored[:, 0] = (0, 1, 2, 127, 250)
        stored = stored.reshape(1, -1)
        writer.add_tensor(kind.name, stored, raw_dtype=kind)
        writer.add_tensor(kind.name + ".values", quantize.decode(stored, kind))
    for kind in (Type.F16, Type.BF16):
        values = random.standard_normal((1, 40)).astype(np.float32)
        stored = quantize.encode(values, kind)
        writer.add_tensor(kind.name, stored, raw_dtype=kind)
        writer.add_tensor(kind.name + ".values", quantize.decode(stored, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    chosen = sys.argv[1:]
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    out = HERE / "fixtures"
    out.mkdir(exist_ok=True)
    index_path = out / "index.json"
    entries = {}
    if chosen and index_path.exists():
        entries = {entry["name"]: entry
                   for entry in json.loads(index_path.read_text())}
    for model in MODELS:
        if not chosen or model.name in chosen:
            entries[model.name] = make(model, out)
    order = [model.name for model in MODELS if model.name in entries]
    lines = [json.dumps(entries[name]) for name in order]
    index_path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    if not chosen:
        write_blocks(out / "blocks.gguf")
        tokens.write_references(out / "tokenizers.json")


if __name__ == "__main__":
    main()
