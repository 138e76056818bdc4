"""Encoders, bare and with their usual heads."""

import dataclasses
import json
import math

import numpy as np
import torch
import transformers

from reference import (FAMILIES, Family, Fixture, batch, load, relative_loss,
                       rope)


def bert_older(config, fixture):
    config["position_embedding_type"] = "absolute"


def older(config, fixture):
    bert_older(config, fixture)
    config["gradient_checkpointing"] = False


def distilbert_older(config, fixture):
    config["tie_weights_"] = True


def modernbert_older(config, fixture):
    """One number for the kinds of layers, two for the rotation."""
    older(config, fixture)
    parameters = config.pop("rope_parameters")
    config["global_rope_theta"] = parameters["full_attention"]["rope_theta"]
    config["local_rope_theta"] = parameters["sliding_attention"]["rope_theta"]
    config["layer_norm_eps"] = config["norm_eps"]
    config["reference_compile"] = None


def table(noise, config):
    """Words, positions and types of much the same size; a norm follows."""
    return 0.35 * noise


def dense(gain):
    def rule(noise, config):
        return gain * noise / math.sqrt(noise.shape[-1])
    return rule


def query_key_value(noise, config):
    """Scores of standard deviation near 2, as in separate projections."""
    value = dense(1)(noise, config)
    value[:2 * config.hidden_size] *= 1.4
    return value


def modernbert_variants(config):
    changes = {f"local {other}": dict(local_attention=other)
               for other in (config.local_attention - 2,
                             config.local_attention + 2)}
    for kind in sorted(set(config.layer_types)):
        changed = config.rope_parameters | {kind: rope(
            theta=1.2 * config.rope_parameters[kind]["rope_theta"])}
        changes[f"theta of {kind}"] = dict(rope_parameters=changed)
    return changes


BERT = dict(
    vocab_size=97, hidden_size=72, intermediate_size=104, num_hidden_layers=2,
    num_attention_heads=3, max_position_embeddings=64, type_vocab_size=2,
    layer_norm_eps=1e-12)
# Positions begin at pad_token_id + 1.
ROBERTA = BERT | dict(
    hidden_size=48, num_attention_heads=2, intermediate_size=88,
    max_position_embeddings=70, type_vocab_size=1, layer_norm_eps=1e-5)
TABLES = (r"(word|position|token_type)_embeddings\.weight$", table)
# The same number on all scores of a row leaves its softmax alone, and what a
# bare model's pooler makes of the hidden states is not compared.
SILENT = (r"self\.key\.bias$", r"^pooler")

FAMILIES["bert"] = Family(
    BERT, weights=((r"^bert\.embeddings.*" + TABLES[0], table),),
    older=bert_older, silent=SILENT)
for name in ("roberta", "xlm-roberta"):
    FAMILIES[name] = Family(
        ROBERTA, weights=(TABLES, (r"\d\.output\.dense\.w", dense(4))),
        older=older, silent=SILENT, variants=lambda config: {
            "pad": dict(pad_token_id=config.pad_token_id - 1
                        if config.pad_token_id else 1)})
FAMILIES["electra"] = Family(
    BERT | dict(hidden_size=48, embedding_size=40, num_attention_heads=4,
                intermediate_size=88),
    weights=(TABLES,), older=older, silent=SILENT)
FAMILIES["distilbert"] = Family(
    dict(vocab_size=97, dim=48, hidden_dim=88, n_layers=2, n_heads=2,
         max_position_embeddings=64),
    weights=(TABLES, (r"[qk]_lin\.weight$", dense(1.4)),
             (r"ffn\.lin[12]\.weight$", dense(2))),
    older=distilbert_older,
    silent=(r"k_lin\.bias$",))
FAMILIES["modernbert"] = Family(
    dict(vocab_size=97, hidden_size=48, intermediate_size=40,
         num_hidden_layers=3, num_attention_heads=2, local_attention=8,
         max_position_embeddings=64, pad_token_id=0, bos_token_id=1,
         cls_token_id=1, eos_token_id=2, sep_token_id=2),
    weights=((r"tok_embeddings\.weight$", table),
             (r"Wqkv\.weight$", query_key_value),
             (r"mlp\.(Wi|Wo)\.weight$", dense(2))),
    older=modernbert_older, variants=modernbert_variants)


