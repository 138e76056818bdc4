"""Small models of random weights as llama.cpp's converter writes them.

One entry per file: a Transformers configuration, the type that matrices are
stored in, and what the converter does to that family's metadata and tensors.
Names of tensors and keys come from the gguf package's own tables.
"""

import dataclasses
import re

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "vocab_size": 48,
         "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2,
         "pad_token_id": 0}
GROUPED = SIZES | {"num_key_value_heads": 2}
ONE_LAYER = GROUPED | {"num_hidden_layers": 1}


@dataclasses.dataclass
class Model:
    """One stored model."""

    name: str
    arch: gguf.MODEL_ARCH
    model_type: str
    config: dict
    kind: Type = Type.Q8_0
    # By pattern of the stored name: another type than `kind`.
    kinds: dict = dataclasses.field(default_factory=dict)
    # metadata(config): pairs of keys, without the architecture, and values.
    metadata: object = None
    # tensors(name, values, config): (stored name, values) pairs, or None for
    # the table's name and the values as they are.
    tensors: object = None
    # Tokens from: a name in tokens.py.
    tokens: str = ""
    version: int = 3
    alignment: int = 32


def pairs(values, heads):
    """Rows of each head [2, D/2] become [D/2, 2]."""
    shape = values.shape
    return (values.reshape(heads, 2, shape[0] // heads // 2, *shape[1:])
            .swapaxes(1, 2).reshape(shape))


def fused(values, heads, kv_heads):
    """Groups of query heads, key, value become all queries, keys, values."""
    groups = values.reshape(kv_heads, heads // kv_heads + 2, -1,
                            *values.shape[1:])
    parts = groups[:, :-2], groups[:, -2], groups[:, -1]
    return np.concatenate([part.reshape(-1, *values.shape[1:])
                           for part in parts])


def llama_tensors(name, values, config):
    if re.search(r"q_proj\.(weight|bias)$", name):
        return [(name, pairs(values, config.num_attention_heads))]
    if re.search(r"k_proj\.(weight|bias)$", name):
        return [(name, pairs(values, config.num_key_value_heads))]
    return None


def gemma_tensors(name, values, config):
    return [(name, values + 1)] if name.endswith("norm.weight") else None


def gpt2_tensors(name, values, config):
    if re.search(r"\.(c_attn|c_proj|c_fc)\.weight$", name):
        return [(name, values.T)]
    return None


def neox_tensors(name, values, config):
    if "query_key_value" in name:
        heads = config.num_attention_heads
        return [(name, fused(values, heads, heads))]
    return None


def bloom_tensors(name, values, config):
    name = name.removeprefix("transformer.")
    if "query_key_value" in name:
        values = fused(values, config.n_head, config.n_head)
    return [(name, values)]


def falcon_tensors(name, values, config):
    if "query_key_value" in name:
        return [(name, fused(values, config.num_attention_heads,
                             config.num_kv_heads
                             if config.new_decoder_architecture else 1))]
    return None


def deepseek_tensors(name, values, config):
    if name.endswith("e_score_correction_bias"):
        return [(name.replace("_bias", ".bias"), values)]
    if not name.endswith("kv_b_proj.weight"):
        return None
    keys = config.qk_nope_head_dim
    both = values.reshape(config.num_attention_heads, keys + config.v_head_dim,
                          -1)
    return [(name.replace("kv_b_proj", "k_b_proj"),
             both[:, :keys].swapaxes(1, 2)),
            (name.replace("kv_b_proj", "v_b_proj"), both[:, keys:])]


def gpt_oss_tensors(name, values, config):
    if name.endswith("sinks"):
        return [(name + ".weight", values)]
    if name.endswith("down_proj_bias"):
        return [(name.replace("_bias", ".bias"), values)]
    if name.endswith("down_proj"):
        return [(name + ".weight", values.swapaxes(-1, -2))]
    if "gate_up_proj" in name:
        end = ".bias" if name.endswith("_bias") else ".weight"
        stem = name.removesuffix("_bias")
        if end == ".weight":
            values = values.swapaxes(-1, -2)
            parts = values[:, ::2], values[:, 1::2]
        else:
            parts = values[:, ::2], values[:, 1::2]
        return [(stem.replace("gate_up", way) + end, part)
                for way, part in zip(("gate", "up"), parts)]
    return None


def sizes(config):
    """What the converter writes for all models."""
    def first(*names):
        for name in names:
            if getattr(config, name, None) is not None:
                return getattr(config, name)
        return None

    yield "block_count", first("num_hidden_layers", "n_layer", "n_layers")
    yield "context_length", first("max_position_embeddings", "n_positions",
                                  "max_seq_len", "seq_length")
    yield "embedding_length", first("hidden_size", "n_embd", "d_model")
    width = first("hidden_size", "n_embd", "d_model")
    yield "feed_forward_length", first("intermediate_size", "n_inner",
                                       "ffn_hidden_size") or 4 * width
    yield "attention.head_count", first("num_attention_heads", "n_head",
                                        "n_heads")
    if (kv := first("num_key_value_heads")) is not None:
        yield "attention.head_count_kv", kv
    if (eps := first("rms_norm_eps")) is not None:
        yield "attention.layer_norm_rms_epsilon", float(eps)
    if (eps := first("layer_norm_eps", "layer_norm_epsilon",
                     "norm_epsilon")) is not None:
        yield "attention.layer_norm_epsilon", float(eps)
    if (dim := first("head_dim")) is not None and \
            config.model_type not in ("granite", "phi3", "falcon",
                                      "deepseek_v2", "deepseek_v3", "phi",
                                      "stablelm", "starcoder2", "olmo2"):
        yield "attention.key_length", dim
        yield "attention.value_length", dim
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    if "rope_theta" in rope and config.model_type not in ("gemma", "gemma2",
                                                          "phi", "falcon"):
        yield "rope.freq_base", float(rope["rope_theta"])
    if rope.get("rope_type") in ("linear", "yarn"):
        yield "rope.scaling.type", rope["rope_type"]
        yield "rope.scaling.factor", float(rope["factor"])
    if rope.get("rope_type") == "yarn":
        yield ("rope.scaling.original_context_length",
               rope["original_max_position_embeddings"])
    if (experts := first("num_local_experts", "num_experts",
                         "n_routed_experts")) is not None:
        yield "expert_count", experts
        yield "expert_used_count", config.num_experts_per_tok


def llama_metadata(config):
    yield "vocab_size", config.vocab_size
    yield "rope.dimension_count", (getattr(config, "head_dim", None) or
                                   config.hidden_size
                                   // config.num_attention_heads)


def granite_metadata(config):
    yield from llama_metadata(config)
    yield "attention.scale", float(config.attention_multiplier)
    yield "embedding_scale", float(config.embedding_multiplier)
    yield "residual_scale", float(config.residual_multiplier)
    yield "logit_scale", float(config.logits_scaling)


def gemma2_metadata(config):
    yield "attn_logit_softcapping", float(config.attn_logit_softcapping)
    yield "final_logit_softcapping", float(config.final_logit_softcapping)
    yield "attention.sliding_window", config.sliding_window


def gemma3_metadata(config):
    yield "attention.sliding_window", config.sliding_window
    yield ("rope.freq_base_swa",
           float(config.rope_parameters["sliding_attention"]["rope_theta"]))


def part(config, name="partial_rotary_factor"):
    dims = config.hidden_size // config.num_attention_heads
    return int(config.rope_parameters[name] * dims)


def phi_metadata(config):
    yield "attention.head_count_kv", config.num_attention_heads
    yield "rope.dimension_count", part(config)


def phi3_metadata(config):
    yield "rope.dimension_count", (config.hidden_size
                                   // config.num_attention_heads)
    yield ("rope.scaling.original_context_length",
           config.original_max_position_embeddings)
    yield "attention.sliding_window", config.sliding_window or 0
    if config.rope_parameters["rope_type"] == "longrope":
        ratio = (config.max_position_embeddings
                 / config.original_max_position_embeddings)
        yield ("rope.scaling.attn_factor",
               float(np.sqrt(1 + np.log(ratio) / np.log(
                   config.original_max_position_embeddings))))


def neox_metadata(config):
    yield "rope.dimension_count", part(config)
    yield "use_parallel_residual", config.use_parallel_residual


def bloom_metadata(config):
    yield "attention.head_count_kv", config.n_head


def falcon_metadata(config):
    yield "tensor_data_layout", "jploski"
    yield ("attention.head_count_kv",
           config.num_kv_heads if config.new_decoder_architecture else 1)


def mpt_metadata(config):
    yield "attention.max_alibi_bias", float(config.attn_config.alibi_bias_max)
    if config.attn_config.clip_qkv:
        yield "attention.clamp_kqv", float(config.attn_config.clip_qkv)


def stablelm_metadata(config):
    yield "rope.dimension_count", part(config)
    yield "use_parallel_residual", config.use_parallel_residual


def cohere_metadata(config):
    yield "logit_scale", float(config.logit_scale)
    yield "rope.scaling.type", "none"


def qwen_moe_metadata(config):
    yield "expert_feed_forward_length", config.moe_intermediate_size
    if config.model_type == "qwen2_moe":
        yield ("expert_shared_feed_forward_length",
               config.shared_expert_intermediate_size)


def deepseek_metadata(config):
    yield "attention.head_count_kv", 1
    yield "leading_dense_block_count", config.first_k_dense_replace
    yield "vocab_size", config.vocab_size
    if config.q_lora_rank is not None:
        yield "attention.q_lora_rank", config.q_lora_rank
    yield "attention.kv_lora_rank", config.kv_lora_rank
    yield "attention.key_length", config.kv_lora_rank + config.qk_rope_head_dim
    yield "attention.value_length", config.kv_lora_rank
    yield ("attention.key_length_mla",
           config.qk_nope_head_dim + config.qk_rope_head_dim)
    yield "attention.value_length_mla", config.v_head_dim
    yield "expert_feed_forward_length", config.moe_intermediate_size
    yield "expert_shared_count", config.n_shared_experts
    yield "expert_weights_scale", float(config.routed_scaling_factor)
    yield "expert_weights_norm", bool(config.norm_topk_prob)
    yield "expert_group_count", config.n_group or 1
    yield "expert_group_used_count", config.topk_group or 1
    yield ("expert_gating_func",
           2 if config.model_type == "deepseek_v3" else 1)
    yield "rope.dimension_count", config.qk_rope_head_dim
    if (scale := config.rope_parameters.get("mscale_all_dim")) is not None:
        yield "rope.scaling.yarn_log_multiplier", 0.1 * scale


def gpt_oss_metadata(config):
    yield "attention.sliding_window", config.sliding_window
    yield "expert_feed_forward_length", config.intermediate_size


A = gguf.MODEL_ARCH
MIXTURE = {"num_experts_per_tok": 2, "moe_intermediate_size": 32}
LLAMA3 = {"rope_theta": 500000.0, "rope_type": "llama3", "factor": 8.0,
          "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}
LATENT = {"kv_lora_rank": 32, "q_lora_rank": 32, "qk_nope_head_dim": 16,
          "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4,
          "n_shared_experts": 1, "first_k_dense_replace": 1,
          "routed_scaling_factor": 2.5}

MODELS = [
    Model("llama-f32", A.LLAMA, "llama", GROUPED | {
        "vocab_size": 400, "num_hidden_layers": 1,
        "tie_word_embeddings": True}, Type.F32,
        metadata=llama_metadata, tensors=llama_tensors, tokens="spm",
        version=2),
    Model("llama-q8_0", A.LLAMA, "llama", GROUPED | {
        "attention_bias": True, "mlp_bias": True, "rope_parameters": LLAMA3,
        "hidden_size": 64, "tie_word_embeddings": True},
        metadata=llama_metadata, tensors=llama_tensors, alignment=64),
    Model("llama-q4_0", A.LLAMA, "llama", ONE_LAYER | {
        "hidden_size": 64, "head_dim": 24, "rope_parameters": {
            "rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}},
        Type.Q4_0, kinds={"attn_output": Type.F16},
        metadata=llama_metadata, tensors=llama_tensors),
    Model("llama-q4_k", A.LLAMA, "llama", GROUPED | {
        "hidden_size": 256, "num_hidden_layers": 1, "intermediate_size": 256,
        "num_attention_heads": 2, "head_dim": 64, "num_key_value_heads": 1},
        Type.Q4_K, kinds={"attn_v|ffn_down|^output": Type.Q6_K},
        metadata=llama_metadata, tensors=llama_tensors),
    Model("mixtral-q8_0", A.LLAMA, "mixtral", GROUPED | {
        "num_local_experts": 4, "num_experts_per_tok": 2,
        "intermediate_size": 32}, metadata=llama_metadata, tensors=llama_tensors),
    Model("qwen2-bf16", A.QWEN2, "qwen2", GROUPED | {
        "vocab_size": 400, "num_hidden_layers": 1,
        "tie_word_embeddings": True}, Type.BF16, tokens="qwen2"),
    Model("qwen3-q8_0", A.QWEN3, "qwen3", GROUPED | {"head_dim": 16}),
    Model("qwen2moe-q8_0", A.QWEN2MOE, "qwen2_moe", ONE_LAYER | MIXTURE | {
        "num_experts": 4, "shared_expert_intermediate_size": 64},
        metadata=qwen_moe_metadata),
    Model("qwen3moe-q8_0", A.QWEN3MOE, "qwen3_moe", ONE_LAYER | MIXTURE | {
        "num_experts": 4, "norm_topk_prob": True, "head_dim": 16},
        metadata=qwen_moe_metadata),
    Model("gemma-f16", A.GEMMA, "gemma", GROUPED | {"head_dim": 16},
          Type.F16, tensors=gemma_tensors),
    Model("gemma2-q8_0", A.GEMMA2, "gemma2", GROUPED | {
        "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 5},
        metadata=gemma2_metadata, tensors=gemma_tensors),
    Model("gemma3-q8_0", A.GEMMA3, "gemma3_text", GROUPED | {
        "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 5,
        "num_hidden_layers": 6},
        metadata=gemma3_metadata, tensors=gemma_tensors),
    Model("phi2-q8_0", A.PHI2, "phi", SIZES | {
        "num_hidden_layers": 1, "intermediate_size": 128, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                            "partial_rotary_factor": 0.5}},
        metadata=phi_metadata),
    Model("phi3-q8_0", A.PHI3, "phi3", ONE_LAYER | {
        "sliding_window": 6, "original_max_position_embeddings": 8,
        "rope_parameters": {
            "rope_type": "longrope", "rope_theta": 10000.0,
            "original_max_position_embeddings": 8,
            "short_factor": [1.0, 1.25, 1.5, 2.0],
            "long_factor": [1.0, 2.0, 4.0, 8.0]}},
        metadata=phi3_metadata),
    Model("gpt2-q8_0", A.GPT2, "gpt2", {
        "n_embd": 32, "n_layer": 1, "n_head": 4, "n_positions": 64,
        "vocab_size": 48, "bos_token_id": 1, "eos_token_id": 2},
        tensors=gpt2_tensors),
    Model("gptneox-q8_0", A.GPTNEOX, "gpt_neox", SIZES | {
        "num_hidden_layers": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                            "partial_rotary_factor": 0.5}},
        metadata=neox_metadata, tensors=neox_tensors),
    Model("bloom-q8_0", A.BLOOM, "bloom", {
        "hidden_size": 32, "n_layer": 1, "n_head": 4, "vocab_size": 48,
        "seq_length": 64, "bos_token_id": 1, "eos_token_id": 2},
        metadata=bloom_metadata, tensors=bloom_tensors),
    Model("mpt-q8_0", A.MPT, "mpt", {
        "d_model": 32, "n_layers": 1, "n_heads": 4, "max_seq_len": 64,
        "vocab_size": 48, "attn_config": {"alibi": True, "clip_qkv": 0.75},
        "bos_token_id": 1, "eos_token_id": 2}, metadata=mpt_metadata),
    Model("falcon-q8_0", A.FALCON, "falcon", {
        k: v for k, v in SIZES.items() if k != "intermediate_size"} | {
            "multi_query": True, "parallel_attn": True, "bias": False,
            "new_decoder_architecture": False},
        metadata=falcon_metadata, tensors=falcon_tensors),
    Model("falcon40b-q8_0", A.FALCON, "falcon", {
        k: v for k, v in SIZES.items() if k != "intermediate_size"} | {
            "new_decoder_architecture": True, "num_kv_heads": 2},
        metadata=falcon_metadata, tensors=falcon_tensors),
    Model("starcoder2-q8_0", A.STARCODER2, "starcoder2", ONE_LAYER),
    Model("stablelm-q8_0", A.STABLELM, "stablelm", ONE_LAYER | {
        "use_qkv_bias": True, "qk_layernorm": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                            "partial_rotary_factor": 0.5}},
        metadata=stablelm_metadata),
    Model("olmo2-q8_0", A.OLMO2, "olmo2", ONE_LAYER),
    Model("granite-q8_0", A.GRANITE, "granite", ONE_LAYER | {
        "attention_multiplier": 0.25, "embedding_multiplier": 6.0,
        "residual_multiplier": 0.5, "logits_scaling": 2.0},
        metadata=granite_metadata, tensors=llama_tensors),
    Model("cohere-q8_0", A.COMMAND_R, "cohere", ONE_LAYER | {
        "logit_scale": 0.25, "use_qk_norm": True}, metadata=cohere_metadata),
    Model("smollm3-q8_0", A.SMOLLM3, "smollm3", GROUPED | {
        "num_hidden_layers": 4, "intermediate_size": 32,
        "tie_word_embeddings": True},
        metadata=llama_metadata, tensors=llama_tensors),
    Model("deepseek2-q8_0", A.DEEPSEEK2, "deepseek_v2",
          SIZES | MIXTURE | LATENT | {
              "num_key_value_heads": 4, "n_group": 1, "topk_group": 1,
              "topk_method": "greedy"},
          metadata=deepseek_metadata, tensors=deepseek_tensors),
    Model("deepseek3-q8_0", A.DEEPSEEK2, "deepseek_v3",
          SIZES | MIXTURE | LATENT | {
              "num_key_value_heads": 4, "n_group": 2, "topk_group": 1,
              "norm_topk_prob": True, "rope_parameters": {
                  "rope_type": "yarn", "factor": 4.0, "rope_theta": 10000.0,
                  "original_max_position_embeddings": 16, "mscale": 1.0,
                  "mscale_all_dim": 1.0}},
          metadata=deepseek_metadata, tensors=deepseek_tensors),
    Model("gpt-oss-q8_0", A.GPT_OSS, "gpt_oss", GROUPED | {
        "head_dim": 16, "num_local_experts": 4, "num_experts_per_tok": 2,
        "intermediate_size": 32, "sliding_window": 5, "rope_parameters": {
            "rope_type": "yarn", "factor": 4.0, "rope_theta": 150000.0,
            "original_max_position_embeddings": 16, "beta_fast": 32.0,
            "beta_slow": 1.0, "truncate": False}},
        metadata=gpt_oss_metadata, tensors=gpt_oss_tensors),
]
