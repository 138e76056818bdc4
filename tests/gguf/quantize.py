"""Quantised blocks, and their values as the gguf package reads them.

The package writes Q8_0 and Q4_0; blocks of the K kind are made here, simply:
what matters is that all of their fields are in use.
"""

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# f16 values, little-endian, as bytes at the end of the shape.
def half(values):
    return values.astype(np.float16)[..., None].view(np.uint8)


def q4_k(blocks):
    """[n, 256] to [n, 144]: value = d * scale * q - dmin * minimum."""
    groups = blocks.reshape(-1, 8, 32)
    least = np.maximum(-groups.min(-1), 0)
    step = np.maximum((groups.max(-1) + least) / 15, 1e-8)
    d = (step.max(-1) / 63).astype(np.float16).astype(np.float32)
    dmin = np.maximum(least.max(-1) / 63, 1e-8)
    dmin = dmin.astype(np.float16).astype(np.float32)
    scale = np.clip(np.round(step / d[:, None]), 1, 63).astype(np.uint8)
    minimum = np.clip(np.round(least / dmin[:, None]), 0, 63).astype(np.uint8)
    q = np.round((groups + (dmin[:, None] * minimum)[..., None])
                 / (d[:, None] * scale)[..., None])
    q = np.clip(q, 0, 15).astype(np.uint8)
    packed = np.zeros((len(groups), 12), np.uint8)
    for j in range(4):
        packed[:, j] = scale[:, j] | (scale[:, j + 4] >> 4 << 6)
        packed[:, j + 4] = minimum[:, j] | (minimum[:, j + 4] >> 4 << 6)
        packed[:, j + 8] = (scale[:, j + 4] & 15) | (minimum[:, j + 4] << 4)
    nibbles = q.reshape(-1, 4, 2, 32)
    return np.concatenate([half(d), half(dmin), packed,
                           (nibbles[:, :, 0] | nibbles[:, :, 1] << 4)
                           .reshape(-1, 128)], -1)


def q6_k(blocks):
    """[n, 256] to [n, 210]: value = d * scale * (q - 32)."""
    groups = blocks.reshape(-1, 16, 16)
    largest = np.take_along_axis(
        groups, np.abs(groups).argmax(-1)[..., None], -1)[..., 0]
    # Scales of both signs.
    step = np.where(np.abs(largest) < 1e-8, 1e-8, -largest / 32)
    d = (np.abs(step).max(-1) / 127).astype(np.float16).astype(np.float32)
    scale = np.clip(np.round(step / d[:, None]), -128, 127)
    scale = np.where(scale == 0, 1, scale).astype(np.int8)
    q = np.clip(np.round(groups / (d[:, None] * scale)[..., None]), -32, 31)
    q = (q + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = q & 15
    ql = np.stack([low[:, :, 0] | low[:, :, 2] << 4,
                   low[:, :, 1] | low[:, :, 3] << 4], 2)
    qh = sum(q[:, :, i] >> 4 << 2 * i for i in range(4)).astype(np.uint8)
    return np.concatenate([ql.reshape(-1, 128), qh.reshape(-1, 64),
                           scale.view(np.uint8), half(d)], -1)


def encode(values, kind):
    """The stored bytes of f32 `values`."""
    values = np.ascontiguousarray(values, np.float32)
    if kind in (Type.Q4_K, Type.Q6_K):
        pack = q4_k if kind == Type.Q4_K else q6_k
        return pack(values.reshape(-1, 256)).reshape(*values.shape[:-1], -1)
    return gguf.quants.quantize(values, kind)


def decode(stored, kind):
    """What stored bytes stand for, as f32."""
    return np.ascontiguousarray(gguf.quants.dequantize(stored, kind),
                                np.float32)
