"""Models to test with: the example, and stored checkpoints with references.

TENON_SOURCE names the checkout. The package must be installed.
"""

import json
import os
import pathlib
import shutil
import warnings

import pytest
import tenon

SOURCE = pathlib.Path(os.environ["TENON_SOURCE"])
FIXTURES = SOURCE / "tests" / "numerics" / "fixtures"
EXAMPLE = SOURCE / "examples" / "tiny-llama"


def compiled(folder, model, name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tenon.compile(model, folder / name, **options)


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory):
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture(scope="session")
def example(artifacts):
    """The path of the example's artifact, with a chat template."""
    folder = artifacts / "example"
    shutil.copytree(EXAMPLE, folder)
    (folder / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.role }}: {{ m.content }}"
        "{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}"
        "{% endfor %}{{ '\\n' }}{% endfor %}"
        "{% if tools %}{{ tools | length }} tools\n{% endif %}"
        "{% if add_generation_prompt %}assistant:{% endif %}")
    # Tests compare rows of steps of different sizes: one program for all.
    return compiled(artifacts, folder, "example.tenon", few_tokens=8)


@pytest.fixture
def model(example):
    """The example, which generates text."""
    with tenon.load(example, threads=1, max_queued=64) as loaded:
        yield loaded


@pytest.fixture(scope="session")
def sentences(artifacts):
    """An encoder with mean pooling and a tokenizer, in Sentence Transformers'
    form."""
    folder = artifacts / "sentences"
    shutil.copytree(FIXTURES / "bert-gelu", folder)
    shutil.copy(SOURCE / "python" / "tests" / "words.json",
                folder / "tokenizer.json")
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "",
         "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling",
         "type": "sentence_transformers.models.Pooling"}]))
    width = json.loads((folder / "config.json").read_text())["hidden_size"]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}))
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 16, "do_lower_case": False}))
    return compiled(artifacts, folder, "sentences.tenon")


@pytest.fixture(scope="session")
def fixture(artifacts):
    """The path of the artifact of a stored checkpoint by name."""
    def path(name):
        return compiled(artifacts, FIXTURES / name, f"{name}.tenon",
                        dtype="f32")
    return path
