"""Mixtures of experts: Mixtral, Qwen's, DeepSeek's with latent attention, and
GPT-OSS."""

import numpy as np

from reference import (FAMILIES, Family, Fixture, columns, rope, rows,
                       top_k_margin)


def plain_margin(router, logits):
    """Of the best top_k."""
    return top_k_margin(logits, router.top_k)


def grouped_margin(router, scores, group_scores):
    """Of the best groups, and of the best experts in them."""
    groups = np.argsort(-group_scores, axis=-1)[:, :router.topk_group]
    allowed = np.zeros_like(group_scores, dtype=bool)
    np.put_along_axis(allowed, groups, True, axis=-1)
    size = scores.shape[1] // group_scores.shape[1]
    allowed = np.repeat(allowed, size, axis=1)
    inside = np.where(allowed, scores, -1e9)
    return np.minimum(top_k_margin(group_scores, router.topk_group),
                      top_k_margin(inside, router.top_k))


def in_groups(router, scores):
    return scores.reshape(len(scores), router.num_group, -1)


def deepseek_v2_margin(router, logits):
    if router.topk_method == "greedy":
        return plain_margin(router, logits)
    return grouped_margin(router, logits, in_groups(router, logits).max(-1))


def deepseek_v3_margin(router, logits):
    """Sigmoids differ by a quarter of what logits do at most, sums of two by
    half; experts outside the best groups are out for good."""
    chosen_by = (1 / (1 + np.exp(-logits))
                 + router.e_score_correction_bias.float().numpy())
    best = np.sort(in_groups(router, chosen_by), axis=-1)[..., -2:]
    return 2 * grouped_margin(router, 2 * chosen_by, best.sum(-1))


MIXTURE = dict(
    vocab_size=97, hidden_size=60, num_hidden_layers=2, num_attention_heads=3,
    num_key_value_heads=1, max_position_embeddings=64, bos_token_id=None,
    eos_token_id=None, pad_token_id=None)


# Mixtral.

FAMILIES["mixtral"] = Family(
    MIXTURE | dict(intermediate_size=36, num_local_experts=4,
                   num_experts_per_tok=2),
    margin=plain_margin,
    variants=lambda c: {"experts per token": dict(
        num_experts_per_tok=c.num_experts_per_tok + 1)})


# Qwen.

def qwen_variants(config):
    return {"experts per token": dict(
                num_experts_per_tok=config.num_experts_per_tok + 1),
            "norm_topk_prob": dict(norm_topk_prob=not config.norm_topk_prob)}


def qwen3_older(config, fixture):
    config["num_experts"] = config.pop("num_local_experts")


FAMILIES["qwen2_moe"] = Family(
    MIXTURE | dict(intermediate_size=88, moe_intermediate_size=20,
                   shared_expert_intermediate_size=36, num_experts=5,
                   num_experts_per_tok=2, use_sliding_window=False),
    margin=plain_margin, variants=qwen_variants,
    removed={r"shared_expert_gate\.weight$": 0.0})
FAMILIES["qwen3_moe"] = Family(
    MIXTURE | dict(intermediate_size=88, moe_intermediate_size=20,
                   head_dim=12, num_experts=6, num_experts_per_tok=2,
                   use_sliding_window=False),
    margin=plain_margin, variants=qwen_variants, older=qwen3_older)


# DeepSeek.

DEEPSEEK = MIXTURE | dict(
    num_key_value_heads=3, intermediate_size=56, moe_intermediate_size=20,
    n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=2,
    first_k_dense_replace=1, kv_lora_rank=20, q_lora_rank=28,
    qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10,
    routed_scaling_factor=1.5)
LATENT = ((r"(q_b_proj|kv_b_proj|q_proj)\.weight$", rows(1.4)),)


def deepseek_older(config, fixture):
    config |= dict(ep_size=1, moe_layer_freq=1, aux_loss_alpha=0.001,
                   seq_aux=True)
    for key in ("head_dim", "qk_head_dim", "output_router_logits",
                "rope_interleave", "mlp_bias"):
        config.pop(key, None)


def deepseek_v2_older(config, fixture):
    deepseek_older(config, fixture)
    config["scoring_func"] = "softmax"


def deepseek_v3_older(config, fixture):
    deepseek_older(config, fixture)
    config |= dict(scoring_func="sigmoid", topk_method="noaux_tc")


