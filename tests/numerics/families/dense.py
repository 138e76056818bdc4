"""Decoders of one block each that differs from LLaMA's: Phi, Phi-3, OLMo 2,
Granite, StableLM, StarCoder2, Cohere and SmolLM3."""

from reference import FAMILIES, Family, Fixture, rope, rows

DENSE = dict(
    vocab_size=97, hidden_size=60, intermediate_size=88, num_hidden_layers=2,
    num_attention_heads=3, num_key_value_heads=1, max_position_embeddings=64,
    bos_token_id=None, eos_token_id=None, pad_token_id=None)
SHORT = [1.0, 1.1, 1.2, 1.6, 2.1, 2.6]
LONG = [1.3, 1.7, 2.4, 3.2, 4.1, 4.9]


def without(*keys, **values):
    """An older spelling: these keys are not there, those are."""
    def respell(config, fixture):
        for key in keys:
            config.pop(key, None)
        config.update(values)
    return respell


FAMILIES["phi"] = Family(
    DENSE | dict(rope_parameters=rope(partial_rotary_factor=0.5)),
    weights=((r"mlp\.fc1\.weight$", rows(2)), (r"mlp\.fc2\.weight$", rows(4))),
    older=without("rope_scaling"))


def phi3_older(config, fixture):
    config |= dict(attention_bias=False, auto_map={
        "AutoConfig": "configuration_phi3.Phi3Config"})
    if config.get("partial_rotary_factor") == 1:
        del config["partial_rotary_factor"]
    # It is beside them.
    if config["rope_scaling"]:
        for key in ("original_max_position_embeddings", "factor"):
            config["rope_scaling"].pop(key, None)


FAMILIES["phi3"] = Family(
    DENSE | dict(original_max_position_embeddings=64),
    weights=((r"qkv_proj\.weight$", rows(1.3)),), older=phi3_older)

FAMILIES["olmo2"] = Family(DENSE)

FAMILIES["granite"] = Family(
    DENSE | dict(attention_multiplier=0.25, embedding_multiplier=3.0,
                 residual_multiplier=0.6, logits_scaling=2.0),
    variants=lambda c: {key: {key: 1.5 * getattr(c, key)} for key in (
        "attention_multiplier", "embedding_multiplier", "residual_multiplier",
        "logits_scaling")})

FAMILIES["stablelm"] = Family(
    DENSE | dict(rope_parameters=rope(partial_rotary_factor=0.5)),
    older=without("rope_scaling", rotary_scaling_factor=1.0))

FAMILIES["starcoder2"] = Family(
    DENSE,
    weights=((r"mlp\.c_fc\.weight$", rows(2)),
             (r"mlp\.c_proj\.weight$", rows(4))),
    older=without("rope_scaling", "tie_word_embeddings",
                  norm_type="layer_norm", mlp_type="default"))

FAMILIES["cohere"] = Family(
    DENSE | dict(logit_scale=0.5),
    older=without("rope_scaling", "tie_word_embeddings",
                  model_max_length=64),
    variants=lambda c: {"logit_scale": dict(logit_scale=c.logit_scale * 1.5)})


def smollm3_older(config, fixture):
    # By the rule.
    del config["no_rope_layers"]


FAMILIES["smollm3"] = Family(
    DENSE | dict(num_attention_heads=5, head_dim=12),
    older=smollm3_older,
    variants=lambda c: {f"no_rope_layers[{i}]": dict(
        no_rope_layers=[1 - r if i == j else r
                        for j, r in enumerate(c.no_rope_layers)])
        for i in range(c.num_hidden_layers)})


