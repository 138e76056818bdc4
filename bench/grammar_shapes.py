"""Constraints of different shapes with texts that fulfil them, made of a seed.

Each is an object as `tenon grammar --batch` reads it, with its shape's name.
"""

import json
import random
import zipfile

WORDS = ("account amount city code color count country currency date detail "
         "distance email end filter format height id index item kind label "
         "language length level limit location mode model name number option "
         "order page path phone price quantity query range region result score "
         "size source start state status street style target text time title "
         "type unit user value version weight width year").split()
TYPES = {"dict": "object", "float": "number", "tuple": "array", "long": "integer",
         "Integer": "integer", "String": "string", "Boolean": "boolean",
         "ArrayList": "array", "Array": "array", "HashMap": "object",
         "char": "string", "double": "number", "short": "integer", "byte": "integer"}


def dump(value, r):
    """In one of the spellings that models use."""
    style = r.randrange(3)
    if style == 0:
        return json.dumps(value, ensure_ascii=False)
    if style == 1:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=2)


def words(r, count):
    return " ".join(r.choice(WORDS) for _ in range(count))


def text(r, longest):
    """With escapes, and letters that take several bytes."""
    parts = []
    while len("".join(parts)) < longest:
        parts.append(r.choice([words(r, 3) + " ", "\"", "\\", "\n", "\t", "é",
                               "漢字", "😀", "1.5 ", "/", "{", "it's "]))
    return "".join(parts)[:longest]


def signature(r, depth=0):
    properties = {}
    for name in r.sample(WORDS, r.randint(1, 7)):
        kind = r.randrange(8 if depth < 3 else 6)
        properties[name] = (
            {"type": "string"} if kind == 0 else
            {"type": "integer"} if kind == 1 else
            {"type": "number", "minimum": 0} if kind == 2 else
            {"type": "boolean"} if kind == 3 else
            {"enum": r.sample(WORDS, 4)} if kind == 4 else
            {"type": ["string", "null"], "maxLength": 40} if kind == 5 else
            {"type": "array", "items": signature(r, depth + 1)} if kind == 6 else
            signature(r, depth + 1))
    names = list(properties)
    return {"type": "object", "properties": properties,
            "required": names[:r.randint(0, len(names))],
            "additionalProperties": False}


def instance(schema, r):
    if "enum" in schema:
        return r.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return {name: instance(inner, r)
                for name, inner in schema["properties"].items()
                if name in schema["required"] or r.random() < 0.7}
    if kind == "array":
        return [instance(schema["items"], r) for _ in range(r.randint(0, 3))]
    if kind == "integer":
        return r.randint(-1000, 100000)
    if kind == "number":
        return round(r.random() * 1000, 2)
    if kind == "boolean":
        return r.random() < 0.5
    return text(r, r.randint(0, 40))


def document(r, depth=0):
    kind = r.randrange(7 if depth < 4 else 4)
    if kind > 4 or depth == 0:
        return {r.choice(WORDS) + str(i): document(r, depth + 1)
                for i in range(r.randint(1, 5))}
    if kind == 4:
        return [document(r, depth + 1) for _ in range(r.randint(0, 4))]
    return r.choice([r.randint(-9999, 9999), r.random() * 1e9, True, None,
                     text(r, r.randint(0, 60)), words(r, r.randint(1, 12))])


def calls(r):
    for _ in range(40):
        schema = signature(r)
        yield {"schema": schema, "texts": [dump(instance(schema, r), r)]}


