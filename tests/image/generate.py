#!/usr/bin/env python3
"""Writes the pictures in files/ and what Pillow, torchvision and Transformers
make of them to cases.json.

Everything comes from a fixed seed. cases.json holds, with pixels and f32
values in hexadecimal digits:

  read        a file, and its pixels as RGB and as grey
  resize      a picture in another size
  preprocess  preprocessor_config.json, a picture, and its pixel_values

Usage: generate.py; needs the packages in requirements.txt.
"""

import io
import json
import os
import pathlib
import struct
import sys
import zlib

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import PIL
import torch
import transformers
from PIL import Image, ImageOps

try:
    import torchvision
except RuntimeError:
    # Built for CUDA, it cannot load its extension beside a torch without, and
    # then misses these declarations. Resizing is torch's own.
    OPERATORS = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        OPERATORS.define(f"{name}(Tensor a, Tensor b, float c) -> Tensor")
    import torchvision
from torchvision.transforms.v2 import functional as tvF
from transformers.image_utils import pil_torch_interpolation_mapping

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE / "files"
RANDOM = np.random.default_rng(20240611)
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3}

# The samples of a pixel by PNG's colour type.
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16),
          6: (8, 16)}
COLORS = {0: "grey", 2: "rgb", 3: "palette", 4: "grey-alpha", 6: "rgba"}
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
         (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data
            + struct.pack(">I", zlib.crc32(name + data)))


def png_rows(samples, depth):
    """The rows of one pass, each with no filter or with Sub."""
    raw = b""
    for number, row in enumerate(samples):
        if depth == 16:
            data = row.astype(">u2").tobytes()
        elif depth == 8:
            data = row.astype(np.uint8).tobytes()
        else:
            bits = "".join(f"{int(v):0{depth}b}" for v in row.reshape(-1))
            bits += "0" * (-len(bits) % 8)
            data = int(bits, 2).to_bytes(len(bits) // 8, "big")
        step = max(1, row.shape[-1] * depth // 8)
        if number % 2:
            data = b"\1" + bytes((b - (data[i - step] if i >= step else 0)) % 256
                                 for i, b in enumerate(data))
        else:
            data = b"\0" + data
        raw += data
    return raw


def png(samples, depth, color, interlaced=False, before=b"", after=b""):
    """A PNG file of samples [height][width][samples of a pixel]."""
    height, width = samples.shape[:2]
    raw = b""
    for x, y, dx, dy in ADAM7 if interlaced else ((0, 0, 1, 1),):
        part = samples[y::dy, x::dx]
        if part.size:
            raw += png_rows(part, depth)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0,
                         interlaced)
    data = zlib.compress(raw, 9)
    half = len(data) // 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before
            + chunk(b"IDAT", data[:half]) + chunk(b"IDAT", data[half:]) + after
            + chunk(b"IEND", b""))


