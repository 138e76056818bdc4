"""Quantised Hugging Face checkpoints against the same numbers stored plainly.

    quantised.py TENON WORK [NAME...]

Every form is written here as its own library writes it, of random integers and
scales, beside a checkpoint of the f32 numbers that they stand for. Compiled
with --dtype f32 --activations exact, both give the same output; code is for
avx2, as what is tested is how the formats are read.
"""

import json
import sys

import models
import numpy
import support

WIDTH, INNER, HEADS, GROUP = 96, 192, 4, 96
TOLERANCE = 1e-5
OPTIONS = ["--activations", "exact", "--target-cpu", "avx2"]
TOKENS = [3, 17, 60, 2, 44, 9, 21, 5]
LINEARS = {"self_attn.q_proj": (WIDTH, WIDTH),
           "self_attn.k_proj": (WIDTH // 2, WIDTH),
           "self_attn.v_proj": (WIDTH // 2, WIDTH),
           "self_attn.o_proj": (WIDTH, WIDTH),
           "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH),
           "mlp.down_proj": (WIDTH, INNER)}
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


# What safetensors files store.

def stored(array, kind=None):
    names = {"int32": "I32", "int64": "I64", "float16": "F16",
             "float32": "F32", "int8": "I8", "uint8": "U8"}
    array = numpy.ascontiguousarray(array)
    return (kind or names[array.dtype.name], array.shape, array.tobytes())


def bf16(array):
    """Rounded towards zero: the numbers, and what is stored."""
    bits = array.astype(numpy.float32).view(numpy.uint32) & 0xffff0000
    return (bits.view(numpy.float32),
            stored((bits >> 16).astype(numpy.uint16), "BF16"))


def f16(array):
    return array.astype(numpy.float16).astype(numpy.float32), stored(
        array.astype(numpy.float16))


def e4m3(codes):
    """The numbers of OCP's E4M3."""
    exponent, mantissa = codes >> 3 & 15, (codes & 7).astype(numpy.float32)
    size = numpy.where(exponent == 0, mantissa * 2.0 ** -9,
                       (8 + mantissa) * 2.0 ** (exponent.astype(float) - 10))
    return numpy.where(codes & 128, -size, size).astype(numpy.float32)


def packed(values, bits):
    """Unsigned integers along the last axis as a dense stream of words."""
    rows, count = values.shape
    stream = numpy.zeros((rows, -(-count * bits // 32) * 32), numpy.uint64)
    for bit in range(bits):
        stream[:, bit:count * bits:bits] = values >> bit & 1
    words = stream.reshape(rows, -1, 32) << numpy.arange(32, dtype=numpy.uint64)
    return words.sum(2).astype(numpy.uint32).view(numpy.int32)


class Random:
    """Codes, zero points and scales of one matrix."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)

    def codes(self, shape, bits):
        return self.random.integers(0, 1 << bits, shape)

    def scales(self, shape, bits):
        size = 2.0 ** -bits / numpy.sqrt(WIDTH)
        return size * self.random.uniform(2, 5, shape)


# One function for each form: what is stored of a matrix [N, K], by suffix, and
# its numbers.

def gptq_zeros(zeros, bits, v2):
    """As GPTQModel stores them: v1 is v2 less one in each integer, which is
    subtracted from whole words if they hold whole integers."""
    if v2:
        return stored(packed(zeros, bits))
    if bits == 3:
        return stored(packed((zeros - 1) & 7, bits))
    ones = numpy.uint32(0xffffffff // ((1 << bits) - 1))
    return stored((packed(zeros, bits).view(numpy.uint32) - ones).view(
        numpy.int32))


def gptq(random, n, k, bits=4, group=GROUP, v2=False, symmetric=False,
         order=None, bias=False):
    group = k if group < 0 else group
    codes = random.codes((n, k), bits)
    zeros = (numpy.full((k // group, n), 1 << (bits - 1)) if symmetric else
             random.random.integers(0, 1 << bits, (k // group, n)))
    scales, scales_stored = f16(random.scales((k // group, n), bits))
    index = numpy.arange(k) // group
    if order:
        index = random.random.permutation(index)
    values = scales[index].T * (codes - zeros[index].T)
    parts = {".qweight": stored(packed(codes, bits).T),
             ".qzeros": gptq_zeros(zeros, bits, v2), ".scales": scales_stored,
             ".g_idx": stored(index.astype(numpy.int32))}
    if bias:
        parts[".bias"] = stored(numpy.zeros(n, numpy.float16))
    return parts, values


def awq(random, n, k):
    codes = random.codes((n, k), 4)
    zeros = random.codes((k // GROUP, n), 4)
    scales, scales_stored = f16(random.scales((k // GROUP, n), 4))

    def pack(values):
        eights = values.reshape(len(values), -1, 8)[:, :, AWQ_ORDER]
        return stored(packed(eights.reshape(values.shape), 4))
    index = numpy.arange(k) // GROUP
    return {".qweight": pack(codes.T), ".qzeros": pack(zeros),
            ".scales": scales_stored}, scales[index].T * (codes -
                                                          zeros[index].T)


def pack_quantized(random, n, k, bits=4, group=GROUP, symmetric=True,
                   order=False):
    group = k if group < 0 else group
    codes = random.codes((n, k), bits)
    scales, scales_stored = bf16(random.scales((n, k // group), bits))
    zeros = numpy.full((n, k // group), 1 << (bits - 1))
    index = numpy.arange(k) // group
    parts = {".weight_packed": stored(packed(codes, bits)),
             ".weight_shape": stored(numpy.array([n, k])),
             ".weight_scale": scales_stored}
    if not symmetric:
        zeros = random.codes((n, k // group), bits)
        parts[".weight_zero_point"] = stored(packed(zeros.T, bits).T)
    if order:
        index = random.random.permutation(index)
        parts[".weight_g_idx"] = stored(index.astype(numpy.int32))
    return parts, scales[:, index] * (codes - zeros[:, index])


def int_quantized(random, n, k, symmetric=True, shape=None):
    codes = random.codes((n, k), 8) - 128
    scales, scales_stored = bf16(random.scales(shape or (n, 1), 8))
    parts = {".weight": stored(codes.astype(numpy.int8)),
             ".weight_scale": scales_stored,
             ".input_scale": stored(numpy.ones(1, numpy.float32))}
    zeros = 0
    if not symmetric:
        zeros = random.codes((n, 1), 8) - 128
        parts[".weight_zero_point"] = stored(zeros.astype(numpy.int8))
    return parts, scales * (codes - zeros)


def int_tiles(random, n, k, tile=(40, 64)):
    """Integers whose scales and zero points are those of tiles."""
    codes = random.codes((n, k), 8) - 128
    shape = (-(-n // tile[0]), -(-k // tile[1]))
    scales = random.scales(shape, 8).astype(numpy.float32)
    zeros = random.codes(shape, 8) - 128

    def spread(values):
        return values.repeat(tile[0], 0)[:n].repeat(tile[1], 1)[:, :k]
    return {".weight": stored(codes.astype(numpy.int8)),
            ".weight_scale": stored(scales),
            ".weight_zero_point": stored(zeros.astype(numpy.int8))}, (
                spread(scales) * (codes - spread(zeros)))


def float_codes(random, n, k):
    codes = random.codes((n, k), 8)
    return numpy.where(codes & 127 == 127, 0, codes)


def float_quantized(random, n, k):
    codes = float_codes(random, n, k)
    scales, scales_stored = bf16(random.scales((n, 1), 8))
    return {".weight": stored(codes.astype(numpy.uint8), "F8_E4M3"),
            ".weight_scale": scales_stored}, scales * e4m3(codes)


def fp8(random, n, k, tile=(40, 64)):
    codes = float_codes(random, n, k)
    scales = random.scales((-(-n // tile[0]), -(-k // tile[1])),
                           8).astype(numpy.float32)
    values = scales.repeat(tile[0], 0)[:n].repeat(tile[1], 1)[:, :k]
    return {".weight": stored(codes.astype(numpy.uint8), "F8_E4M3"),
            ".weight_scale_inv": stored(scales)}, values * e4m3(codes)


def gptq_config(bits=4, **more):
    return {"quant_method": "gptq", "bits": bits, "group_size": GROUP,
            "sym": False, "damp_percent": 0.1, **more}


AWQ_CONFIG = {"quant_method": "awq", "bits": 4, "group_size": GROUP,
              "zero_point": True, "version": "gemm",
              "modules_to_not_convert": None}


def compressed_config(form, bits=4, **weights):
    return {"quant_method": "compressed-tensors", "format": form,
            "quantization_status": "compressed", "ignore": ["lm_head"],
            "kv_cache_scheme": None, "sparsity_config": {},
            "transform_config": {}, "version": "0.20.0",
            "config_groups": {"group_0": {
                "targets": ["Linear"], "input_activations": None,
                "weights": {"num_bits": bits, "type": "int", **weights}}}}


FP8_CONFIG = {"quant_method": "fp8", "fmt": "e4m3",
              "activation_scheme": "dynamic", "weight_block_size": [40, 64]}

DESC_ACT = "(desc_act, actorder, or another group size)"
FLOATS = "of 8-bit floating-point numbers"

# Name, config, function and its settings, the types of matrices, and what a
# note says.
CASES = [
    ("gptq", gptq_config(), gptq, {}, "u4_zp", None),
    ("gptq-symmetric", gptq_config(), gptq, {"symmetric": True}, "q4_0", None),
    ("gptq-v2", gptq_config(checkpoint_format="gptq_v2"), gptq, {"v2": True},
     "u4_zp", None),
    ("gptq-v2-format", gptq_config(format="gptq_v2", dynamic={"-:lm_head": {}},
                                   rotation=None), gptq, {"v2": True},
     "u4_zp", None),
    ("gptq-biases", gptq_config(), gptq, {"bias": True}, "u4_zp",
     "'model.layers.0.mlp.down_proj.bias'"),
    ("gptq-2-bits", gptq_config(2), gptq, {"bits": 2, "symmetric": True},
     "q4_0", None),
    ("gptq-3-bits", gptq_config(3), gptq, {"bits": 3}, "u4_zp", None),
    ("gptq-8-bits", gptq_config(8), gptq, {"bits": 8, "symmetric": True},
     "q8_0", None),
    ("gptq-8-bits-zeros", gptq_config(8), gptq, {"bits": 8}, "f32",
     "of more than 4 bits with zero points"),
    ("gptq-channel", gptq_config(group_size=-1), gptq, {"group": -1}, "u4_zp",
     None),
    ("gptq-act-order", gptq_config(desc_act=True), gptq,
     {"order": True, "group": 48}, "f32", DESC_ACT),
    ("gptq-groups-of-24", gptq_config(group_size=24), gptq, {"group": 24},
     "f32", DESC_ACT),
    ("awq", AWQ_CONFIG, awq, {}, "u4_zp", None),
    ("pack", compressed_config("pack-quantized"), pack_quantized, {}, "q4_0",
     None),
    ("pack-zeros", compressed_config("pack-quantized", symmetric=False),
     pack_quantized, {"symmetric": False}, "u4_zp", None),
    ("pack-8-bits", compressed_config("pack-quantized", 8, strategy="channel"),
     pack_quantized, {"bits": 8, "group": -1}, "q8_0", None),
    ("pack-6-bits", compressed_config("pack-quantized", 6), pack_quantized,
     {"bits": 6}, "q8_0", None),
    ("pack-order", compressed_config("pack-quantized", actorder="group"),
     pack_quantized, {"order": True, "group": 48}, "f32", DESC_ACT),
    ("int", compressed_config("int-quantized", 8), int_quantized, {}, "q8_0",
     "input_scale"),
    ("int-tensor", compressed_config("naive-quantized", 8), int_quantized,
     {"shape": (1,)}, "q8_0", "input_scale"),
    ("int-zeros", compressed_config("int-quantized", 8, symmetric=False),
     int_quantized, {"symmetric": False}, "f32",
     "of more than 4 bits with zero points"),
    ("int-tiles", compressed_config("int-quantized", 8, symmetric=False,
                                    block_structure=[40, 64]),
     int_tiles, {}, "f32", "with scales that f16 does not hold"),
    ("float", compressed_config("float-quantized", 8, type="float"),
     float_quantized, {}, "f32", FLOATS),
    ("fp8", FP8_CONFIG, fp8, {}, "f32", FLOATS),
]


def llama(path, quantise):
    """A llama of two layers whose linear weights are what `quantise` gives:
    the tensors of the checkpoint and those of the plain one."""
    random = numpy.random.default_rng(1)
    config = {"model_type": "llama", "hidden_size": WIDTH,
              "intermediate_size": INNER, "num_hidden_layers": 2,
              "num_attention_heads": HEADS,
              "num_key_value_heads": HEADS // 2, "vocab_size": 61,
              "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
              "hidden_act": "silu", "tie_word_embeddings": False}
    shapes = {"model.embed_tokens.weight": (61, WIDTH),
              "model.norm.weight": (WIDTH,), "lm_head.weight": (61, WIDTH)}
    plain, given = {}, {}
    for layer in range(2):
        prefix = f"model.layers.{layer}."
        for norm in "input_layernorm", "post_attention_layernorm":
            shapes[f"{prefix}{norm}.weight"] = (WIDTH,)
        for number, (name, (n, k)) in enumerate(LINEARS.items()):
            parts, values = quantise(Random(10 * layer + number), n, k)
            given.update({prefix + name + suffix: part
                          for suffix, part in parts.items()})
            plain[f"{prefix}{name}.weight"] = stored(
                values.astype(numpy.float32))
    for name, shape in shapes.items():
        plain[name] = given[name] = stored(
            (random.standard_normal(shape) / 4).astype(numpy.float32))
    return config, given, plain


def gpt_oss():
    """Of a mixture, the experts in MXFP4."""
    random = numpy.random.default_rng(2)
    width, inner, experts = 64, 96, 4
    config = {"model_type": "gpt_oss", "hidden_size": width,
              "intermediate_size": inner, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 2,
              "head_dim": 16, "num_local_experts": experts,
              "num_experts_per_tok": 2, "vocab_size": 61,
              "max_position_embeddings": 64, "sliding_window": 8,
              "layer_types": ["sliding_attention", "full_attention"],
              "rope_scaling": {"rope_type": "default"},
              "tie_word_embeddings": False}
    shapes = {"model.embed_tokens.weight": (61, width),
              "model.norm.weight": (width,), "lm_head.weight": (61, width)}
    plain, given = {}, {}
    for layer in range(2):
        prefix = f"model.layers.{layer}."
        for name, shape in {
                "input_layernorm.weight": (width,),
                "post_attention_layernorm.weight": (width,),
                "self_attn.sinks": (4,), "self_attn.q_proj.bias": (64,),
                "self_attn.k_proj.bias": (32,), "self_attn.v_proj.bias": (32,),
                "self_attn.o_proj.bias": (width,),
                "self_attn.q_proj.weight": (64, width),
                "self_attn.k_proj.weight": (32, width),
                "self_attn.v_proj.weight": (32, width),
                "self_attn.o_proj.weight": (width, 64),
                "mlp.router.weight": (experts, width),
                "mlp.router.bias": (experts,),
                "mlp.experts.gate_up_proj_bias": (experts, 2 * inner),
                "mlp.experts.down_proj_bias": (experts, width)}.items():
            shapes[prefix + name] = shape
        for name, n, k in (("gate_up_proj", 2 * inner, width),
                           ("down_proj", width, inner)):
            codes = random.integers(0, 16, (experts, n, k))
            exponents = random.integers(122, 125, (experts, n, k // 32))
            halves = codes.reshape(experts, n, k // 32, 16, 2)
            numbers = numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6])
            values = (numpy.where(codes & 8, -1, 1) * numbers[codes & 7]
                      * 2.0 ** (exponents.repeat(32, 2) - 127))
            name = f"{prefix}mlp.experts.{name}"
            given[name + "_blocks"] = stored(
                (halves[..., 0] | halves[..., 1] << 4).astype(numpy.uint8))
            given[name + "_scales"] = stored(exponents.astype(numpy.uint8))
            plain[name] = stored(
                values.transpose(0, 2, 1).astype(numpy.float32))
    for name, shape in shapes.items():
        plain[name] = given[name] = stored(
            (random.standard_normal(shape) / 8).astype(numpy.float32))
    return config, given, plain


def mixture(kinds, router=None):
    """A mixture of experts whose i-th one of each layer is stored by the form
    `kinds[i]`, and whose router by `router`; None stores plain numbers."""
    config, given, plain = llama(None, int_quantized)
    config |= {"model_type": "mixtral", "num_local_experts": len(kinds),
               "num_experts_per_tok": 2}
    random = numpy.random.default_rng(3)
    for layer in range(2):
        prefix = f"model.layers.{layer}."
        for tensors in given, plain:
            for name in [name for name in tensors
                         if name.startswith(prefix + "mlp.")]:
                del tensors[name]
        prefix += "block_sparse_moe."
        gate = random.standard_normal((len(kinds), WIDTH))
        parts = {".weight": stored(gate.astype(numpy.float32))}
        if router:
            parts, gate = router(Random([layer]), len(kinds), WIDTH)
        given.update({prefix + "gate" + suffix: part
                      for suffix, part in parts.items()})
        plain[prefix + "gate.weight"] = stored(gate.astype(numpy.float32))
        for expert, quantise in enumerate(kinds):
            for name, n, k in (("w1", INNER, WIDTH), ("w2", WIDTH, INNER),
                               ("w3", INNER, WIDTH)):
                name = f"{prefix}experts.{expert}.{name}"
                parts, values = (quantise or int_quantized)(
                    Random([layer, expert, n]), n, k)
                values = stored(values.astype(numpy.float32))
                plain[name + ".weight"] = values
                given.update({name + suffix: part
                              for suffix, part in parts.items()}
                             if quantise else {name + ".weight": values})
    return config, given, plain


def latent():
    """With latent attention, all linear weights quantised."""
    config, given, plain = llama(None, symmetric_gptq)
    config |= {"model_type": "deepseek_v2", "num_key_value_heads": HEADS,
               "first_k_dense_replace": 2, "num_experts_per_tok": 2,
               "q_lora_rank": None,
               "kv_lora_rank": WIDTH, "qk_nope_head_dim": 24,
               "qk_rope_head_dim": 8, "v_head_dim": 24}
    for layer in range(2):
        prefix = f"model.layers.{layer}.self_attn."
        for tensors in given, plain:
            for name in [name for name in tensors if name.startswith(prefix)]:
                del tensors[name]
        norm = f"{prefix}kv_a_layernorm.weight"
        plain[norm] = given[norm] = stored(numpy.ones(WIDTH, numpy.float32))
        for number, (name, n) in enumerate({
                "q_proj": HEADS * 32, "kv_a_proj_with_mqa": WIDTH + 8,
                "kv_b_proj": HEADS * 48, "o_proj": WIDTH}.items()):
            parts, values = symmetric_gptq(Random([layer, number]), n, WIDTH)
            given.update({prefix + name + suffix: part
                          for suffix, part in parts.items()})
            plain[f"{prefix}{name}.weight"] = stored(
                values.astype(numpy.float32))
    return config, given, plain


def write(path, config, tensors, form=None):
    path.mkdir(parents=True, exist_ok=True)
    if form:
        config = {**config, "quantization_config": form}
    (path / "config.json").write_text(json.dumps(config))
    models.write_safetensors(path / "model.safetensors", tensors)
    return path


def check_notes(test, name, given, artifact, notes, *options):
    """What is said when `given` is compiled; whether it is."""
    done = test.run("tenon-compile", "compile", given, "-o", artifact,
                    *OPTIONS, *options)
    test.check(done.returncode == 0
               and (all(note in done.stderr for note in notes) if notes
                    else not done.stderr),
               f"{name}: notes {done.stderr!r}, expected {notes}")
    return done.returncode == 0


def compare(test, name, made, form, kept, *notes):
    config, given, plain = made
    given = write(test.work / name, config, given, form)
    plain = write(test.work / f"{name}-plain", config, plain)
    artifact = test.work / f"{name}.tenon"
    # `auto` is f32 too where that is what matrices are kept in, and says so.
    dtype = [] if kept == "f32" else ["--dtype", "f32"]
    if not check_notes(test, name, given, artifact, notes, *dtype):
        return
    inspected = json.loads(test.need("tenon", "inspect", artifact, "--json"))
    found = inspected["model"]["weight_type"]
    test.check(found == kept, f"{name}: matrices in {found}, expected {kept}")
    if not dtype:
        test.check_inspected(given, artifact)
    reference = test.outputs(test.compile(plain, f"{name}-plain", *OPTIONS,
                                          "--dtype", "f32"), TOKENS)
    error = support.largest_error(test.outputs(artifact, TOKENS), reference)
    test.check(error <= TOLERANCE,
               f"{name}: error {error:.1e}, at most {TOLERANCE}")


def symmetric_gptq(random, n, k):
    return gptq(random, n, k, symmetric=True)


def check_auto(test, name, *notes):
    """Of a checkpoint that has been compared: what its own types become."""
    given, artifact = test.work / name, test.work / f"{name}-auto.tenon"
    if check_notes(test, name, given, artifact, notes):
        test.check_inspected(given, artifact)


def odd_expert(random, n, k):
    return int_quantized(random, n, k, symmetric=False)


def check_errors(test):
    config, given, _ = llama(test.work, gptq)
    first = "model.layers.0.mlp.down_proj"
    packed_made = llama(test.work, pack_quantized)[1]
    tiled = llama(test.work, fp8)[1]
    plainly = llama(test.work, int_quantized)[1]
    mixture = gpt_oss()
    experts = "model.layers.0.mlp.experts.down_proj"

    def without(tensors, name):
        return {key: value for key, value in tensors.items() if key != name}

    for what, form, tensors, parts in (
            ("no scales", gptq_config(), without(given, first + ".scales"),
             [f"'{first}.qweight' has no '{first}.scales' beside it"]),
            ("type", gptq_config(),
             {**given, first + ".qzeros": stored(numpy.zeros((2, 12)),
                                                 "F64")},
             [f"'{first}.qzeros' has type F64: expected I32"]),
            ("zeros", gptq_config(),
             {**given, first + ".qzeros": stored(
                 numpy.zeros((2, 11), numpy.int32))},
             [f"'{first}.qzeros' has shape [2, 11]: expected [2, 12]"]),
            ("group", gptq_config(),
             {**given, first + ".g_idx": stored(
                 numpy.full(INNER, 2, numpy.int32))},
             [f"'{first}.g_idx' has group 2: expected 0 to 1"]),
            ("group size", gptq_config(group_size=64),
             without(given, first + ".g_idx"),
             [f"'{first}.scales' has scales of 2 groups: expected 3, for "
              f"groups of 64 of the {INNER} input features"]),
            ("bits", {"quant_method": "gptq"}, given,
             ["'quantization_config.bits'"]),
            ("format", gptq_config(checkpoint_format="marlin"), given,
             ["'quantization_config.checkpoint_format' is 'marlin': "
              "expected gptq or gptq_v2"]),
            ("dynamic", gptq_config(dynamic={"+:.*down_proj": {"bits": 8}}),
             given, ["'quantization_config.dynamic'"]),
            ("formats", gptq_config(checkpoint_format="gptq",
                                    format="gptq_v2"), given,
             ["'quantization_config.format' is 'gptq_v2': expected the same "
              "as checkpoint_format"]),
            ("rotation", gptq_config(rotation="hadamard"), given,
             ["'quantization_config.rotation' is 'hadamard': expected no "
              "rotation"]),
            ("planar bits", gptq_config(6), given,
             ["'quantization_config.bits' is 6: expected 2, 3, 4 or 8"]),
            ("bias", gptq_config(),
             {**given, first + ".bias": stored(numpy.ones(WIDTH,
                                                          numpy.float32))},
             [f"'{first}.bias': unknown"]),
            ("float type", compressed_config("pack-quantized", type="float"),
             packed_made, ["weights.type' is 'float': expected int"]),
            ("both", gptq_config(),
             {**given, first + ".weight": stored(
                 numpy.zeros((WIDTH, INNER), numpy.float32))},
             [f"'{first}.weight' is stored both quantised and as it is"]),
            ("awq version", {**AWQ_CONFIG, "version": "gemv"}, given,
             ["'quantization_config.version' is 'gemv': expected gemm"]),
            ("awq words", AWQ_CONFIG, given,
             [f"'{first}.scales' has shape [2, 96]: expected [2, 768]"]),
            ("compressed format", compressed_config("marlin-24"), packed_made,
             ["'quantization_config.format' is 'marlin-24'"]),
            ("packed shape", compressed_config("pack-quantized"),
             {**packed_made, first + ".weight_shape": stored(
                 numpy.array([WIDTH, INNER + 8]))},
             [f"'{first}.weight_packed' has shape [96, 24]: expected the "
              "packed integers of shape [96, 200], as weight_shape says"]),
            ("scale", compressed_config("int-quantized", 8),
             {**plainly, first + ".weight_scale": stored(
                 numpy.ones((WIDTH, 5), numpy.float32))},
             [f"'{first}.weight_scale' has shape [96, 5]: expected scales of "
              f"equal groups of the {INNER} input features"]),
            ("tiles", {**FP8_CONFIG, "weight_block_size": [64, 64]}, tiled,
             [".weight_scale_inv' has shape"]),
            ("nothing", gptq_config(),
             {"model.norm.weight": given["model.norm.weight"]},
             ["has no quantised matrix"]),
            ("method", {"quant_method": "bitsandbytes", "load_in_4bit": True},
             given, ["quantised (bitsandbytes, 4 bits)", "dequantize()"])):
        path = write(test.work / "bad", config, tensors, form)
        test.expect_error(what, str(path), *parts, command=(
            "tenon-compile", "compile", path, "-o", test.work / "x.tenon"))
    path = write(test.work / "bad-mixture", mixture[0],
                 {**mixture[1], experts + "_scales": stored(
                     numpy.zeros((4, 64, 2), numpy.uint8))},
                 {"quant_method": "mxfp4"})
    none = numpy.full((4, 64, 3), 255, numpy.uint8)
    nothing = write(test.work / "mixture-of-nan", mixture[0],
                    {**mixture[1], experts + "_scales": stored(none)},
                    {"quant_method": "mxfp4"})
    test.expect_error("mxfp4 NaN", f"'{experts}': a scale or a number is "
                                   "infinite or none", command=(
        "tenon-compile", "compile", nothing, "-o", test.work / "x.tenon"))
    test.expect_error("mxfp4", f"'{experts}_scales' has shape [4, 64, 2]: "
                               "expected [4, 64, 3]", command=(
        "tenon-compile", "compile", path, "-o", test.work / "x.tenon"))


def main():
    test = support.Test(sys.argv[1:])
    for name, form, function, settings, kept, note in CASES:
        if not test.names or name in test.names:
            compare(test, name, llama(test.work, lambda random, n, k: function(
                random, n, k, **settings)), form, kept, *filter(None, [note]))
    if not test.names or "unknown-keys" in test.names:
        compare(test, "unknown-keys", llama(test.work, gptq),
                gptq_config(meta={"static_groups": False}, static_groups=False,
                            true_sequential=True, lm_head=None, sketch=[1],
                            hadamard={"size": 64}), "u4_zp",
                "config.json: fields 'quantization_config.sketch', "
                "'quantization_config.hadamard': not read, as nothing is "
                "known of them")
    if not test.names or "cache-scales" in test.names:
        made = llama(test.work, float_quantized)
        for name in "k_scale", "v_scale":
            made[1][f"model.layers.0.self_attn.{name}"] = stored(
                numpy.ones(1, numpy.float32))
        compare(test, "cache-scales", made,
                compressed_config("float-quantized", 8, type="float"), "f32",
                "'model.layers.0.self_attn.k_scale'")
    for name, odd, notes in (
            ("experts", int_quantized, []),
            ("experts-odd", odd_expert,
             ["6 quantised matrices of more than 4 bits with zero points are "
              "kept as f32 (--dtype bf16 rounds them); the first is "
              "'model.layers.0.block_sparse_moe.experts.2.w1.weight'",
              "18 quantised matrices are kept as f32 (--dtype bf16 rounds "
              "them), as all experts of a layer are kept in one format; the "
              "first is "
              "'model.layers.0.block_sparse_moe.experts.0.w1.weight', beside "
              "'model.layers.0.block_sparse_moe.experts.2.w1.weight', a "
              "matrix of more than 4 bits with zero points"]),
            ("experts-plain", None,
             ["beside 'model.layers.0.block_sparse_moe.experts.2.w1.weight', "
              "a matrix of plain numbers"]),
            ("experts-formats", pack_quantized,
             ["beside 'model.layers.0.block_sparse_moe.experts.2.w1.weight', "
              "a matrix in another quantised format"])):
        if not test.names or name in test.names:
            form = compressed_config("naive-quantized", 8)
            form["config_groups"]["group_1"] = {"weights": {"num_bits": 4}}
            compare(test, name, mixture([int_quantized, int_quantized, odd,
                                         int_quantized]), form,
                    "q8_0", "input_scale")
            if notes:
                check_auto(test, name, *notes)
    if not test.names or "experts-router" in test.names:
        compare(test, "experts-router",
                mixture([int_quantized] * 2, int_quantized),
                compressed_config("naive-quantized", 8), "q8_0",
                "2 quantised matrices that the model needs in f32 are kept "
                "so; the first is "
                "'model.layers.0.block_sparse_moe.gate.weight'")
    if not test.names or "latent" in test.names:
        compare(test, "latent", latent(), gptq_config(), "q4_0")
        check_auto(test, "latent",
                   "2 quantised matrices that the model needs as plain "
                   "numbers are kept as f32 (--dtype bf16 rounds them); the "
                   "first is 'model.layers.0.self_attn.kv_b_proj.weight'")
    if not test.names or "mxfp4" in test.names:
        compare(test, "mxfp4", gpt_oss(), {
            "quant_method": "mxfp4",
            "modules_to_not_convert": ["model.layers.*.self_attn"]},
            "mxfp4")
    if not test.names:
        check_errors(test)
    test.finish()


if __name__ == "__main__":
    main()
