"""What all numeric references share: fixtures, how they are made and checked.

A family (families/*.py) is a table of configurations with what its weights,
its older files and its features need beside the common rules here.
"""

import dataclasses
import json
import math
import os
import re
import shutil
import sys
import zlib
from typing import Callable

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
PROMPT_TOKENS = 9
NEW_TOKENS = 16
SEEDS = 200
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
MAX_TOTAL_BYTES = 25_000_000

# Names that configurations have for the activation and for epsilon.
ACTIVATIONS = ("hidden_act", "hidden_activation", "activation_function",
               "activation")
EPSILONS = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon",
            "norm_epsilon", "norm_eps", "layernorm_epsilon")
NORM = re.compile(r"(norm[^.]*|ln_?\w*|LayerNorm)\.weight$", re.IGNORECASE)
POSITIONS = re.compile(r"(position\w*|wpe)\.weight$")


@dataclasses.dataclass
class Family:
    """What one model_type needs beside its configuration."""

    # The configuration of its fixtures unless they say otherwise.
    defaults: dict
    # (pattern, rule): the first pattern found in a parameter's name gives its
    # value, rule(noise, config); the common rules apply where none is.
    weights: tuple = ()
    # What a norm's weight is without effect (0 where 1 is added to it).
    neutral_norm: float = 1.0
    # Changes the dict of config.json to how older files spell it.
    older: Callable | None = None
    # variants(config): dicts of keys to set, by label, each of which changes
    # one thing that fixtures compare.
    variants: Callable | None = None
    # Patterns of parameters that change nothing.
    silent: tuple = ()
    # The modules that choose experts, and router(module output): scores
    # [T, experts] and the choice [T, k].
    routers: str | None = None
    router: Callable | None = None


# By model_type; families/*.py fill it.
FAMILIES: dict[str, Family] = {}


@dataclasses.dataclass
class Fixture:
    """One configuration of a decoder; `config` is what differs from the
    defaults of the family. Other kinds of model derive from it."""

    family: str
    name: str
    config: dict
    dtype: str = "bf16"
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

    kind = "logits"
    auto = AutoModelForCausalLM
    # Arguments of the automatic class, for building and for loading.
    arguments = {}

    @property
    def full_name(self):
        return f"{self.family}-{self.name}"

    @property
    def reference(self):
        return "logits_last.npy" if self.last_rows else "logits.npy"

    @property
    def input_names(self):
        """The arrays that `inputs` gives, first the tokens."""
        return ("input_ids",)

    @property
    def answer_names(self):
        """The arrays that `answers` gives."""
        return ("greedy",)

    @property
    def index(self):
        """The fixture's entry in index.json."""
        return dict(name=self.full_name, family=self.family, kind=self.kind,
                    dtype=self.dtype, reference=self.reference,
                    tokens=self.tokens)

    @property
    def traits(self):
        return FAMILIES[self.family]

    def inputs(self, model, rng):
        """Random inputs: arrays by name, stored as NAME.npy."""
        return dict(input_ids=choose_tokens(self, model, rng))

    def evaluate(self, model, inputs):
        """What is compared: f32 logits [T,V]."""
        with torch.no_grad():
            return model(input_ids=batch(inputs["input_ids"]),
                         use_cache=False).logits[0].float().numpy()

    def answers(self, model, inputs):
        """What is compared for equality: arrays by name; and complaints."""
        greedy, gap = generate_greedily(self, model, inputs)
        complaints = []
        if not gap > MIN_GAP:
            complaints.append(f"greedy.npy: gap {gap:.1e}")
        # Few distinct tokens would compare little.
        if len(set(greedy)) < 6:
            complaints.append(f"greedy.npy: only {set(greedy)}")
        if end_ids(self) & set(greedy.tolist()):
            complaints.append("greedy.npy: an end-of-sequence id")
        return dict(greedy=greedy), complaints

    def extra_complaints(self, model, inputs, stored):
        """What else `--check` demands."""
        complaints = []
        largest = np.abs(stored).max()
        if not 1 <= largest <= 50:
            complaints.append(f"largest logit {largest:.1f}")
        if rope_of(model.config).get("rope_type") == "llama3":
            counts = llama3_branches(model.config)
            if 0 in counts.values():
                complaints.append(f"llama3 branches {counts}")
        return complaints


