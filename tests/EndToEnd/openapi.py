"""/openapi.json says what the server takes and answers, no more and no less.

openapi.py TENON WORK EXAMPLE

Of requests: each object whose unknown members are refused is sent with one
more, and the error must name the members that the description has; each member
is sent with a value that it has, one of another type and ones beyond its range,
and the error must expect what the description says. Of answers, whole, streamed
and errors: they have the described members and no others.
"""

import copy
import json
import pathlib
import sys

import jsonschema_rs

import models
import serve
import support

TOKENS = [5, 6, 7]
# What a request has beside what must be there.
ALWAYS = {
    "/v1/chat/completions": {"model": "tiny", "max_tokens": 2},
    "/v1/completions": {"model": "tiny", "max_tokens": 2},
    "/v1/responses": {"model": "tiny", "max_output_tokens": 2},
    "/v1/messages": {"model": "tiny", "max_tokens": 2},
    "/v1/embeddings": {"model": "sentences"},
    "/v1/rerank": {"model": "sentences"},
    # Has no tokenizer.
    "/v1/classify": {"model": "classes", "input": TOKENS},
}
# What a member needs beside it, where no schema can say so.
NEEDS = {"stream_options": {"stream": True}, "top_logprobs": {"logprobs": True}}
NONSENSE = "nonsense"


def resolve(document, schema):
    while "$ref" in schema:
        place = document
        for key in schema["$ref"].removeprefix("#/").split("/"):
            place = place[key]
        schema = place
    return schema


class Requests:
    """The request of one path, as the description has it."""

    def __init__(self, test, server, document, path):
        self.test = test
        self.server = server
        self.document = document
        self.path = path
        body = document["paths"][path]["post"]["requestBody"]
        self.schema = body["content"]["application/json"]["schema"]
        self.always = ALWAYS.get(path, {"model": "tiny"})
        self.count = 0
        self.failures = []
        self.errors = Answers(document, path).of_status(400)

    def variants(self, schema):
        """The schemas that a value can have, but null."""
        schema = resolve(self.document, schema)
        found = [v for each in schema.get("anyOf", ())
                 for v in self.variants(each)]
        return found or ([] if schema.get("type") == "null" else [schema])

    def minimal(self, schema):
        """A small value of a schema."""
        variants = self.variants(schema)
        if not variants:
            return None
        schema = variants[0]
        if "examples" in schema:
            return schema["examples"][0]
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kind = schema["type"]
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            members = schema.get("properties", {})
            needed = schema.get("required", list(members)[
                :schema.get("minProperties", 0)])
            return {key: self.minimal(members[key]) for key in needed}
        if kind == "array":
            return [self.minimal(schema["items"])] * schema.get("minItems", 0)
        if kind == "string":
            return "a" * max(1, schema.get("minLength", 1))
        if kind == "boolean":
            return True
        if "exclusiveMinimum" in schema or "not" in schema:
            return 1
        return max(0, schema.get("minimum", 1))

    def ask(self, body):
        self.count += 1
        status, _, answer = self.server.ask(self.path, body)
        if status != 200:
            try:
                self.errors.validate(answer)
            except jsonschema_rs.ValidationError as wrong:
                self.fail(f"error {answer}: {wrong.message}")
        return status, (answer["error"]["message"] if status != 200 else "")

    def fail(self, what):
        self.failures.append(what[:600])

    def refused(self, body, place, expected, what):
        status, message = self.ask(body)
        if status not in (400, 404) or f"'{place}" not in message or any(
                each not in message for each in expected):
            self.fail(f"{place} {what}: {status} {message!r},"
                      f" expected {expected}")

    def check(self):
        for variant in self.variants(self.schema):
            # A member that must be there is of the variant.
            whole = {**self.minimal(variant), **self.always}
            self.check_object(variant, whole, lambda value: value, "")
        self.test.check(not self.failures and self.count > 3,
                        f"{self.path}: {self.count} requests; wrong:"
                        f" {self.failures}")

    def check_object(self, schema, small, whole, place):
        """`small` is an object of the schema; `whole` makes a request of it."""
        members = schema["properties"]
        status, message = self.ask(whole({**small, NONSENSE: 1}))
        names = message.removeprefix(
            f"'{place}{NONSENSE}' is not supported: expected one of ")
        if status != 400 or sorted(names.split(", ")) != sorted(
                f"'{name}'" for name in members):
            self.fail(f"members of {place or 'a request'}: {status} {message},"
                      f" expected {sorted(members)}")
        for name, member in members.items():
            alone = {} if schema.get("maxProperties") == 1 else small

            def with_member(value, name=name, alone=alone):
                more = {key: value for key, value in NEEDS.get(name, {}).items()
                        if key in members}
                if name == "tool_choice":
                    tools, = self.variants(members["tools"])
                    more = {"tools": [self.minimal(tools["items"])]}
                return whole({**more, **alone, name: value})

            self.check_member(name, member, with_member, place + name)

    def check_member(self, name, member, whole, place):
        if name != "dimensions":  # Of which each model has its own number.
            value = self.always.get(name, self.minimal(member))
            status, message = self.ask(whole(value))
            if status != 200:
                self.fail(f"{place} {value}: {status} {message}")
        variants = self.variants(member)
        if len(variants) != 1:
            self.refused(whole(5.5), place, [], "of another type")
        elif variants:
            self.check_values(variants[0], whole, place)
        else:
            self.refused(whole(1), place, ["expected null"], "is 1")
        for each in variants:
            if each.get("additionalProperties") is False:
                self.check_object(each, self.minimal(each), whole, place + ".")

    def check_values(self, schema, whole, place):
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values:
            expected = [json.dumps(v, separators=(",", ":"))
                        for v in values if v is not None]
            return self.refused(whole(NONSENSE), place, expected, "is no value")
        kind = [k for k in ([schema["type"]] if isinstance(schema["type"], str)
                            else schema["type"]) if k != "null"]
        least, most = schema.get("minimum"), schema.get("maximum")
        if kind == ["boolean"]:
            expected = ["expected true or false"]
        elif kind == ["number"]:
            expected = ["expected a number"]
        elif kind == ["integer"] and None not in (least, most):
            expected = [f"expected a whole number from {least} to {most}"]
        else:
            expected = []
        wrong = NONSENSE if kind in (["number"], ["integer"]) else 5.5
        self.refused(whole(wrong), place, expected, "of another type")
        beyond = ([least - 1] if least is not None else []) + (
            [most + 1] if most is not None else []) + (
            [schema["exclusiveMinimum"]] if "exclusiveMinimum" in schema else [])
        for value in beyond:
            # What the model's vocabulary and sampling refuse names no place.
            status, message = self.ask(whole(value))
            if status != 400 or place.split(".")[-1] not in message:
                self.fail(f"{place} {value}: {status} {message}")


