"""PyTorch: Transformers' models, eager and through torch.compile."""

import protocol

FORMATS = {
    "decoder": {"bf16": "bf16"},
    "encoder": {"f32": "f32", "bf16": "bf16",
                "f32-compiled": "f32", "bf16-compiled": "bf16"},
}
SUFFIX = ""


def version():
    import torch
    import transformers

    # What it takes to import is not the engine's.
    transformers.AutoModel.__name__
    return torch.__version__


def convert(checkpoint, format, output):
    import os

    # It reads the checkpoint itself.
    os.symlink(os.path.abspath(checkpoint), output)


def loaded(kind, file, format, threads):
    import torch

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    dtype = torch.float32 if format.startswith("f32") else torch.bfloat16
    return kind.from_pretrained(file, dtype=dtype,
                                attn_implementation="sdpa").eval()


class Decoder:
    def __init__(self, file, format, threads, sequences, context):
        import transformers

        self.model = loaded(transformers.AutoModelForCausalLM, file, format,
                            threads)
        self.cache = None

    def prefill(self, prompts):
        self.cache = None
        self.step_of(prompts)

    def step(self, ids):
        self.step_of([[one] for one in ids])

    def step_of(self, texts):
        import torch

        answer = self.model(input_ids=torch.tensor(texts), use_cache=True,
                            past_key_values=self.cache, logits_to_keep=1)
        self.cache = answer.past_key_values


class Encoder:
    def __init__(self, file, format, threads):
        import torch
        import transformers

        self.model = loaded(transformers.AutoModel, file, format, threads)
        if format.endswith("-compiled"):
            self.model = torch.compile(self.model)

    def encode(self, texts):
        import torch

        self.model(**{name: torch.from_numpy(array) for name, array in
                      protocol.padded(texts).items()})


protocol.main(globals())
