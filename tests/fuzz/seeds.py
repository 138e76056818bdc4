#!/usr/bin/env python3
"""Gathers what fuzzing begins with from the fixtures of the checkout.

    seeds.py OUTPUT [TARGET...]

writes OUTPUT/TARGET/* and, where a target has one, OUTPUT/TARGET.dict.
"""

import json
import pathlib
import re
import shutil
import struct
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
FIXTURES = TESTS / "numerics" / "fixtures"
# Longer seeds are slow, and damage in them rarely hits anything.
MOST_BYTES = 32 << 10

TEXT = "A word, 12 don't\n été 🦙 <s>[MASK]  two  spaces\ttab"
PATTERNS = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s*[\r\n]+",
    r"[^(\s|[.,!?…。，、।۔،])]+", r"(?=(\d{3})+(?!\d))", r"(a+)+b", r"(?<=a)b|c*?",
    r"[[:alpha:]&&[^a-f]]{2,}", r"\h\H\R\X", r"(?<n>x)\k<n>", r"(?>a|ab)c", "."]
EXPRESSIONS = [
    "v", "m", "m^T", "m[2:4]", "m^T[0::2]", "c[1::3/2]", "e.*.w", "e.*.w^T[1:3]",
    "fused[2::6/2]c", "s.*", "m[0:4]c[1::2]", "m^flat", "c[2:4]c^flat",
    "odd [name]^T", "four", "v[1::4/2]"]

# What target files begin with, by the name of the target.
COLLECTORS = {}


def target(function):
    COLLECTORS[function.__name__.replace("_", "-")] = function
    return function


