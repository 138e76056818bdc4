"""Encoder-decoders: logits under teacher forcing, greedy and beam search."""

import copy
import dataclasses
import json
import math
import re

import numpy as np
import torch
import transformers

from reference import (FAMILIES, MIN_EFFECT, MIN_GAP, NEW_TOKENS, Family,
                       Fixture, batch)

# Log-probabilities of a search are moved by as much, of the largest logit; the
# tolerance of the comparisons is the same.
NOISE = 1e-4
TRIALS = 4


def dense(gain):
    def rule(noise, config):
        return gain * noise / math.sqrt(noise.shape[-1])
    return rule


def strong(noise, config):
    """The layers add more than what a token's own embedding leaves to its
    logit; of what an activation gives, the mean, the same for every token, adds
    nothing."""
    value = dense(6)(noise, config)
    return value - value.mean(axis=-1, keepdims=True)


def bart_older(config, fixture):
    """Flags of the first BART-like models; what generation needs beside."""
    config |= dict(add_bias_logits=False, add_final_layer_norm=False,
                   normalize_before=False,
                   num_hidden_layers=config["encoder_layers"])
    if fixture.family == "bart":
        config |= dict(gradient_checkpointing=False, classif_dropout=0.0)
    else:
        config |= dict(normalize_embedding=False,
                       static_position_embeddings=True)
    if fixture.generation:
        config |= fixture.generation


def bart_older_tensors(tensors, config):
    """Every copy of the embedding and the tables of sines."""
    shared = tensors["model.shared.weight"]
    for name in ("model.encoder.embed_tokens", "model.decoder.embed_tokens",
                 "lm_head"):
        tensors[f"{name}.weight"] = shared.clone()
    if config["model_type"] == "marian":
        rows = sines(config["max_position_embeddings"], config["d_model"])
        for name in "encoder", "decoder":
            tensors[f"model.{name}.embed_positions.weight"] = torch.from_numpy(
                rows).to(shared.dtype)
    return tensors


def t5_older(config, fixture):
    """No key for what follows from others."""
    scaled = config.pop("scale_decoder_outputs")
    for key in ("dense_act_fn", "is_gated_act", "classifier_dropout",
                "is_decoder", "relative_attention_max_distance"):
        del config[key]
    config |= dict(n_positions=512, output_past=True,
                   task_specific_params={"summarization": {"num_beams": 7}})
    if scaled:
        # Not mentioned, it is tied; and every stack has as many layers.
        del config["tie_word_embeddings"], config["num_decoder_layers"]
    else:
        config["tie_word_embeddings"] = False


def t5_older_tensors(tensors, config):
    for name in "encoder", "decoder":
        tensors[f"{name}.embed_tokens.weight"] = tensors[
            "shared.weight"].clone()
    return tensors


def sines(rows, width):
    """Sines in the first half of the columns, cosines in the other: f32."""
    columns = np.arange(width)
    angles = np.arange(rows)[:, None] / 10000.0 ** (
        2 * (columns // 2) / width)
    return np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])],
                          axis=1).astype(np.float32)


def logits_bias(noise, config):
    """The end comes into question, and so does padding."""
    value = 0.3 * noise
    # The logits' standard deviation.
    scale = 1 if config.scale_embedding else 3
    value[:, config.eos_token_id] += scale
    value[:, config.pad_token_id] += scale
    return value


def t5_shared(noise, config):
    """Logits of standard deviation near 2, the end's wider."""
    value = 1.5 * noise
    value[config.eos_token_id] *= 2
    if not config.scale_decoder_outputs:
        value /= math.sqrt(config.d_model)
    return value


def t5_score(noise, config):
    """Scores of standard deviation near 2 without a scale."""
    return dense(math.sqrt(2 / math.sqrt(config.d_kv)))(noise, config)


def t5_variants(config):
    changes = dict(
        distance=dict(relative_attention_max_distance=2
                      * config.relative_attention_max_distance),
        scale=dict(scale_decoder_outputs=not config.scale_decoder_outputs))
    for act in {"relu", "silu", "gelu_new"} - {config.dense_act_fn}:
        changes[f"dense_act_fn {act}"] = dict(dense_act_fn=act)
    return changes


