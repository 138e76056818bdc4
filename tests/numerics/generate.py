#!/usr/bin/env python3
"""Makes and checks the numeric references in fixtures/.

Each fixture is a small checkpoint of random weights as Transformers saves it,
with what Transformers (eager attention, f32) computes from the stored weights.
README.md describes the files.

  generate.py                    all fixtures
  generate.py llama bert         those of two families
  generate.py --check            compare what is stored with Transformers
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from transformers import AutoModel, AutoModelForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "bert")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
PROMPT_TOKENS = 9
NEW_TOKENS = 16
# Of the largest logit: the least distance between the two best at each step.
MIN_GAP = 1e-3
# Of the largest magnitude: what removing any feature must change at least; the
# tolerance of the comparisons is a tenth of it.
MIN_EFFECT = 1e-3
# The same between gelu and its tanh form, which differ by 5e-4 at most.
MIN_GELU_EFFECT = 2e-4
# What Transformers itself may lose in bf16, as relative L2 error; the tolerance
# of the comparisons is 3e-2.
MAX_BF16_ERROR = 2.2e-2
MAX_TOTAL_BYTES = 6_000_000


@dataclasses.dataclass
class Fixture:
    """One configuration; `config` is what differs from DEFAULTS."""

    family: str
    name: str
    config: dict
    dtype: str = "f32"
    tokens: int = 37
    # Logits are stored for the last rows only, if not 0.
    last_rows: int = 0
    # The spelling of config.json before Transformers 5.
    older: bool = False
    # "type" instead of "rope_type", as the oldest files have it.
    rope_key: str = "rope_type"
    # No rope_theta: the default of the family applies.
    drop_theta: bool = False
    # Weights in several files with an index.
    sharded: bool = False
    # No pooler tensors (bert).
    pooler: bool = True

    @property
    def full_name(self):
        return f"{self.family}-{self.name}"

    @property
    def kind(self):
        return "hidden" if self.family == "bert" else "logits"

    @property
    def arrays(self):
        other = "token_type_ids" if self.kind == "hidden" else "greedy"
        return ("input_ids.npy", f"{other}.npy", self.reference)

    @property
    def reference(self):
        if self.kind == "hidden":
            return "hidden.npy"
        return "logits_last.npy" if self.last_rows else "logits.npy"


# Three key-value heads of 24 unless a fixture says otherwise.
DEFAULTS = {
    "llama": dict(
        vocab_size=97, hidden_size=72, intermediate_size=88,
        num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=3,
        head_dim=24, max_position_embeddings=64, rms_norm_eps=1e-5,
        bos_token_id=None, eos_token_id=None, tie_word_embeddings=False),
    "bert": dict(
        vocab_size=97, hidden_size=72, intermediate_size=104,
        num_hidden_layers=2, num_attention_heads=3,
        max_position_embeddings=64, type_vocab_size=2, layer_norm_eps=1e-12),
}
DEFAULTS["mistral"] = DEFAULTS["llama"] | dict(sliding_window=8)
DEFAULTS["qwen2"] = DEFAULTS["llama"] | dict(
    rms_norm_eps=1e-6, use_sliding_window=False, sliding_window=32,
    max_window_layers=2)
# Width divided by heads, for want of the key.
del DEFAULTS["qwen2"]["head_dim"]
DEFAULTS["qwen3"] = DEFAULTS["qwen2"] | dict(head_dim=24)


def rope(kind="default", theta=10000.0, **rest):
    return dict(rope_type=kind, rope_theta=theta, **rest)


def llama3_rope(original, theta=10000.0, factor=8.0):
    return rope("llama3", theta, factor=factor, low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=original)


FIXTURES = [
    # Multi-head attention, untied head, plain rotation, newer spelling.
    Fixture("llama", "mha", dict(
        num_attention_heads=3, intermediate_size=72,
        rope_parameters=rope(theta=500.0))),
    # Six query heads wider than the hidden size, tied head. At 24 elements per
    # head, an original length of 64 has all three branches of the llama3 rule.
    Fixture("llama", "gqa-llama3", dict(
        hidden_size=48, intermediate_size=264, tie_word_embeddings=True,
        max_position_embeddings=256, rope_parameters=llama3_rope(64)),
        dtype="bf16"),
    # Every bias, one key-value head, linear scaling under its oldest name.
    Fixture("llama", "mqa-bias-linear", dict(
        num_attention_heads=3, num_key_value_heads=1, num_hidden_layers=3,
        intermediate_size=40, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-2,
        rope_parameters=rope("linear", factor=4.0)),
        older=True, rope_key="type"),
    # Nine query heads, shards, llama3 in the older spelling, another
    # activation, end-of-sequence ids.
    Fixture("llama", "sharded-llama3", dict(
        num_attention_heads=9, intermediate_size=120, hidden_act="gelu",
        attention_bias=True, bos_token_id=1, eos_token_id=[2, 5],
        max_position_embeddings=128,
        rope_parameters=llama3_rope(48, theta=2000.0, factor=4.0)),
        dtype="f16", older=True, sharded=True),
    # Neither rope_theta nor rope_scaling; bias of the feed-forward only.
    Fixture("llama", "bare", dict(
        vocab_size=131, hidden_size=48, intermediate_size=264,
        num_attention_heads=2, num_key_value_heads=1, mlp_bias=True,
        hidden_act="gelu_pytorch_tanh", rope_parameters=rope()),
        dtype="bf16", older=True, drop_theta=True),
    # Longer than several pages of the cache.
    Fixture("llama", "long", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=512,
        rope_parameters=rope("linear", factor=2.0)),
        tokens=300, last_rows=8),

    Fixture("mistral", "window", dict(
        hidden_size=48, intermediate_size=104, rope_parameters=rope())),
    Fixture("mistral", "mqa-older", dict(
        num_attention_heads=3, num_key_value_heads=1, intermediate_size=264,
        sliding_window=13, bos_token_id=1, eos_token_id=2,
        rope_parameters=rope(theta=1e6)),
        dtype="bf16", older=True),
    Fixture("mistral", "no-window", dict(
        num_attention_heads=3, sliding_window=None,
        tie_word_embeddings=True, hidden_act="relu",
        rope_parameters=rope("linear", factor=3.0)), dtype="f16"),

    Fixture("qwen2", "tied", dict(
        hidden_size=144, intermediate_size=72, tie_word_embeddings=True,
        rope_parameters=rope(theta=1e6)), dtype="bf16"),
    Fixture("qwen2", "mqa-older", dict(
        num_attention_heads=3, num_key_value_heads=1,
        rope_parameters=llama3_rope(32, theta=1000.0)), older=True),
    # Layer 0 sees everything, layers 1 and 2 a window.
    Fixture("qwen2", "window", dict(
        num_attention_heads=3, num_hidden_layers=3, use_sliding_window=True,
        sliding_window=8, max_window_layers=1, vocab_size=131,
        rope_parameters=rope()), dtype="bf16", sharded=True),
    # The same rule without layer_types.
    Fixture("qwen2", "window-older", dict(
        num_attention_heads=3, num_key_value_heads=1, num_hidden_layers=3,
        use_sliding_window=True, sliding_window=11, max_window_layers=2,
        rope_parameters=rope(theta=1e5)), dtype="f16", older=True),

    Fixture("qwen3", "tied", dict(
        hidden_size=48, intermediate_size=104, tie_word_embeddings=True,
        rope_parameters=rope(theta=1e6))),
    Fixture("qwen3", "mqa-bias-older", dict(
        num_attention_heads=3, num_key_value_heads=1, intermediate_size=264,
        attention_bias=True, rms_norm_eps=1e-2,
        rope_parameters=rope("linear", theta=1e4, factor=2.0)),
        dtype="bf16", older=True, rope_key="type"),
    # layer_types that no rule of layer numbers gives.
    Fixture("qwen3", "window", dict(
        num_attention_heads=9, num_hidden_layers=3, use_sliding_window=True,
        sliding_window=7, intermediate_size=40,
        max_position_embeddings=128,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        rope_parameters=llama3_rope(64)), dtype="bf16", sharded=True),

    Fixture("bert", "gelu", dict(hidden_act="gelu")),
    Fixture("bert", "gelu-new", dict(
        hidden_act="gelu_new", hidden_size=48, num_attention_heads=2,
        intermediate_size=264, layer_norm_eps=1e-2),
        dtype="bf16", older=True, pooler=False),
    Fixture("bert", "relu", dict(
        hidden_act="relu", num_attention_heads=9, num_hidden_layers=3,
        intermediate_size=104, type_vocab_size=3, vocab_size=131),
        dtype="f16", sharded=True),
]


def config_class(family):
    return transformers.models.auto.configuration_auto.CONFIG_MAPPING[family]


def build(fixture, rng):
    """A model of f32 weights, every one of them random."""
    config = config_class(fixture.family)(
        **(DEFAULTS[fixture.family] | fixture.config))
    config._attn_implementation = "eager"
    if fixture.family == "bert":
        model = AutoModel.from_config(
            config, add_pooling_layer=fixture.pooler)
    else:
        model = AutoModelForCausalLM.from_config(config)
    head_scale = 3 / math.sqrt(config.hidden_size)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = rng.standard_normal(parameter.shape)
            if name.endswith("bias"):
                value = 0.1 * noise
            elif re.search(r"[qk]_norm\.weight$", name):
                # Scores of standard deviation near 2: attention is not flat.
                value = 1.4 + 0.2 * noise
            elif re.search(r"norm\.weight$", name, re.IGNORECASE):
                value = 1 + 0.2 * noise
            elif name.endswith("embed_tokens.weight"):
                scale = head_scale if config.tie_word_embeddings else 1
                value = scale * noise
            elif name.startswith("embeddings."):
                value = 0.7 * noise
            elif name.startswith("lm_head"):
                value = head_scale * noise
            else:
                # Rows of unit variance in, so of variance gain^2 out.
                gain = 1
                if re.search(r"(q_proj|k_proj|query|key)\.weight$", name):
                    gain = 1.4
                elif re.search(r"(gate_proj|intermediate.dense|down_proj"
                               r"|\d.output.dense)", name):
                    # Into the range where activations differ, and seen.
                    gain = 2
                value = gain * noise / math.sqrt(parameter.shape[1])
            parameter.copy_(torch.from_numpy(value))
    return model.eval()


def spell_older(config, fixture):
    """config.json as Transformers 4 wrote it, with the same meaning."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.40.0"
    config.pop("layer_types", None)
    if fixture.family == "bert":
        config["position_embedding_type"] = "absolute"
    elif config.get("use_sliding_window") is False:
        # A number that must be left alone; newer files say null.
        config["sliding_window"] = 8
    parameters = config.pop("rope_parameters", None)
    if parameters:
        parameters = dict(parameters)
        theta = parameters.pop("rope_theta")
        kind = parameters.pop("rope_type")
        if not fixture.drop_theta:
            config["rope_theta"] = theta
        config["rope_scaling"] = (
            None if kind == "default"
            else {fixture.rope_key: kind, **parameters})
    return dict(sorted(config.items()))


