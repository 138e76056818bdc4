"""MPT as LLM Foundry has it, which Transformers does not know: positions that
are learned, shared key-value heads, biases. The model here is written after
that package and gave the same numbers as its classes (llm-foundry 0.22.0)."""

import dataclasses
import math
import types

import torch
import transformers
from torch import nn
from torch.nn import functional

from reference import Family, Fixture, rows

ATTENTION = dict(
    attn_type="multihead_attention", attn_pdrop=0.0, attn_impl="torch",
    qk_ln=False, qk_gn=False, fused_qkv=True, clip_qkv=None,
    softmax_scale=None, attn_uses_sequence_id=False, sliding_window_size=-1,
    attn_logit_softcapping=None, alibi=False, alibi_bias_max=8, rope=False,
    rope_theta=10000, rope_impl="dail",
    rope_dail_config=dict(type="original", pos_idx_in_fp32=True,
                          xpos_scale_base=512),
    rope_hf_config=dict(type="no_scaling", factor=1.0), kv_dim=None)
FOUNDRY = dict(
    vocab_size=97, d_model=48, n_heads=4, n_layers=2, expansion_ratio=2,
    max_seq_len=64, learned_pos_emb=True, attn_config={},
    ffn_config=dict(ffn_type="mptmlp"), logit_scale=None, no_bias=False,
    embedding_fraction=1.0, norm_type="low_precision_layernorm",
    norm_eps=1e-5, tie_word_embeddings=True, emb_pdrop=0.0, resid_pdrop=0.0,
    init_device="cpu", init_config=dict(name="kaiming_normal_"),
    fc_type=dict(name="torch"), use_pad_tok_in_ffn=True, use_cache=False)


class FoundryConfig(transformers.PreTrainedConfig):
    model_type = "mpt"
    attribute_map = {"hidden_size": "d_model"}

    def __init__(self, **keys):
        for key, default in FOUNDRY.items():
            setattr(self, key, keys.pop(key, default))
        self.attn_config = ATTENTION | self.attn_config
        super().__init__(tie_word_embeddings=self.tie_word_embeddings, **keys)


def slopes(heads, most):
    """Of ALiBi: the even ones of the next power of two come first."""
    power = 2 ** math.ceil(math.log2(heads))
    all_slopes = 2.0 ** (-most * torch.arange(1, power + 1) / power)
    if power == heads:
        return all_slopes
    return torch.cat([all_slopes[1::2], all_slopes[::2]])[:heads]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.options = options = types.SimpleNamespace(**config.attn_config)
        self.heads, width = config.n_heads, config.d_model
        self.head = width // self.heads
        self.kv_heads = {
            "multihead_attention": self.heads, "multiquery_attention": 1,
            "grouped_query_attention": getattr(options, "kv_n_heads", None)
        }[options.attn_type]
        bias = not config.no_bias
        shared = self.kv_heads * self.head
        self.Wqkv = nn.Linear(width, width + 2 * shared, bias=bias)
        if options.qk_ln:
            # Of the whole projection, and of this epsilon in any model.
            self.q_ln = nn.LayerNorm(width, 1e-5, bias=bias)
            self.k_ln = nn.LayerNorm(shared, 1e-5, bias=bias)
        self.out_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        options = self.options
        length, width = x.shape
        qkv = self.Wqkv(x)
        if options.clip_qkv:
            qkv = qkv.clamp(-options.clip_qkv, options.clip_qkv)
        shared = self.kv_heads * self.head
        q, k, v = qkv.split([width, shared, shared], dim=-1)
        if options.qk_ln:
            q, k = self.q_ln(q), self.k_ln(k)
        q, k, v = (part.view(length, -1, self.head).transpose(0, 1)
                   for part in (q, k, v))
        k, v = (part.repeat_interleave(self.heads // self.kv_heads, dim=0)
                for part in (k, v))
        scale = options.softmax_scale or 1 / math.sqrt(self.head)
        scores = q @ k.transpose(1, 2) * scale
        if options.alibi:
            distance = torch.arange(length) - (length - 1)
            slope = slopes(self.heads, options.alibi_bias_max)
            scores = scores + (slope[:, None, None] * distance).to(x.dtype)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(0, 1).reshape(
            length, width))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        inner = int(config.d_model * config.expansion_ratio)
        bias = not config.no_bias
        self.up_proj = nn.Linear(config.d_model, inner, bias=bias)
        self.down_proj = nn.Linear(inner, config.d_model, bias=bias)

    def forward(self, x):
        return self.down_proj(functional.gelu(self.up_proj(x)))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm_1 = norm(config)
        self.attn = Attention(config)
        self.norm_2 = norm(config)
        self.ffn = FeedForward(config)

    def forward(self, x):
        x = x + self.attn(self.norm_1(x))
        return x + self.ffn(self.norm_2(x))