def files(*patterns):
    """The content of all files of the checkout that match."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield path.read_bytes()


@target
def arguments():
    yield from (b"1,2,3", b"0", b"-1", b"2147483647,-2147483648", b"avx2,amx", b"")


@target
def json_():
    yield from configs()
    yield from files("tests/tokenizers/odd*.json",
                     "tests/numerics/fixtures/*/model.safetensors.index.json")


COLLECTORS["json"] = COLLECTORS.pop("json-")


def configs():
    yield from files("examples/families/*.json",
                     "tests/numerics/fixtures/*/config.json")
    for line in json.loads((TESTS / "configs" / "published.json").read_text()):
        yield json.dumps(line["config"]).encode()


@target
def config():
    yield from configs()


@target
def record():
    """A record, and streams of both forms, whole and cut."""
    model = {"name": "m", "artifact": "ab", "version": "1", "level": "avx2",
             "fingerprint": "fp_1"}
    request = {"id": "r", "at": 0.5, "time": 1, "method": "POST",
               "path": "/v1/completions", "body": "{}", "model": model,
               "seed": 2 ** 64 - 1, "cached_tokens": 0, "completed": 2,
               "status": 200, "stream": False, "gone": False, "bytes": 0,
               "checksum": "2d06800538d394c2", "answer": ""}
    lines = [{"tenon_record": 1, "max_num_seqs": 8, "default_model": "",
              "models": [model]}, request, {"dropped": 3},
             {**request, "answer": None, "body": None, "seed": None}]
    yield "".join(json.dumps(line, separators=(",", ":")) + "\n"
                  for line in lines).encode()
    chunk = lambda **choice: "data: " + json.dumps(
        {"id": "a", "choices": [choice], "usage": {"n": 1}}) + "\n\n"
    named = lambda delta: "event: d\ndata: " + json.dumps(
        {"type": "d", "sequence_number": 1, "delta": delta}) + "\n\n"
    done = "data: [DONE]\n\n"
    for whole, parts in (
            (chunk(index=0, text="ab"), chunk(index=0, text="a") +
             chunk(index=0, text="b", logprobs={"tokens": ["b"]})),
            (named("ab"), named("a") + named("b")),
            (named({"type": "text_delta", "text": "ab"}),
             named({"type": "text_delta", "text": "a"}))):
        yield (whole + done + "\0" + parts + done).encode()


@target
def npy():
    yield from files("tests/numerics/fixtures/*/*ids.npy",
                     "tests/numerics/fixtures/*/greedy.npy",
                     "tests/gguf/fixtures/*-q8_0.npy")


def patterns():
    """Of all tokenizers here."""
    yield from PATTERNS
    for path in sorted((TESTS / "tokenizers").glob("*.json")):
        for found in re.findall(r'"Regex":\s*("(?:[^"\\]|\\.)*")', path.read_text()):
            yield json.loads(found)


@target
def regex():
    for pattern in patterns():
        yield pattern.encode() + b"\0" + TEXT.encode()
    yield b"(a*)*b\0" + b"a" * 64


# Schemas with a text that each accepts.
SCHEMAS = [
    ({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 9, "pattern": "^x*$"},
        "b": {"enum": [1, None, {"c": []}]}}, "required": ["b"],
      "additionalProperties": {"type": "integer", "minimum": -3}},
     '{"b": {"c": [ ]}, "a":"xx", "z": -2}'),
    ({"$ref": "#/$defs/tree", "$defs": {"tree": {
        "anyOf": [{"type": "null"}, {"type": "array", "maxItems": 3,
                                     "items": {"$ref": "#/$defs/tree"}}]}}},
     "[null, [[null]]]"),
    ({"oneOf": [{"multipleOf": 0.5, "type": "number"}, {"format": "date"}],
      "not": {"const": 1}}, "2.50"),
    ({"patternProperties": {"^k": {"contains": {"const": 1}}},
      "propertyNames": {"minLength": 1}, "dependentRequired": {"k": ["l"]},
      "if": {"required": ["l"]}, "then": {"maxProperties": 2}},
     '{"k": [0, 1], "l": "\\u00e9"}'),
    ({"allOf": [{"prefixItems": [{"type": "boolean"}]}, {"minItems": 2}],
      "unevaluatedItems": {"type": "string", "minLength": 300}}, "[true"),
]


@target
def grammar():
    for schema, text in SCHEMAS:
        yield b"j" + json.dumps(schema).encode() + b"\0" + text.encode()
    for pattern in r"\d{2,40}-[a-f]+|(x|yz)*", r"(?!a)\w{1,300}", r"[^\n]*é?":
        yield b"r" + pattern.encode() + b"\0" + b"12-abc"
    yield (b'eroot ::= item ("," item)* # list\n'
           b'item ::= [a-z]{1,3} | "(" root ")"\0ab,(c,d)')


@target
def tokenizer():
    for content in tokenizers():
        yield content + b"\0" + TEXT.encode()


def tokenizers():
    """Every tokenizer.json with fewer tokens, and merges of those alone."""
    for content in files("tests/tokenizers/*.json"):
        data = json.loads(content)
        if isinstance(data, dict) and "model" in data:
            yield smaller(data)


def smaller(data):
    model, most = data["model"], 300
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        model["vocab"] = vocabulary[:most]
    else:
        # Single characters are what longer tokens are merged from.
        kept = sorted(vocabulary.items(),
                      key=lambda item: (len(item[0]) > 1, item[1]))[:most]
        model["vocab"] = dict(sorted(kept, key=lambda item: item[1]))
    if "merges" in model:
        def known(merge):
            parts = merge.split(" ") if isinstance(merge, str) else merge
            return all(p in model["vocab"] for p in (*parts, "".join(parts)))
        model["merges"] = [m for m in model["merges"] if known(m)]
    data["added_tokens"] = (data.get("added_tokens") or [])[:20]
    return json.dumps(data, ensure_ascii=False).encode()


@target
def tool_calls():
    """The examples of the documentation, in every format and size of piece."""
    page = (ROOT / "docs" / "tool-calls.md").read_text()
    examples = re.findall(r"^```text\n(.*?)\n```$", page, re.S | re.M)
    for number, example in enumerate(examples):
        for size in 0, 2:
            yield bytes([number, size]) + example.encode()
            yield (bytes([number, size]) + "Né <\n".encode()
                   + 2 * example.encode() + b" z")


@target
def chat_template():
    for content in files("tests/chat/templates/*.jinja"):
        yield content
    cases = json.loads((TESTS / "chat" / "cases.json").read_text())
    for source, _ in cases["snippets"]:
        yield source.encode()
    for source in cases["failing"]:
        yield source.encode()


@target
def safetensors():
    for path in sorted(FIXTURES.glob("*/model*.safetensors")):
        content = path.read_bytes()
        if len(content) <= MOST_BYTES:
            yield content
    for dtype, size in ("F32", 4), ("BF16", 2), ("I64", 8):
        header = json.dumps({
            "__metadata__": {"format": "pt"},
            "a": {"dtype": dtype, "shape": [2, 3],
                  "data_offsets": [0, 6 * size]},
            "b": {"dtype": "F16", "shape": [],
                  "data_offsets": [6 * size, 6 * size + 2]}}).encode()
        yield (len(header).to_bytes(8, "little") + header
               + b"\x3c" * (6 * size + 2))


@target
def shards():
    for names in ({"x": "a.safetensors", "y": "a.safetensors",
                   "z": "b.safetensors"}, {"z": "b.safetensors"},
                  {"x": "../a.safetensors"}):
        yield json.dumps({"metadata": {"total_size": 14},
                          "weight_map": names}).encode()


@target
def tensor_view():
    shapes = [(0, 12, 0, 0), (1, 6, 8, 3), (1, 8, 6, 2), (1, 2, 8, 1),
              (2, 3, 4, 6), (1, 4, 4, 3), (2, 2, 6, 4)]
    for expression in EXPRESSIONS:
        for shape in shapes:
            yield bytes(shape) + expression.encode()


@target
def image():
    for content in files("tests/image/files/*"):
        for settings in 0x01, 0x13, 0x26, 0x3e:
            yield bytes([settings]) + content


def ggufs():
    for content in files("tests/gguf/fixtures/*.gguf"):
        if len(content) <= 2 * MOST_BYTES:
            yield content


@target
def gguf():
    yield from ggufs()


@target
def gguf_model():
    yield from ggufs()


@target
def artifact():
    # The rest is in the corpus: there is none in the checkout.
    yield b"{}"


@target
def prefixes():
    # What is bound to the model the target sets: binding, sizes, checksums.
    page_tokens, page_bytes = 16, 2176

    def file(*prompts, pages):
        body = b""
        for salt, tokens, numbers in prompts:
            body += struct.pack("<II", len(salt), len(numbers)) + salt
            body += struct.pack(f"<{len(tokens)}i", *tokens)
            body += struct.pack(f"<{len(numbers)}I", *numbers)
        sums = bytes(8 * pages)
        header = 56 + len(body) + len(sums) + 8
        return (b"\x8aPREFX\r\n" + struct.pack(
            "<IIQQQQQ", 1, page_tokens, 0, page_bytes, len(prompts), pages,
            header) + body + sums + bytes(8) + bytes(page_bytes * pages))

    def tokens(begin, pages):
        return [(begin + i) % 50 for i in range(pages * page_tokens)]

    yield file(pages=0)
    yield file((b"", tokens(3, 1), [0]), pages=1)
    # Two that share a page, and one of another salt.
    yield file((b"", tokens(0, 1) + tokens(7, 1), [0, 1]),
               (b"", tokens(0, 2), [0, 2]),
               (b"salt", tokens(0, 1), [3]), pages=4)
    # More than there is room for.
    yield file((b"", tokens(0, 5), range(5)), (b"", tokens(1, 5), range(5, 10)),
               (b"", tokens(2, 3), range(10, 13)), pages=13)


@target
def mlir():
    for content in files("tests/[!f]*/**/*.mlir", "examples/**/*.mlir"):
        for part in re.split(rb"^// -----.*$", content, flags=re.M):
            code = re.sub(rb"^\s*//.*\n", b"", part, flags=re.M).strip()
            if code:
                yield code + b"\n"


@target
def model_directory():
    for folder in sorted(FIXTURES.iterdir()):
        if not folder.is_dir():
            continue
        parts = []
        for path in sorted(folder.glob("*.json")):
            if path.name != "index.json":
                parts.append((path.name, path.read_bytes()))
        if len(parts) > 1 or folder.name.startswith(("bert", "roberta")):
            yield packed(parts)
            yield packed([*parts, *SENTENCE])
    yield packed([("config.json", b"{}"), ("tokenizer_config.json", b"{}"),
                  ("tokenizer.json", next(files("tests/tokenizers/ties.json")))])


@target
def tokenizer_files():
    for folder in sorted((TESTS / "tokenizers" / "directories").iterdir()):
        # The vocabulary comes first: nothing is cut off its end.
        names = sorted(path.name for path in folder.iterdir())
        names.sort(key=lambda name: not name.endswith((".model", ".txt")))
        parts = [(name, (folder / name).read_bytes())
                 for name in names if name != "expected.txt"]
        config = dict(parts).get("config.json", b"{}")
        parts.append(("model_type", json.loads(config).get(
            "model_type", "").encode()))
        yield packed(parts)


SENTENCE = [
    ("modules.json", json.dumps([
        {"idx": index, "name": str(index), "path": path,
         "type": f"sentence_transformers.models.{kind}"}
        for index, (path, kind) in enumerate([
            ("", "Transformer"), ("1_Pooling", "Pooling"),
            ("2_Normalize", "Normalize")])]).encode()),
    ("sentence_bert_config.json",
     b'{"max_seq_length": 16, "do_lower_case": false}'),
    ("1_Pooling/config.json", json.dumps({
        "word_embedding_dimension": 32, "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False}).encode())]


def packed(parts):
    """Files as the target takes them apart again."""
    return b"".join(b"//--- " + name.encode() + b"\n" +
                    (content if b"\0" in content else content.rstrip()) + b"\n"
                    for name, content in parts)


@target
def quantised():
    """A module in each form, of zeros; I32 words hold whole groups of 32."""
    def words(*shape):
        return "I32", shape
    gptq = {"quant_method": "gptq", "bits": 4, "group_size": 32}
    for form, tensors in (
            (gptq, {"m.qweight": words(8, 8), "m.qzeros": words(2, 1),
                    "m.scales": ("F16", (2, 8)), "m.g_idx": words(64)}),
            ({**gptq, "bits": 8, "checkpoint_format": "gptq_v2"},
             {"m.qweight": words(16, 4), "m.qzeros": words(2, 1),
              "m.scales": ("F16", (2, 4))}),
            ({"quant_method": "awq", "bits": 4, "version": "gemm"},
             {"m.qweight": words(64, 1), "m.qzeros": words(2, 1),
              "m.scales": ("F16", (2, 8))}),
            (compressed("pack-quantized", 4),
             {"m.weight_packed": words(8, 8), "m.weight_shape": words(2),
              "m.weight_scale": ("BF16", (8, 2)),
              "m.weight_zero_point": words(1, 2), "m.weight_g_idx": words(64)}),
            (compressed("int-quantized", 8),
             {"m.weight": ("I8", (4, 32)), "m.weight_scale": ("F32", (4, 1)),
              "m.weight_zero_point": ("I8", (4, 1)),
              "m.input_scale": ("F32", (1,))}),
            (compressed("int-quantized", 8, block_structure=[4, 16]),
             {"m.weight": ("I8", (6, 40)), "m.weight_scale": ("F32", (2, 3)),
              "m.weight_zero_point": ("I8", (2, 3))}),
            ({"quant_method": "fp8", "weight_block_size": [4, 16]},
             {"m.weight": ("F8_E4M3", (6, 40)),
              "m.weight_scale_inv": ("F32", (2, 3))}),
            ({"quant_method": "mxfp4"},
             {"m_blocks": ("U8", (2, 3, 2, 16)), "m_scales": ("U8", (2, 3, 2))})):
        header, data = {}, b""
        for name, (kind, shape) in tensors.items():
            size = {"I32": 4, "F32": 4, "F16": 2, "BF16": 2}.get(kind, 1)
            for extent in shape:
                size *= extent
            header[name] = {"dtype": kind, "shape": shape,
                            "data_offsets": [len(data), len(data) + size]}
            data += (b"\x08\0\0\0\x40\0\0\0" if name == "m.weight_shape"
                     else bytes(size))
        text = json.dumps(header).encode()
        yield (json.dumps(form).encode() + b"\0" + len(text).to_bytes(8, "little")
               + text + data)


def compressed(form, bits, **weights):
    return {"quant_method": "compressed-tensors", "format": form,
            "config_groups": {"g": {"weights": {"num_bits": bits, **weights}}}}


@target
def stage_dump():
    # Stages are dumped by the compiler; some dumps are in the corpus.
    yield b"module {\n}\n"


# Words that random bytes would not find, by target.

def quoted(words):
    """A dictionary of libFuzzer."""
    lines = []
    for word in sorted(set(words)):
        text = "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b'"\\'
            else f"\\x{byte:02x}" for byte in word.encode())
        if text:
            lines.append(f'"{text}"')
    return "\n".join(lines) + "\n"


JSON_WORDS = ["{", "}", "[", "]", ":", ",", "null", "true", "false", '""', "-1",
              "0", "1e400", "18446744073709551615", "9223372036854775808",
              "4294967296", "0.5", "\\u0000", "\\ud800"]


def keys_of(texts):
    for text in texts:
        for key in re.findall(rb'"([A-Za-z_][A-Za-z0-9_.]{1,40})"', text):
            yield f'"{key.decode()}"'


def dictionaries():
    """The words of every target that has some."""
    config_words = [*JSON_WORDS, *keys_of(configs())]
    yield "json", JSON_WORDS
    yield "config", config_words
    yield "model-directory", [*config_words, "\n//--- ", *keys_of(
        content for _, content in SENTENCE)]
    for name in "safetensors", "shards", "quantised":
        yield name, [*JSON_WORDS, '"weight_map"', '"__metadata__"', '"dtype"',
                     '"shape"', '"data_offsets"', '"BF16"', '"F8_E4M3"', "../"]
    yield "artifact", [*JSON_WORDS, *keys_of(
        files("tests/fuzz/corpus/artifact/*"))]
    yield "npy", ["NUMPY", "'descr'", "'<f4'", "'<i8'", "'<i4'", "'>f4'",
                  "'fortran_order'", "'shape'", "True", "False", "()", "(1,)",
                  "9223372036854775808"]
    yield "regex", ["(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i)", "(?i:",
                    "(?<n>", "\\k<n>", "\\g<n>", "\\p{L}", "\\p{^N}", "\\P{Lu}",
                    "[[:alpha:]]", "[^", "&&", "*?", "++", "{1,3}", "{,3}",
                    "{1000}", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\G", "\\s",
                    "\\S", "\\d", "\\w", "\\h", "\\R", "\\X", "\\x{10FFFF}",
                    "\\u00e9", "\\1", "|", "^", "$", "(?#", "(?m)", "(?x)"]
    yield "grammar", [*JSON_WORDS, "root ::= ", "(?!", "{1,300}", "[^", *(
        f'"{word}"' for word in re.findall(
            r'\{"(\$?[A-Za-z]+)", Shape',
            (ROOT / "runtime/Grammar/SchemaKeywords.cpp").read_text()))]
    cases = json.loads((TESTS / "chat" / "cases.json").read_text())
    yield "chat-template", [
        "messages", "message.content", "{%-", "-%}", "{{-", "loop.", "namespace(",
        *re.findall(r"\w{2,}|\{%-? \w+|[^\w\s]{2}",
                    " ".join(source for source, _ in cases["snippets"]))]
    yield "tensor-view", ["^T", "^flat", "[1:3]", "[0::2]", "[1::4/2]", "]c",
                          "e.*.w", "s.*", "fused", "four", "*", "::",
                          "9223372036854775807"]
    yield "tokenizer", [*JSON_WORDS, *(
        word for word in keys_of(tokenizers()) if len(word) > 6)]
    yield "tokenizer-files", [*JSON_WORDS, "//--- ", *(
        word for word in re.findall(r'"[\w.-]+"', (
            ROOT / "compiler/Checkpoint/DirectoryTokenizer.cpp").read_text()))]
    keys = set()
    for content in ggufs():
        keys.update(key.decode() for key in re.findall(
            rb"[a-z0-9_]+\.[a-z_.0-9]{3,50}", content))
    for name in "gguf", "gguf-model":
        yield name, sorted(keys)
    words = set()
    for content in mlir():
        words.update(word.decode() for word in re.findall(
            rb"#?!?[a-z0-9_]+\.[a-z_.0-9]+|\b[a-z_]{4,}\b|<[^<>\n]{1,20}>", content))
    yield "mlir", sorted(words)
    yield "stage-dump", sorted(words | set(JSON_WORDS))


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: seeds.py OUTPUT [TARGET...]")
    output = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:] or list(COLLECTORS)
    for name in wanted:
        if name not in COLLECTORS:
            sys.exit(f"seeds.py: error: no target is called {name}")
        folder = output / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for number, content in enumerate(COLLECTORS[name]()):
            (folder / f"{number:04}").write_bytes(content)
    for name, words in dictionaries():
        if name in wanted:
            (output / f"{name}.dict").write_text(quoted(words))


if __name__ == "__main__":
    main()