def batch(ids):
    """int64 [1,T]."""
    return torch.from_numpy(ids.astype(np.int64))[None]


def rope(kind="default", theta=10000.0, **rest):
    return dict(rope_type=kind, rope_theta=theta, **rest)


def llama3_rope(original, theta=10000.0, factor=8.0):
    return rope("llama3", theta, factor=factor, low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=original)


def rope_of(config):
    """The rotation's parameters; empty where there is none or one per kind of
    layer."""
    parameters = getattr(config, "rope_parameters", None) or {}
    return parameters if "rope_type" in parameters else {}


def configuration(fixture):
    kind = transformers.models.auto.configuration_auto.CONFIG_MAPPING[
        fixture.family]
    return kind(**(fixture.traits.defaults | fixture.config))


def common_weight(name, noise, config):
    """The value of a parameter: activations of unit variance, attention that
    is not flat, biases and norms that are seen."""
    head_scale = 3 / math.sqrt(config.hidden_size)
    if name.endswith("bias"):
        return 0.1 * noise
    if re.search(r"[qk]_(norm|layernorm)\.weight$", name):
        # Scores of standard deviation near 2.
        return 1.4 + 0.2 * noise
    if NORM.search(name):
        return 1 + 0.2 * noise
    if re.search(r"(embed_tokens|wte|embed_in|word_embeddings)\.weight$",
                 name) and not name.startswith("embeddings."):
        return (head_scale if config.tie_word_embeddings else 1) * noise
    if name.startswith("embeddings."):
        return 0.7 * noise
    if POSITIONS.search(name):
        return 0.5 * noise
    if re.match(r"(lm_head|embed_out)\.", name):
        return head_scale * noise
    # Rows of unit variance in, so of variance gain^2 out.
    gain = 1
    if re.search(r"(q_proj|k_proj|query|key)\.weight$", name):
        gain = 1.4
    elif re.search(r"(gate_proj|gate_up_proj|intermediate.dense|down_proj"
                   r"|\d.output.dense)", name):
        # Into the range where activations differ, and seen.
        gain = 2
    return gain * noise / math.sqrt(noise.shape[-1])


def persistent(model):
    """The tensors that a checkpoint stores, by name; tied ones once."""
    tensors = dict(model.named_parameters())
    stored = model.state_dict(keep_vars=True)
    for name, buffer in model.named_buffers():
        if name in stored and buffer.is_floating_point():
            tensors[name] = buffer
    return tensors


def build(fixture, rng):
    """A model of f32 weights, every one of them random."""
    config = configuration(fixture)
    config._attn_implementation = "eager"
    model = fixture.auto.from_config(config, **fixture.arguments)
    text = config.get_text_config()
    with torch.no_grad():
        for name, parameter in persistent(model).items():
            noise = rng.standard_normal(parameter.shape)
            for pattern, rule in fixture.traits.weights:
                if re.search(pattern, name):
                    value = rule(noise, text)
                    break
            else:
                value = common_weight(name, noise, text)
            parameter.copy_(torch.from_numpy(np.asarray(value)))
    return model.eval()


def spell_older(config, fixture):
    """config.json as Transformers 4 wrote it, with the same meaning."""
    config = dict(config)
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.40.0"
    config.pop("layer_types", None)
    if config.get("use_sliding_window") is False:
        # A number that must be left alone; newer files say null.
        config["sliding_window"] = 8
    if "rope_type" in (config.get("rope_parameters") or {}):
        parameters = dict(config.pop("rope_parameters"))
        theta = parameters.pop("rope_theta")
        kind = parameters.pop("rope_type")
        # Where a part of each head is rotated, both have it.
        parameters.pop("partial_rotary_factor", None)
        if not fixture.drop_theta:
            config["rope_theta"] = theta
        config["rope_scaling"] = (
            None if kind == "default"
            else {fixture.rope_key: kind, **parameters})
    if fixture.traits.older:
        fixture.traits.older(config, fixture)
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


def load(fixture, directory, change=None, dtype=torch.float32):
    """The stored model, its weights widened to f32 unless `dtype` says
    otherwise."""
    kwargs = dict(dtype=dtype, attn_implementation="eager",
                  local_files_only=True, **fixture.arguments)
    if change:
        config = transformers.AutoConfig.from_pretrained(directory)
        change(config)
        kwargs["config"] = config
    return fixture.auto.from_pretrained(directory, **kwargs).eval()