FIXTURES = [
    Fixture("phi", "gqa", {}),
    # Norms of each head's queries and keys.
    Fixture("phi", "norms", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=4,
        qk_layernorm=True, hidden_act="relu", layer_norm_eps=1e-2,
        rope_parameters=rope("linear", theta=50.0, factor=2.0,
                             partial_rotary_factor=0.5)), dtype="f16"),
    Fixture("phi", "tied-older", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        vocab_size=61, eos_token_id=2, tie_word_embeddings=True,
        intermediate_size=136, rope_parameters=rope(
            theta=500.0, partial_rotary_factor=0.5)), older=True),

    Fixture("phi3", "window", dict(
        num_key_value_heads=3, sliding_window=9, rope_parameters=rope())),
    # Longer than the original length from the prompt on.
    Fixture("phi3", "long", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        tie_word_embeddings=True, max_position_embeddings=64,
        original_max_position_embeddings=8, rms_norm_eps=1e-2,
        rope_parameters=rope("longrope", short_factor=SHORT,
                             long_factor=LONG,
                             original_max_position_embeddings=8))),
    # Never, if compiled for no more, and a part of each head.
    Fixture("phi3", "short-older", dict(
        num_key_value_heads=1, vocab_size=61, eos_token_id=[2, 7],
        max_position_embeddings=256, rope_parameters=rope(
            "longrope", theta=1000.0, short_factor=SHORT, long_factor=LONG,
            original_max_position_embeddings=64, partial_rotary_factor=0.6)),
        older=True, rope_key="type", max_seq_len=64),

    Fixture("olmo2", "mqa", {}),
    Fixture("olmo2", "gqa-older", dict(
        hidden_size=72, num_attention_heads=6, num_key_value_heads=3,
        vocab_size=61, eos_token_id=5, attention_bias=True,
        rope_parameters=rope(theta=5e5)), older=True),
    Fixture("olmo2", "tied", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        tie_word_embeddings=True, rms_norm_eps=1e-2, hidden_act="gelu",
        rope_parameters=rope("linear", factor=2.0)), dtype="f16"),

    Fixture("granite", "multipliers", {}),
    Fixture("granite", "tied-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        tie_word_embeddings=True, vocab_size=61, eos_token_id=0,
        attention_multiplier=0.35, embedding_multiplier=0.7,
        residual_multiplier=0.5, logits_scaling=1.3,
        rope_parameters=rope(theta=500.0)), older=True),
    Fixture("granite", "bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        attention_bias=True, mlp_bias=True, rms_norm_eps=1e-2,
        rope_parameters=rope("linear", factor=2.0)), dtype="f16"),

    Fixture("stablelm", "mqa", {}),
    Fixture("stablelm", "parallel-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=4,
        use_parallel_residual=True, use_qkv_bias=True, vocab_size=61,
        eos_token_id=0, rope_parameters=rope(
            theta=500.0, partial_rotary_factor=0.34)), older=True),
    # Norms of each head's own.
    Fixture("stablelm", "norms-tied", dict(
        hidden_size=72, num_attention_heads=6, num_key_value_heads=2,
        qk_layernorm=True, use_qkv_bias=True, tie_word_embeddings=True,
        layer_norm_eps=1e-2, rope_parameters=rope(
            "linear", factor=2.0, partial_rotary_factor=0.5))),

    Fixture("starcoder2", "tied", {}),
    Fixture("starcoder2", "window-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        sliding_window=7, vocab_size=61, eos_token_id=0,
        rope_parameters=rope(theta=1e5)), older=True, dtype="f16"),
    Fixture("starcoder2", "untied-no-bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        use_bias=False, tie_word_embeddings=False, hidden_act="relu",
        norm_epsilon=1e-2, intermediate_size=136)),

    Fixture("cohere", "mqa", {}),
    # The family's own rope_theta for want of one.
    Fixture("cohere", "norms-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        use_qk_norm=True, vocab_size=61, eos_token_id=5, logit_scale=0.25,
        rope_parameters=rope(theta=5e5)), older=True, drop_theta=True),
    Fixture("cohere", "untied-bias", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        attention_bias=True, tie_word_embeddings=False, layer_norm_eps=1e-2,
        rope_parameters=rope(theta=500.0)), dtype="f16"),

    Fixture("smollm3", "tied", dict(
        num_key_value_heads=5, no_rope_layers=[1, 0, 1],
        num_hidden_layers=3, intermediate_size=56)),
    # Every second layer without rotation, by the rule; the family's own
    # rope_theta.
    Fixture("smollm3", "interval-older", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        no_rope_layer_interval=2, vocab_size=61, eos_token_id=2,
        attention_bias=True, rope_parameters=rope(theta=2e6)),
        older=True, drop_theta=True),
    # A window where nothing rotates.
    Fixture("smollm3", "window-untied", dict(
        num_key_value_heads=1, use_sliding_window=True, sliding_window=8,
        no_rope_layers=[0, 1], mlp_bias=True, tie_word_embeddings=False,
        rms_norm_eps=1e-2, rope_parameters=rope(theta=1e4)), dtype="f16"),
]