def strings(r):
    for longest in (10, 40, 100, 400, 1000, 4000):
        schema = {"type": "object", "additionalProperties": False, "properties": {
            "title": {"type": "string", "minLength": 3, "maxLength": longest // 2},
            "body": {"type": "string", "maxLength": longest}},
            "required": ["title", "body"]}
        value = {"title": text(r, r.randint(3, longest // 2)),
                 "body": text(r, longest)}
        yield {"schema": schema, "texts": [dump(value, r)]}


def enums(r):
    for unit in ("word", "code", "text"):
        values = set()
        while len(values) < 20_000:
            values.add(f"{r.choice(WORDS)} {r.choice(WORDS)} {r.randrange(99)}"
                       if unit == "word" else f"{r.randrange(16 ** 8):08x}"
                       if unit == "code" else text(r, r.randint(3, 20)))
        values = sorted(values)
        schema = {"type": "array", "items": {"enum": values}}
        yield {"schema": schema, "texts": [dump(r.sample(values, 8), r)]}


def deep(r):
    value, schema = "end", {"type": "string"}
    for level in range(64):
        name = WORDS[level % len(WORDS)]
        value = {name: value, "n": level}
        schema = {"type": "object", "properties": {name: schema, "n": {"type": "integer"}}}
    yield {"schema": schema, "texts": [json.dumps(value), json.dumps(value, separators=(",", ":"))]}
    recursive = {"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "properties": {"next": {"$ref": "#/$defs/node"},
                                         "label": {"type": "string"}},
        "additionalProperties": False}}}
    value = {"label": "end"}
    for level in range(63):
        value = {"label": r.choice(WORDS), "next": value}
    yield {"schema": recursive, "texts": [json.dumps(value), json.dumps(value, indent=0)]}
    value = 1
    for level in range(64):
        value = [value] if r.random() < 0.5 else {r.choice(WORDS): value}
    yield {"schema": {}, "texts": [dump(value, r), json.dumps(value, indent=0)]}
    arrays = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"anyOf": [
        {"$ref": "#/$defs/a"}, {"type": "integer"}]}}}}
    yield {"schema": arrays, "texts": ["[" * 64 + "1" + "]" * 64]}


def patterns(r):
    for pattern, alphabet in (
            ("^[a-z0-9 _-]*$", "abcdefghij 0123456789_-"),
            ("^[A-Za-z ,.]+$", "The quick brown fox, jumps. "),
            ("^(?:[a-z]+ ?)*$", None),
            ("^([0-9]{3}-)*[0-9]*$", None),
            ("[aeiou]", None), ("^[^<>&]*$", None)):
        longest = 400
        if alphabet:
            value = "".join(r.choice(alphabet) for _ in range(longest))
        elif pattern.startswith("^(["):
            value = "".join(f"{r.randrange(1000):03}-" for _ in range(90))
        else:
            value = words(r, 50)[:longest].strip()
        schema = {"type": "object", "properties": {
            "value": {"type": "string", "pattern": pattern, "maxLength": longest}},
            "required": ["value"], "additionalProperties": False}
        yield {"schema": schema, "texts": [dump({"value": value}, r)]}


def free_json(r):
    for _ in range(12):
        yield {"schema": r.choice([{}, {"type": "object"}]),
               "texts": [dump(document(r), r)]}


def regexes(r):
    word = r"[A-Za-z]+"
    for regex, made in (
            (r"[a-z0-9._]+@[a-z0-9.-]+\.(com|org|net|de)", "first.last_9@mail.example.org"),
            (r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "2024-11-30"),
            (r"https?://[a-z0-9.-]+(/[A-Za-z0-9_~%.-]*)*(\?[a-z]+=[^&\s]*(&[a-z]+=[^&\s]*)*)?",
             "https://www.example.com/a/path/of_parts/file.html?query=some%20text&page=12"),
            (rf"{word}( {word}){{3,40}}\.", "The answer to that question is not known to me."),
            (r"(?!.*forbidden)[\x20-\x7e]*", "Some text, written 2024, without that word."),
            (r"[^\n]{1,400}", words(r, 60)[:400]),
            (r"(\d{1,3}\.){3}\d{1,3}(/\d\d?)?", "192.168.100.1/24"),
            (r".*", "Any text, in one line: \"quoted\" and (in) brackets.")):
        yield {"regex": regex, "texts": [made]}