def scale_variants(config):
    return dict(scale=dict(scale_embedding=not config.scale_embedding))


# Seven layers' worth of sizes that differ between encoder and decoder.
BART = dict(
    vocab_size=61, d_model=40, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=2, decoder_attention_heads=5, encoder_ffn_dim=88,
    decoder_ffn_dim=72, max_position_embeddings=64, forced_eos_token_id=None,
    num_labels=2)
MARIAN = BART | dict(pad_token_id=60, decoder_start_token_id=60,
                     scale_embedding=True, activation_function="swish")
POST_NORM = ((r"final_logits_bias$", logits_bias),
             (r"(shared|embed_tokens|lm_head)\.weight$", lambda n, config:
              (0.15 if config.scale_embedding else 0.5) * n),
             (r"embed_positions\.weight$", lambda n, config: n),
             (r"fc1\.weight$", dense(2)),
             (r"fc2\.weight$", strong))
FAMILIES["bart"] = Family(
    BART, weights=POST_NORM, older=bart_older, variants=scale_variants,
    older_tensors=bart_older_tensors, silent=(r"k_proj\.bias$",))
FAMILIES["marian"] = dataclasses.replace(FAMILIES["bart"], defaults=MARIAN)
FAMILIES["t5"] = Family(
    dict(vocab_size=61, d_model=40, d_kv=12, d_ff=72, num_layers=2,
         num_heads=3, decoder_start_token_id=0),
    weights=((r"^(shared|lm_head)\.weight$", t5_shared),
             (r"Attention\.[qk]\.weight$", t5_score),
             (r"relative_attention_bias\.weight$", lambda n, config: n),
             (r"DenseReluDense\.wi", dense(2)),
             (r"DenseReluDense\.wo", strong)),
    older=t5_older, older_tensors=t5_older_tensors, variants=t5_variants)


class OwnHead:
    """T5 with a head of its own, which its class always ties."""

    @staticmethod
    def from_config(config):
        model = transformers.AutoModelForSeq2SeqLM.from_config(config)
        model.lm_head = torch.nn.Linear(config.d_model, config.vocab_size,
                                        bias=False)
        return model

    @staticmethod
    def from_pretrained(directory, **arguments):
        return transformers.AutoModelForSeq2SeqLM.from_pretrained(
            directory, **arguments)


class Noise(transformers.LogitsProcessor):
    """Moves log-probabilities by up to `most`."""

    def __init__(self, seed, most):
        self.random = torch.Generator().manual_seed(seed)
        self.most = most

    def __call__(self, input_ids, scores):
        noise = torch.rand(scores.shape, generator=self.random)
        return scores + self.most * (2 * noise - 1)


def few(tokens, what):
    """A complaint of a search that would compare little."""
    if len(set(tokens.tolist())) >= 5:
        return []
    return [f"{what}.npy: only {tokens.tolist()}"]


def changed_settings(model, values):
    """A copy of the model that generates by other settings."""
    changed = copy.deepcopy(model)
    for key, value in values.items():
        setattr(changed.generation_config, key, value)
    return changed


