"""ONNX Runtime: encoders by itself, decoders with onnxruntime-genai."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import protocol

FORMATS = {
    "decoder": {"int4": "int4"},
    # int8: weights and, while it runs, activations.
    "encoder": {"f32": "f32", "int8": "int8"},
}
SUFFIX = ""


def version():
    import onnxruntime
    import onnxruntime_genai

    return f"{onnxruntime.__version__}, GenAI {onnxruntime_genai.__version__}"


def convert(checkpoint, format, output):
    config = json.loads((pathlib.Path(checkpoint) / "config.json").read_text())
    if config["architectures"][0].endswith("ForCausalLM"):
        build_decoder(checkpoint, format, output)
    else:
        export_encoder(checkpoint, format, output)


def build_decoder(checkpoint, format, output):
    cache = output + ".cache"
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder",
               "-i", checkpoint, "-o", output, "-p", format, "-e", "cpu",
               "-c", cache, "--extra_options", "prune_lm_head=true"]
    done = subprocess.run(command, stdout=2, stderr=subprocess.PIPE, text=True)
    shutil.rmtree(cache, ignore_errors=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise protocol.Cannot(lines[-1])


def export_encoder(checkpoint, format, output):
    import torch
    import transformers

    pathlib.Path(output).mkdir()
    plain = str(pathlib.Path(output) / "model.onnx")
    model = transformers.AutoModel.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager",
        add_pooling_layer=False).eval()

    class Named(torch.nn.Module):
        """Inputs by position, as the exporter gives them."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask, types):
            # What attention adds: the exporter cannot follow how it is made.
            added = (1 - mask[:, None, None, :].float()) * -1e9
            return self.model(input_ids=ids, attention_mask=added,
                              token_type_ids=types).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = torch.ones((2, 8), dtype=torch.int64)
    torch.onnx.export(
        Named().eval(), (example, example, example * 0), plain,
        input_names=names, output_names=["hidden"],
        dynamo=False, opset_version=17, dynamic_axes={
            name: {0: "texts", 1: "tokens"} for name in names + ["hidden"]})
    if format == "int8":
        from onnxruntime.quantization import QuantType, quantize_dynamic

        whole = str(pathlib.Path(output) / "whole.onnx")
        os.rename(plain, whole)
        quantize_dynamic(whole, plain, weight_type=QuantType.QInt8)
        os.unlink(whole)


class Decoder:
    def __init__(self, file, format, threads, sequences, context):
        import onnxruntime_genai

        self.api = onnxruntime_genai
        config = onnxruntime_genai.Config(file)
        config.overlay(json.dumps({"model": {"decoder": {"session_options": {
            "intra_op_num_threads": threads}}}}))
        self.model = onnxruntime_genai.Model(config)
        self.sequences, self.context = sequences, context

    def prefill(self, prompts):
        import numpy

        params = self.api.GeneratorParams(self.model)
        params.set_search_options(
            batch_size=self.sequences, min_length=self.context + 1,
            max_length=self.context + 1)
        self.generator = self.api.Generator(self.model, params)
        self.generator.append_tokens(numpy.array(prompts, numpy.int32))
        self.generator.generate_next_token()

    def step(self, ids):
        # Goes on with the likeliest token: it takes no other ones here.
        self.generator.generate_next_token()


class Encoder:
    def __init__(self, file, format, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            str(pathlib.Path(file) / "model.onnx"), options,
            providers=["CPUExecutionProvider"])

    def encode(self, texts):
        self.session.run(None, protocol.padded(texts))


protocol.main(globals())
