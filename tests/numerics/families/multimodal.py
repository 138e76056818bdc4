"""Decoders that read images in their text."""

import copy
import dataclasses

import numpy as np
import safetensors.torch
import torch
import transformers

from reference import (FAMILIES, MIN_EFFECT, MIN_GAP, NEW_TOKENS,
                       PROMPT_TOKENS, Family, Fixture, batch, end_ids, rope)
from families.encoders import dense
from families.llama import LLAMA, QWEN2
from families.vision import Pictures

# Three rows and columns of patches, and a rest that no patch covers.
TOWER = dict(
    model_type="clip_vision_model", hidden_size=40, intermediate_size=56,
    num_hidden_layers=3, num_attention_heads=5, image_size=20, patch_size=6,
    layer_norm_eps=1e-5)
# Sequences of two images and what is generated after them.
LENGTH = dict(max_position_embeddings=96)
TEXT = dict(model_type="llama") | LLAMA | LENGTH | dict(vocab_size=101)


def changes(config):
    """What the tower and what is between it and the text model may do."""
    found = {}
    for act in sorted({"relu", "silu", "quick_gelu"}
                      - {config.projector_hidden_act}):
        found[f"projector {act}"] = dict(projector_hidden_act=act)
    for act in sorted({"relu", "silu"} - {config.vision_config.hidden_act}):
        tower = copy.deepcopy(config.vision_config)
        tower.hidden_act = act
        found[f"tower {act}"] = dict(vision_config=tower)
    layers = config.vision_config.num_hidden_layers
    index = config.vision_feature_layer % (layers + 1)
    for other in {1, layers - 1, layers} - {index}:
        found[f"layer {other}"] = dict(vision_feature_layer=other)
    return found


def spell_older(config, fixture):
    """Nested models without what is as Transformers has it, as published files
    have them."""
    text, tower = config["text_config"], config["vision_config"]
    for nested in text, tower:
        nested.pop("dtype", None)
    theta = text.pop("rope_parameters")["rope_theta"]
    text["rope_theta"] = theta
    for nested, defaults in (
            (text, transformers.LlamaConfig().to_dict()),
            (tower, transformers.CLIPVisionConfig().to_dict())):
        for key in [k for k, v in nested.items() if k != "model_type"
                    and k in defaults and defaults[k] == v]:
            del nested[key]
    config["image_token_index"] = config.pop("image_token_id",
                                             fixture.image_token)
    config.pop("image_seq_length", None)


def renamed(tensors, pairs):
    """The tensors with the first prefix of `pairs` that each has replaced."""
    found = {}
    for name, tensor in tensors.items():
        for old, new in pairs:
            if name.startswith(old):
                name = new + name[len(old):]
                break
        found[name] = tensor
    return found


def spell_older_tensors(tensors, config):
    """The tower as a model of its own, with the places of its patches."""
    tensors = renamed(tensors, [("vision_tower.", "vision_tower.vision_model.")])
    prefix = "vision_tower.vision_model.embeddings."
    places = len(tensors[prefix + "position_embedding.weight"])
    tensors[prefix + "position_ids"] = torch.arange(places)[None]
    return tensors


# The body under one prefix, the head outside: files in between.
BODY = [("language_model.model.", "model.language_model."),
        ("language_model.lm_head.", "lm_head."),
        ("vision_tower.", "model.vision_tower.vision_model."),
        ("multi_modal_projector.", "model.multi_modal_projector.")]


FAMILIES["llava"] = Family(
    dict(text_config=TEXT, vision_config=TOWER, image_token_index=98,
         projector_hidden_act="gelu", vision_feature_layer=-2,
         vision_feature_select_strategy="default",
         multimodal_projector_bias=True),
    weights=((r"class_embedding$", lambda n, config: 0.7 * n),
             (r"position_embedding\.weight$", lambda n, config: 0.5 * n),
             (r"patch_embedding\.weight$", lambda n, config:
              n / np.sqrt(n[0].size)),
             (r"mlp\.fc[12]\.weight$", dense(2)),
             (r"multi_modal_projector\.linear_[12]\.weight$", dense(1.5))),
    older=spell_older, older_tensors=spell_older_tensors, variants=changes,
    silent=(r"k_proj\.bias$", r"post_layernorm"))