@dataclasses.dataclass
class Encoder(Fixture):
    """A bare encoder; compared are the last hidden states [T,H]."""

    # No pooler tensors if not.
    pooler: bool = True

    kind = "hidden"
    auto = transformers.AutoModel

    @property
    def arguments(self):
        if self.family in ("bert", "roberta", "xlm-roberta"):
            return dict(add_pooling_layer=self.pooler)
        return {}

    @property
    def reference(self):
        return "hidden.npy"

    @property
    def types(self):
        """The number of token types."""
        return (self.traits.defaults | self.config).get("type_vocab_size", 1)

    @property
    def input_names(self):
        return ("input_ids", "token_type_ids")[:1 + (self.types > 1)]

    @property
    def answer_names(self):
        return ()

    def inputs(self, model, rng):
        config = model.config
        ids = rng.integers(config.vocab_size, size=self.tokens,
                           dtype=np.int32)
        if self.family in ("roberta", "xlm-roberta"):
            # Padding has a position of its own and is no text.
            ids[ids == config.pad_token_id] = config.vocab_size - 1
        if self.types == 1:
            return dict(input_ids=ids)
        types = rng.integers(self.types, size=self.tokens, dtype=np.int32)
        return dict(input_ids=ids, token_type_ids=types)

    def output(self, answer):
        """What is compared, f32 [rows, width], of what the model returns."""
        return answer.last_hidden_state[0]

    def evaluate(self, model, inputs):
        with torch.no_grad():
            answer = model(**{name: batch(ids) for name, ids in inputs.items()})
            return self.output(answer).float().numpy()

    def answers(self, model, inputs):
        return {}, []

    def extra_complaints(self, model, inputs, stored):
        complaints = []
        if self.types > 1 and (set(inputs["token_type_ids"])
                               != set(range(self.types))):
            complaints.append("not every token type occurs")
        head = {k: v for k, v in inputs.items() if k != "token_type_ids"}
        if self.types > 1 and not np.abs(
                self.evaluate(model, head) - stored).max() > 0.01:
            complaints.append("token types change nothing")
        return complaints


class Embedder(Encoder):
    """The body of a decoder, as sentence-transformers keeps it."""

    def finish(self, directory):
        modules = [("", "Transformer"), ("1_Pooling", "Pooling"),
                   ("2_Normalize", "Normalize")]
        (directory / "modules.json").write_text(json.dumps(
            [dict(idx=i, name=str(i), path=path,
                  type=f"sentence_transformers.models.{kind}")
             for i, (path, kind) in enumerate(modules)], indent=2) + "\n")
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling" / "config.json").write_text(json.dumps(
            dict(word_embedding_dimension=self.config["hidden_size"],
                 pooling_mode_lasttoken=True), indent=2) + "\n")


@dataclasses.dataclass
class Masked(Encoder):
    """Masked-LM logits [T,V]."""

    kind = "token_logits"
    auto = transformers.AutoModelForMaskedLM
    arguments = {}

    @property
    def reference(self):
        return "logits.npy"

    @property
    def traits(self):
        # What an untied head has for the tied one's bias.
        unused = ((r"^(cls\.predictions|lm_head)\.bias$",)
                  if self.config.get("tie_word_embeddings") is False else ())
        family = FAMILIES[self.family]
        return dataclasses.replace(family, silent=family.silent + unused)

    def output(self, answer):
        return answer.logits[0]


@dataclasses.dataclass
class Tokens(Masked):
    """Classes of every token, logits [T,labels]."""

    auto = transformers.AutoModelForTokenClassification


@dataclasses.dataclass
class Spans(Masked):
    """Starts and ends of answers, logits [T,2]."""

    auto = transformers.AutoModelForQuestionAnswering

    def output(self, answer):
        return torch.stack([answer.start_logits[0], answer.end_logits[0]], 1)


@dataclasses.dataclass
class Replaced(Masked):
    """Whether each token was replaced, logits [T,1]."""

    auto = transformers.AutoModelForPreTraining

    def output(self, answer):
        return answer.logits[0][:, None]


@dataclasses.dataclass
class Classes(Masked):
    """Classes of the sequence, logits [1,labels]."""

    kind = "classes"
    auto = transformers.AutoModelForSequenceClassification

    @property
    def reference(self):
        return "classes.npy"

    def output(self, answer):
        return answer.logits

    def answers(self, model, inputs):
        # One row averages little: room for another way of rounding.
        narrow = load(self, model.name_or_path, dtype=torch.bfloat16)
        loss = relative_loss(self.evaluate(narrow, inputs),
                             self.evaluate(model, inputs))
        return {}, [] if loss <= 1e-2 else [f"loses {loss:.1e} in bf16"]


