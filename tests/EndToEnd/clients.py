"""The Python clients of OpenAI and Anthropic, and other people's tests of both
APIs, on tenon serve.

clients.py TENON WORK EXAMPLE
"""

import base64
import json
import pathlib
import shutil
import subprocess
import sys
import time
import typing

import anthropic
import openai
import prometheus_client.parser
import pydantic

import models
import serve
import support
import smollm2

USER = [{"role": "user", "content": "The king"}]
DRAWN = {"temperature": 1.0, "seed": 5}
PARAMETERS = {"type": "object", "properties": {"n": {"enum": [1, 2]}},
              "required": ["n"], "additionalProperties": False}

# What llm-comply asks of models of certain names alone, and so skips; each of
# its other tests passes.
COMPLY_SKIPS = {"openai-chat": "chat-reasoning-summary",
                "open-responses": "reasoning-summary",
                "anthropic": "anth-thinking-display"}


class Pair(pydantic.BaseModel):
    n: typing.Literal[1, 2]
    s: typing.Literal["x", "y"]


def flaws(answer, additions=(), nullable=()):
    """What a client's typed object lacks, or has beyond its type, which may say
    too little of members that are null."""
    found = []
    try:
        type(answer).model_validate(answer.to_dict())
    except pydantic.ValidationError as wrong:
        found += [f"{each['loc']}: {each['msg']}" for each in wrong.errors()
                  if each["input"] is not None or each["loc"][-1] not in nullable]
    objects = [answer]
    while objects:
        each = objects.pop()
        if isinstance(each, (list, tuple)):
            objects += each
        elif isinstance(each, pydantic.BaseModel):
            found += [f"{type(each).__name__} has {name}"
                      for name in each.model_extra or () if name not in additions]
            objects += [value for _, value in each]
    return found