def save(model, fixture, directory):
    model.to(DTYPES[fixture.dtype]).save_pretrained(
        directory, max_shard_size="100KB" if fixture.sharded else "1GB")
    # Generation defaults are no part of what is compared.
    (directory / "generation_config.json").unlink(missing_ok=True)
    path = directory / "config.json"
    config = json.loads(path.read_text())
    if fixture.older:
        config = spell_older(config, fixture)
    path.write_text(json.dumps(config, indent=2) + "\n")


def load(fixture, directory, change=None):
    """The stored model, its weights widened to f32."""
    kwargs = dict(dtype=torch.float32, attn_implementation="eager",
                  local_files_only=True)
    if change:
        config = transformers.AutoConfig.from_pretrained(directory)
        change(config)
        kwargs["config"] = config
    if fixture.family == "bert":
        return AutoModel.from_pretrained(
            directory, add_pooling_layer=fixture.pooler, **kwargs).eval()
    return AutoModelForCausalLM.from_pretrained(directory, **kwargs).eval()


def evaluate(model, fixture, ids, types=None):
    """Logits [T,V], or hidden states [T,H]."""
    inputs = dict(input_ids=torch.from_numpy(ids.astype(np.int64))[None])
    with torch.no_grad():
        if fixture.kind == "hidden":
            inputs["token_type_ids"] = torch.from_numpy(
                types.astype(np.int64))[None]
            return model(**inputs).last_hidden_state[0].float().numpy()
        return model(**inputs, use_cache=False).logits[0].float().numpy()