def picture(height, width, channels):
    """Waves and noise, in part beyond the range so that edges are hard."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 150 * np.sin(x / (2.5 + c) + y / (4.0 - c) + c)
              + RANDOM.normal(0, 30, (height, width)) for c in range(channels)]
    pixels = np.stack(planes, -1).clip(0, 255).astype(np.uint8)
    return pixels if channels > 1 else pixels[..., 0]


def exif(orientation, order=">", kind=3):
    head = b"MM\0*" if order == ">" else b"II*\0"
    value = struct.pack(order + ("H2x" if kind == 3 else "I"), orientation)
    return (head + struct.pack(order + "IH", 8, 2)
            + struct.pack(order + "HHI", 0x0100, 4, 1)
            + struct.pack(order + "I", 9)
            + struct.pack(order + "HHI", 0x0112, kind, 1) + value
            + struct.pack(order + "I", 0))


def xmp(orientation):
    return (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description '
            f'tiff:Orientation="{orientation}"/></x:xmpmeta>').encode()


def make_pngs():
    """Name -> bytes of PNG files."""
    made = {}
    for color, depths in DEPTHS.items():
        for depth in depths:
            shape = (9, 11, SAMPLES[color])
            before = b""
            if color == 3:
                # With fewer entries than there are indices.
                count = {1: 2, 2: 3, 4: 16, 8: 200}[depth]
                palette = RANDOM.integers(0, 256, 3 * count, dtype=np.uint8)
                before = chunk(b"PLTE", palette.tobytes())
            samples = RANDOM.integers(0, 1 << depth, shape)
            if color == 0 and depth == 16:
                samples[:, :6] %= 300
            for interlaced in (False, True):
                name = f"{COLORS[color]}{depth}" + "-interlaced" * interlaced
                made[name] = png(samples, depth, color, interlaced, before)
    for height, width in ((1, 1), (1, 5), (6, 1)):
        made[f"interlaced-{width}x{height}"] = png(
            RANDOM.integers(0, 256, (height, width, 3)), 8, 2, True)
    few = RANDOM.integers(0, 2, (3, 4, 1))
    palette = chunk(b"PLTE", bytes((250, 1, 2, 3, 4, 200)))
    made["palette8-alpha"] = png(few, 8, 3,
                                 before=palette + chunk(b"tRNS", b"\0\x80"))
    color = RANDOM.integers(0, 256, (3, 4, 3))
    made["rgb8-transparent"] = png(
        color, 8, 2, before=chunk(b"tRNS", b"\0\1\0\2\0\3"))
    # Not applied: a gamma, a colour profile's name and nothing more.
    made["rgb8-gamma"] = png(color, 8, 2, before=chunk(
        b"gAMA", struct.pack(">I", 20000)) + chunk(b"cHRM", bytes(32)))

    made["exif"] = png(color, 8, 2, before=chunk(b"eXIf", exif(6)))
    made["exif-after"] = png(color, 8, 2, after=chunk(b"eXIf", exif(8, "<")))
    raw = exif(5)
    text = f"\nexif\n{len(raw):8}\n{raw.hex()[:60]}\n{raw.hex()[60:]}\n"
    made["exif-text"] = png(color, 8, 2, before=chunk(
        b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(text.encode())))
    made["xmp"] = png(color, 8, 2, before=chunk(
        b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(7)))
    made["exif-and-xmp"] = png(
        color, 8, 2, before=chunk(b"eXIf", exif(3, kind=4)) + chunk(
            b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(7)))
    return made


def make_jpegs():
    """Name -> bytes of JPEG files."""
    made = {}

    def save(name, pixels, **options):
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, "JPEG", **options)
        made[name] = stream.getvalue()

    color, grey = picture(19, 21, 3), picture(19, 21, 1)
    save("grey", grey, quality=80)
    save("grey-progressive", grey, quality=80, progressive=True)
    for subsampling, name in enumerate(("444", "422", "420")):
        save(name, color, subsampling=subsampling, quality=85)
        save(name + "-progressive", color, subsampling=subsampling,
             quality=60, progressive=True)
    save("restarts", color, restart_marker_blocks=1)
    save("stored-as-rgb", color, keep_rgb=True)
    small = picture(5, 8, 3)
    for orientation in range(10):
        block = exif(orientation, "<" if orientation % 2 else ">")
        save(f"exif{orientation}", small, exif=b"Exif\0\0" + block)
    save("xmp", small, xmp=xmp(6))
    return made


def read_cases():
    cases = []
    FILES.mkdir(exist_ok=True)
    for old in FILES.iterdir():
        old.unlink()
    for suffix, made in (("png", make_pngs()), ("jpg", make_jpegs())):
        for name, data in made.items():
            path = FILES / f"{name}.{suffix}"
            path.write_bytes(data)
            upright = ImageOps.exif_transpose(Image.open(path))
            cases.append({
                "file": path.name, "width": upright.width,
                "height": upright.height,
                "rgb": np.array(upright.convert("RGB")).tobytes().hex(),
                "grey": np.array(upright.convert("L")).tobytes().hex()})
    # For tests of refusals.
    Image.fromarray(picture(6, 7, 4), "CMYK").save(FILES / "cmyk.jpg")
    return cases


def picture_json(pixels):
    return {"height": pixels.shape[0], "width": pixels.shape[1],
            "channels": pixels.shape[2] if pixels.ndim == 3 else 1,
            "pixels": pixels.tobytes().hex()}


def resize_cases():
    color, grey = picture(23, 37, 3), picture(31, 19, 1)
    checks = (RANDOM.integers(0, 2, (17, 13)) * 255).astype(np.uint8)
    targets = {
        "color": (color, ((16, 16), (7, 37), (23, 9), (40, 51), (1, 2))),
        "grey": (grey, ((16, 16), (47, 29), (5, 40), (31, 19), (1, 1))),
        "checks": (checks, ((8, 8), (24, 30), (16, 14), (3, 13)))}
    sources, cases = {}, []
    for name, (pixels, sizes) in targets.items():
        sources[name] = picture_json(pixels)
        planes = torch.from_numpy(np.atleast_3d(pixels)).permute(2, 0, 1)
        for height, width in sizes:
            for kind, number in FILTERS.items():
                resized = tvF.resize(
                    planes.contiguous()[None], [height, width], antialias=True,
                    interpolation=pil_torch_interpolation_mapping[number])
                cases.append({
                    "source": name, "height": height, "width": width,
                    "resample": kind,
                    "pixels": resized[0].permute(1, 2, 0).contiguous()
                              .numpy().tobytes().hex()})
    return {"sources": sources, "cases": cases}


def preprocess_cases():
    clip = {"image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711]}
    settings = [
        # (picture, height and width of the model, preprocessor_config.json)
        ("wide", 12, 14, {"size": {"height": 12, "width": 14}}),
        ("wide", 10, 10, {"size": 10, "resample": 3, **clip}),
        ("wide", 9, 8, {"size": [9, 8], "resample": 1}),
        ("tall", 13, 11, {"size": {"height": 13, "width": 11}, "resample": 0,
                          "image_mean": 0.25, "image_std": 0.75}),
        ("wide", 9, 12, {"size": {"shortest_edge": 13}, "do_center_crop": True,
                         "crop_size": {"height": 9, "width": 12}, **clip}),
        ("tall", 10, 7, {"size": 11, "default_to_square": False,
                         "do_center_crop": True, "crop_size": [10, 7],
                         "resample": 3}),
        ("tall", 12, 11, {"size": {"height": 9, "width": 6},
                          "do_center_crop": True, "crop_size": [12, 11]}),
        ("tall", 12, 11, {"size": {"height": 17, "width": 6},
                          "do_center_crop": True, "crop_size": [12, 11]}),
        ("wide", 8, 8, {"size": 8, "do_normalize": False}),
        ("wide", 8, 8, {"size": 8, "do_normalize": False,
                        "rescale_factor": 0.00784313725490196}),
        ("wide", 8, 8, {"size": 8, "rescale_factor": 0.00784313725490196,
                        **clip}),
        ("wide", 8, 8, {"size": 8, "do_rescale": False, **clip}),
        ("wide", 8, 8, {"size": 8, "do_rescale": False, "do_normalize": False}),
        ("wide", 15, 22, {"do_resize": False}),
        ("wide", 7, 8, {"do_resize": False, "do_center_crop": True,
                        "crop_size": {"height": 7, "width": 8}}),
        ("grey", 9, 9, {"size": 9, "image_mean": [0.45], "image_std": [0.225]}),
    ]
    pictures = {"wide": picture(15, 22, 3), "tall": picture(29, 17, 3),
                "grey": picture(16, 13, 1)}
    cases = []
    for name, height, width, config in settings:
        processor = transformers.ViTImageProcessor.from_dict(dict(config))
        values = processor(Image.fromarray(pictures[name]),
                           return_tensors="pt")["pixel_values"]
        values = values.to(torch.float32).numpy()
        assert values.shape[2:] == (height, width), values.shape
        config["image_processor_type"] = "ViTImageProcessor"
        cases.append({"source": name, "height": height, "width": width,
                      "settings": config,
                      "values": values.astype("<f4").tobytes().hex()})
    return {"sources": {n: picture_json(p) for n, p in pictures.items()},
            "cases": cases}


def main():
    versions = {"numpy": np, "pillow": PIL, "torch": torch,
                "torchvision": torchvision, "transformers": transformers}
    for line in (HERE / "requirements.txt").read_text().split():
        name, pinned = line.split("==")
        found = versions[name].__version__.split("+")[0]
        if found != pinned:
            sys.exit(f"{name} is {found}: expected {pinned}")
    torch.set_num_threads(1)
    cases = {"read": read_cases(), "resize": resize_cases(),
             "preprocess": preprocess_cases()}
    (HERE / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