def choose_tokens(fixture, model, rng):
    """Random tokens, int32 [T]."""
    return rng.integers(model.config.vocab_size, size=fixture.tokens,
                        dtype=np.int32)


def generate_greedily(fixture, model, inputs):
    """New tokens, each from the whole sequence, and the smallest gap between
    the two best logits relative to the largest magnitude."""
    sequence = list(inputs["input_ids"][:PROMPT_TOKENS])
    gap = math.inf
    for _ in range(NEW_TOKENS):
        last = fixture.evaluate(model, dict(input_ids=np.array(sequence)))[-1]
        second, first = np.sort(last)[-2:]
        gap = min(gap, float(first - second) / float(np.abs(last).max()))
        sequence.append(int(last.argmax()))
    return np.array(sequence[PROMPT_TOKENS:], dtype=np.int32), gap


def end_ids(fixture):
    ids = fixture.config.get("eos_token_id")
    return set(ids if isinstance(ids, list) else [ids])


def make(fixture, directory, first_seed=None):
    """Writes a fixture of the first seed whose answers are clear."""
    if first_seed is None:
        first_seed = zlib.crc32(fixture.full_name.encode())
    for seed in range(first_seed, first_seed + SEEDS):
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
        rng = np.random.default_rng(seed)
        save(build(fixture, rng), fixture, directory)
        model = load(fixture, directory)
        inputs = fixture.inputs(model, rng)
        answers, complaints = fixture.answers(model, inputs)
        if complaints:
            continue
        output = fixture.evaluate(model, inputs)
        narrow = load(fixture, directory, dtype=torch.bfloat16)
        loss = relative_loss(fixture.evaluate(narrow, inputs), output)
        if not loss <= MAX_BF16_ERROR:
            complaints = [f"loses {loss:.1e} in bf16"]
            continue
        for name, value in {**inputs, **answers}.items():
            np.save(directory / f"{name}.npy", value)
        np.save(directory / fixture.reference, output[-fixture.last_rows:])
        size = sum(f.stat().st_size for f in directory.iterdir())
        print(f"{fixture.full_name}: seed +{seed - first_seed}, "
              f"{size / 1000:.0f} kB, largest {np.abs(output).max():.2f}",
              flush=True)
        return
    sys.exit(f"error: {fixture.full_name}: no seed in {SEEDS} has clear "
             f"winners: {complaints}")


def relative_loss(values, exact):
    """The norm of the error as a share of the norm."""
    return float(np.linalg.norm(values - exact) / np.linalg.norm(exact))


def write_index(fixtures, out):
    """fixtures/index.json: every fixture that is there."""
    lines = ",\n".join(
        "  " + json.dumps(f.index) for f in fixtures
        if (out / f.full_name / "config.json").exists())
    (out / "index.json").write_text(f"[\n{lines}\n]\n")


def setting(**values):
    """A change of a configuration."""
    def change(config):
        for key, value in values.items():
            setattr(config, key, value)
    return change


def parameter_variants(fixture, model):
    """Drops each kind of bias, of norm weight and of position table."""
    kinds = sorted({re.sub(r"\d+", "*", name) for name in persistent(model)})
    for kind in kinds:
        pattern = re.compile(re.escape(kind).replace(r"\*", r"\d+") + "$")
        # The correction of a router is a bias under many names.
        is_bias = kind.endswith("bias")
        neutral = (fixture.traits.neutral_norm if NORM.search(kind) else 0.0)

        def change(changed, pattern=pattern, neutral=neutral):
            with torch.no_grad():
                for name, parameter in persistent(changed).items():
                    if pattern.match(name):
                        parameter.fill_(neutral)

        if any(re.search(s, kind) for s in fixture.traits.silent):
            continue
        if is_bias or NORM.search(kind) or POSITIONS.search(kind):
            yield kind, None, change


def rope_variants(config):
    """Changes of the rotation's parameters, by label."""
    present = rope_of(config)
    if not present:
        return
    theta = present["rope_theta"]
    kind = present["rope_type"]
    changes = {"theta": dict(rope_theta=theta * 1.1)}
    if kind != "default":
        changes["scaling"] = dict(rope_type="default")
    if kind == "llama3":
        changes |= {"factor": dict(factor=2.0),
                    "low": dict(low_freq_factor=0.5),
                    "high": dict(high_freq_factor=8.0)}
    for label, change in changes.items():
        yield label, setting(rope_parameters=present | change), None