def generate_greedily(model, fixture, ids):
    """New tokens, each from the whole sequence, and the smallest gap between
    the two best logits relative to the largest magnitude."""
    sequence = list(ids[:PROMPT_TOKENS])
    gap = math.inf
    for _ in range(NEW_TOKENS):
        last = evaluate(model, fixture, np.array(sequence))[-1]
        second, first = np.sort(last)[-2:]
        gap = min(gap, float(first - second) / float(np.abs(last).max()))
        sequence.append(int(last.argmax()))
    return np.array(sequence[PROMPT_TOKENS:], dtype=np.int32), gap


def end_ids(fixture):
    ids = fixture.config.get("eos_token_id")
    return set(ids if isinstance(ids, list) else [ids])


def make(fixture, directory):
    first_seed = zlib.crc32(fixture.full_name.encode())
    for seed in range(first_seed, first_seed + 200):
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        rng = np.random.default_rng(seed)
        save(build(fixture, rng), fixture, directory)
        model = load(fixture, directory)
        ids = rng.integers(model.config.vocab_size, size=fixture.tokens,
                           dtype=np.int32)
        np.save(directory / "input_ids.npy", ids)
        types = None
        if fixture.kind == "hidden":
            count = model.config.type_vocab_size
            types = rng.integers(count, size=fixture.tokens, dtype=np.int32)
            np.save(directory / "token_type_ids.npy", types)
        else:
            greedy, gap = generate_greedily(model, fixture, ids)
            # Few distinct tokens would compare little.
            if (gap <= MIN_GAP or len(set(greedy)) < 6
                    or end_ids(fixture) & set(greedy.tolist())):
                continue
            np.save(directory / "greedy.npy", greedy)
        output = evaluate(model, fixture, ids, types)
        np.save(directory / fixture.reference, output[-fixture.last_rows:])
        size = sum(f.stat().st_size for f in directory.iterdir())
        print(f"{fixture.full_name}: seed +{seed - first_seed}, "
              f"{size / 1000:.0f} kB, largest {np.abs(output).max():.2f}")
        return
    sys.exit(f"error: {fixture.full_name}: no seed in 200 has clear winners")


