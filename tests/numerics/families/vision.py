"""Vision: classes or features of a picture."""

import dataclasses
import json
import pathlib

import numpy as np
import torch
import transformers

from reference import FAMILIES, MIN_EFFECT, Family, Fixture
from families.encoders import dense

FAMILIES["vit"] = Family(
    dict(hidden_size=48, num_hidden_layers=2, num_attention_heads=2,
         intermediate_size=88, image_size=24, patch_size=8, num_channels=3,
         num_labels=7),
    weights=((r"(cls_token|position_embeddings)$", lambda n, config: 0.5 * n),
             (r"projection\.weight$", lambda n, config:
              n / np.sqrt(n[0].size)),
             (r"mlp\.fc[12]\.weight$", dense(2))),
    # A file from before [height, width] and the pooler's settings.
    older=lambda config, fixture: [config.pop(key) for key in
                                   ("pooler_act", "pooler_output_size")],
    silent=(r"k_proj\.bias$", r"^pooler"))


@dataclasses.dataclass
class Vision(Fixture):
    """A classifier of pixels f32 [C,H,W]; compared are its logits [1,L]."""

    kind = "image"
    auto = transformers.AutoModelForImageClassification

    def __post_init__(self):
        # What is counted of the input: channels.
        self.tokens = self.settings["num_channels"]

    @property
    def settings(self):
        return self.traits.defaults | self.config

    @property
    def reference(self):
        return "classes.npy"

    @property
    def input_names(self):
        return ("pixel_values",)

    @property
    def answer_names(self):
        return ()

    @property
    def index(self):
        entry = super().index
        del entry["tokens"]
        return entry

    def inputs(self, model, rng):
        size = self.settings["image_size"]
        height, width = size if isinstance(size, list) else (size, size)
        shape = (self.tokens, height, width)
        return dict(pixel_values=rng.standard_normal(shape, dtype=np.float32))

    def evaluate(self, model, inputs):
        """A row for every picture."""
        weight = next(model.parameters())
        pixels = torch.from_numpy(np.stack(list(inputs.values())))
        with torch.no_grad():
            answer = model(pixels.to(weight.dtype))
            return self.output(answer).float().numpy()

    def output(self, answer):
        return answer.logits

    def answers(self, model, inputs):
        return {}, []

    def extra_complaints(self, model, inputs, stored):
        """The class token and the positions are seen."""
        complaints = []
        for name in "cls_token", "position_embeddings":
            parameter = next(p for n, p in model.named_parameters()
                             if n.endswith(name))
            kept = parameter.detach().clone()
            with torch.no_grad():
                parameter.fill_(0)
            effect = np.abs(self.evaluate(model, inputs)
                            - stored).max() / np.abs(stored).max()
            with torch.no_grad():
                parameter.copy_(kept)
            if not effect >= MIN_EFFECT:
                complaints.append(f"without '{name}' only {effect:.1e}")
        return complaints


@dataclasses.dataclass
class Features(Vision):
    """The last hidden states [patches + 1, H] of a bare model."""

    auto = transformers.AutoModel
    pooler: bool = True

    @property
    def arguments(self):
        return dict(add_pooling_layer=self.pooler)

    @property
    def reference(self):
        return "hidden.npy"

    def output(self, answer):
        return answer.last_hidden_state[0]


@dataclasses.dataclass
class Pictures(Vision):
    """A classifier with files of pictures and the settings that make pixels
    of them; compared are the logits [2,L], of the PNG and of the JPEG."""

    # preprocessor_config.json.
    processing: dict = dataclasses.field(default_factory=dict)
    # Height and width of the files, and their mode.
    sizes: tuple = ((41, 30), (29, 37))
    mode: str = "RGB"

    @property
    def input_names(self):
        return ("png_values", "jpeg_values")

    def finish(self, directory):
        from PIL import Image

        text = json.dumps(self.processing, indent=2) + "\n"
        (directory / "preprocessor_config.json").write_text(text)
        for kind, (height, width) in zip(("png", "jpeg"), self.sizes):
            Image.fromarray(picture(height, width)).convert(self.mode).save(
                directory / f"image.{kind}")

    def inputs(self, model, rng):
        """The pixels that Transformers makes of the files."""
        from PIL import Image

        directory = pathlib.Path(model.name_or_path)
        processor = transformers.AutoImageProcessor.from_pretrained(
            directory, backend="torchvision")
        values = {}
        for kind in "png", "jpeg":
            with Image.open(directory / f"image.{kind}") as image:
                made = processor(image, return_tensors="pt")["pixel_values"]
            values[f"{kind}_values"] = made[0].numpy()
        return values


def picture(height, width):
    """Slopes, edges and texture, uint8 [H,W,3]."""
    y, x = np.mgrid[:height, :width] / [[[height]], [[width]]]
    red = 255 * x
    green = 255 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 < 0.1)
    blue = 127 * (1 + np.sin(40 * x * y + 9 * y))
    return np.stack([red, green, blue], axis=-1).astype(np.uint8)


FIXTURES = [
    # Neither picture nor patch is square.
    Vision("vit", "oblong", dict(image_size=[24, 20], patch_size=[8, 5])),
    # One channel; no bias of query, key and value; two labels.
    Vision("vit", "grey", dict(
        num_channels=1, qkv_bias=False, num_attention_heads=4, image_size=28,
        patch_size=4, hidden_act="relu", layer_norm_eps=1e-2, num_labels=2),
        dtype="f16"),
    # Patches leave a rest of the picture.
    Features("vit", "features", dict(
        image_size=30, patch_size=7, hidden_act="gelu_new", hidden_size=40,
        num_attention_heads=5), older=True),
    Features("vit", "no-pooler", dict(
        image_size=[40, 16], patch_size=8, num_attention_heads=3,
        num_hidden_layers=3, intermediate_size=56), pooler=False),
    Pictures("vit", "pictures", dict(image_size=24, patch_size=6),
             processing=dict(
                 do_normalize=True, do_rescale=True, do_resize=True,
                 image_mean=[0.485, 0.456, 0.406],
                 image_std=[0.229, 0.224, 0.225],
                 image_processor_type="ViTImageProcessor", resample=2,
                 rescale_factor=1 / 255, size=dict(height=24, width=24))),
    # The oldest spelling, cut out of the middle, no normalisation.
    Pictures("vit", "cropped", dict(
        image_size=24, patch_size=8, hidden_act="silu"), older=True,
        processing=dict(
            do_normalize=False, do_resize=True, do_center_crop=True,
            crop_size=dict(height=24, width=24),
            feature_extractor_type="ViTFeatureExtractor", resample=3,
            size=dict(shortest_edge=27))),
    Pictures("vit", "grey-pictures", dict(
        image_size=[16, 24], patch_size=4, num_channels=1), mode="L",
        sizes=((9, 13), (33, 20)), processing=dict(
            do_normalize=True, do_resize=True, image_mean=[0.4],
            image_std=[0.3], image_processor_type="ViTImageProcessorFast",
            resample=2, size=dict(height=16, width=24))),
]