class Clients:
    def __init__(self, test, server):
        self.test = test
        url = f"http://127.0.0.1:{server.port}"
        self.openai = openai.OpenAI(base_url=f"{url}/v1", api_key="none",
                                    max_retries=0)
        self.anthropic = anthropic.Anthropic(base_url=url, api_key="none",
                                             max_retries=0)

    def typed(self, what, *answers, **allowed):
        found = [flaw for each in answers for flaw in flaws(each, **allowed)]
        self.test.check(answers and not found,
                        f"{what}: {len(answers)} objects, {found[:3]}")

    def equal(self, what, found, expected):
        self.test.check(found == expected, f"{what}: {found} != {expected}")

    def chat(self):
        create = self.openai.chat.completions.create
        wish = {"model": "tiny", "messages": USER, "max_tokens": 8, **DRAWN}
        whole = create(**wish)
        self.typed("chat", whole)
        chunks = list(create(**wish, stream=True,
                             stream_options={"include_usage": True}))
        self.typed("chat, streamed", *chunks)
        self.equal("the same text", "".join(
            c.choices[0].delta.content or "" for c in chunks if c.choices),
            whole.choices[0].message.content)
        self.equal("usage", chunks[-1].usage, whole.usage.model_copy(
            update={"prompt_tokens_details":
                    chunks[-1].usage.prompt_tokens_details}))
        scored = create(**wish, n=2, logprobs=True, top_logprobs=3)
        self.typed("scored choices", scored)
        self.equal("their scores", [
            len(token.top_logprobs) for choice in scored.choices
            for token in choice.logprobs.content], [3] * 16)

        tool = {"type": "function", "function": {
            "name": "pick", "parameters": PARAMETERS}}
        wish["max_tokens"] = 100
        for choice in "required", {"type": "function",
                                   "function": {"name": "pick"}}:
            called = create(**wish, tools=[tool], tool_choice=choice,
                            parallel_tool_calls=False)
            self.typed(f"a call {choice}", called)
            call, = called.choices[0].message.tool_calls
            self.test.check(
                called.choices[0].finish_reason == "tool_calls"
                and call.function.name == "pick"
                and json.loads(call.function.arguments)["n"] in (1, 2),
                f"its arguments: {call}")
            with self.openai.chat.completions.stream(
                    **wish, tools=[tool], tool_choice=choice,
                    parallel_tool_calls=False) as stream:
                final = stream.get_final_completion()
            self.equal("the same, streamed",
                       final.choices[0].message.tool_calls[0].function.arguments,
                       call.function.arguments)
        parsed = self.openai.chat.completions.parse(
            **{**wish, "max_tokens": 200}, response_format=Pair)
        self.test.check(isinstance(parsed.choices[0].message.parsed, Pair),
                        f"a structured answer: {parsed.choices[0].message}")

    def texts(self):
        create = self.openai.completions.create
        wish = {"model": "tiny", "prompt": "The king", "max_tokens": 8, **DRAWN,
                "logprobs": 2, "n": 2}
        whole = create(**wish)
        self.typed("completions", whole)
        chunks = list(create(**wish, stream=True))
        self.typed("completions, streamed", *chunks,
                   nullable=["finish_reason"])
        for index in range(2):
            self.equal(f"text {index}", "".join(
                c.choices[0].text for c in chunks
                if c.choices[0].index == index), whole.choices[index].text)
        listed = self.openai.models.list().data
        self.typed("models", *listed, additions=["max_model_len"])
        for each in listed:
            self.equal("a model", self.openai.models.retrieve(each.id), each)

    def responses(self):
        create = self.openai.responses.create
        more = {"extra_body": {"seed": 5}}
        wish = {"model": "tiny", "input": "The king", "max_output_tokens": 8,
                "temperature": 1.0}
        # Of the Open Responses' specification.
        open_ones = ["presence_penalty", "frequency_penalty", "store"]
        whole = create(**wish, **more)
        self.typed("a response", whole, additions=open_ones)
        events = list(create(**wish, **more, stream=True))
        self.typed("a response, streamed", *events, additions=open_ones)
        self.equal("its end", events[-1].response.output_text,
                   whole.output_text)
        wish["max_output_tokens"] = 100
        called = create(**wish, **more, tools=[{
            "type": "function", "name": "pick", "parameters": PARAMETERS,
            "strict": True}], tool_choice="required", parallel_tool_calls=False)
        self.typed("a response that calls", called, additions=open_ones)
        self.equal("its call", (called.output[0].type, called.output[0].name),
                   ("function_call", "pick"))
        parsed = self.openai.responses.parse(
            **{**wish, "max_output_tokens": 200}, **more, text_format=Pair)
        self.test.check(isinstance(parsed.output_parsed, Pair),
                        f"a structured response: {parsed.output_parsed}")

    def embeddings(self):
        # The client asks for base64 by itself.
        packed = self.openai.embeddings.create(model="sentences",
                                               input=["w2 w3", "w4"])
        plain = self.openai.embeddings.create(
            model="sentences", input=["w2 w3", "w4"], encoding_format="float")
        self.typed("embeddings", plain)
        self.test.check(all(
            abs(a - b) < 1e-6 for left, right in zip(packed.data, plain.data)
            for a, b in zip(left.embedding, right.embedding, strict=True)),
            "embeddings in base64")

    def messages(self):
        messages = self.anthropic.messages
        wish = {"model": "tiny", "messages": USER, "max_tokens": 8,
                "extra_body": {"temperature": 0}}
        whole = messages.create(**wish)
        self.typed("a message", whole)
        events = list(messages.create(**wish, stream=True))
        self.typed("a message, streamed", *events)
        with messages.stream(**wish) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.equal("its text", (text, final.content[0].text),
                   (whole.content[0].text,) * 2)
        self.equal("its usage", final.usage.output_tokens,
                   whole.usage.output_tokens)
        used = messages.create(
            **{**wish, "max_tokens": 100},
            tools=[{"name": "pick", "input_schema": PARAMETERS}],
            tool_choice={"type": "tool", "name": "pick"})
        self.typed("a use of a tool", used)
        self.test.check(
            used.stop_reason == "tool_use" and used.content[0].input["n"] in (
                1, 2), f"its input: {used.content}")
        counted = messages.count_tokens(model="tiny", messages=USER)
        self.typed("counted tokens", counted)
        self.equal("their number", counted.input_tokens,
                   whole.usage.input_tokens + (
                       whole.usage.cache_read_input_tokens or 0))

    def images(self, path):
        """Both clients send a picture."""
        data = base64.b64encode(path.read_bytes()).decode()
        url = f"data:image/png;base64,{data}"
        chat = self.openai.chat.completions.create(
            model="sees", max_tokens=8, temperature=0, messages=[{
                "role": "user", "content": [
                    {"type": "text", "text": "The king"},
                    {"type": "image_url", "image_url": {"url": url}}]}])
        self.typed("chat with an image", chat)
        said = chat.choices[0].message.content
        answer = self.openai.responses.create(
            model="sees", max_output_tokens=8, temperature=0, input=[{
                "role": "user", "content": [
                    {"type": "input_text", "text": "The king"},
                    {"type": "input_image", "image_url": url,
                     "detail": "auto"}]}])
        self.equal("a response with an image", answer.output_text, said)
        message = self.anthropic.messages.create(
            model="sees", max_tokens=8, extra_body={"temperature": 0},
            messages=[{"role": "user", "content": [
                    {"type": "text", "text": "The king"},
                    {"type": "image", "source": {
                        "type": "base64", "media_type": "image/png",
                        "data": data}}]}])
        self.typed("a message with an image", message)
        self.equal("its text", message.content[0].text, said)
        self.raises(openai.BadRequestError, "nothing is fetched",
                    lambda: self.openai.chat.completions.create(
                        model="sees", messages=[{"role": "user", "content": [{
                            "type": "image_url", "image_url": {
                                "url": "https://example.com/a.png"}}]}]))

    def unread_tools(self):
        """The template of "sees" reads no tools: calls can only be forced."""
        wish = {"model": "sees", "messages": USER, "max_tokens": 60}
        schema = {"name": "pick", "parameters": PARAMETERS}
        tools = [{"type": "function", "function": schema}]
        create = self.openai.chat.completions.create
        self.raises(openai.BadRequestError, "reads no 'tools'",
                    lambda: create(**wish, tools=tools))
        self.raises(openai.BadRequestError, "reads no 'tools'",
                    lambda: self.openai.responses.create(
                        model="sees", input="Hi",
                        tools=[{"type": "function", **schema}]))
        self.raises(anthropic.BadRequestError, "reads no 'tools'",
                    lambda: self.anthropic.messages.create(**wish, tools=[{
                        "name": "pick", "input_schema": PARAMETERS}]))
        called = create(**wish, tools=tools, tool_choice="required")
        self.equal("a forced call",
                   called.choices[0].message.tool_calls[0].function.name,
                   "pick")

    def raises(self, kind, part, ask):
        try:
            ask()
        except Exception as error:  # Of whatever class.
            self.test.check(type(error) is kind and part in str(error),
                            f"{kind.__module__}.{kind.__name__}: {error!r}")
        else:
            self.test.check(False, f"{kind.__name__}: no error")

    def errors(self):
        for package, ask in (
                (openai, lambda **more: self.openai.chat.completions.create(
                    **{"model": "tiny", "messages": USER, **more})),
                (openai, lambda **more: self.openai.responses.create(
                    **{"model": "tiny", "input": "a", **more})),
                (anthropic, lambda **more: self.anthropic.messages.create(
                    **{"model": "tiny", "messages": USER, "max_tokens": 1,
                       **more}))):
            self.raises(package.BadRequestError, "'foo' is not supported",
                        lambda: ask(extra_body={"foo": 1}))
            self.raises(package.NotFoundError, "expected one of 'tiny'",
                        lambda: ask(model="gpt"))

    def ask_long(self, package):
        """A request that only the context of the model ends."""
        if package is openai:
            return self.openai.completions.create(
                model="tiny", prompt="a", max_tokens=2000,
                extra_body={"ignore_eos": True})
        return self.anthropic.messages.create(model="tiny", messages=USER,
                                              max_tokens=2000)