@dataclasses.dataclass
class Seq2Seq(Fixture):
    """An encoder-decoder; compared are the logits [T,V] of the decoder's T
    tokens, and what it generates after the start token alone."""

    decoder_tokens: int = 19
    # The settings of generation_config.json, or of config.json in an older
    # fixture; without them there are no rules but the start and end tokens.
    generation: dict | None = None
    own_head: bool = False

    kind = "seq2seq"

    @property
    def auto(self):
        return OwnHead if self.own_head else transformers.AutoModelForSeq2SeqLM

    @property
    def reference(self):
        return "logits.npy"

    @property
    def input_names(self):
        return ("input_ids", "decoder_input_ids")

    @property
    def answer_names(self):
        if self.generation:
            return ("published",)
        return ("greedy", "beams", "long_beams")

    def finish(self, directory):
        if self.generation and not self.older:
            text = json.dumps(self.generation, indent=2) + "\n"
            (directory / "generation_config.json").write_text(text)

    def inputs(self, model, rng):
        """A source without padding; the decoder's tokens are any."""
        config = model.config
        source = rng.integers(config.vocab_size, size=self.tokens)
        source[source == config.pad_token_id] = 7
        target = rng.integers(
            getattr(config, "decoder_vocab_size", config.vocab_size),
            size=self.decoder_tokens)
        target[0] = config.decoder_start_token_id
        return dict(input_ids=source.astype(np.int32),
                    decoder_input_ids=target.astype(np.int32))

    def evaluate(self, model, inputs):
        with torch.no_grad():
            return model(**{name: batch(ids) for name, ids in inputs.items()},
                         use_cache=False).logits[0].float().numpy()

    def generate(self, model, inputs, noise=None, **settings):
        """New tokens, by Transformers, through its caches."""
        processors = transformers.LogitsProcessorList([noise] if noise else [])
        with torch.no_grad():
            ids = model.generate(
                batch(inputs["input_ids"]), do_sample=False,
                max_new_tokens=NEW_TOKENS, logits_processor=processors,
                **settings)[0]
        return ids[1:].numpy().astype(np.int32)

    def unsteady(self, model, inputs, largest, found, **settings):
        """A complaint if noise leads a search elsewhere."""
        for seed in range(TRIALS):
            other = self.generate(model, inputs, Noise(seed, NOISE * largest),
                                  **settings)
            if not np.array_equal(found, other):
                return ["a search that noise leads elsewhere"]
        return []

    def answers(self, model, inputs):
        largest = float(np.abs(self.evaluate(model, inputs)).max())
        if self.generation:
            return self.published(model, inputs, largest)
        greedy, gap = self.greedy(model, inputs)
        complaints = []
        if not gap > MIN_GAP:
            complaints.append(f"greedy.npy: gap {gap:.1e}")
        complaints += few(greedy, "greedy")
        endless = changed_settings(model, dict(eos_token_id=None))
        if not np.array_equal(greedy, self.generate(endless, inputs)):
            complaints.append("greedy.npy: other tokens through the caches")
        if complaints:
            return dict(greedy=greedy), complaints
        ways = [dict(num_beams=3), dict(num_beams=3, length_penalty=2.0)]
        beams, long = (self.generate(model, inputs, **way) for way in ways)
        if np.array_equal(beams, long):
            complaints.append("the length penalty changes nothing")
        if np.array_equal(beams, greedy[:len(beams)]):
            complaints.append("beams.npy: as greedy")
        complaints += few(beams, "beams") + few(long, "long_beams")
        for way, found in zip(ways, (beams, long)):
            if not complaints:
                complaints = self.unsteady(model, inputs, largest, found,
                                           **way)
        return dict(greedy=greedy, beams=beams, long_beams=long), complaints

    def greedy(self, model, inputs):
        """New tokens, each from the whole sequence, and the smallest gap."""
        sequence = [model.config.decoder_start_token_id]
        gap = math.inf
        for _ in range(NEW_TOKENS):
            last = self.evaluate(model, inputs | dict(
                decoder_input_ids=np.array(sequence)))[-1]
            second, first = np.sort(last)[-2:]
            gap = min(gap, float(first - second) / float(np.abs(last).max()))
            sequence.append(int(last.argmax()))
        return np.array(sequence[1:], dtype=np.int32), gap

    def published(self, model, inputs, largest):
        """What the checkpoint's own settings generate; each of them tells."""
        found = self.generate(model, inputs)
        complaints = few(found, "published")
        for values in (dict(num_beams=1),
                       dict(length_penalty=1.0, early_stopping=False),
                       dict(no_repeat_ngram_size=0), dict(min_length=0),
                       dict(forced_bos_token_id=None),
                       dict(forced_eos_token_id=None),
                       dict(bad_words_ids=None)):
            if complaints:
                break
            if values.keys() <= self.generation.keys():
                other = changed_settings(model, values)
                if np.array_equal(found, self.generate(other, inputs)):
                    complaints.append(f"published.npy: {values} are as good")
        if not complaints:
            complaints = self.unsteady(model, inputs, largest, found)
        return dict(published=found), complaints

    def extra_complaints(self, model, inputs, stored):
        """Tables of positions are seen, and are what they should be."""
        complaints = []
        largest = np.abs(stored).max()
        for name, parameter in list(model.named_parameters()):
            if not re.search("relative_attention_bias", name):
                continue
            changed = copy.deepcopy(model)
            with torch.no_grad():
                changed.get_parameter(name).fill_(0)
            effect = np.abs(self.evaluate(changed, inputs)
                            - stored).max() / largest
            if not effect >= MIN_EFFECT:
                complaints.append(f"without '{name}' only {effect:.1e}")
        if self.family == "marian":
            for part in model.model.encoder, model.model.decoder:
                table = part.embed_positions.weight.detach().numpy()
                error = np.abs(table - sines(*table.shape)).max()
                if not error <= (1e-2 if self.older else 1e-6):
                    complaints.append(f"sines: error {error:.1e}")
        return complaints