def window_variants(config):
    if config.__dict__.get("sliding_window"):
        window = config.sliding_window
        for other in (window - 1, window + 1):
            yield f"window {other}", setting(sliding_window=other), None
    types = getattr(config, "layer_types", None) or []
    for index, kind in enumerate(types):
        if "sliding_attention" not in types:
            break
        other = types[:]
        other[index] = ("full_attention" if kind == "sliding_attention"
                        else "sliding_attention")
        yield f"layer_types[{index}]", setting(layer_types=other), None


def variants(fixture, model):
    """(label, change of the config, change of the model): each drops one thing
    that the fixture is there to compare."""
    config = model.config
    yield from parameter_variants(fixture, model)
    key = next((k for k in ACTIVATIONS if k in config.__dict__), None)
    if key:
        chosen = getattr(config, key)
        for act in sorted({"silu", "relu", "gelu", "gelu_new"} - {chosen}):
            tanh = ("gelu_new", "gelu_pytorch_tanh", "gelu_fast")
            if not (act in tanh and chosen in tanh):
                yield act, setting(**{key: act}), None
    for key in EPSILONS:
        if config.__dict__.get(key, 0) > 1e-4:
            yield "eps", setting(**{key: 1e-6}), None
    yield from rope_variants(config)
    yield from window_variants(config)
    if fixture.traits.variants:
        for label, values in fixture.traits.variants(config).items():
            yield label, setting(**values), None


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
    names = fixture.input_names + fixture.answer_names
    complaints = [f"{name} is not there"
                  for name in ("config.json", fixture.reference,
                               *(f"{n}.npy" for n in names))
                  if not (directory / name).is_file()]
    if complaints:
        return complaints
    model = load(fixture, directory)
    inputs = {name: np.load(directory / f"{name}.npy")
              for name in fixture.input_names}
    tokens = next(iter(inputs.values()))
    if len(tokens) != fixture.tokens:
        complaints.append(f"{len(tokens)} tokens, expected {fixture.tokens}")
    stored = np.load(directory / fixture.reference)
    output = fixture.evaluate(model, inputs)[-fixture.last_rows:]
    if stored.dtype != np.float32 or stored.shape != output.shape:
        return complaints + [f"{fixture.reference} has another shape or type"]
    largest = np.abs(stored).max()
    error = np.abs(stored - output).max() / largest
    if not error <= 1e-5:
        complaints.append(f"{fixture.reference}: error {error:.1e}")
    answers, unclear = fixture.answers(model, inputs)
    complaints += unclear
    for name, value in answers.items():
        if not np.array_equal(value, np.load(directory / f"{name}.npy")):
            complaints.append(f"{name}.npy: other values")
    complaints += fixture.extra_complaints(model, inputs, stored)
    # References that rounding alone moves would compare nothing.
    exact, narrow = (
        fixture.evaluate(m, inputs)[-fixture.last_rows:]
        for m in (load(fixture, directory).to(torch.float64),
                  load(fixture, directory, dtype=torch.bfloat16)))
    rounding = np.abs(exact - stored).max() / largest
    if not rounding <= 1e-5:
        complaints.append(f"{rounding:.1e} from the result in f64")
    loss = relative_loss(narrow, stored)
    if not loss <= MAX_BF16_ERROR:
        complaints.append(f"loses {loss:.1e} in bf16")
    effects = {}
    for label, config_change, model_change in variants(fixture, model):
        changed = load(fixture, directory, config_change)
        if model_change:
            model_change(changed)
        other = fixture.evaluate(changed, inputs)[-fixture.last_rows:]
        effects[label] = np.abs(other - stored).max() / largest
        needed = (MIN_GELU_EFFECT if "gelu" in label
                  and any("gelu" in str(getattr(model.config, k, ""))
                          for k in ACTIVATIONS) else MIN_EFFECT)
        if not effects[label] >= needed:
            complaints.append(f"without '{label}' only "
                              f"{effects[label]:.1e} changes")
    least = min(effects, key=effects.get)
    print(f"{fixture.full_name}: error {error:.1e}, f64 {rounding:.1e}, bf16 "
          f"{loss:.1e}, least of {len(effects)} effects "
          f"{effects[least]:.1e} ({least})", flush=True)
    return complaints
