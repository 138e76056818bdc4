"""llama.cpp, through the bindings of llama-cpp-python."""

import json
import math
import os
import pathlib
import struct

import protocol

FORMATS = {"decoder": {name: name for name in
                       ("bf16", "q8_0", "q4_0", "q4_k_m")}}
SUFFIX = ".gguf"
# What llama_model_quantize calls them.
FILE_TYPES = {"q8_0": 7, "q4_0": 2, "q4_k_m": 15}


def version():
    import llama_cpp

    return llama_cpp.__version__


def convert(checkpoint, format, output):
    if format == "bf16":
        write_gguf(pathlib.Path(checkpoint), output)
        return
    # Quantised from the file of the plain weights, which goes again.
    import llama_cpp

    plain = output + ".bf16"
    try:
        write_gguf(pathlib.Path(checkpoint), plain)
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_quantize_default_params()
        params.ftype = FILE_TYPES[format]
        params.nthread = os.cpu_count()
        if llama_cpp.llama_model_quantize(plain.encode(), output.encode(),
                                          params) != 0:
            raise protocol.Cannot(f"llama_model_quantize to {format} failed")
    finally:
        pathlib.Path(plain).unlink(missing_ok=True)


def stored_tensors(file):
    """Names with the bf16 bits of a safetensors file, as mapped arrays."""
    import numpy

    with open(file, "rb") as opened:
        length, = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if entry["dtype"] != "BF16":
            raise protocol.Cannot(f"{name} is {entry['dtype']}: only bf16 is "
                                  "converted")
        yield name, numpy.memmap(
            file, numpy.uint16, "r", 8 + length + entry["data_offsets"][0],
            tuple(entry["shape"]))


def stacked_experts(tensors):
    """The same, with the experts of a layer as one array of another axis."""
    import numpy

    experts = {}
    for name, bits in tensors:
        before, expert, after = name.partition(".experts.")
        if not expert:
            yield name, bits
            continue
        index, after = after.split(".", 1)
        experts.setdefault(before + expert + after, {})[int(index)] = bits
    for name, by_index in experts.items():
        yield name, numpy.stack([by_index[i] for i in sorted(by_index)])


def rope_factors(config, head_dim):
    """The divisors of the rotary frequencies that rope type llama3 means."""
    scaling = config["rope_scaling"]
    base = config["rope_theta"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    trained = scaling["original_max_position_embeddings"]
    for i in range(0, head_dim, 2):
        turns = trained / (2 * math.pi * base ** (i / head_dim))
        if turns > high:
            yield 1.0
        elif turns < low:
            yield scaling["factor"]
        else:
            smooth = (turns - low) / (high - low)
            yield 1 / ((1 - smooth) / scaling["factor"] + smooth)


def write_gguf(checkpoint, output):
    import gguf
    import numpy

    config = json.loads((checkpoint / "config.json").read_text())
    family = config["model_type"]
    architecture = {"llama": "llama", "qwen2": "qwen2",
                    "qwen3_moe": "qwen3moe"}.get(family)
    if architecture is None:
        raise protocol.Cannot(f"models of type {family} are not converted here")
    layers = config["num_hidden_layers"]
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    head_dim = config.get("head_dim", config["hidden_size"] // heads)
    writer = gguf.GGUFWriter(output, architecture)
    writer.add_file_type(32)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    if "num_experts" in config:
        writer.add_expert_count(config["num_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
    writer.add_block_count(layers)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config.get("rope_theta", 10000.0))
    writer.add_rope_dimension_count(head_dim)
    # Token ids are measured, not texts.
    writer.add_tokenizer_model("no_vocab")
    rope = (config.get("rope_scaling") or {}).get("rope_type")
    if rope == "llama3":
        writer.add_tensor("rope_freqs.weight", numpy.array(
            list(rope_factors(config, head_dim)), numpy.float32))
    elif rope is not None:
        raise protocol.Cannot(f"rope type {rope} is not converted here")
    number = {value: key for key, value in
              gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(number, layers)
    for name, bits in stacked_experts(
            stored_tensors(checkpoint / "model.safetensors")):
        # llama turns neighbours, where the checkpoint has halves.
        if family == "llama" and (".q_proj." in name or ".k_proj." in name):
            bits = bits.reshape(-1, 2, head_dim // 2, bits.shape[-1]).swapaxes(
                1, 2).reshape(bits.shape)
        named = names.get_name(name, try_suffixes=(".weight", ".bias"))
        # What llama.cpp keeps in f32, routers among it.
        if bits.ndim == 1 or name.endswith(".mlp.gate.weight"):
            writer.add_tensor(named, (bits.astype(numpy.uint32) << 16).view(
                numpy.float32))
        else:
            writer.add_tensor(
                named, numpy.ascontiguousarray(bits).view(numpy.uint8),
                raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Decoder:
    def __init__(self, file, format, threads, sequences, context):
        import llama_cpp

        self.api = llama_cpp
        llama_cpp.llama_backend_init()
        options = llama_cpp.llama_model_default_params()
        # Its layouts of quantised weights for tiles end in a crash.
        if "amx_tile" in pathlib.Path("/proc/cpuinfo").read_text().split():
            options.use_extra_bufts = False
        self.model = llama_cpp.llama_model_load_from_file(file.encode(),
                                                          options)
        if not self.model:
            raise protocol.Cannot(f"{file}: the model was not loaded")
        params = llama_cpp.llama_context_default_params()
        # Sequences share the context; each part is a multiple of 256.
        each = -(-context // 256) * 256
        params.n_ctx = sequences * each
        params.n_seq_max = sequences
        params.n_batch = params.n_ctx
        params.n_ubatch = 512
        params.n_threads = params.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            raise protocol.Cannot(f"{file}: no context was made")
        self.batch = llama_cpp.llama_batch_init(params.n_batch, 0, 1)
        self.lengths = [0] * sequences

    def prefill(self, prompts):
        self.api.llama_memory_clear(
            self.api.llama_get_memory(self.context), True)
        self.lengths = [0] * len(prompts)
        self.run(prompts)

    def step(self, ids):
        self.run([[one] for one in ids])

    def run(self, texts):
        batch, at = self.batch, 0
        for sequence, ids in enumerate(texts):
            for index, one in enumerate(ids):
                batch.token[at] = one
                batch.pos[at] = self.lengths[sequence] + index
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = sequence
                batch.logits[at] = index + 1 == len(ids)
                at += 1
            self.lengths[sequence] += len(ids)
        batch.n_tokens = at
        status = self.api.llama_decode(self.context, batch)
        if status != 0:
            raise protocol.Cannot(f"llama_decode: {status}")
        # Waits until the rows are there.
        if not self.api.llama_get_logits_ith(self.context, -1):
            raise protocol.Cannot("no logits")


protocol.main(globals())
