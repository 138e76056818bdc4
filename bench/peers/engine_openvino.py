"""OpenVINO, on models that optimum-intel exports."""

import pathlib

import protocol

FORMATS = {
    "decoder": {"bf16": "bf16", "int8": "int8", "int4": "int4"},
    "encoder": {"f32": "f32", "bf16": "bf16", "int8": "int8"},
}
SUFFIX = ""


def version():
    import openvino

    return openvino.__version__.split("-")[0]


def convert(checkpoint, format, output):
    import json

    import optimum.intel
    import torch

    # int8 per row, int4 in groups of 128, head and embeddings in int8: the
    # exporter's own choices.
    config = {
        "int8": optimum.intel.OVWeightQuantizationConfig(bits=8),
        "int4": optimum.intel.OVWeightQuantizationConfig(
            bits=4, sym=False, group_size=128),
    }.get(format)
    made = json.loads((pathlib.Path(checkpoint) / "config.json").read_text())
    decodes = made["architectures"][0].endswith("ForCausalLM")
    kind = (optimum.intel.OVModelForCausalLM if decodes
            else optimum.intel.OVModelForFeatureExtraction)
    options = {} if config is None else {"quantization_config": config}
    if decodes:
        options["stateful"] = True
    model = kind.from_pretrained(
        checkpoint, export=True, compile=False, load_in_8bit=False,
        torch_dtype=torch.float32 if format == "f32" else torch.bfloat16,
        **options)
    if decodes:
        keep_last_row(model.model)
    model.save_pretrained(output)


def keep_last_row(model):
    """Only the last token's logits are computed, as other engines do."""
    import numpy
    import openvino.opset13 as ops

    node = model.output("logits").get_node().input_value(0).get_node()
    while node.get_type_name() != "MatMul":
        node = node.input_value(0).get_node()
    row = ops.gather(node.input_value(0),
                     ops.constant(numpy.array([-1], numpy.int64)),
                     ops.constant(numpy.array(1, numpy.int64)))
    node.input(0).replace_source_output(row.output(0))
    model.validate_nodes_and_infer_types()


def compiled(file, format, threads):
    import openvino

    return openvino.Core().compile_model(
        str(pathlib.Path(file) / "openvino_model.xml"), "CPU",
        {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
         "INFERENCE_PRECISION_HINT": "f32" if format == "f32" else "bf16"})


class Decoder:
    def __init__(self, file, format, threads, sequences, context):
        self.request = compiled(file, format, threads).create_infer_request()
        self.length = 0

    def prefill(self, prompts):
        self.request.reset_state()
        self.length = 0
        self.run(prompts)

    def step(self, ids):
        self.run([[one] for one in ids])

    def run(self, texts):
        import numpy

        ids = numpy.array(texts, numpy.int64)
        rows, new = ids.shape
        self.length += new
        position = numpy.arange(self.length - new, self.length)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones((rows, self.length), numpy.int64),
            "position_ids": numpy.tile(position, (rows, 1)),
            "beam_idx": numpy.arange(rows, dtype=numpy.int32),
        }
        self.request.infer(inputs, share_inputs=True, share_outputs=True)


class Encoder:
    def __init__(self, file, format, threads):
        self.model = compiled(file, format, threads)
        self.request = self.model.create_infer_request()
        self.names = [port.get_any_name() for port in self.model.inputs]

    def encode(self, texts):
        known = protocol.padded(texts)
        self.request.infer({name: known[name] for name in self.names},
                           share_inputs=True, share_outputs=True)


protocol.main(globals())
