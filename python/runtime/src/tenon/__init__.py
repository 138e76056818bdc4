"""Tenon runs Transformer models on CPUs.

    import tenon

    tenon.compile("path/of/a/model", "model.tenon")  # needs tenon-compiler
    model = tenon.load("model.tenon")
    print(model.generate("Once upon a time", max_new_tokens=32).text)

Model has generate(), stream(), chat(), embed(), encode(), classify(),
translate(); Engine runs many requests at once; Session runs single steps.
"""

from . import _native
from .compiler import CompileProgress, compile
from .engine import Engine, Request
from .errors import (Cancelled, CompileError, DamagedFile, Error,
                     InternalError, InvalidArgument, NotFound, OutOfCachePages,
                     OutOfMemory, QueueFull, UnsupportedCpu)
from .model import Model, load
from .resources import Resources
from .results import (Chunk, Choice, Completion, Label, TokenLogprob, ToolCall,
                      Usage)
from .session import Sampler, Sequence, Session
from .settings import Settings
from .tokenizer import Tokenizer

__version__ = _native.version()

__all__ = [
    "Cancelled", "Choice", "Chunk", "CompileError", "CompileProgress",
    "Completion", "DamagedFile", "Engine", "Error", "InternalError",
    "InvalidArgument", "Label", "Model", "NotFound", "OutOfCachePages",
    "OutOfMemory", "QueueFull", "Request", "Resources", "Sampler",
    "Sequence", "Session", "Settings", "TokenLogprob", "Tokenizer", "ToolCall",
    "UnsupportedCpu", "Usage", "compile", "load",
]