def check_refusals(test, tenon, artifact):
    """Keys, and a full queue."""
    keys = test.work / "keys"
    keys.write_text("secret\n")
    with serve.Server(tenon, artifact, "--api-key-file", keys) as server:
        clients = Clients(test, server)
        for package in openai, anthropic:
            clients.raises(package.AuthenticationError, "expected a key",
                           lambda: clients.ask_long(package))
        known = clients.openai.with_options(api_key="secret")
        clients.equal("with a key", known.models.list().data[0].id, "tiny")
        known = clients.anthropic.with_options(api_key="secret")
        clients.equal("with a key", known.messages.count_tokens(
            model="tiny", messages=USER).input_tokens > 1, True)
    with serve.Server(tenon, artifact, "--max-num-seqs", 1,
                      "--max-queued", 1) as server:
        clients = Clients(test, server)
        for package in openai, anthropic:
            held = hold_both(server)
            test.check(held, "one request runs and one waits")
            clients.raises(package.RateLimitError, "queue",
                           lambda: clients.ask_long(package))
            for each in held:
                each.close()
            test.check(server.wait_idle(), "the queue is empty again")


def hold_both(server):
    """One request that runs and one that waits. The first may end before the
    second is there: then both are sent again; nothing after ten times."""
    def is_held(count):
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if (server.metric("tenon:num_requests_running") +
                    server.metric("tenon:num_requests_waiting") == count):
                return True
            time.sleep(0.01)
        return False

    for _ in range(10):
        held = []
        for _ in range(2):
            held.append(server.connect())
            held[-1].request("POST", "/v1/completions", json.dumps({
                "prompt": "a", "max_tokens": 2000, "ignore_eos": True}))
            if not is_held(len(held)):
                break
        else:
            return held
        for each in held:
            each.close()
        server.wait_idle()
    return []


