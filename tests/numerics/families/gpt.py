"""GPT-2 and the decoders that came after it: GPT-J, GPT-NeoX, OPT, BLOOM, MPT
and Falcon."""

import math

import torch

from reference import FAMILIES, Family, Fixture, columns, rope, rows


def causal_mask(size):
    return torch.tril(torch.ones(size, size, dtype=torch.bool))[None, None]


# GPT-2. Scores get no scale where scale_attn_weights is off: weights for them.

def gpt2_attention(noise, config):
    gain = 1.3 if config.scale_attn_weights else 0.7
    return gain * noise / math.sqrt(noise.shape[0])


def gpt2_older(config, fixture):
    config["n_ctx"] = config["n_positions"]
    config["task_specific_params"] = {
        "text-generation": {"do_sample": True, "max_length": 50}}
    for key in ("n_inner", "tie_word_embeddings"):
        del config[key]


def gpt2_older_tensors(tensors, config):
    tensors = {name.removeprefix("transformer."): value
               for name, value in tensors.items()}
    for layer in range(config["n_layer"]):
        tensors[f"h.{layer}.attn.bias"] = causal_mask(
            config["n_positions"]).float()
    return tensors


FAMILIES["gpt2"] = Family(
    dict(vocab_size=97, n_embd=60, n_layer=2, n_head=3, n_inner=88,
         n_positions=64, bos_token_id=None, eos_token_id=None),
    weights=((r"c_attn\.weight$", gpt2_attention),
             (r"attn\.c_proj\.weight$", columns(1)),
             (r"mlp\.c_fc\.weight$", columns(2)),
             (r"mlp\.c_proj\.weight$", columns(4))),
    older=gpt2_older, older_tensors=gpt2_older_tensors,
    variants=lambda c: {
        "scale_attn_weights": dict(
            scale_attn_weights=not c.scale_attn_weights),
        "inverse layer": dict(scale_attn_by_inverse_layer_idx=not
                              c.scale_attn_by_inverse_layer_idx)})


# GPT-J.

def gptj_older(config, fixture):
    config |= dict(rotary=True, scale_attn_weights=True,
                   gradient_checkpointing=False, tokenizer_class=None,
                   n_ctx=config["n_positions"])


def gptj_older_tensors(tensors, config):
    for layer in range(config["n_layer"]):
        name = f"transformer.h.{layer}.attn."
        tensors[name + "bias"] = causal_mask(config["n_positions"])
        tensors[name + "masked_bias"] = torch.tensor(-1e9)
    return tensors


FAMILIES["gptj"] = Family(
    dict(vocab_size=97, n_embd=60, n_layer=2, n_head=3, n_inner=88,
         n_positions=64, rotary_dim=8, bos_token_id=None, eos_token_id=None),
    weights=((r"mlp\.fc_in\.weight$", rows(2)),
             (r"mlp\.fc_out\.weight$", rows(4))),
    older=gptj_older, older_tensors=gptj_older_tensors,
    variants=lambda c: {"rotary_dim": dict(rotary_dim=c.rotary_dim - 2)})


# GPT-NeoX.

def gpt_neox_older(config, fixture):
    config["rotary_pct"] = config.pop("partial_rotary_factor")
    config["rotary_emb_base"] = config.pop("rope_theta")