def ebnf(r):
    arithmetic = ('root ::= expr\nexpr ::= term (ws [-+*/] ws term)*\n'
                  'term ::= number | name | "(" ws expr ws ")" | name "(" args? ")"\n'
                  'args ::= expr ("," ws expr)*\nnumber ::= [0-9]+ ("." [0-9]+)?\n'
                  'name ::= [a-z_] [a-z0-9_]*\nws ::= " "?\n')
    def expression(depth):
        kind = r.randrange(5 if depth < 12 else 2)
        if kind == 0:
            return str(r.randrange(10000))
        if kind == 1:
            return r.choice(WORDS)
        if kind == 2:
            return "(" + expression(depth + 1) + ")"
        if kind == 3:
            return r.choice(WORDS) + "(" + ", ".join(
                expression(depth + 1) for _ in range(r.randint(0, 3))) + ")"
        return " + ".join(expression(depth + 1) for _ in range(3)).replace(") + (", ") * (")
    for _ in range(4):
        made = max((expression(0) for _ in range(40)), key=len)[:3000]
        while made.count("(") > made.count(")"):
            made = made.rstrip(" +*,(0123456789._" "abcdefghijklmnopqrstuvwxyz")
            made += ")" if made.endswith(")") else "(1)"
        yield {"ebnf": arithmetic, "texts": [made]}
    language = ('root ::= stmt+\nstmt ::= ind (assign | call | "if " cond ":") "\\n"\n'
                'ind ::= "    "*\nassign ::= name " = " value\ncall ::= name "(" (value (", " value)*)? ")"\n'
                'cond ::= value (" == " | " < " | " in ") value\n'
                'value ::= name | "\\"" [^"\\\\\\n]* "\\"" | [0-9]+ | "[" (value (", " value)*)? "]"\n'
                'name ::= [a-zA-Z_] [a-zA-Z0-9_]*\n')
    lines = []
    for _ in range(30):
        value = r.choice([str(r.randrange(999)), r.choice(WORDS), f'"{words(r, 4)}"', '[1, [2, "x"], y]'])
        lines.append("    " * r.randrange(3) + r.choice([
            f"{r.choice(WORDS)} = {value}", f"print_{r.choice(WORDS)}({value}, {value})",
            f"if {r.choice(WORDS)} == {value}:"]) + "\n")
    yield {"ebnf": language, "texts": ["".join(lines)]}
    nested = 'root ::= "(" root ")" | "[" root "]" | "x"\n'
    opened = [r.choice("([") for _ in range(64)]
    yield {"ebnf": nested, "texts": ["".join(opened) + "x" + "".join(
        ")" if c == "(" else "]" for c in reversed(opened))]}


def choices(r):
    for count, length in ((4, 1), (200, 3), (5000, 6)):
        texts = sorted({words(r, length) + f" {r.randrange(100)}" for _ in range(count)})
        yield {"choices": texts, "texts": r.sample(texts, min(4, len(texts)))}


SHAPES = {"function calls": calls, "bounded strings": strings,
          "enum of 20,000": enums, "depth 64": deep, "pattern, maxLength 400": patterns,
          "any JSON": free_json, "regular expressions": regexes, "EBNF": ebnf,
          "choices": choices}


def plain(schema):
    """A parameter of a benchmark's function as JSON schema."""
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            value = TYPES.get(value, value)
            if value == "any":
                continue
        elif key == "properties" and isinstance(value, dict):
            value = {name: plain(inner) for name, inner in value.items()}
        elif key == "items":
            value = plain(value)
        elif key not in ("required", "enum", "minimum", "maximum", "additionalProperties"):
            continue
        kept[key] = value
    return kept


def function_calls_of(wheel, most=400):
    """Signatures and right answers of the wheel bfcl-eval."""
    with zipfile.ZipFile(wheel) as files:
        def lines(name):
            return [json.loads(line) for line in
                    files.read(f"bfcl_eval/data/{name}").decode("utf-8").splitlines()]
        for part in ("multiple", "live_multiple", "simple_python"):
            asked = lines(f"BFCL_v4_{part}.json")
            answers = lines(f"possible_answer/BFCL_v4_{part}.json")
            for task, answer in zip(asked[:most], answers[:most]):
                functions = {f["name"]: plain(f["parameters"]) for f in task["function"]}
                (name, given), = answer["ground_truth"][0].items()
                schema = {"anyOf": [
                    {"type": "object", "properties": {"name": {"const": f}, "arguments": p},
                     "required": ["name", "arguments"], "additionalProperties": False}
                    for f, p in functions.items()]}
                arguments = {key: values[0] for key, values in given.items() if values[0] != ""}
                yield {"schema": schema, "shape": "BFCL",
                       "texts": [json.dumps({"name": name, "arguments": arguments},
                                            ensure_ascii=False)]}


def all_shapes(seed):
    cases = []
    for name, make in SHAPES.items():
        for case in make(random.Random(f"{seed} {name}")):
            cases.append({**case, "shape": name})
    return cases