def closed(schema):
    """A schema whose objects have the members that it names and no others."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if isinstance(schema.get("properties"), dict):
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        schema = [closed(each) for each in schema]
    return schema


class Answers:
    """Validators of what a path answers."""

    def __init__(self, document, path, method="post"):
        self.document = document
        self.answers = document["paths"][path][method]["responses"]

    def validator(self, schema):
        return jsonschema_rs.validator_for(closed({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **copy.deepcopy(schema),
            "components": self.document["components"]}))

    def content(self, status):
        return resolve(self.document, self.answers[str(status)])["content"]

    def of_status(self, status):
        return self.validator(
            self.content(status)["application/json"]["schema"])

    def of_events(self):
        event = self.content(200)["text/event-stream"]["schema"]
        data = event["properties"]["data"]
        # The other one is the mark of the end.
        return self.validator(data.get("anyOf", [data])[0]["contentSchema"])


def check_answers(test, server, document):
    text = {"model": "tiny", "prompt": "The king", "temperature": 1, "seed": 3,
            "max_tokens": 8}
    chat = {"model": "tiny", "temperature": 1, "seed": 3, "max_tokens": 8,
            "messages": [{"role": "user", "content": "a"}]}
    respond = {"model": "tiny", "temperature": 1, "seed": 3, "input": "a",
               "max_output_tokens": 8}
    tool = {"name": "pick", "parameters": {"type": "object", "properties": {
        "n": {"enum": [1, 2]}}, "required": ["n"],
        "additionalProperties": False}}
    called = {"tools": [{"type": "function", "function": tool}],
              "tool_choice": {"type": "function", "function": {"name": "pick"}},
              "max_tokens": 100}
    flat_tool = {"tools": [{"type": "function", **tool}],
                 "tool_choice": "required", "max_output_tokens": 100}
    used = {"tools": [{"name": "pick", "input_schema": tool["parameters"]}],
            "tool_choice": {"type": "any"}, "max_tokens": 100}
    usage = {"stream_options": {"include_usage": True}}
    for path, body, streams in (
            ("/v1/completions", {**text, "n": 2, "logprobs": 2}, None),
            ("/v1/completions", {**text, "echo": True, "logprobs": 1}, False),
            ("/v1/completions", {**text, "return_token_ids": True}, None),
            ("/v1/completions", {**text, "stop": "e"}, None),
            ("/v1/completions", {**text, **usage}, True),
            ("/v1/chat/completions", {**chat, "n": 2}, None),
            ("/v1/chat/completions", {
                **chat, "logprobs": True, "top_logprobs": 2,
                "return_token_ids": True}, None),
            ("/v1/chat/completions", {**chat, **called}, None),
            ("/v1/chat/completions", {**chat, **usage}, True),
            ("/v1/responses", respond, None),
            ("/v1/responses", {**respond, **flat_tool}, None),
            ("/v1/responses", {
                **respond, "metadata": {"a": "b"}, "instructions": "Be short.",
                "reasoning": {"effort": "none"}, "user": "u",
                "prompt_cache_key": "k", "safety_identifier": "s",
                "text": {"format": {"type": "json_object"}}}, None),
            ("/v1/messages", chat, None),
            ("/v1/messages", {**chat, "stop_sequences": ["e"]}, None),
            ("/v1/messages", {**chat, **used}, None)):
        whole = {**body, "seed": 3} if "messages" not in path else {
            key: value for key, value in body.items() if key != "seed"}
        answers = Answers(document, path)
        what = f"{path} {sorted(body)}"
        if streams is not True:
            status, _, answer = server.ask(path, whole)
            found = list(answers.of_status(200).iter_errors(answer))
            test.check(status == 200 and not found,
                       f"{what}: {status}, {[e.message for e in found]}")
        if streams is not False:
            events = (server.events if "completions" in path
                      else server.named_events)(path, whole)
            validator = answers.of_events()
            wrong = [(e.message[:300], event) for event in events
                     for e in validator.iter_errors(event)]
            test.check(len(events) > 2 and not wrong,
                       f"{what}, streamed: {len(events)} events, {wrong[:2]}")
    texts = ["w2 w3", "w4"]
    for path, body in (
            ("/v1/embeddings", {"model": "sentences", "input": texts}),
            ("/v1/embeddings", {"model": "sentences", "input": texts,
                                "encoding_format": "base64"}),
            ("/v1/rerank", {"model": "sentences", "query": "w2",
                            "documents": texts}),
            ("/v1/classify", {"model": "classes", "input": [TOKENS, TOKENS]}),
            ("/v1/messages/count_tokens", {
                "model": "tiny", "messages": chat["messages"]}),
            ("/tokenize", {"model": "tiny", "prompt": "a"}),
            ("/tokenize", {"model": "tiny", "messages": chat["messages"]}),
            ("/detokenize", {"model": "tiny", "tokens": TOKENS}),
            ("/detokenize", {"model": "tiny", "tokens": []}),
            ("/apply-template", {"model": "tiny",
                                 "messages": chat["messages"]}),
            ("/v1/models", None), ("/v1/models/{model}", None),
            ("/health", None), ("/live", None), ("/openapi.json", None)):
        status, headers, answer = server.ask(
            path.replace("{model}", "tiny"), body)
        validator = Answers(document, path,
                            "get" if body is None else "post").of_status(200)
        found = [e.message for e in validator.iter_errors(answer)]
        test.check(status == 200 and headers["X-Request-Id"] and not found,
                   f"{path}: {status}, {found}")
    asked = server.ask("/v1/chat/completions", chat)[1]["X-Request-Id"]
    status, _, answer = server.ask(f"/v1/requests/{asked}")
    found = [e.message for e in Answers(
        document, "/v1/requests/{request}", "get").of_status(200).iter_errors(answer)]
    test.check(status == 200 and answer["prompts"] and not found,
               f"/v1/requests: {status}, {found} {answer}")
    for path, body, status in (
            ("/v1/completions", {"prompt": "a", "model": "none"}, 404),
            ("/v1/completions", b"x" * (17 * serve.MIB), 413),
            ("/v1/messages", {"messages": chat["messages"], "max_tokens": 1,
                              "model": "none"}, 404),
            ("/v1/messages", b"x" * (17 * serve.MIB), 413)):
        found, _, answer = server.ask(path, body)
        wrong = [e.message for e in Answers(
            document, path).of_status(status).iter_errors(answer)]
        test.check(found == status and not wrong,
                   f"{path} {status}: {found}, {wrong} {answer}")


def compiled(test, example):
    """Arguments of tenon serve: models of all kinds that it has."""
    return [serve.compiled(test, example),
            test.compile(models.sentence_bert(
                test.work / "sentences", serve.POSITIONS), "sentences"),
            test.compile(support.FIXTURES / "bert-classes", "classes")]


def main():
    test = support.Test(sys.argv[1:])
    artifacts = compiled(test, pathlib.Path(sys.argv[3]))
    with serve.Server(sys.argv[1], *artifacts) as server:
        document = server.ask("/openapi.json")[2]
        for path, methods in document["paths"].items():
            if "post" in methods:
                Requests(test, server, document, path).check()
        check_answers(test, server, document)
        server.terminate()
        test.check(server.ended() == (0, ""), "the server has nothing to say")
    test.finish()


if __name__ == "__main__":
    main()