def gpt_neox_older_tensors(tensors, config):
    head = config["hidden_size"] // config["num_attention_heads"]
    rotary = int(head * config["rope_parameters"]["partial_rotary_factor"])
    for layer in range(config["num_hidden_layers"]):
        name = f"gpt_neox.layers.{layer}.attention."
        tensors[name + "bias"] = causal_mask(
            config["max_position_embeddings"])
        tensors[name + "masked_bias"] = torch.tensor(-1e9)
        # Not what the model computes with: readers make their own.
        tensors[name + "rotary_emb.inv_freq"] = torch.zeros(rotary // 2)
    return tensors


FAMILIES["gpt_neox"] = Family(
    dict(vocab_size=97, hidden_size=60, intermediate_size=88,
         num_hidden_layers=2, num_attention_heads=3,
         max_position_embeddings=64, bos_token_id=None, eos_token_id=None),
    weights=((r"query_key_value\.weight$", rows(1.3)),
             (r"dense_h_to_4h\.weight$", rows(2)),
             (r"dense_4h_to_h\.weight$", rows(4))),
    older=gpt_neox_older, older_tensors=gpt_neox_older_tensors,
    variants=lambda c: {"parallel": dict(
        use_parallel_residual=not c.use_parallel_residual)})


# OPT.

def opt_older(config, fixture):
    config["prefix"] = "</s>"
    # As the first files were, with nothing that has its default.
    for key in ("tie_word_embeddings", "layer_norm_elementwise_affine",
                "layerdrop"):
        config.pop(key)


FAMILIES["opt"] = Family(
    dict(vocab_size=97, hidden_size=60, ffn_dim=88, num_hidden_layers=2,
         num_attention_heads=3, max_position_embeddings=64,
         bos_token_id=None, eos_token_id=None),
    weights=((r"embed_tokens\.weight$",
              lambda noise, config: noise * (
                  3 / math.sqrt(noise.shape[1])
                  if config.tie_word_embeddings else 1)),
             # Into the hidden size: as large as the position table.
             (r"project_in\.weight$", rows(2)),
             (r"fc1\.weight$", rows(2)), (r"fc2\.weight$", rows(2))),
    older=opt_older, silent=(r"k_proj\.bias$",))


# BLOOM.

def bloom_older(config, fixture):
    config["n_embed"] = config.pop("hidden_size")
    config["num_attention_heads"] = config.pop("n_head")
    config |= dict(
        attention_softmax_in_fp32=True, bias_dropout_fusion=True,
        masked_softmax_fusion=True, n_inner=None, offset_alibi=100,
        seq_length=64, skip_bias_add=True, skip_bias_add_qkv=False,
        unk_token_id=0)
    for key in ("tie_word_embeddings", "slow_but_exact"):
        del config[key]


def bloom_older_tensors(tensors, config):
    return {name.removeprefix("transformer."): value
            for name, value in tensors.items()}


FAMILIES["bloom"] = Family(
    dict(vocab_size=97, hidden_size=48, n_layer=2, n_head=4,
         bos_token_id=None, eos_token_id=None),
    weights=((r"query_key_value\.weight$", rows(1.3)),
             (r"dense_h_to_4h\.weight$", rows(2)),
             (r"dense_4h_to_h\.weight$", rows(4))),
    older=bloom_older, older_tensors=bloom_older_tensors,
    variants=lambda c: {"residual": dict(
        apply_residual_connection_post_layernorm=not
        c.apply_residual_connection_post_layernorm)})


# MPT, as Transformers has it.

def mpt_older(config, fixture):
    kept = ("alibi", "alibi_bias_max", "attn_impl", "attn_pdrop", "attn_type",
            "attn_uses_sequence_id", "clip_qkv", "prefix_lm", "qk_ln",
            "softmax_scale")
    config["attn_config"] = {
        key: config["attn_config"][key] for key in kept}
    config |= dict(verbose=0, tokenizer_name="EleutherAI/gpt-neox-20b",
                   init_config={"name": "kaiming_normal_", "fan_mode":
                                "fan_in", "init_nonlinearity": "relu"})
    del config["tie_word_embeddings"]


def mpt_attention(config, **values):
    """The configuration's attention with other values."""
    changed = type(config.attn_config)(**(
        {key: getattr(config.attn_config, key)
         for key in ("clip_qkv", "softmax_scale")} | values))
    return dict(attn_config=changed)


def mpt_variants(config):
    changes = {"scale": mpt_attention(config, softmax_scale=0.3)}
    if config.attn_config.clip_qkv:
        changes["clip"] = mpt_attention(config, clip_qkv=None)
    return changes


FAMILIES["mpt"] = Family(
    dict(vocab_size=97, d_model=48, n_layers=2, n_heads=4, max_seq_len=64),
    weights=((r"Wqkv\.weight$", rows(1.3)),
             (r"up_proj\.weight$", rows(2)),
             (r"down_proj\.weight$", rows(4))),
    older=mpt_older, variants=mpt_variants)


# Falcon.

def falcon_older(config, fixture):
    config["apply_residual_connection_post_layernorm"] = False
    for key in ("ffn_hidden_size", "activation", "tie_word_embeddings",
                "num_ln_in_parallel_attn", "max_position_embeddings",
                "rope_scaling"):
        del config[key]


def falcon_older_tensors(tensors, config):
    # There although tied.
    embedding = tensors["transformer.word_embeddings.weight"]
    return tensors | {"lm_head.weight": embedding.clone()}


FAMILIES["falcon"] = Family(
    dict(vocab_size=97, hidden_size=60, num_hidden_layers=2,
         num_attention_heads=3, ffn_hidden_size=88,
         max_position_embeddings=64, bos_token_id=None, eos_token_id=None),
    weights=((r"query_key_value\.weight$", rows(1.3)),
             (r"dense_h_to_4h\.weight$", rows(2)),
             (r"dense_4h_to_h\.weight$", rows(4))),
    older=falcon_older, older_tensors=falcon_older_tensors,
    # Whether positions rotate or are added.
    variants=lambda c: {"positions": dict(alibi=not c.alibi)})


FIXTURES = [
    Fixture("gpt2", "tied", {}),
    # Tensors without prefix, with the buffers of old files.
    Fixture("gpt2", "older", dict(
        n_embd=40, n_head=5, n_inner=None, n_layer=3, vocab_size=61,
        scale_attn_by_inverse_layer_idx=True, eos_token_id=2), older=True),
    Fixture("gpt2", "untied", dict(
        n_embd=48, n_head=4, tie_word_embeddings=False,
        activation_function="relu", scale_attn_weights=False,
        layer_norm_epsilon=1e-2), dtype="f16", sharded=True),

    Fixture("gptj", "partial", {}),
    Fixture("gptj", "older", dict(
        n_embd=48, n_head=4, n_inner=None, rotary_dim=12, vocab_size=61),
        older=True, dtype="f16"),
    # The bias of the head stays.
    Fixture("gptj", "tied", dict(
        n_embd=40, n_head=5, rotary_dim=4, tie_word_embeddings=True,
        activation_function="relu", layer_norm_epsilon=1e-2),
        dtype="f32"),

    Fixture("gpt_neox", "parallel", dict(
        rope_parameters=rope(partial_rotary_factor=0.5))),
    Fixture("gpt_neox", "sequential-older", dict(
        hidden_size=48, num_attention_heads=4, intermediate_size=200,
        use_parallel_residual=False, vocab_size=61, eos_token_id=0,
        rope_parameters=rope(theta=1000.0, partial_rotary_factor=0.34)),
        older=True),
    Fixture("gpt_neox", "no-bias", dict(
        hidden_size=40, num_attention_heads=5, attention_bias=False,
        tie_word_embeddings=True, hidden_act="relu", layer_norm_eps=1e-2,
        rope_parameters=rope("linear", factor=2.0,
                             partial_rotary_factor=1.0)), dtype="f32"),

    Fixture("opt", "before", {}),
    # Post-norm, embeddings narrower than the model.
    Fixture("opt", "after-projected-older", dict(
        hidden_size=48, num_attention_heads=4, word_embed_proj_dim=40,
        do_layer_norm_before=False, vocab_size=61, eos_token_id=2),
        older=True, dtype="f16"),
    Fixture("opt", "untied-no-bias", dict(
        hidden_size=40, num_attention_heads=5, ffn_dim=200, enable_bias=False,
        tie_word_embeddings=False, _remove_final_layer_norm=True,
        activation_function="gelu")),
    Fixture("opt", "projected", dict(
        hidden_size=60, num_attention_heads=6, word_embed_proj_dim=36),
        sharded=True),

    Fixture("bloom", "tied", {}),
    # Five heads: slopes of two kinds.
    Fixture("bloom", "older", dict(
        hidden_size=40, n_head=5, vocab_size=61, n_layer=3, eos_token_id=2),
        older=True, dtype="f16"),
    # Twelve heads: slopes that are no powers of two.
    Fixture("bloom", "residual-untied", dict(
        hidden_size=48, n_head=12, tie_word_embeddings=False,
        apply_residual_connection_post_layernorm=True,
        layer_norm_epsilon=1e-2)),

    Fixture("mpt", "tied", {}),
    Fixture("mpt", "clipped-older", dict(
        d_model=60, n_heads=3, vocab_size=61,
        attn_config=dict(clip_qkv=1.5)), older=True, dtype="f16"),
    Fixture("mpt", "scaled-untied", dict(
        d_model=48, n_heads=12, tie_word_embeddings=False,
        layer_norm_epsilon=1e-2, attn_config=dict(softmax_scale=0.5))),

    Fixture("falcon", "multi-query", {}),
    Fixture("falcon", "multi-query-older", dict(
        hidden_size=48, num_attention_heads=4, ffn_hidden_size=None,
        vocab_size=61, eos_token_id=11), older=True, drop_theta=True),
    # Two key-value heads of six, two norms.
    Fixture("falcon", "new", dict(
        hidden_size=72, num_attention_heads=6, num_kv_heads=2,
        new_decoder_architecture=True, rope_parameters=rope(theta=1000.0))),
    Fixture("falcon", "new-one-norm", dict(
        hidden_size=40, num_attention_heads=5, num_kv_heads=5,
        new_decoder_architecture=True, num_ln_in_parallel_attn=1, bias=True,
        tie_word_embeddings=False, activation="relu",
        layer_norm_epsilon=1e-2), dtype="f32"),
    # Eager attention of this version adds ALiBi twice; sdpa once, as models
    # are trained.
    Fixture("falcon", "alibi", dict(
        hidden_size=72, num_attention_heads=12, alibi=True, bias=True,
        parallel_attn=False, multi_query=False), attention="sdpa"),
    Fixture("falcon", "alibi-older", dict(
        hidden_size=40, num_attention_heads=5, alibi=True, vocab_size=61,
        parallel_attn=True, multi_query=False, ffn_hidden_size=None),
        attention="sdpa", older=True),
    # Positions that bf16 rounds.
    Fixture("falcon", "alibi-long", dict(
        hidden_size=48, num_attention_heads=12, alibi=True, vocab_size=61,
        parallel_attn=False, max_position_embeddings=512),
        attention="sdpa", tokens=300, last_rows=8),
]
