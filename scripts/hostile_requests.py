"""Requests that are wrong, huge or meant to hurt, and what a server may answer."""

import json

MIB = 1 << 20
# The limits of runtime/Http/Limits.h.
HEADER_BYTES = 16 << 10
BODY_BYTES = 16 * MIB
ALL_BODY_BYTES = 512 * MIB

POST = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
SMALL = json.dumps({"model": "tiny", "prompt": "a", "max_tokens": 1}).encode()


def chunk(data, size=None):
    return (b"%x\r\n" % len(data) if size is None else size) + data + b"\r\n"


def chunked(*chunks, more=b""):
    return (POST + b"Transfer-Encoding: chunked\r\n" + more + b"\r\n"
            + b"".join(chunks))


def sized(length, body=SMALL, more=b""):
    return POST + b"Content-Length: " + length + b"\r\n" + more + b"\r\n" + body


def on_the_wire():
    """(what, bytes, statuses): each sent as it is to a connection, which is then
    read; None among the statuses: the connection may just end."""
    length = b"%d" % len(SMALL)
    return [
        # Heads.
        ("no HTTP", b"what is this\r\n\r\n", {400}),
        ("HTTP/0.9", b"GET /health\r\n\r\n", {400}),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
        ("another version", b"GET /health HTTP/9.9\r\n\r\n", {400, 505}),
        ("TLS", bytes.fromhex("16030100c8010000c40303") + bytes(200), {400}),
        ("zeros", bytes(1000), {400}),
        ("no name", b"GET /health HTTP/1.1\r\n: a\r\n\r\n", {400}),
        ("no colon", b"GET /health HTTP/1.1\r\nabc\r\n\r\n", {400}),
        ("a space in a name", b"GET /health HTTP/1.1\r\na b: c\r\n\r\n", {400}),
        ("a zero in a value", b"GET /health HTTP/1.1\r\na: \0\r\n\r\n", {400}),
        ("line ends alone", b"GET /health HTTP/1.1\n\n", {200, 400}),
        ("large headers", b"GET /health HTTP/1.1\r\na: "
         + b"a" * HEADER_BYTES + b"\r\n\r\n", {431}),
        ("a long path", b"GET /" + b"a" * HEADER_BYTES + b" HTTP/1.1\r\n\r\n",
         {431}),
        ("many headers", b"GET /health HTTP/1.1\r\n"
         + b"a:b\r\n" * (HEADER_BYTES // 4) + b"\r\n", {431}),
        ("headers without an end", b"GET /health HTTP/1.1\r\n"
         + b"abcdefg: h\r\n" * 100000, {431}),
        ("a method", b"BREW /health HTTP/1.1\r\n\r\n", {404, 405}),
        ("TRACE", b"TRACE /v1/models HTTP/1.1\r\nHost: a\r\n\r\n", {405}),
        ("CONNECT", b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", {400, 404, 405}),
        ("another host's", b"GET http://b/health HTTP/1.1\r\nHost: a\r\n\r\n",
         {200, 400, 404}),
        ("bytes in a path", b"GET /\xff\xfe%00 HTTP/1.1\r\nHost: a\r\n\r\n",
         {400, 404}),
        ("HTTP/1.0", b"POST /v1/completions HTTP/1.0\r\nContent-Length: "
         + length + b"\r\n\r\n" + SMALL, {200}),
        # Lengths.
        ("no length", POST + b"\r\n", {400}),
        ("a length below zero", sized(b"-1"), {400}),
        ("a length in words", sized(b"ten"), {400}),
        ("a length beyond 64 bits", sized(b"9" * 30), {400, 413}),
        ("a huge length", sized(b"%d" % 10 ** 15), {413}),
        ("two lengths", sized(length, more=b"Content-Length: 3\r\n"), {400}),
        ("a length and chunks", sized(
            length, more=b"Transfer-Encoding: chunked\r\n"), {400}),
        ("an unknown encoding", POST + b"Transfer-Encoding: gzip\r\n\r\n"
         + SMALL, {400, 501}),
        ("chunks within chunks", POST + b"Transfer-Encoding: chunked, chunked"
         b"\r\n\r\n" + chunk(chunk(SMALL)) + b"0\r\n\r\n", {400, 501}),
        ("too short a length", sized(b"%d" % (len(SMALL) - 5)), {400}),
        ("100-continue for too much", sized(
            b"%d" % (BODY_BYTES + 1), b"", b"Expect: 100-continue\r\n"), {413}),
        # Chunks.
        ("good chunks", chunked(
            *(chunk(SMALL[i:i + 1]) for i in range(len(SMALL))),
            b"0\r\n\r\n"), {200}),
        ("trailers and extensions", chunked(
            chunk(SMALL, b"%x;a=\"b\"\r\n" % len(SMALL)),
            b"0\r\nA: b\r\n\r\n"), {200, 400}),
        ("a chunk without a size", chunked(b"xyz\r\nabc\r\n"), {400}),
        ("a chunk of 2^64 bytes", chunked(b"1" + b"0" * 16 + b"\r\nabc"),
         {400, 413}),
        ("a chunk below zero", chunked(b"-1\r\nabc\r\n"), {400}),
        ("a chunk longer than its size", chunked(b"2\r\nabcdef\r\n"), {400}),
        ("too many chunks", chunked(*[chunk(b"a" * MIB)] * 17), {413}),
        ("a size without an end", chunked(b"0" * 100000), {400, 413}),
        ("an extension without an end", chunked(b"1;" + b"a" * 100000),
         {400, 413}),
        ("trailers without an end", chunked(
            chunk(b"{"), b"0\r\n" + b"a: b\r\n" * 100000), {400, 413, 431}),
        ("a huge body", sized(b"%d" % (BODY_BYTES + 1), b"a" * BODY_BYTES),
         {413}),
    ]


def nested(depth, inside, wrap):
    for _ in range(depth):
        inside = wrap(inside)
    return inside


def text_of(opening, depth, closing):
    return (opening * depth + closing * depth).encode()


def bodies():
    """(what, path, body, statuses): bodies of requests that are whole."""
    text = "/v1/completions"
    made = []

    def add(what, given, statuses=frozenset({400}), path=text):
        if not isinstance(given, bytes):
            given = json.dumps({"model": "tiny", "max_tokens": 4,
                                **given}).encode()
        made.append((what, path, given, statuses))

    # Not JSON, and JSON that hurts.
    add("nothing", b"")
    add("half", SMALL[:-4])
    add("two", SMALL + SMALL)
    add("no UTF-8", SMALL.replace(b"a", b"\xff\xc0", 1))
    add("half a pair", SMALL.replace(b'"a"', b'"\\ud800"'))
    add("a number beyond all", SMALL.replace(b": 1}", b": 1e999}"))
    add("a long number", SMALL.replace(b": 1}", b": 1" + b"0" * 10000 + b"}"))
    add("not a number", SMALL.replace(b": 1}", b": NaN}"))
    add("deep arrays", text_of("[", 1000000, "]"))
    add("deep objects", b'{"a":' * 1000000)
    add("deep in a field", {"prompt": "a", "stop": nested(
        500, [], lambda inside: [inside])})
    add("a wide array", b"[" + b"0," * (7 * MIB) + b"0]")
    add("many fields", {f"f{i}": i for i in range(100000)})
    add("a long field", {"f" * MIB: 1, "prompt": "a"})
    add("twice the same", SMALL[:-1] + b', "prompt": 1, "prompt": 2}')
    # Texts and numbers.
    add("a long text", {"prompt": "a " * (4 * MIB)})
    add("a long word", {"prompt": "a" * (4 * MIB)})
    add("many words at once", {"prompt": ["word " * 20000] * 100})
    add("many tokens", {"prompt": [5] * 1000000})
    add("tokens of none", {"prompt": [-1, 2 ** 63]})
    add("a text of emoji", {"prompt": "\U0001f600" * 100000})
    add("many messages", {"messages": [{"role": "user", "content": "a"}] * 5000},
        path="/v1/chat/completions")
    add("a long message", {"messages": [
        {"role": "user", "content": "ab " * (2 * MIB)}]},
        path="/v1/chat/completions")
    add("a long input", {"input": "a " * MIB}, path="/v1/responses")
    for name, value in (("temperature", 1e308), ("temperature", -1),
                        ("top_p", 1e-400), ("seed", 2 ** 64), ("n", 2 ** 40),
                        ("max_tokens", -5), ("max_tokens", 2 ** 62),
                        ("logit_bias", {str(i): 1e9 for i in range(2000)}),
                        ("stop", ["a" * 1025]), ("stop", [""] * 17),
                        ("min_tokens", 10 ** 12)):
        add(f"{name} {str(value)[:20]}", {"prompt": "a", name: value},
            frozenset({200, 400}))
    # Schemas and patterns. Each ends in bounded time, exact or refused.
    either = frozenset({200, 400})

    def schema(what, value, statuses=either):
        add("schema: " + what, {"prompt": "a",
                                "structured_outputs": {"json": value}}, statuses)

    schema("deep", nested(300, {}, lambda inside: {
        "type": "object", "properties": {"a": inside}}))
    schema("deep anyOf", nested(200, {"type": "null"}, lambda inside: {
        "anyOf": [inside, {"type": "string"}]}))
    schema("a cycle of references", {"$ref": "#/$defs/a", "$defs": {
        "a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})
    schema("only itself", {"type": "object", "properties": {"a": {"$ref": "#"}},
                           "required": ["a"]})
    doubling = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2}
                for i in range(40)}
    schema("2^40 references", {"$ref": "#/$defs/d0", "$defs": {
        **doubling, "d40": {"type": "string"}}})
    schema("products", {"allOf": [{"anyOf": [
        {"type": "object", "properties": {f"p{i}{k}": {"type": "string"}}}
        for k in range(10)]} for i in range(12)]})
    schema("a large enum", {"enum": [f"value {i}" for i in range(100000)]})
    schema("many keys", {"type": "object", "properties": {
        f"k{i}": {"type": "string"} for i in range(20000)}})
    schema("many in any order", {"type": "object", "properties": {
        f"k{i}": {"type": "string"} for i in range(64)},
        "required": [f"k{i}" for i in range(64)]})
    schema("long strings", {"type": "string", "minLength": 10 ** 9})
    schema("many items", {"type": "array", "minItems": 10 ** 9})
    schema("a large multiple", {"type": "integer", "multipleOf": 10 ** 18})
    schema("another place", {"$ref": "http://example.com/schema"},
           frozenset({400}))
    for pattern in ("(a+)+$", "((a*)*)*", "(a|aa)*b", "(a{1000}){1000}",
                    "a{0,1000000000}", "(.*a){60}", "[\\s\\S]{100000}b",
                    "(" * 5000 + ")" * 5000, "|".join(
                        f"w{i}" for i in range(100000)),
                    "(?=a)b", "\\1", "[z-a]", "a" * MIB):
        shown = pattern if len(pattern) < 30 else pattern[:27] + "..."
        add("regex: " + shown, {"prompt": "a",
                                "structured_outputs": {"regex": pattern}}, either)
    schema("a pattern of powers", {"type": "string", "pattern": "^(a{99}){9999}$"})
    for what, grammar in (
            ("left recursion", "root ::= root \"a\" | \"a\""),
            ("no end", "root ::= \"a\" root"),
            ("itself", "root ::= root"),
            ("ambiguous", "root ::= root root | \"a\" | \"\""),
            ("deep", "root ::= " + "(" * 5000 + "\"a\"" + ")" * 5000),
            ("many rules", "".join(f"r{i} ::= r{i + 1} r{i + 1}\n"
                                   for i in range(5000))
             + "r5000 ::= \"a\"\nroot ::= r0")):
        add("EBNF: " + what, {"prompt": "a", "structured_outputs": {
            "grammar": grammar}}, either)
    return made
