"""The package itself: compiling, errors, files, documentation."""

import inspect
import pathlib
import pickle
import re
import subprocess
import sys

import pytest
import tenon
from conftest import EXAMPLE, SOURCE


def test_compile_and_progress(tmp_path):
    seen, remarks = [], []
    path = tenon.compile(EXAMPLE, tmp_path / "a.tenon", quantize="int8",
                         progress=seen.append, remarks=remarks.append)
    assert any("MergeQkv" in remark for remark in remarks)
    assert path == str(tmp_path / "a.tenon")
    assert "q8_0" in tenon.load(path).describe()["model"]["weight_type"]
    phases = [p.phase for p in seen]
    assert phases[0] == "reading the model" and phases[-1] == "weights"
    shares = [p.share for p in seen if p.phase == "weights"]
    assert shares == sorted(shares) and shares[-1] == 1
    assert seen[0].share is None


@pytest.mark.parametrize("model, options, message", [
    (EXAMPLE, {"quantize": "int3"}, "--quantize is .int3.: expected one of"),
    (EXAMPLE, {"no_such_option": 1}, "no-such-option"),
    (EXAMPLE / "none", {}, "none"),
    (EXAMPLE, {"target_cpu": ["avx2", "z80"]}, "z80"),
])
def test_compile_errors(tmp_path, model, options, message):
    with pytest.raises(tenon.CompileError, match=message):
        tenon.compile(model, tmp_path / "a.tenon", **options)
    assert not list(tmp_path.iterdir())


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_COMPILE", str(tmp_path / "none"))
    with pytest.raises(tenon.CompileError, match="cannot start"):
        tenon.compile(EXAMPLE, tmp_path / "a.tenon")
    monkeypatch.delenv("TENON_COMPILE")
    monkeypatch.setitem(sys.modules, "tenon_compiler", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tenon.CompileError, match="install the package"):
        tenon.compile(EXAMPLE, tmp_path / "a.tenon")


def test_a_callback_that_raises_ends_the_compiler(tmp_path):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tenon.compile(EXAMPLE, tmp_path / "a.tenon", progress=stop)
    assert not (tmp_path / "a.tenon").exists()


def test_files(tmp_path):
    with pytest.raises(tenon.NotFound, match="no-such"):
        tenon.load(tmp_path / "no-such.tenon")
    (tmp_path / "a.tenon").write_text("nothing")
    with pytest.raises(tenon.DamagedFile, match="a.tenon"):
        tenon.load(tmp_path / "a.tenon")


def test_models_are_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_CACHE_DIR", str(tmp_path / "cache"))
    seen = []
    first = tenon.load(EXAMPLE, threads=1, quantize="int8",
                       progress=seen.append)
    assert seen[-1] == tenon.CompileProgress("weights", 1)
    assert "q8_0" in first.describe()["model"]["weight_type"]
    again = []
    second = tenon.load(str(EXAMPLE), quantize="int8", progress=again.append)
    assert not again and len(list((tmp_path / "cache").glob("*.tenon"))) == 1
    assert (second.generate("In", temperature=0, max_new_tokens=4).text
            == first.generate("In", temperature=0, max_new_tokens=4).text)
    with pytest.raises(tenon.CompileError, match="none.gguf"):
        tenon.load(tmp_path / "none.gguf")
    (tmp_path / "sha256-0123").write_bytes(b"GGUF and no more")
    with pytest.raises(tenon.CompileError, match="sha256-0123"):
        tenon.load(tmp_path / "sha256-0123")
    with pytest.raises(tenon.InvalidArgument, match="quantize"):
        tenon.load(first.describe()["file"], quantize="int8")


def test_errors_have_one_base():
    classes = [getattr(tenon, name) for name in tenon.__all__
               if inspect.isclass(getattr(tenon, name))
               and issubclass(getattr(tenon, name), Exception)]
    assert len(classes) == 11
    assert all(issubclass(c, tenon.Error) for c in classes)
    assert issubclass(tenon.InvalidArgument, ValueError)


def test_what_can_be_pickled(model):
    answer = model.generate("a", max_new_tokens=1, logprobs=1)
    full = tenon.QueueFull("full", 2.5)
    for value in answer, tenon.Settings(stop=["a"]):
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(full)).retry_after == 2.5
    session = tenon.Session(model, cache_tokens=64)
    for value in (model, model.engine, model.tokenizer, session,
                  session.sequence(), tenon.Sampler(model),
                  tenon.Resources(threads=1), model.stream("a")):
        with pytest.raises(TypeError, match="loaded in each process"):
            pickle.dumps(value)


def test_unknown_options(example):
    with pytest.raises(TypeError, match="unknown option 'max_num_seq'"):
        tenon.load(example, max_num_seq=3)


def public():
    """Names of functions, classes and methods that users see."""
    for name in tenon.__all__:
        value = getattr(tenon, name)
        yield name, value
        if inspect.isclass(value):
            for method, function in vars(value).items():
                if not method.startswith("_") and (
                        callable(function) or isinstance(function, property)):
                    yield method, function


def test_everything_is_documented_and_tested():
    tests = "".join(p.read_text() for p in
                    pathlib.Path(__file__).parent.glob("test_*.py"))
    for name, value in public():
        assert inspect.getdoc(value), name
        assert re.search(rf"\b{name}\b", tests), f"{name} has no test"


def test_completions_are_what_they_say(model):
    answer = model.generate("a", max_new_tokens=1)
    assert isinstance(answer, tenon.Completion)
    assert isinstance(answer.choices[0], tenon.Choice)
    assert isinstance(answer.usage, tenon.Usage)
    request = model.stream("a", max_new_tokens=1, logprobs=0)
    assert isinstance(request, tenon.Request)
    chunk = list(request)[0]
    assert isinstance(chunk, tenon.Chunk)
    assert isinstance(chunk.logprobs[0], tenon.TokenLogprob)
    assert isinstance(model, tenon.Model)
    assert isinstance(model.engine, tenon.Engine)
    assert isinstance(model.tokenizer, tenon.Tokenizer)
    assert request.prompt_token_ids == answer.prompt_token_ids
    sequence = tenon.Session(model, cache_tokens=64).sequence()
    assert isinstance(sequence, tenon.Sequence)
    assert tenon.Settings(n=2).replace(n=3).n == 3
    with pytest.raises(TypeError):
        tenon.Settings().replace(x=3)
    for unused in (tenon.Label, tenon.CompileProgress, tenon.OutOfMemory,
                   tenon.UnsupportedCpu, tenon.InternalError):
        assert unused.__doc__


def test_the_command(example):
    done = subprocess.run([sys.executable, "-m", "tenon", "inspect", example],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "llama" in done.stdout
    done = subprocess.run([sys.executable, "-m", "tenon", "compile", "--help"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "--quantize" in done.stdout


def test_stubs_and_version():
    folder = pathlib.Path(tenon.__file__).parent
    assert (folder / "py.typed").exists()
    assert "class Engine" in (folder / "_native.pyi").read_text()
    project = (SOURCE / "CMakeLists.txt").read_text()
    assert f"VERSION {tenon.__version__}" in project


def test_the_readme_lines(example, tmp_path, monkeypatch, capsys):
    text = (SOURCE / "python" / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    pathlib.Path("MODEL_DIRECTORY").symlink_to(EXAMPLE)
    exec(code, {})
    assert capsys.readouterr().out.strip()