def deepseek_v3_older_tensors(tensors, config):
    # Of the layer that predicts a second token, which no one runs here.
    name = f"model.layers.{config['num_hidden_layers']}."
    norm = tensors["model.norm.weight"]
    return tensors | {name + part: norm.clone() for part in (
        "enorm.weight", "hnorm.weight", "input_layernorm.weight",
        "shared_head.norm.weight")}


def deepseek_variants(config):
    changes = {
        "experts per token": dict(
            num_experts_per_tok=config.num_experts_per_tok + 1),
        "routed_scaling_factor": dict(
            routed_scaling_factor=config.routed_scaling_factor * 1.2)}
    if getattr(config, "topk_method", "grouped") != "greedy":
        if config.n_group > config.topk_group:
            changes["topk_group"] = dict(topk_group=config.topk_group + 1)
        if config.n_group // 2 >= config.topk_group > 1:
            changes["n_group"] = dict(n_group=config.n_group // 2)
    if config.model_type == "deepseek_v3":
        changes["rope_interleave"] = dict(
            rope_interleave=not config.rope_interleave)
        changes["norm_topk_prob"] = dict(
            norm_topk_prob=not config.norm_topk_prob)
    return changes


FAMILIES["deepseek_v2"] = Family(
    DEEPSEEK, weights=LATENT, margin=deepseek_v2_margin,
    older=deepseek_v2_older, variants=deepseek_variants)
FAMILIES["deepseek_v3"] = Family(
    DEEPSEEK | dict(n_group=4, topk_group=2), weights=LATENT,
    margin=deepseek_v3_margin, older=deepseek_v3_older,
    older_tensors=deepseek_v3_older_tensors, variants=deepseek_variants,
    wide=r"e_score_correction_bias$")


# GPT-OSS.

def gpt_oss_older(config, fixture):
    config |= dict(initial_context_length=4096,
                   experts_per_token=config["num_experts_per_tok"])
    for key in ("swiglu_alpha", "tie_word_embeddings"):
        config.pop(key)


FAMILIES["gpt_oss"] = Family(
    MIXTURE | dict(intermediate_size=28, head_dim=12, num_local_experts=4,
                   num_experts_per_tok=2, sliding_window=8),
    weights=((r"sinks$", lambda noise, config: 1 + noise),
             (r"gate_up_proj$", columns(2)), (r"down_proj$", columns(2)),
             (r"proj_bias$", lambda noise, config: 0.5 * noise),
             (r"router\.bias$", lambda noise, config: 0.5 * noise)),
    margin=plain_margin, older=gpt_oss_older, removed={r"sinks$": -1e4},
    # Its activation is its own.
    silent=(r"^(silu|relu|gelu|gelu_new)$",),
    variants=lambda c: {
        "experts per token": dict(
            num_experts_per_tok=c.num_experts_per_tok + 1),
        "swiglu_alpha": dict(swiglu_alpha=c.swiglu_alpha + 0.2)}
    | ({"swiglu_limit": dict(swiglu_limit=c.swiglu_limit + 1)}
       if c.swiglu_limit < 7 else {}))


FIXTURES = [
    Fixture("mixtral", "two-of-four", {}),
    Fixture("mixtral", "one-of-five-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        num_local_experts=5, num_experts_per_tok=1, sliding_window=8,
        vocab_size=61, eos_token_id=2, rope_parameters=rope(theta=1e4)),
        older=True),
    Fixture("mixtral", "three-of-six", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        head_dim=12, num_local_experts=6, num_experts_per_tok=3,
        intermediate_size=28, tie_word_embeddings=True, hidden_act="gelu",
        rms_norm_eps=1e-2, rope_parameters=rope(theta=1e3)), dtype="f16"),

    Fixture("qwen2_moe", "shared", {}),
    # Every second layer is a mixture.
    Fixture("qwen2_moe", "step-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        decoder_sparse_step=2, norm_topk_prob=True, num_experts=7,
        num_experts_per_tok=3, vocab_size=61, eos_token_id=[1, 2],
        rope_parameters=rope(theta=1e3)), older=True),
    # A dense layer in the middle, windows in two.
    Fixture("qwen2_moe", "window", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        num_hidden_layers=3, mlp_only_layers=[1], intermediate_size=40,
        qkv_bias=False, use_sliding_window=True, sliding_window=8,
        tie_word_embeddings=True, rms_norm_eps=1e-2, layer_types=[
            "full_attention", "sliding_attention", "sliding_attention"]),
        sharded=True),

    Fixture("qwen3_moe", "normalised", dict(norm_topk_prob=True)),
    Fixture("qwen3_moe", "step-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        decoder_sparse_step=2, num_experts=9, num_experts_per_tok=4,
        vocab_size=61, eos_token_id=3, rope_parameters=rope(theta=1e6)),
        older=True),
    Fixture("qwen3_moe", "window-bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        num_experts=5, attention_bias=True, mlp_only_layers=[0],
        use_sliding_window=True, sliding_window=9, tie_word_embeddings=True,
        norm_topk_prob=True, rms_norm_eps=1e-2,
        rope_parameters=rope("linear", theta=1e3, factor=2.0)), dtype="f16"),

    # Queries without a latent, the best of all experts.
    Fixture("deepseek_v2", "greedy", dict(q_lora_rank=None)),
    Fixture("deepseek_v2", "groups-yarn-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=4,
        topk_method="group_limited_greedy", n_group=4, topk_group=2,
        num_experts_per_tok=3, n_shared_experts=1, vocab_size=61,
        eos_token_id=2, max_position_embeddings=512, rope_parameters=rope(
            "yarn", theta=100.0, factor=4.0, beta_fast=32.0, beta_slow=1.0,
            mscale=0.707, mscale_all_dim=0.707,
            original_max_position_embeddings=128)), older=True,
        rope_key="type"),
    # Every bias, no dense layer.
    Fixture("deepseek_v2", "bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        qk_nope_head_dim=6, v_head_dim=14, qk_rope_head_dim=4,
        attention_bias=True, mlp_bias=True, first_k_dense_replace=0,
        n_routed_experts=6, num_experts_per_tok=2, rms_norm_eps=1e-2,
        tie_word_embeddings=True, rope_parameters=rope(theta=1e3)),
        dtype="f16"),

    Fixture("deepseek_v3", "groups", {}),
    Fixture("deepseek_v3", "yarn-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=4,
        n_routed_experts=12, n_group=3, topk_group=2, num_experts_per_tok=4,
        n_shared_experts=1, moe_intermediate_size=12, vocab_size=61,
        eos_token_id=1, max_position_embeddings=512, rope_parameters=rope(
            "yarn", theta=100.0, factor=4.0, beta_fast=32.0, beta_slow=1.0,
            mscale=1.0, mscale_all_dim=1.0,
            original_max_position_embeddings=128)), older=True,
        rope_key="type"),
    # One group, rotated halves, weights that do not sum to one.
    Fixture("deepseek_v3", "one-group", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        q_lora_rank=None, n_group=1, topk_group=1, n_routed_experts=6,
        num_experts_per_tok=2, first_k_dense_replace=0, norm_topk_prob=False,
        rope_interleave=False, attention_bias=True, rms_norm_eps=1e-2,
        tie_word_embeddings=True, rope_parameters=rope(theta=1e3)),
        sharded=True),

    Fixture("gpt_oss", "yarn", dict(max_position_embeddings=1024,
        rope_parameters=rope("yarn", theta=500.0, factor=8.0, beta_fast=32.0,
                             beta_slow=1.0, truncate=False,
                             original_max_position_embeddings=128))),
    # The rotation of the published models.
    Fixture("gpt_oss", "older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        num_local_experts=5, num_experts_per_tok=3, vocab_size=61,
        eos_token_id=2, max_position_embeddings=131072,
        rope_parameters=rope("yarn", theta=150000.0, factor=32.0,
                             beta_fast=32.0, beta_slow=1.0, truncate=False,
                             original_max_position_embeddings=4096)),
        older=True),
    Fixture("gpt_oss", "no-bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        num_local_experts=6, num_experts_per_tok=1, attention_bias=False,
        tie_word_embeddings=True, swiglu_limit=2.5, swiglu_alpha=1.0,
        sliding_window=11, rms_norm_eps=1e-2,
        layer_types=["full_attention", "sliding_attention"],
        rope_parameters=rope(theta=1e3)), dtype="f16"),
]