def write_index(out):
    entries = [
        dict(name=f.full_name, family=f.family, kind=f.kind, dtype=f.dtype,
             reference=f.reference, tokens=f.tokens)
        for f in FIXTURES if (out / f.full_name / "config.json").exists()]
    lines = ",\n".join("  " + json.dumps(e) for e in entries)
    (out / "index.json").write_text(f"[\n{lines}\n]\n")


def set_rope(config, **values):
    config.rope_parameters = dict(config.rope_parameters, **values)


def variants(fixture, model):
    """(label, change of the config, change of the model): each drops one thing
    that the fixture is there to compare."""
    config = model.config
    kinds = sorted({re.sub(r"\d+", "*", name)
                    for name, _ in model.named_parameters()})
    for kind in kinds:
        pattern = re.compile(re.escape(kind).replace(r"\*", r"\d+") + "$")

        def change(changed, pattern=pattern, is_bias=kind.endswith("bias")):
            with torch.no_grad():
                for name, parameter in changed.named_parameters():
                    if pattern.match(name):
                        parameter.fill_(0.0 if is_bias else 1.0)

        # The same number on all scores of a row leaves its softmax alone, and
        # what a pooler makes of the hidden states is not compared.
        if kind.endswith("self.key.bias") or kind.startswith("pooler"):
            continue
        if kind.endswith("bias") or "norm" in kind.lower():
            yield kind, None, change
    if fixture.family == "bert":
        for act in {"gelu", "gelu_new", "relu"} - {config.hidden_act}:
            yield act, lambda c, a=act: setattr(c, "hidden_act", a), None
        if config.layer_norm_eps > 1e-4:
            yield "eps", lambda c: setattr(c, "layer_norm_eps", 1e-12), None
        return
    for act in {"silu", "relu", "gelu", "gelu_new"} - {config.hidden_act}:
        if act == "gelu_new" and config.hidden_act == "gelu_pytorch_tanh":
            continue
        yield act, lambda c, a=act: setattr(c, "hidden_act", a), None
    if config.rms_norm_eps > 1e-4:
        yield "eps", lambda c: setattr(c, "rms_norm_eps", 1e-6), None
    theta = config.rope_parameters["rope_theta"]
    yield "theta", lambda c: set_rope(c, rope_theta=theta * 1.1), None
    if config.rope_parameters["rope_type"] != "default":
        yield "scaling", lambda c: set_rope(c, rope_type="default"), None
    if config.rope_parameters["rope_type"] == "llama3":
        yield "factor", lambda c: set_rope(c, factor=2.0), None
        yield "low", lambda c: set_rope(c, low_freq_factor=0.5), None
        yield "high", lambda c: set_rope(c, high_freq_factor=8.0), None
    if config.__dict__.get("sliding_window"):
        window = config.sliding_window
        for other in (window - 1, window + 1):
            yield (f"window {other}",
                   lambda c, w=other: setattr(c, "sliding_window", w), None)
    types = getattr(config, "layer_types", None) or []
    for index, kind in enumerate(types):
        if "sliding_attention" not in types:
            break
        other = types[:]
        other[index] = ("full_attention" if kind == "sliding_attention"
                        else "sliding_attention")
        yield (f"layer_types[{index}]",
               lambda c, o=other: setattr(c, "layer_types", o), None)


