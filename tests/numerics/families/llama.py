"""LLaMA and its closest kin."""

from reference import FAMILIES, Family, Fixture, llama3_rope, rope

# Three key-value heads of 24 unless a fixture says otherwise.
LLAMA = dict(
    vocab_size=97, hidden_size=72, intermediate_size=88, num_hidden_layers=2,
    num_attention_heads=6, num_key_value_heads=3, head_dim=24,
    max_position_embeddings=64, rms_norm_eps=1e-5, bos_token_id=None,
    eos_token_id=None, tie_word_embeddings=False)
QWEN2 = LLAMA | dict(rms_norm_eps=1e-6, use_sliding_window=False,
                     sliding_window=32, max_window_layers=2)
# Width divided by heads, for want of the key.
del QWEN2["head_dim"]

FAMILIES["llama"] = Family(LLAMA)
FAMILIES["mistral"] = Family(LLAMA | dict(sliding_window=8))
FAMILIES["qwen2"] = Family(QWEN2)
FAMILIES["qwen3"] = Family(QWEN2 | dict(head_dim=24))

FIXTURES = [
    # Multi-head attention, untied head, plain rotation, newer spelling.
    Fixture("llama", "mha", dict(
        num_attention_heads=3, intermediate_size=72,
        rope_parameters=rope(theta=500.0)), dtype="f32"),
    # Six query heads wider than the hidden size, tied head. At 24 elements per
    # head, an original length of 64 has all three branches of the llama3 rule.
    Fixture("llama", "gqa-llama3", dict(
        hidden_size=48, intermediate_size=264, tie_word_embeddings=True,
        max_position_embeddings=256, rope_parameters=llama3_rope(64))),
    # Every bias, one key-value head, linear scaling under its oldest name.
    Fixture("llama", "mqa-bias-linear", dict(
        num_attention_heads=3, num_key_value_heads=1, num_hidden_layers=3,
        intermediate_size=40, attention_bias=True, mlp_bias=True,
        rms_norm_eps=1e-2,
        rope_parameters=rope("linear", factor=4.0)),
        older=True, rope_key="type", dtype="f32"),
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
        older=True, drop_theta=True),
    # Longer than several pages of the cache.
    Fixture("llama", "long", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=512,
        rope_parameters=rope("linear", factor=2.0)),
        tokens=300, last_rows=8, dtype="f32"),
    # Up to the trained length, where sequences end, nothing is rescaled.
    Fixture("llama", "dynamic-older", dict(
        num_attention_heads=3, num_key_value_heads=1, hidden_size=60,
        head_dim=20, vocab_size=61, rope_parameters=rope(
            "dynamic", factor=4.0)), older=True, rope_key="type"),
    # Everything that yarn may say.
    Fixture("llama", "yarn", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=256, rope_parameters=rope(
            "yarn", theta=500.0, factor=4.0, beta_fast=16.0, beta_slow=2.0,
            mscale=1.0, mscale_all_dim=0.6, truncate=False,
            original_max_position_embeddings=64))),
    # All is beyond the original length.
    Fixture("llama", "longrope", dict(
        hidden_size=48, num_attention_heads=4, num_key_value_heads=2,
        head_dim=20, max_position_embeddings=128, rope_parameters=rope(
            "longrope", factor=4.0, original_max_position_embeddings=8,
            short_factor=[1.0, 1.1, 1.2, 1.5, 1.9, 2.2, 2.5, 2.9, 3.3, 4.0],
            long_factor=[1.2, 1.9, 2.4, 3.1, 3.3, 3.9, 4.4, 5.0, 5.2, 6.0]))),

    Fixture("mistral", "window", dict(
        hidden_size=48, intermediate_size=104, rope_parameters=rope()),
        dtype="f32"),
    Fixture("mistral", "mqa-older", dict(
        num_attention_heads=3, num_key_value_heads=1, intermediate_size=264,
        sliding_window=13, bos_token_id=1, eos_token_id=2,
        rope_parameters=rope(theta=1e6)), older=True),
    Fixture("mistral", "no-window", dict(
        num_attention_heads=3, sliding_window=None,
        tie_word_embeddings=True, hidden_act="relu",
        rope_parameters=rope("linear", factor=3.0)), dtype="f16"),

    Fixture("qwen2", "tied", dict(
        hidden_size=144, intermediate_size=72, tie_word_embeddings=True,
        rope_parameters=rope(theta=1e6))),
    Fixture("qwen2", "mqa-older", dict(
        num_attention_heads=3, num_key_value_heads=1,
        rope_parameters=llama3_rope(32, theta=1000.0)),
        older=True, dtype="f32"),
    # Layer 0 sees everything, layers 1 and 2 a window.
    Fixture("qwen2", "window", dict(
        num_attention_heads=3, num_hidden_layers=3, use_sliding_window=True,
        sliding_window=8, max_window_layers=1, vocab_size=131,
        rope_parameters=rope()), sharded=True),
    # The same rule without layer_types.
    Fixture("qwen2", "window-older", dict(
        num_attention_heads=3, num_key_value_heads=1, num_hidden_layers=3,
        use_sliding_window=True, sliding_window=11, max_window_layers=2,
        rope_parameters=rope(theta=1e5)), dtype="f16", older=True),

    # The attention factor comes from the factor.
    Fixture("qwen2", "yarn-older", dict(
        hidden_size=60, num_attention_heads=3, num_key_value_heads=1,
        max_position_embeddings=128, vocab_size=61, rope_parameters=rope(
            "yarn", theta=1000.0, factor=2.0,
            original_max_position_embeddings=64)),
        older=True, rope_key="type"),

    Fixture("qwen3", "tied", dict(
        hidden_size=48, intermediate_size=104, tie_word_embeddings=True,
        rope_parameters=rope(theta=1e6)), dtype="f32"),
    Fixture("qwen3", "mqa-bias-older", dict(
        num_attention_heads=3, num_key_value_heads=1, intermediate_size=264,
        attention_bias=True, rms_norm_eps=1e-2,
        rope_parameters=rope("linear", theta=1e4, factor=2.0)),
        older=True, rope_key="type"),
    # layer_types that no rule of layer numbers gives.
    Fixture("qwen3", "window", dict(
        num_attention_heads=9, num_hidden_layers=3, use_sliding_window=True,
        sliding_window=7, intermediate_size=40,
        max_position_embeddings=128,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"],
        rope_parameters=llama3_rope(64)), sharded=True),
    # An attention factor of its own.
    Fixture("qwen3", "yarn", dict(
        hidden_size=40, num_attention_heads=5, num_key_value_heads=5,
        head_dim=12, max_position_embeddings=1024, rope_parameters=rope(
            "yarn", theta=2000.0, factor=8.0, attention_factor=1.3,
            original_max_position_embeddings=128))),
]