FIXTURES = [
    # A window in one layer; nothing is cached.
    Embedder("qwen3", "embeds", dict(
        hidden_size=48, intermediate_size=40, use_sliding_window=True,
        sliding_window=7, max_window_layers=1,
        rope_parameters=rope(theta=1e6))),
    Encoder("bert", "gelu", dict(hidden_act="gelu"), dtype="f32"),
    Encoder("bert", "gelu-new", dict(
        hidden_act="gelu_new", hidden_size=48, num_attention_heads=2,
        intermediate_size=264, layer_norm_eps=1e-2), older=True, pooler=False),
    Encoder("bert", "relu", dict(
        hidden_act="relu", num_attention_heads=9, num_hidden_layers=3,
        intermediate_size=104, type_vocab_size=3, vocab_size=131),
        dtype="f16", sharded=True),
    # The head has the layers' activation and epsilon.
    Masked("bert", "masked", dict(
        hidden_size=48, num_attention_heads=2, hidden_act="gelu_new",
        layer_norm_eps=1e-2)),
    # A head of its own; the tensor cls.predictions.bias is not used then.
    Masked("bert", "masked-untied", dict(
        hidden_size=48, num_attention_heads=4, hidden_act="relu",
        tie_word_embeddings=False, vocab_size=61), older=True),
    Classes("bert", "classes", dict(
        hidden_size=48, num_attention_heads=2, hidden_act="silu",
        num_labels=3)),
    Tokens("bert", "tokens", dict(
        hidden_size=40, num_attention_heads=5, num_labels=5), older=True),

    # Positions up to the end of their table.
    Encoder("roberta", "hidden", dict(
        pad_token_id=3, layer_norm_eps=1e-2, type_vocab_size=2,
        max_position_embeddings=41), dtype="f32", pooler=False),
    # Not the layers' activation in the head.
    Masked("roberta", "masked", dict(
        hidden_act="relu", layer_norm_eps=1e-2), older=True),
    Masked("roberta", "masked-untied", dict(
        tie_word_embeddings=False, num_attention_heads=3, vocab_size=61)),
    Classes("roberta", "classes", dict(num_labels=4, hidden_act="silu")),
    # Two labels, which config.json need not mention.
    Spans("roberta", "spans", dict(num_attention_heads=4, hidden_size=40)),

    Encoder("xlm-roberta", "hidden", dict(
        vocab_size=131, num_attention_heads=4, hidden_act="gelu_new"),
        older=True, sharded=True),
    Masked("xlm-roberta", "masked", dict(pad_token_id=0)),
    Classes("xlm-roberta", "classes", dict(
        num_attention_heads=3, hidden_act="relu", layer_norm_eps=1e-2)),

    # As wide as the layers: no projection after the embeddings.
    Encoder("electra", "hidden", dict(
        embedding_size=48, num_attention_heads=2, layer_norm_eps=1e-2),
        older=True),
    Replaced("electra", "replaced", dict(hidden_act="relu"), dtype="f16"),
    Masked("electra", "masked", dict(
        embedding_size=56, hidden_act="gelu_new", layer_norm_eps=1e-2)),
    Classes("electra", "classes", dict(
        num_attention_heads=3, hidden_act="silu", num_labels=5)),

    # A table of positions like any other, whatever the key says.
    Encoder("distilbert", "hidden", dict(
        activation="gelu_new", n_heads=4, sinusoidal_pos_embds=True),
        dtype="f16", older=True),
    Masked("distilbert", "masked", dict(activation="relu", dim=72,
                                        n_heads=3, hidden_dim=72)),
    Masked("distilbert", "masked-untied", dict(
        tie_word_embeddings=False, n_heads=3)),
    Classes("distilbert", "classes", dict(num_labels=3, activation="silu")),
    Tokens("distilbert", "tokens", dict(num_labels=7, dim=40, n_heads=5)),

    # As published: no bias but the decoder's, every third layer global.
    Masked("modernbert", "masked", dict(num_hidden_layers=4), older=True),
    # Every bias, other kinds of layers, the mean of all tokens.
    Classes("modernbert", "mean", dict(
        norm_bias=True, attention_bias=True, mlp_bias=True,
        classifier_bias=True, classifier_pooling="mean",
        classifier_activation="silu", hidden_activation="relu",
        norm_eps=1e-2, num_attention_heads=4, num_labels=3,
        layer_types=["sliding_attention", "full_attention",
                     "sliding_attention"])),
    Classes("modernbert", "first", dict(
        local_attention=12, num_labels=4, hidden_activation="silu",
        rope_parameters={"full_attention": rope(theta=500.0),
                         "sliding_attention": rope(theta=80.0)})),
    Encoder("modernbert", "hidden", dict(
        global_attn_every_n_layers=2, num_attention_heads=3,
        local_attention=6,
        rope_parameters={"full_attention": rope(theta=900.0),
                         "sliding_attention": rope(theta=100.0)}),
        dtype="f16", older=True),
    Masked("modernbert", "masked-untied", dict(
        tie_word_embeddings=False, decoder_bias=False, mlp_bias=True,
        vocab_size=61)),
    Tokens("modernbert", "tokens", dict(
        classifier_bias=True, hidden_activation="gelu_new", num_labels=6)),
]