def check_compliance(test, server):
    """llm-comply passes, on one model that has all that it asks for."""
    for form, skipped in COMPLY_SKIPS.items():
        done = subprocess.run(
            [sys.executable, "-m", "llm_comply.cli", "--format", form, "-u",
             f"http://127.0.0.1:{server.port}/v1", "-m", "sees", "-k", "x",
             "--json", "--timeout", "300"], capture_output=True, text=True)
        results = json.loads(done.stdout)["results"]
        for each in results:
            expected = "skipped" if each["id"] == skipped else "passed"
            test.check(each["status"] == expected,
                       f"llm-comply {each['id']}: {each['status']}, expected"
                       f" {expected}: {each.get('errors')}")
        test.check(len(results) > 8,
                   f"llm-comply {form}: {len(results)} tests")


def check_metrics(test, server):
    """They are in the format that Prometheus reads, and add up."""
    text = server.ask("/metrics")[2]
    families = {f.name: f for f in
                prometheus_client.parser.text_string_to_metric_families(text)}
    test.check(len(families) > 10 and all(
        f.documentation and f.type in ("counter", "gauge", "histogram")
        for f in families.values()), f"metrics: {sorted(families)}")
    for name, family in families.items():
        kinds = {"counter": {"_total"}, "gauge": {""},
                 "histogram": {"_bucket", "_sum", "_count"}}[family.type]
        test.check({s.name.removeprefix(name) for s in family.samples} <= kinds
                   and all("model_name" in s.labels for s in family.samples),
                   f"samples of {name}: {family.samples[:3]}")
        if family.type != "histogram":
            continue
        for model in "tiny", "sentences":
            buckets = [s.value for s in family.samples
                       if s.name.endswith("_bucket")
                       and s.labels["model_name"] == model]
            count, = (s.value for s in family.samples
                      if s.name.endswith("_count")
                      and s.labels["model_name"] == model)
            test.check(buckets == sorted(buckets) and buckets[-1] == count,
                       f"buckets of {name}: {buckets}, {count}")


def compiled(test, example, name):
    """The example model with a chat template."""
    model = test.work / name
    shutil.copytree(example, model)
    (model / "chat_template.jinja").write_text(serve.TEMPLATE)
    return test.compile(model, name, "--dtype", "f32")


def sees(test):
    """A model that chats and calls tools; in images it sees the word."""
    text = smollm2.checkpoint(smollm2.unpacked(test.work),
                              test.work / "smollm2")
    model = models.llava(test.work / "sees", text, template=None, near="Ġred")
    artifact = test.compile(model, "sees")
    for folder in text, model:
        shutil.rmtree(folder)
    return artifact


def main():
    test = support.Test(sys.argv[1:])
    tenon, example = sys.argv[1], pathlib.Path(sys.argv[3])
    artifact = compiled(test, example, "tiny")
    sentences = test.compile(models.sentence_bert(
        test.work / "sentences", serve.POSITIONS), "sentences")
    with serve.Server(tenon, artifact, f"an/other={artifact}", sentences,
                      sees(test), default=None) as server:
        clients = Clients(test, server)
        clients.chat()
        clients.texts()
        clients.responses()
        clients.embeddings()
        clients.messages()
        clients.unread_tools()
        clients.images(pathlib.Path(__file__).parent.parent / "image" / "files"
                       / "rgb8.png")
        clients.errors()
        check_compliance(test, server)
        check_metrics(test, server)
    check_refusals(test, tenon, artifact)
    test.finish()


if __name__ == "__main__":
    main()
