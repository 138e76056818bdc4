"""Gemma, Gemma 2 and the text part of Gemma 3."""

import math

from reference import FAMILIES, Family, Fixture, rope

# What a norm multiplies by is one more than its weight.
NORMS = ((r"[qk]_norm\.weight$", lambda noise, config: 0.4 + 0.2 * noise),
         # The last makes up for what tied embeddings lack.
         (r"^model\.norm\.weight$", lambda noise, config:
          (4 if config.tie_word_embeddings else 0) + 0.3 * noise),
         (r"norm\.weight$", lambda noise, config: 0.2 * noise),
         # The model multiplies by the root of the hidden size; tied and large,
         # every token would be followed by itself.
         (r"embed_tokens\.weight$", lambda noise, config:
          0.6 * noise / math.sqrt(config.hidden_size)))
GEMMA = dict(
    vocab_size=97, hidden_size=48, intermediate_size=88, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=20,
    max_position_embeddings=64, bos_token_id=None, eos_token_id=None)
GEMMA2 = GEMMA | dict(
    query_pre_attn_scalar=20, sliding_window=8, attn_logit_softcapping=5.0,
    final_logit_softcapping=10.0)


def gemma_older(config, fixture):
    # The tanh form under its first name.
    config |= dict(hidden_act="gelu", hidden_activation=None)
    for key in ("use_bidirectional_attention", "rope_scaling",
                "tie_word_embeddings"):
        del config[key]


def gemma2_older(config, fixture):
    config |= dict(hidden_act=config["hidden_activation"],
                   cache_implementation="hybrid")
    for key in ("use_bidirectional_attention", "rope_scaling",
                "tie_word_embeddings"):
        del config[key]


def gemma2_variants(config):
    changes = {"scale": dict(query_pre_attn_scalar=30)}
    for key in ("attn_logit_softcapping", "final_logit_softcapping"):
        if getattr(config, key):
            changes[key] = {key: None}
    return changes


def gemma3_older(config, fixture):
    full, sliding = (config["rope_parameters"][kind]
                     for kind in ("full_attention", "sliding_attention"))
    del config["rope_parameters"]
    config |= dict(
        rope_theta=full["rope_theta"],
        rope_local_base_freq=sliding["rope_theta"],
        rope_scaling=None if full["rope_type"] == "default" else {
            key: value for key, value in full.items() if key != "rope_theta"},
        sliding_window_pattern=config.pop("_sliding_window_pattern"),
        cache_implementation="hybrid")
    for key in ("use_bidirectional_attention", "tie_word_embeddings"):
        del config[key]


def gemma3_variants(config):
    changes = {"scale": dict(query_pre_attn_scalar=30)}
    if config.final_logit_softcapping:
        changes["final_logit_softcapping"] = dict(final_logit_softcapping=None)
    for kind in set(config.layer_types):
        present = config.rope_parameters[kind]
        if present["rope_type"] != "default":
            changes[f"{kind} scaling"] = dict(
                rope_parameters=config.rope_parameters
                | {kind: rope(theta=present["rope_theta"])})
        changed = present | dict(rope_theta=present["rope_theta"] * 1.1)
        changes[f"{kind} theta"] = dict(
            rope_parameters=config.rope_parameters | {kind: changed})
    return changes


FAMILIES["gemma"] = Family(GEMMA, weights=NORMS, neutral_norm=0.0,
                           older=gemma_older)
FAMILIES["gemma2"] = Family(GEMMA2, weights=NORMS, neutral_norm=0.0,
                            older=gemma2_older, variants=gemma2_variants)
FAMILIES["gemma3_text"] = Family(
    GEMMA2 | dict(attn_logit_softcapping=None, final_logit_softcapping=None),
    weights=NORMS, neutral_norm=0.0, older=gemma3_older,
    variants=gemma3_variants)


def rope3(full=rope(theta=1e5), sliding=rope(theta=1e4)):
    return dict(rope_parameters=dict(full_attention=full,
                                     sliding_attention=sliding))


FIXTURES = [
    # Heads wider together than the hidden size.
    Fixture("gemma", "tied", {}),
    Fixture("gemma", "mqa-older", dict(
        hidden_size=60, num_attention_heads=3, num_key_value_heads=1,
        vocab_size=61, eos_token_id=1, rms_norm_eps=1e-2), older=True),
    Fixture("gemma", "untied-bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        head_dim=12, tie_word_embeddings=False, attention_bias=True,
        hidden_act="relu", rope_parameters=rope("linear", theta=1000.0,
                                                factor=2.0)), dtype="f16"),

    Fixture("gemma2", "capped", {}),
    # Layer types by the rule; caps as published.
    Fixture("gemma2", "older", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=1,
        head_dim=12, num_hidden_layers=3, vocab_size=61, eos_token_id=[1, 7],
        sliding_window=11, attn_logit_softcapping=50.0, query_pre_attn_scalar=12,
        final_logit_softcapping=30.0), older=True),
    Fixture("gemma2", "uncapped", dict(
        num_attention_heads=3, num_key_value_heads=3,
        attn_logit_softcapping=None, final_logit_softcapping=None,
        layer_types=["full_attention", "sliding_attention"],
        attention_bias=True, hidden_activation="silu", rms_norm_eps=1e-2)),

    # Three layers: two with a window, one that sees all.
    Fixture("gemma3_text", "pattern", dict(
        num_hidden_layers=3, sliding_window_pattern=3, hidden_size=40,
        **rope3())),
    # The scaling is that of the layers that see all.
    Fixture("gemma3_text", "scaled-older", dict(
        num_attention_heads=3, num_key_value_heads=1, sliding_window=11,
        sliding_window_pattern=2, vocab_size=61, eos_token_id=1,
        **rope3(full=rope("linear", theta=1e6, factor=8.0))), older=True),
    Fixture("gemma3_text", "capped-untied", dict(
        num_attention_heads=3, num_key_value_heads=3, head_dim=12,
        tie_word_embeddings=False, final_logit_softcapping=8.0,
        attention_bias=True, rms_norm_eps=1e-2,
        layer_types=["full_attention", "sliding_attention"],
        **rope3(sliding=rope(theta=500.0))), dtype="f16"),
]
