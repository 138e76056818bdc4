"""Encoders."""

import dataclasses

import numpy as np
import torch
from transformers import AutoModel

from reference import FAMILIES, Family, Fixture, batch


def older(config, fixture):
    config["position_embedding_type"] = "absolute"


FAMILIES["bert"] = Family(
    dict(vocab_size=97, hidden_size=72, intermediate_size=104,
         num_hidden_layers=2, num_attention_heads=3,
         max_position_embeddings=64, type_vocab_size=2, layer_norm_eps=1e-12),
    older=older,
    # The same number on all scores of a row leaves its softmax alone, and what
    # a pooler makes of the hidden states is not compared.
    silent=(r"self\.key\.bias$", r"^pooler"))


@dataclasses.dataclass
class Encoder(Fixture):
    """A bare encoder; compared are the last hidden states."""

    # No pooler tensors if not.
    pooler: bool = True

    kind = "hidden"
    auto = AutoModel

    @property
    def arguments(self):
        return dict(add_pooling_layer=self.pooler)

    @property
    def reference(self):
        return "hidden.npy"

    @property
    def input_names(self):
        return ("input_ids", "token_type_ids")

    @property
    def answer_names(self):
        return ()

    def inputs(self, model, rng):
        inputs = super().inputs(model, rng)
        types = rng.integers(model.config.type_vocab_size, size=self.tokens,
                             dtype=np.int32)
        return inputs | dict(token_type_ids=types)

    def evaluate(self, model, inputs):
        """f32 hidden states [T,H]."""
        with torch.no_grad():
            return model(**{name: batch(ids) for name, ids in inputs.items()}
                         ).last_hidden_state[0].float().numpy()

    def answers(self, model, inputs):
        return {}, []

    def extra_complaints(self, model, inputs, stored):
        if (set(inputs["token_type_ids"])
                != set(range(model.config.type_vocab_size))):
            return ["not every token type occurs"]
        return []


FIXTURES = [
    Encoder("bert", "gelu", dict(hidden_act="gelu"), dtype="f32"),
    Encoder("bert", "gelu-new", dict(
        hidden_act="gelu_new", hidden_size=48, num_attention_heads=2,
        intermediate_size=264, layer_norm_eps=1e-2), older=True, pooler=False),
    Encoder("bert", "relu", dict(
        hidden_act="relu", num_attention_heads=9, num_hidden_layers=3,
        intermediate_size=104, type_vocab_size=3, vocab_size=131),
        dtype="f16", sharded=True),
]