@dataclasses.dataclass
class Chat(Fixture):
    """A text with two images at different places; compared are the logits of
    every token [T,V], and what follows a text alone and the whole."""

    # Tokens of text before, between and after the images.
    text: tuple = (PROMPT_TOKENS + 2, 5, 4)
    # Prefixes of tensors' names to replace.
    names: list = dataclasses.field(default_factory=list)

    kind = "image_logits"
    auto = transformers.AutoModelForImageTextToText
    pixels = ("first_values", "second_values")

    def __post_init__(self):
        self.tokens = sum(self.text) + 2 * self.image_rows

    @property
    def settings(self):
        return self.traits.defaults | self.config

    @property
    def image_token(self):
        return self.settings["image_token_index"]

    @property
    def image_rows(self):
        tower = self.settings["vision_config"]
        patches = (tower["image_size"] // tower["patch_size"]) ** 2
        return patches + (
            self.settings["vision_feature_select_strategy"] == "full")

    @property
    def input_names(self):
        return ("input_ids", *self.pixels)

    @property
    def answer_names(self):
        return ("greedy", "image_greedy")

    @property
    def index(self):
        return super().index | dict(image_token=self.image_token)

    def finish(self, directory):
        if self.names:
            file = directory / "model.safetensors"
            safetensors.torch.save_file(
                renamed(safetensors.torch.load_file(file), self.names), file,
                metadata={"format": "pt"})

    def inputs(self, model, rng):
        vocabulary = model.config.get_text_config().vocab_size
        others = np.setdiff1d(np.arange(vocabulary, dtype=np.int32),
                              [self.image_token])
        image = np.full(self.image_rows, self.image_token, dtype=np.int32)
        before, between, after = (rng.choice(others, size=n)
                                  for n in self.text)
        ids = np.concatenate([before, image, between, image, after])
        return dict(input_ids=ids) | self.images(model, rng)

    def images(self, model, rng):
        tower = self.settings["vision_config"]
        side = tower["image_size"]
        shape = (tower.get("num_channels", 3), side, side)
        return {name: rng.standard_normal(shape, dtype=np.float32)
                for name in self.pixels}

    def evaluate(self, model, inputs):
        images = [inputs[name] for name in self.pixels if name in inputs]
        more = {}
        if images:
            weight = next(model.parameters())
            more["pixel_values"] = torch.from_numpy(
                np.stack(images)).to(weight.dtype)
        with torch.no_grad():
            return model(input_ids=batch(inputs["input_ids"]), use_cache=False,
                         **more).logits[0].float().numpy()

    def answers(self, model, inputs):
        found, complaints = {}, []
        images = {name: inputs[name] for name in self.pixels}
        ids = inputs["input_ids"]
        for name, prompt, more in (("greedy", ids[:PROMPT_TOKENS], {}),
                                   ("image_greedy", ids, images)):
            sequence, gap = list(prompt), np.inf
            for _ in range(NEW_TOKENS):
                last = self.evaluate(
                    model, dict(input_ids=np.array(sequence)) | more)[-1]
                second, first = np.sort(last)[-2:]
                gap = min(gap, float(first - second) / np.abs(last).max())
                sequence.append(int(last.argmax()))
            new = np.array(sequence[len(prompt):], dtype=np.int32)
            found[name] = new
            if not gap > MIN_GAP:
                complaints.append(f"{name}.npy: gap {gap:.1e}")
            if len(set(new)) < 6:
                complaints.append(f"{name}.npy: only {new.tolist()}")
            if ({self.image_token} | end_ids(self)) & set(new.tolist()):
                complaints.append(f"{name}.npy: a token that ends or an image")
        return found, complaints

    def extra_complaints(self, model, inputs, stored):
        """Each image is seen, where it stands, and all that the tower has."""
        complaints = super().extra_complaints(model, inputs, stored)
        first, second = self.pixels
        largest = np.abs(stored).max()
        swapped = inputs | {first: inputs[second], second: inputs[first]}
        effect = np.abs(self.evaluate(model, swapped) - stored).max() / largest
        if not effect >= MIN_EFFECT:
            complaints.append(f"images swapped: only {effect:.1e}")
        for name in "class_embedding", "position_embedding.weight":
            parameter = next(p for n, p in model.named_parameters()
                             if n.endswith(name))
            kept = parameter.detach().clone()
            with torch.no_grad():
                parameter.fill_(0)
            effect = np.abs(self.evaluate(model, inputs)
                            - stored).max() / largest
            with torch.no_grad():
                parameter.copy_(kept)
            if not effect >= MIN_EFFECT:
                complaints.append(f"without '{name}' only {effect:.1e}")
        return complaints


@dataclasses.dataclass
class ChatPictures(Chat):
    """The same with files of pictures, and the settings that make pixels of
    them."""

    # preprocessor_config.json, or what is in processor_config.json.
    processing: dict = dataclasses.field(default_factory=dict)
    nested: bool = False
    sizes: tuple = ((41, 30), (29, 37))
    mode: str = "RGB"

    pixels = ("png_values", "jpeg_values")

    def finish(self, directory):
        super().finish(directory)
        Pictures.finish(self, directory)
        if self.nested:
            file = directory / "preprocessor_config.json"
            text = '{"image_processor": ' + file.read_text() + "}\n"
            (directory / "processor_config.json").write_text(text)
            file.unlink()

    def images(self, model, rng):
        return Pictures.inputs(self, model, rng)


FIXTURES = [
    # Grouped queries and a rest of the image beside the patches.
    Chat("llava", "gqa", {}),
    # The class token stands too; all layers; a projector without biases; tied,
    # another activation of the tower.
    Chat("llava", "full-qwen2", dict(
        text_config=dict(model_type="qwen2") | QWEN2 | LENGTH | dict(
            vocab_size=89, hidden_size=48, tie_word_embeddings=True,
            num_key_value_heads=1),
        vision_config=TOWER | dict(hidden_act="gelu", patch_size=5,
                                   num_attention_heads=2),
        image_token_index=7, projector_hidden_act="quick_gelu",
        multimodal_projector_bias=False, vision_feature_layer=-1,
        vision_feature_select_strategy="full"), dtype="f32"),
    # Published files: nested configurations of what differs, a whole text
    # model under a prefix.
    Chat("llava", "older", dict(
        text_config=TEXT | dict(num_attention_heads=3, num_key_value_heads=3,
                                rope_parameters=rope(), rms_norm_eps=1e-6),
        vision_feature_layer=1, projector_hidden_act="relu"),
        dtype="f16", older=True),
    # A text model that scales its embeddings, but not the images.
    Chat("llava", "gemma", dict(
        text_config=dict(model_type="gemma") | LLAMA | LENGTH | dict(
            vocab_size=97, num_key_value_heads=1, tie_word_embeddings=True,
            hidden_activation="gelu_pytorch_tanh"),
        image_token_index=96), names=BODY),
    ChatPictures("llava", "pictures", dict(
        text_config=TEXT | dict(hidden_size=48),
        vision_config=TOWER | dict(image_size=24)), processing=dict(
            crop_size=dict(height=24, width=24), do_center_crop=True,
            do_convert_rgb=True, do_normalize=True, do_rescale=True,
            do_resize=True, image_processor_type="CLIPImageProcessor",
            image_mean=[0.48145466, 0.4578275, 0.40821073],
            image_std=[0.26862954, 0.26130258, 0.27577711], resample=3,
            rescale_factor=1 / 255, size=dict(shortest_edge=24))),
    # What CLIP's processor does unasked, where newer files have it.
    ChatPictures("llava", "nested-pictures", dict(
        text_config=TEXT | dict(hidden_size=48),
        vision_config=TOWER | dict(image_size=18, num_hidden_layers=2)),
        nested=True, processing=dict(
            image_processor_type="CLIPImageProcessorFast",
            crop_size=18, size=dict(shortest_edge=18))),
]