FIXTURES = [
    # As published first: keys that follow from others are not there.
    Seq2Seq("t5", "relu", dict(), older=True),
    # A head of its own, and no scale before it.
    Seq2Seq("t5", "gated", dict(
        feed_forward_proj="gated-gelu", tie_word_embeddings=False,
        d_ff=56), own_head=True, older=True),
    # Few buckets, a short reach, fewer layers in the decoder.
    Seq2Seq("t5", "buckets", dict(
        feed_forward_proj="gated-silu", num_layers=3, num_decoder_layers=1,
        relative_attention_num_buckets=10, relative_attention_max_distance=21,
        num_heads=5, d_kv=8, d_ff=48, layer_norm_epsilon=1e-2,
        tie_word_embeddings=False), dtype="f16"),
    Seq2Seq("t5", "published", dict(), generation=dict(
        decoder_start_token_id=0, early_stopping=True, eos_token_id=1,
        length_penalty=2.0, min_length=6, no_repeat_ngram_size=3, num_beams=4,
        pad_token_id=0)),

    Seq2Seq("bart", "gelu", dict(), older=True),
    Seq2Seq("bart", "scaled", dict(
        scale_embedding=True, activation_function="relu", encoder_layers=1,
        decoder_layers=3, encoder_attention_heads=5,
        decoder_attention_heads=2), dtype="f16"),
    # Four embeddings, of which the shared one is not used.
    Seq2Seq("bart", "untied", dict(
        tie_word_embeddings=False, vocab_size=53,
        activation_function="gelu_new")),
    Seq2Seq("bart", "published", dict(forced_eos_token_id=2), generation=dict(
        bos_token_id=0, decoder_start_token_id=2, early_stopping=True,
        eos_token_id=2, forced_bos_token_id=0, forced_eos_token_id=2,
        length_penalty=2.0, max_length=142, min_length=6,
        no_repeat_ngram_size=2, num_beams=4, pad_token_id=1)),

    # An odd width: one sine more than cosines.
    Seq2Seq("marian", "odd", dict(
        d_model=45, encoder_attention_heads=3, decoder_attention_heads=5)),
    Seq2Seq("marian", "separate", dict(
        share_encoder_decoder_embeddings=False, decoder_vocab_size=53,
        vocab_size=67, pad_token_id=52, decoder_start_token_id=52,
        scale_embedding=False, activation_function="relu"), dtype="f16"),
    # What generation needs stands in config.json.
    Seq2Seq("marian", "older", dict(forced_eos_token_id=0),
            older=True, generation=dict(
                bad_words_ids=[[60]], max_length=512, num_beams=6,
                forced_eos_token_id=0)),
    Seq2Seq("marian", "published", dict(
        activation_function="gelu", encoder_layers=3, decoder_layers=1,
        forced_eos_token_id=0), generation=dict(
            bad_words_ids=[[60]], bos_token_id=0, decoder_start_token_id=60,
            eos_token_id=0, forced_eos_token_id=0, max_length=512,
            num_beams=4, pad_token_id=60, renormalize_logits=True)),
]