def norm(config):
    return nn.LayerNorm(config.d_model, config.norm_eps,
                        bias=not config.no_bias)


class FoundryMpt(transformers.PreTrainedModel):
    """Logits [1,T,V] of one sequence."""

    config_class = FoundryConfig
    base_model_prefix = "transformer"
    _tied_weights_keys = {"lm_head.weight": "transformer.wte.weight"}

    def __init__(self, config):
        super().__init__(config)
        parts = dict(
            wte=nn.Embedding(config.vocab_size, config.d_model),
            blocks=nn.ModuleList(Block(config)
                                 for _ in range(config.n_layers)),
            norm_f=norm(config))
        if config.learned_pos_emb and not config.attn_config["alibi"]:
            parts["wpe"] = nn.Embedding(config.max_seq_len, config.d_model)
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.transformer["wte"]

    def get_output_embeddings(self):
        return self.lm_head

    @classmethod
    def from_config(cls, config):
        return cls(config)

    def forward(self, input_ids, use_cache=None):
        parts = self.transformer
        x = parts["wte"](input_ids[0])
        if "wpe" in parts:
            x = x + parts["wpe"].weight[:len(x)]
        for block in parts["blocks"]:
            x = block(x)
        logits = self.lm_head(parts["norm_f"](x))
        scale = self.config.logit_scale
        if scale is not None:
            logits = logits * (1 / math.sqrt(self.config.d_model)
                               if scale == "inv_sqrt_d_model" else scale)
        return types.SimpleNamespace(logits=logits[None])


def as_foundry_names(config, fixture):
    config["architectures"] = ["MPTForCausalLM"]


def variants(config):
    changes = {}
    for key, value in dict(clip_qkv=None, softmax_scale=0.2,
                           alibi_bias_max=4).items():
        if config.attn_config[key] != ATTENTION[key] and key != "alibi":
            changes[key] = dict(attn_config=config.attn_config | {key: value})
    if config.logit_scale:
        changes["logit_scale"] = dict(logit_scale=None)
    if config.attn_config["alibi"]:
        changes["alibi"] = dict(attn_config=config.attn_config
                                | dict(alibi=False), learned_pos_emb=False)
    return changes


TRAITS = Family(
    FOUNDRY,
    weights=((r"Wqkv\.weight$", rows(1.3)), (r"up_proj\.weight$", rows(2)),
             (r"down_proj\.weight$", rows(4)),
             (r"[qk]_ln\.weight$", lambda noise, config: 1.4 + 0.2 * noise)),
    older=as_foundry_names, variants=variants, silent=(r"k_ln\.bias$",))


@dataclasses.dataclass
class Foundry(Fixture):
    """One configuration of LLM Foundry's MPT."""

    older: bool = True

    auto = FoundryMpt
    configuration = FoundryConfig

    @property
    def traits(self):
        return TRAITS

    def extra_complaints(self, model, inputs, stored):
        return []


FIXTURES = [
    # Learned positions, every bias.
    Foundry("mpt", "foundry-learned", {}),
    Foundry("mpt", "foundry-grouped", dict(
        d_model=60, n_heads=6, vocab_size=61, no_bias=True,
        expansion_ratio=1.5, tie_word_embeddings=False, norm_eps=1e-2,
        attn_config=dict(attn_type="grouped_query_attention", kv_n_heads=2,
                         alibi=True, alibi_bias_max=6, clip_qkv=2.0))),
    # One key-value head, norms of queries and keys.
    Foundry("mpt", "foundry-norms", dict(
        d_model=40, n_heads=5, norm_eps=1e-2, logit_scale="inv_sqrt_d_model",
        attn_config=dict(attn_type="multiquery_attention", qk_ln=True,
                         softmax_scale=0.5)), dtype="f16"),
]