def llama3_branches(config):
    """How many of a head's frequencies take each branch of the llama3 rule."""
    p = config.rope_parameters
    counts = dict(kept=0, smoothed=0, divided=0)
    head_dim = getattr(config, "head_dim",
                       config.hidden_size // config.num_attention_heads)
    for i in range(0, head_dim, 2):
        length = 2 * math.pi * p["rope_theta"] ** (i / head_dim)
        ratio = p["original_max_position_embeddings"] / length
        counts["kept" if ratio > p["high_freq_factor"] else
               "divided" if ratio < p["low_freq_factor"] else "smoothed"] += 1
    return counts


def check(fixture, directory):
    """Complaints about one stored fixture."""
    complaints = [f"{name} is not there"
                  for name in ("config.json", *fixture.arrays)
                  if not (directory / name).is_file()]
    if complaints:
        return complaints
    model = load(fixture, directory)
    ids = np.load(directory / "input_ids.npy")
    types = None
    if fixture.kind == "hidden":
        types = np.load(directory / "token_type_ids.npy")
        if set(types) != set(range(model.config.type_vocab_size)):
            complaints.append("not every token type occurs")
    if ids.dtype != np.int32 or ids.shape != (fixture.tokens,):
        complaints.append("input_ids.npy is not as declared")
    stored = np.load(directory / fixture.reference)
    output = evaluate(model, fixture, ids, types)[-fixture.last_rows:]
    if stored.dtype != np.float32 or stored.shape != output.shape:
        return complaints + [f"{fixture.reference} has another shape or type"]
    largest = np.abs(stored).max()
    error = np.abs(stored - output).max() / largest
    if not error <= 1e-5:
        complaints.append(f"{fixture.reference}: error {error:.1e}")
    if fixture.kind == "logits":
        greedy, gap = generate_greedily(model, fixture, ids)
        if not np.array_equal(greedy, np.load(directory / "greedy.npy")):
            complaints.append("greedy.npy: other tokens")
        if not gap > MIN_GAP:
            complaints.append(f"greedy.npy: gap {gap:.1e}")
        if not 1 <= largest <= 50:
            complaints.append(f"largest logit {largest:.1f}")
        if model.config.rope_parameters["rope_type"] == "llama3":
            counts = llama3_branches(model.config)
            if 0 in counts.values():
                complaints.append(f"llama3 branches {counts}")
    # References that rounding alone moves would compare nothing.
    exact, narrow = (
        evaluate(load(fixture, directory).to(t), fixture, ids, types)[
            -fixture.last_rows:] for t in (torch.float64, torch.bfloat16))
    rounding = np.abs(exact - stored).max() / largest
    if not rounding <= 1e-5:
        complaints.append(f"{rounding:.1e} from the result in f64")
    loss = np.linalg.norm(narrow - stored) / np.linalg.norm(stored)
    if not loss <= MAX_BF16_ERROR:
        complaints.append(f"loses {loss:.1e} in bf16")
    effects = {}
    for label, config_change, model_change in variants(fixture, model):
        changed = load(fixture, directory, config_change)
        if model_change:
            model_change(changed)
        other = evaluate(changed, fixture, ids, types)[-fixture.last_rows:]
        effects[label] = np.abs(other - stored).max() / largest
        both_gelu = "gelu" in label and "gelu" in model.config.hidden_act
        needed = MIN_GELU_EFFECT if both_gelu else MIN_EFFECT
        if not effects[label] >= needed:
            complaints.append(f"without '{label}' only "
                              f"{effects[label]:.1e} changes")
    least = min(effects, key=effects.get)
    print(f"{fixture.full_name}: error {error:.1e}, f64 {rounding:.1e}, bf16 "
          f"{loss:.1e}, least of {len(effects)} effects "
          f"{effects[least]:.1e} ({least})")
    return complaints


def check_all(chosen, out):
    failures = 0
    for fixture in chosen:
        directory = out / fixture.full_name
        complaints = (check(fixture, directory) if directory.is_dir()
                      else ["not there"])
        for complaint in complaints:
            print(f"error: {fixture.full_name}: {complaint}", file=sys.stderr)
        failures += len(complaints)
    known = {f.full_name for f in FIXTURES}
    for path in sorted(out.iterdir()):
        if path.is_dir() and path.name not in known:
            print(f"error: {path}: no such fixture", file=sys.stderr)
            failures += 1
    total = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    if total > MAX_TOTAL_BYTES:
        print(f"error: {total} bytes, more than {MAX_TOTAL_BYTES}",
              file=sys.stderr)
        failures += 1
    print(f"{len(chosen)} fixtures, {total} bytes in all, "
          f"{failures} failures")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY",
                        help="one of " + ", ".join(FAMILIES) + "; default all")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "fixtures")
    parser.add_argument("--check", action="store_true",
                        help="compare instead of writing")
    options = parser.parse_args()
    for family in options.families:
        if family not in FAMILIES:
            parser.error(f"unknown family '{family}'")
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    chosen = [f for f in FIXTURES
              if f.family in (options.families or FAMILIES)]
    if options.check:
        sys.exit(0 if check_all(chosen, options.out) else 1)
    options.out.mkdir(parents=True, exist_ok=True)
    for fixture in chosen:
        # Whole or not at all.
        with tempfile.TemporaryDirectory(dir=options.out) as scratch:
            made = pathlib.Path(scratch) / fixture.full_name
            make(fixture, made)
            target = options.out / fixture.full_name
            if target.exists():
                shutil.rmtree(target)
            made.rename(target)
    write_index(options.out)


if __name__ == "__main__":
    main()
