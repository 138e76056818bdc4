"""What canitoolcall asks of an engine, answered by libtenon.

Of each recorded output the tokens are those of the artifact's tokenizer: of
texts alone, so that marks of calls are texts too. The environment says

    TENON_LIBRARY      libtenon
    TENON_ARTIFACTS    a folder with an artifact FORMAT.tenon of each format
"""

import ctypes
import json
import os
import pathlib

from canitoolcall.adapters.base import Adapter, Support
from canitoolcall.results import ParsedToolCall, ParseResult

# Reference models by how their names begin, and their formats.
FORMATS = {"deepseek-ai/DeepSeek-V3-0324": "deepseek-v3",
           "deepseek-ai/DeepSeek-V3.1": "deepseek-v3.1",
           "deepseek-ai/DeepSeek-V3.2": "deepseek-v3.2",
           "deepseek-ai/DeepSeek-V4": "deepseek-v3.2",
           "google/gemma-4": "gemma4",
           "zai-org/GLM-": "glm",
           "openai/gpt-oss": "gpt-oss",
           "moonshotai/Kimi-K2": "kimi",
           "moonshotai/Kimi-K3": "kimi-k3",
           "meta-llama/Llama-3": "llama3",
           "meta-llama/Llama-4": "pythonic",
           "mistralai/": "mistral",
           "Qwen/Qwen3-0.6B": "hermes",
           "Qwen/Qwen3-4B": "hermes",
           "Qwen/Qwen3-Coder": "qwen3-coder",
           "Qwen/Qwen3.": "qwen3-coder"}


class Library:
    """The functions of libtenon that read answers, with Python's types."""

    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.tenon_last_error.restype = ctypes.c_char_p

    def version(self):
        self.calls.tenon_version.restype = ctypes.c_char_p
        return self.calls.tenon_version().decode()

    def check(self, status):
        if status:
            raise RuntimeError(self.calls.tenon_last_error().decode())

    def load(self, path):
        model = ctypes.c_void_p()
        self.check(self.calls.tenon_model_load(
            os.fsencode(path), ctypes.byref(model)))
        return model

    def filled(self, kind, function, *arguments):
        """The array of `kind` that `function` makes: asked twice, as it says
        its length only then."""
        count = ctypes.c_size_t()
        self.check(function(*arguments, None, ctypes.c_size_t(0),
                            ctypes.byref(count)))
        array = (kind * count.value)()
        self.check(function(*arguments, array, count, ctypes.byref(count)))
        return array

    def encode(self, model, text):
        data = text.encode()
        return self.filled(
            ctypes.c_int32, self.calls.tenon_model_encode, model, data,
            ctypes.c_size_t(len(data)), ctypes.c_int(0))

    def parse_answer(self, model, prompt, answer, tools):
        data = json.dumps(tools).encode()
        return json.loads(bytes(self.filled(
            ctypes.c_char, self.calls.tenon_model_parse_answer, model, prompt,
            ctypes.c_size_t(len(prompt)), answer, ctypes.c_size_t(len(answer)),
            None, ctypes.c_size_t(0), data, ctypes.c_size_t(len(data)))))


class TenonAdapter(Adapter):
    name = "tenon"

    def __init__(self):
        self.library = Library(os.environ["TENON_LIBRARY"])
        self.pinned_version = self.library.version()
        self.models = {}

    def version(self):
        return self.pinned_version

    def supports(self, family, model):
        known = self.format_of(model) is not None
        return Support(known, None if known else f"no format of {model}")

    def format_of(self, model):
        return next((FORMATS[prefix] for prefix in FORMATS
                     if model.startswith(prefix)), None)

    def model_of(self, raw):
        name = self.format_of(raw.model)
        if name not in self.models:
            self.models[name] = self.library.load(
                pathlib.Path(os.environ["TENON_ARTIFACTS"]) / f"{name}.tenon")
        return self.models[name]

    def parser_config(self, raw):
        return {"tool_format": self.format_of(raw.model)}

    def units(self, raw):
        return list(self.library.encode(self.model_of(raw), raw.text))

    def parse(self, raw, tools):
        model = self.model_of(raw)
        answer = self.library.parse_answer(
            model, self.library.encode(model, raw.generation_prompt or ""),
            self.library.encode(model, raw.text), list(tools))
        return ParseResult(
            content=answer["text"] or None,
            reasoning_content=answer.get("reasoning"),
            tool_calls=tuple(
                ParsedToolCall(call["function"]["name"],
                               call["function"]["arguments"])
                for call in answer["tool_calls"]))

    def parse_stream(self, raw, chunks, tools):
        # The library has the answer whole; what comes in pieces is the
        # server's, and the probe's.
        return self.parse(raw, tools)
