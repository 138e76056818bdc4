"""tenon serve: answers, streams, errors, limits, clients that go, the end.

serve.py TENON WORK EXAMPLE
"""

import base64
import concurrent.futures
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import numpy

import models
import support

TEMPLATE = """{% for message in messages %}[{{ message.role }}] {{ message.content }}\
{% if message.reasoning_content %}({{ message.reasoning_content }}){% endif %}\
{% for call in message.tool_calls %}{{ call.function.arguments }}{% endfor %}{{ "" }}
{% endfor %}{% if tools %}<tool_call>"arguments"{{ tools }}{% endif %}[assistant]"""
MIB = 1 << 20
POSITIONS = 150
DRAWN = {"temperature": 1.2, "seed": 7, "max_tokens": 12}
TOOL = {"type": "function", "function": {
    "name": "weather", "parameters": {"type": "object", "properties": {}}}}


class Server:
    """A running server, on a port that is free."""

    def __init__(self, tenon, *arguments, default="tiny"):
        more = ["--default-model", default] if default else []
        self.process = subprocess.Popen(
            [tenon, "serve", *map(str, arguments), "--port", "0", *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"listens at http://127\.0\.0\.1:(\d+)", line)
        if not found:
            raise RuntimeError(line + self.process.stderr.read())
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, path, body=None, method=None, headers=()):
        """Status, headers and JSON, or text, of an answer."""
        connection = self.connect()
        data = body if body is None or isinstance(body, (str, bytes)) else (
            json.dumps(body))
        connection.request(method or ("GET" if body is None else "POST"),
                           path, data, dict(headers))
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        is_json = answer.headers["Content-Type"].startswith("application/json")
        return answer.status, answer.headers, (
            json.loads(text) if is_json and text else text)

    def events(self, path, body):
        """The objects of a stream, which must end as it should."""
        status, headers, text = self.ask(path, {**body, "stream": True})
        if status != 200:
            raise RuntimeError(text)
        events = text.split("\n\n")
        assert events[-2:] == ["data: [DONE]", ""], events[-2:]
        assert headers["Content-Type"].startswith("text/event-stream")
        return [json.loads(event.removeprefix("data: "))
                for event in events[:-2]]

    def named_events(self, path, body):
        """The objects of a stream whose events have names."""
        text = self.ask(path, {**body, "stream": True})[2]
        events = []
        for event in text.removesuffix("\n\n").split("\n\n"):
            name, data = event.split("\n")
            events.append(json.loads(data.removeprefix("data: ")))
            assert name == "event: " + events[-1]["type"], event
        return events

    def metric(self, name):
        text = self.ask("/metrics")[2]
        return float(re.search(rf"^{name}{{.*}} (\S+)$", text, re.M)[1])

    def wait_idle(self):
        """Until no request runs or waits; whether that came."""
        for _ in range(200):
            if (self.metric("tenon:num_requests_running") == 0
                    and self.metric("tenon:num_requests_waiting") == 0):
                return True
            time.sleep(0.05)
        return False

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def ended(self):
        """Exit status and what is left of standard error."""
        errors = self.process.communicate(timeout=60)[1]
        return self.process.returncode, errors


def offsets(texts):
    """Where each begins when they are joined."""
    return [len("".join(texts[:i])) for i in range(len(texts))]


class ServerTest:
    """What tests of a server with one model begin with."""

    def __init__(self, test, tenon, artifact):
        self.test = test
        self.tenon = tenon
        self.artifact = artifact

    def expect(self, what, found, expected):
        self.test.check(found == expected, f"{what}: {found} != {expected}")


class Serve(ServerTest):
    def answers(self, server):
        """The same as tenon run's, whole and in pieces, alone and not."""
        alone = json.loads(self.test.need(
            "tenon", "run", self.artifact, "--prompt", "The king", "--json",
            "--temperature", "1.2", "--seed", "7", "--max-new-tokens", "12",
            "--logprobs", "2"))
        wish = {"prompt": "The king", **DRAWN, "logprobs": 2,
                "return_token_ids": True}
        status, headers, answer = server.ask("/v1/completions", wish)
        self.expect("completion", status, 200)
        choice = answer["choices"][0]
        self.expect("tokens", choice["token_ids"], alone["token_ids"])
        self.expect("text", choice["text"], alone["text"])
        self.expect("log-probabilities", choice["logprobs"]["token_logprobs"],
                    [score["logprob"] for score in alone["logprobs"]])
        self.expect("usage", answer["usage"]["completion_tokens"], 12)
        negative, same = (server.ask("/v1/completions", {
            **DRAWN, "prompt": "The king", "seed": seed})[2]["choices"]
            for seed in (-5, 2**64 - 5))
        self.expect("a seed below 0", negative, same)
        self.expect("request id", answer["id"],
                    "cmpl-" + headers["X-Request-Id"])
        pieces = server.events("/v1/completions", {
            **wish, "stream_options": {"include_usage": True}})
        self.expect("usage of a stream", pieces[-1]["usage"]["total_tokens"],
                    answer["usage"]["total_tokens"])
        parts = [piece["choices"][0] for piece in pieces[:-1]]
        self.expect("streamed text", "".join(p["text"] for p in parts),
                    choice["text"])
        self.expect("streamed tokens",
                    sum((p.get("token_ids", []) for p in parts), []),
                    choice["token_ids"])
        self.expect("how a stream ends", parts[-1]["finish_reason"], "length")

        several = server.ask("/v1/completions", {
            **DRAWN, "prompt": ["The king", [5, 6, 7]], "n": 2})[2]["choices"]
        self.expect("indices", [c["index"] for c in several], [0, 1, 2, 3])
        self.expect("the first of several", several[0]["text"], choice["text"])
        # Prompts draw on their own; null asks for nothing.
        again = server.ask("/v1/completions", {
            **DRAWN, "prompt": ["The king"] * 2, "metadata": None})[2]
        self.expect("a prompt twice", [
            again["choices"][0]["text"] == choice["text"],
            again["choices"][1]["text"] == choice["text"]], [True, False])
        echo = server.ask("/v1/completions", {
            "prompt": "The king", "echo": True, "logprobs": 1,
            "max_tokens": 0})[2]["choices"][0]
        self.expect("echo", echo["text"], "The king")
        self.test.check(echo["logprobs"]["token_logprobs"][0] is None and all(
            score < 0 for score in echo["logprobs"]["token_logprobs"][1:]),
            f"log-probabilities of a prompt: {echo}")
        # The first token is special: it is not in the text.
        self.expect("texts of tokens",
                    "".join(echo["logprobs"]["tokens"][1:]), "The king")
        self.expect("offsets of an echo", echo["logprobs"]["text_offset"],
                    offsets(["", *echo["logprobs"]["tokens"][1:]]))

        wishes = [{"prompt": "word " * count, **DRAWN, "seed": count}
                  for count in range(1, 33)]
        ask = lambda wish: server.ask("/v1/completions", wish)[2]["choices"]
        singly = [ask(wish) for wish in wishes]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            together = list(pool.map(ask, wishes))
        self.expect("the same under load", together, singly)

    def conversations(self, server):
        messages = [{"role": "user", "content": "hello"}]
        wish = {"messages": messages, **DRAWN}
        answer = server.ask("/v1/chat/completions", wish)[2]
        message = answer["choices"][0]["message"]
        chat = json.loads(self.test.need(
            "tenon", "run", self.artifact, "--chat", "--prompt", "hello",
            "--json", "--temperature", "1.2", "--seed", "7",
            "--max-new-tokens", "12"))
        self.expect("chat", message["content"], chat["text"])
        deltas = [event["choices"][0]["delta"]
                  for event in server.events("/v1/chat/completions", wish)]
        self.expect("the first delta", deltas[0]["role"], "assistant")
        self.expect("streamed chat",
                    "".join(d.get("content", "") for d in deltas),
                    message["content"])
        # With tools the answer goes through the parser of calls; with a stop
        # string only when it is whole.
        for more in {}, {"stop": ["never occurs"]}:
            offered = {**wish, "tools": [TOOL], **more}
            whole = server.ask("/v1/chat/completions", offered)[2]["choices"][0]
            events = server.events("/v1/chat/completions", offered)
            self.expect(f"chat with tools {more}",
                        "".join(e["choices"][0]["delta"].get("content", "")
                                for e in events),
                        whole["message"]["content"])
            self.expect(f"its end {more}",
                        events[-1]["choices"][0]["finish_reason"],
                        whole["finish_reason"])
        # A call without arguments, as some servers write it and clients
        # repeat it.
        called = [[*messages, {"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "f", "arguments": given}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "1"}]
            for given in ("", "{}")]
        empty, braces = (server.ask("/v1/chat/completions", {
            **wish, "messages": talk}) for talk in called)
        self.expect("a call without arguments",
                    [empty[0], empty[2].get("choices")],
                    [200, braces[2].get("choices")])
        # A call that was cut is in the history all the same.
        called[0][1]["tool_calls"][0]["function"]["arguments"] = '{"a": "b'
        self.expect("a call whose arguments are no JSON", server.ask(
            "/apply-template", {"messages": called[0]})[2]["prompt"],
            '[user] hello\n[assistant] {"a": "b\n[tool] 1\n[assistant]')
        self.expect("an answer to it", server.ask("/v1/chat/completions", {
            **wish, "messages": called[0]})[0], 200)
        none = server.ask("/v1/chat/completions", {
            **wish, "tools": [TOOL], "tool_choice": "none"})[2]
        self.expect("no tools", none["choices"][0]["message"]["content"],
                    message["content"])
        scored = server.ask("/v1/chat/completions", {
            **wish, "logprobs": True, "top_logprobs": 3})[2]["choices"][0]
        content = scored["logprobs"]["content"]
        self.expect("scores of a chat", [len(content)] + [
            len(token["top_logprobs"]) for token in content], [12] + [3] * 12)

    def texts_of_tokens(self, server):
        """Tokens of log-probabilities have their spaces, also those of a
        tokenizer that drops the first one of a text, and their bytes."""
        wish = {"model": "spaced", "prompt": "The king", **DRAWN,
                "max_tokens": 40}
        for echo in False, True:
            choice = server.ask("/v1/completions", {
                **wish, "echo": echo, "logprobs": 2})[2]["choices"][0]
            tokens = choice["logprobs"]["tokens"]
            tokens[:echo] = [""] * echo
            self.expect(f"spaces of tokens, echo {echo}", "".join(tokens),
                        choice["text"])
            self.expect(f"offsets, echo {echo}",
                        choice["logprobs"]["text_offset"], offsets(tokens))
        events = server.events("/v1/completions", {**wish, "logprobs": 2})
        streamed = [event["choices"][0]["logprobs"] for event in events]
        self.expect("offsets of a stream", sum(
            (part["text_offset"] for part in streamed if part), []),
            offsets(sum((part["tokens"] for part in streamed if part), [])))
        talk = {"model": "spaced", **DRAWN, "max_tokens": 40,
                "messages": [{"role": "user", "content": "hello"}],
                "logprobs": True, "top_logprobs": 2}
        choice = server.ask("/v1/chat/completions", talk)[2]["choices"][0]
        scores = choice["logprobs"]["content"]
        self.expect("bytes of tokens", bytes(sum(
            (score["bytes"] for score in scores), [])).decode(),
            choice["message"]["content"])
        events = server.events("/v1/chat/completions", talk)
        self.expect("the same streamed", sum(
            (event["choices"][0]["logprobs"]["content"] for event in events
             if event["choices"][0]["logprobs"]), []), scores)

    def reasoning(self, server):
        """How much is reasoned; reasoning that is cut; what says who asks."""
        talk = {"model": "spaced", "temperature": 0, "messages": [
            {"role": "user", "content": "hello"}]}
        whole = {effort: server.ask("/v1/chat/completions", {
            **talk, "max_tokens": 12, "reasoning_effort": effort,
        })[2] for effort in ("none", "low")}
        said = {effort: answer["choices"][0]["message"]
                for effort, answer in whole.items()}
        used = [whole["none"]["usage"], whole["low"]["usage"]]
        # With tools and a stop string an answer is read when it has ended.
        for more in {}, {"tools": [TOOL], "stop": ["never occurs"]}:
            used.append(server.events("/v1/chat/completions", {
                **talk, **more, "max_tokens": 12, "reasoning_effort": "low",
                "stream_options": {"include_usage": True}})[-1]["usage"])
        self.expect("tokens of reasoning", [
            usage["completion_tokens_details"]["reasoning_tokens"]
            for usage in used], [0, 12, 12, 12])
        self.test.check("reasoning_content" not in said["none"]
                        and said["none"]["content"]
                        and said["low"]["reasoning_content"]
                        and not said["low"]["content"], f"efforts: {said}")
        wish = {"model": "spaced", "temperature": 0, "input": "hello",
                "max_output_tokens": 12, "reasoning": {"effort": "low"}}
        streamed = server.named_events("/v1/responses", wish)[-1]["response"]
        for answer in server.ask("/v1/responses", wish)[2], streamed:
            self.expect("tokens of reasoning in a response",
                        answer["usage"]["output_tokens_details"],
                        {"reasoning_tokens": 12})
            self.expect("reasoning that is cut", [
                (item["type"], item["status"]) for item in answer["output"]],
                [("reasoning", "incomplete")])
        labels = {"metadata": {"a": "b"}, "prompt_cache_key": "c",
                  "safety_identifier": "s", "user": "u", "store": False,
                  "service_tier": "auto", "verbosity": "medium"}
        self.expect("labels", server.ask("/v1/chat/completions", {
            **talk, **labels, "max_tokens": 12, "stream": False,
        })[2]["choices"][0]["message"], said["none"])
        # The model is greedy where nobody asks for anything else.
        plain = server.ask("/v1/responses", {
            "input": "hello", "max_output_tokens": 2})[2]
        self.expect("a temperature that was not asked for",
                    plain["temperature"], 0)

    def texts(self, server):
        tokens = server.ask("/tokenize", {"prompt": "The king"})[2]
        self.expect("tokens", tokens["count"], len(tokens["tokens"]))
        plain = server.ask("/tokenize", {
            "prompt": "The king", "add_special_tokens": False})[2]["tokens"]
        self.expect("text", server.ask(
            "/detokenize", {"tokens": plain})[2]["prompt"], "The king")
        for wrong in {}, {"tokens": None}, {"tokens": [5, 1 << 30]}:
            self.expect(f"detokenize {wrong}", server.ask("/detokenize", wrong)[
                2]["error"]["param"], "tokens")
        talk = {"messages": [{"role": "user", "content": "a"}]}
        self.expect("template", server.ask("/apply-template", talk)[2]["prompt"],
                    "[user] a\n[assistant]")
        models = server.ask("/v1/models")[2]["data"]
        self.expect("models", [m["id"] for m in models], ["tiny", "other", "bare", "spaced"])
        self.expect("a model", server.ask("/v1/models/tiny")[2], models[0])
        self.expect("its age", models[0]["created"],
                    int(self.artifact.stat().st_mtime))
        fingerprint = server.ask("/v1/completions", {
            "prompt": "a", "max_tokens": 1})[2]["system_fingerprint"]
        self.test.check(re.fullmatch("fp_[0-9a-f]{16}", fingerprint),
                        f"a fingerprint: {fingerprint}")
        status, headers, page = server.ask("/")
        self.test.check(
            status == 200 and headers["Content-Type"].startswith("text/html")
            and "default-src 'none'" in headers["Content-Security-Policy"]
            and "<title>Tenon</title>" in page and "https:" not in page,
            f"the page: {status} {page[:99]}")
        self.expect("health", server.ask("/health")[2], {"status": "ok"})
        self.expect("live", server.ask("/live")[0], 200)

    def other_forms(self, server):
        """/v1/responses and /v1/messages say what chat completions say."""
        messages = [{"role": "user", "content": "hello"}]
        chat = server.ask("/v1/chat/completions", {
            "messages": messages, "temperature": 0, "max_tokens": 12,
        })[2]["choices"][0]["message"]["content"]
        wish = {"input": "hello", "temperature": 0, "max_output_tokens": 12}
        whole = server.ask("/v1/responses", wish)[2]
        self.expect("a response", whole["output"][0]["content"][0]["text"],
                    chat)
        self.expect("how it ends", (whole["status"],
                    whole["incomplete_details"]["reason"],
                    whole["usage"]["output_tokens"]),
                    ("incomplete", "max_output_tokens", 12))
        events = server.named_events("/v1/responses", wish)
        self.expect("sequence numbers",
                    [e["sequence_number"] for e in events],
                    list(range(len(events))))
        self.expect("events", [e["type"].removeprefix("response.")
                               for e in events if "delta" not in e["type"]], [
            "created", "in_progress", "output_item.added",
            "content_part.added", "output_text.done", "content_part.done",
            "output_item.done", "incomplete"])
        self.expect("streamed response", "".join(
            e["delta"] for e in events if "delta" in e["type"]), chat)
        self.expect("its end", events[-1]["response"]["output"][0]["content"],
                    whole["output"][0]["content"])
        listed = server.ask("/v1/responses", {**wish, "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "hel"},
                {"type": "input_text", "text": "lo"}]}]})[2]
        self.expect("parts of a text", listed["output"][0]["content"],
                    whole["output"][0]["content"])

        wish = {"messages": messages, "temperature": 0, "max_tokens": 12}
        whole = server.ask("/v1/messages", wish)[2]
        self.expect("a message", whole["content"][0]["text"], chat)
        self.expect("why it ends", whole["stop_reason"], "max_tokens")
        events = server.named_events("/v1/messages", wish)
        self.expect("events of a message", [
            e["type"] for e in events if "delta" not in e["type"]], [
            "message_start", "content_block_start", "content_block_stop",
            "message_stop"])
        self.expect("streamed message", "".join(
            e["delta"].get("text", "") for e in events
            if e["type"] == "content_block_delta"), chat)
        counted = server.ask("/v1/messages/count_tokens",
                             {"messages": messages})[2]["input_tokens"]
        usage = whole["usage"]
        self.expect("counted tokens", counted, usage["input_tokens"] +
                    usage["cache_read_input_tokens"])

        # Parts of one turn are one message.
        user = {"role": "user", "content": "hello"}
        turn = {"role": "assistant", "content": "yes", "tool_calls": [
            {"id": name, "type": "function",
             "function": {"name": name, "arguments": "{}"}}
            for name in ("f", "g")]}
        used = server.ask("/v1/chat/completions", {
            "messages": [user, turn], "max_tokens": 1})[2]["usage"]
        same = server.ask("/v1/responses", {"max_output_tokens": 1, "input": [
            user, {"role": "assistant", "content": "yes"},
            *({"type": "function_call", "call_id": name, "name": name,
               "arguments": "{}"} for name in ("f", "g"))]})[2]["usage"]
        self.expect("a turn of a text and calls", same["input_tokens"],
                    used["prompt_tokens"])
        # Reasoning belongs to the turn that it stands in.
        said = {"role": "assistant", "content": "yes"}
        call, result = ({"type": kind, "call_id": "f", **more}
                        for kind, more in (
                            ("function_call", {"name": "f", "arguments": "{}"}),
                            ("function_call_output", {"output": "1"})))
        calls, output = turn["tool_calls"][:1], {
            "role": "tool", "tool_call_id": "f", "content": "1"}

        def thought(text):
            return {"type": "reasoning", "summary": [], "content": [
                {"type": "reasoning_text", "text": text}]}

        for what, items, messages in (
                ("between calls",
                 [user, thought("first "), call, thought("second"), call,
                  result, result],
                 [user, {"role": "assistant", "content": "",
                         "reasoning_content": "first second",
                         "tool_calls": calls * 2}, output, output]),
                ("between a text and a call",
                 [user, thought("first "), said, thought("second"), call,
                  result],
                 [user, {**said, "reasoning_content": "first second",
                         "tool_calls": calls}, output]),
                ("behind a call", [user, call, thought("late"), result, said],
                 [user, {"role": "assistant", "content": "",
                         "reasoning_content": "late", "tool_calls": calls},
                  output, said]),
                ("of the next turn", [user, call, result, thought("then"), said],
                 [user, {"role": "assistant", "content": "",
                         "tool_calls": calls}, output,
                  {**said, "reasoning_content": "then"}]),
                ("of a turn that was cut", [user, thought("long"), user],
                 [user, {"role": "assistant", "content": "",
                         "reasoning_content": "long"}, user])):
            count = server.ask("/tokenize", {"messages": messages})[2]["count"]
            self.expect(f"reasoning {what}", server.ask("/v1/responses", {
                "max_output_tokens": 1, "input": items,
            })[2]["usage"]["input_tokens"], count)
        thoughts, whole = (server.ask("/v1/messages/count_tokens", {
            "messages": [user, {"role": "assistant", "content": [
                *({"type": "thinking", "thinking": text, "signature": ""}
                  for text in texts), {"type": "text", "text": "yes"}]}]})[2]
            for texts in (["first ", "second"], ["first second"]))
        self.expect("two thoughts", thoughts, whole)
        self.expect("no tools beside a format", server.ask(
            "/v1/chat/completions", {
                "messages": [user], "tools": [], "max_tokens": 4,
                "response_format": {"type": "json_object"}})[0], 200)

    def constraints(self, server):
        """Answers are what they must be, whole and streamed."""
        chat = "/v1/chat/completions"
        wish = {"messages": [{"role": "user", "content": "a"}], **DRAWN,
                "max_tokens": 200}
        schema = {"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 10, "maximum": 99},
            "s": {"enum": ["x", "y"]}},
            "required": ["n", "s"], "additionalProperties": False}
        form = {"type": "json_schema", "json_schema": {
            "name": "pair", "strict": True, "schema": schema}}
        for seed in range(4):
            choice = server.ask(chat, {**wish, "seed": seed,
                                       "response_format": form})[2]["choices"][0]
            value = json.loads(choice["message"]["content"])
            self.test.check(
                list(value) == ["n", "s"] and 10 <= value["n"] <= 99
                and value["s"] in "xy" and choice["finish_reason"] == "stop",
                f"a schema: {choice}")
        said = server.ask("/v1/responses", {
            "input": "a", "seed": 1, "temperature": 1.2,
            "text": {"format": {"type": "json_schema", "name": "pair",
                                "schema": schema}}})[2]
        self.expect("members of a response", set(json.loads(
            said["output"][0]["content"][0]["text"])), {"n", "s"})
        for given, pattern in (
                ({"regex": "[a-c]{3}"}, "[a-c]{3}"),
                ({"choice": ["yes", "no"]}, "yes|no"),
                ({"grammar": 'root ::= "(" [0-9]{1,5} ")"'}, r"\([0-9]{1,5}\)")):
            text = server.ask("/v1/completions", {
                "prompt": "a", **DRAWN, "max_tokens": 200,
                "structured_outputs": given})[2]["choices"][0]["text"]
            self.test.check(re.fullmatch(pattern, text), f"{given}: {text}")
        tool = {"type": "function", "function": {
            "name": "pick", "parameters": schema}}
        for choice in "required", {"type": "function",
                                   "function": {"name": "pick"}}:
            offered = {**wish, "tools": [tool], "tool_choice": choice,
                       "parallel_tool_calls": False}
            whole = server.ask(chat, offered)[2]["choices"][0]
            calls = whole["message"]["tool_calls"]
            self.expect(f"a forced call {choice}", (
                whole["finish_reason"], len(calls),
                calls[0]["function"]["name"],
                set(json.loads(calls[0]["function"]["arguments"]))),
                ("tool_calls", 1, "pick", {"n", "s"}))
            deltas = [e["choices"][0]["delta"]
                      for e in server.events(chat, offered)]
            self.expect("the same streamed", [
                {key: call[key] for key in ("id", "type", "function")}
                for delta in deltas for call in delta.get("tool_calls", [])],
                calls)
        used = server.ask("/v1/messages", {
            "messages": wish["messages"], "max_tokens": 200,
            "tools": [{"name": "pick", "input_schema": schema}],
            "tool_choice": {"type": "any",
                            "disable_parallel_tool_use": True}})[2]
        self.expect("a forced use", (used["stop_reason"], set(
            used["content"][0]["input"])), ("tool_use", {"n", "s"}))
        for body, part in (
                ({"response_format": {"type": "xml"}},
                 "'response_format.type' is \"xml\""),
                ({"response_format": {"type": "json_schema", "json_schema": {
                    "schema": {"type": "wrong"}}}}, "#/type"),
                ({"response_format": form, "tools": [tool]}, "leaves no room"),
                ({"tool_choice": "required"}, "needs 'tools'"),
                ({"tools": [tool], "tool_choice": {
                    "type": "function", "function": {"name": "other"}}},
                 "names 'other'"),
                ({"structured_outputs": {"regex": "(a"}},
                 "'structured_outputs.regex'"),
                ({"structured_outputs": {}}, "one of")):
            status, _, answer = server.ask(chat, {**wish, **body})
            self.test.check(status == 400 and part in answer["error"]["message"],
                            f"400 {part}: {status} {answer}")

    def strict_tools(self, server):
        """Calls that nobody forces fulfil the schemas of strict tools. What is
        bare JSON is a call here."""
        chat = "/v1/chat/completions"
        tools = [{"type": "function", "function": {
            "name": name, "strict": True, "parameters": {
                "type": "object", "properties": {"n": {"enum": values}},
                "required": ["n"], "additionalProperties": False}}}
            for name, values in (("small", [1, 2]), ("large", [100, 200]))]
        brace = server.ask("/tokenize", {
            "model": "bare", "prompt": "{", "add_special_tokens": False})[2]["tokens"]
        wish = {"model": "bare", "messages": [{"role": "user", "content": "a"}],
                **DRAWN, "max_tokens": 300, "tools": tools,
                "logit_bias": {str(brace[-1]): 100}}
        ranges = {"small": [1, 2], "large": [100, 200]}
        for seed in range(4):
            whole = server.ask(chat, {**wish, "seed": seed})[2]["choices"][0]
            calls = whole["message"]["tool_calls"]
            self.expect("a call", (whole["finish_reason"], len(calls)),
                        ("tool_calls", 1))
            function = calls[0]["function"]
            self.test.check(
                json.loads(function["arguments"])["n"] in ranges[function["name"]],
                f"arguments that fit: {function}")
        wish["messages"][0]["content"] = "b"
        said = server.ask("/v1/responses", {
            "model": "bare", "input": "b", "temperature": 1.2,
            "tools": [{"type": "function", **tool["function"]}
                      for tool in tools]})[0]
        self.expect("a response", said, 200)
        free = server.ask(chat, {**wish, "logit_bias": {str(brace[-1]): -100},
                                 "max_tokens": 12})[2]["choices"][0]
        self.test.check(free["message"]["content"] and "tool_calls" not in
                        free["message"], f"text: {free}")
        said = server.ask(chat, {
            "model": "tiny", "messages": wish["messages"], "max_tokens": 4,
            "parallel_tool_calls": False})[0]
        self.expect("one call at most of no tools", said, 200)
        tools[1]["function"]["parameters"] = {"type": "wrong"}
        status, _, answer = server.ask(chat, wish)
        self.test.check(
            status == 400 and "tools[1].function.parameters: JSON schema: #/type"
            in answer["error"]["message"], f"a schema: {answer}")

    def kept_prompts(self):
        """Prompts survive the server, and answers stay what they are."""
        folder = self.test.work / "kept"
        wish = {"prompt": "The king and the queen " * 12, **DRAWN}
        answers = []
        for _ in range(2):
            with Server(self.tenon, f"a/b={self.artifact}", "--prefix-cache",
                        folder, default="a/b") as server:
                answers.append(server.ask("/v1/completions", wish)[2])
                server.process.terminate()
                server.process.wait()
        cached = [a["usage"]["prompt_tokens_details"]["cached_tokens"]
                  for a in answers]
        self.test.check(cached[0] == 0 and cached[1] > 16, f"cached: {cached}")
        self.expect("the same text", answers[1]["choices"], answers[0]["choices"])
        self.expect("its file", [f.name for f in folder.iterdir()],
                    ["a%2Fb.prompts"])
        (folder / "a%2Fb.prompts").write_bytes(b"no prompts")
        for arguments, part in (
                ([folder], "a%2Fb.prompts"),
                ([self.artifact], "expected a folder"),
                ([folder, "--no-prefix-cache"], "excludes")):
            failed = subprocess.run(
                [self.tenon, "serve", f"a/b={self.artifact}", "--prefix-cache",
                 *arguments], stderr=subprocess.PIPE, text=True)
            self.test.check(failed.returncode != 0 and part in failed.stderr,
                            f"{part}: {failed.stderr}")

    def errors(self, server):
        chat, text = "/v1/chat/completions", "/v1/completions"
        user = {"messages": [{"role": "user", "content": "a"}]}
        for status, path, body, part in (
                (400, text, "{", "the body"),
                (400, text, "[1]", "expected an object"),
                (400, text, {}, "'prompt' is missing"),
                (400, text, {"prompt": 5}, "'prompt' is 5: expected"),
                (400, text, {"prompt": ["a"] * 129}, "at most 128"),
                (400, text, {"prompt": "a", "foo": 1},
                 "'foo' is not supported"),
                (400, text, {"prompt": "a", "temperature": "hot"},
                 "'temperature' is \"hot\": expected a number"),
                (400, text, {"prompt": "a", "top_p": 7}, "top_p"),
                (400, text, {"prompt": "a", "n": 129}, "from 1 to 128"),
                (400, text, {"prompt": "a", "n": 2, "best_of": 3}, "best_of"),
                (400, text, {"prompt": "a", "logprobs": 21}, "from 0 to 20"),
                (400, text, {"prompt": "a", "stop": ["b"] * 17}, "at most 16"),
                (400, text, {"prompt": "a", "stop": "b" * 1025}, "1024 bytes"),
                (400, text, {"prompt": [10 ** 6]}, "1000000"),
                (400, text, {"prompt": "a " * 5000}, "longest"),
                (400, text, {"prompt": "a", "logit_bias": {"x": 1}},
                 "logit_bias"),
                (400, text, {"prompt": "a", "stream_options": {}}, "'stream'"),
                (400, text, {"prompt": "a", "stream": True, "stream_options":
                             {"include": 1}}, "'stream_options.include'"),
                (404, text, {"prompt": "a", "model": "gpt"},
                 "expected one of 'tiny', 'other', 'bare', 'spaced'"),
                (400, chat, {"messages": []}, "messages"),
                (400, chat, {"messages": [{"role": "user", "content": 5}]},
                 "'messages[0].content' is a number"),
                (400, chat, {"messages": [{"role": "user"}] * 4097}, "4096"),
                (400, chat, {**user, "tools": [TOOL] * 129}, "128"),
                (400, chat, {**user, "tool_choice": "required"}, "tool_choice"),
                (400, chat, {**user, "top_logprobs": 2}, "top_logprobs"),
                (400, "/v1/responses", {"input": 5}, "'input' is 5"),
                (400, "/v1/responses", {"input": "a", "store": True},
                 "'store' is true"),
                (400, "/v1/responses", {"input": "a", "reasoning":
                 {"effort": "low"}}, "has no such setting"),
                (400, "/v1/responses", {"input": [{"type": "image"}]},
                 "'input[0].type' is 'image'"),
                (400, "/v1/responses", {
                    "model": "bare", "instructions": "b", "input": [
                        *user["messages"],
                        {"type": "function_call", "call_id": "c", "name": "f",
                         "arguments": '{"x": '}]},
                 "'input[1].arguments' is '{\"x\": ': expected a JSON object"),
                (400, "/v1/messages", {**user}, "'max_tokens' is missing"),
                (400, "/v1/messages", {"max_tokens": 5, "messages": [
                    {"role": "user", "content": [{"type": "image"}]}]},
                 "'image'"),
                (400, "/v1/embeddings", {"input": "a"}, "embeds texts"),
                (400, "/v1/classify", {"input": "a"}, "into classes"),
                (404, "/v1/nothing", {}, "/v1/nothing")):
            found, _, answer = server.ask(path, body)
            self.test.check(
                found == status and part in answer["error"]["message"],
                f"{status} {part}: {found} {answer}")
        status, headers, _ = server.ask(text, method="GET")
        self.expect("a wrong method", (status, headers["Allow"]), (405, "POST"))
        self.expect("a large body",
                    server.ask(text, b"x" * (17 * MIB))[0], 413)
        self.expect("large headers", server.ask(
            "/health", headers={"X-Large": "a" * (17 << 10)})[0], 431)
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(b"no request\r\n\r\n")
            self.test.check(raw.recv(100).startswith(b"HTTP/1.1 400 "),
                            "no HTTP: 400")
        self.expect("an id of the client's", server.ask(
            "/health", headers={"X-Request-Id": "mine"})[1]["X-Request-Id"],
            "mine")

    def gone(self, server):
        """Clients that go leave nothing behind; others are not touched."""
        long = {"prompt": "a", "max_tokens": 2000, "ignore_eos": True}
        for stream in False, True:
            for _ in range(12):  # More than run at once.
                connection = server.connect()
                connection.request("POST", "/v1/completions",
                                   json.dumps({**long, "stream": stream}))
                if stream:
                    connection.getresponse().read1(10)
                connection.close()
            self.test.check(server.wait_idle(), f"gone, stream {stream}")
        # One whose next request is there already.
        many = json.dumps({**long, "prompt": ["a"] * 64}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(many) + many)
            while server.metric("tenon:num_requests_running") == 0:
                time.sleep(0.01)
            raw.sendall(b"GET /live HTTP/1.1\r\n")
            time.sleep(0.05)
        before = server.metric("tenon:generation_tokens_total")
        self.test.check(server.wait_idle(), "gone, the next request sent")
        made = server.metric("tenon:generation_tokens_total") - before
        self.test.check(made < 64 * 100, f"given up after {made} tokens")
        reader = socket.create_connection(("127.0.0.1", server.port))
        idle = [socket.create_connection(("127.0.0.1", server.port))
                for _ in range(200)]
        self.expect("beside idle connections",
                    server.ask("/v1/completions", {"prompt": "a"})[0], 200)
        for each in idle + [reader]:
            each.close()
        # Two requests on one connection, the second sent early.
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(b"GET /live HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
            raw.settimeout(10)
            got = b""
            while got.count(b"HTTP/1.1 200 OK") < 2:
                got += raw.recv(4096)
            self.test.check(True, "pipelined requests")
        old = server.connect()
        old._http_vsn, old._http_vsn_str = 10, "HTTP/1.0"
        old.request("POST", "/v1/completions",
                    json.dumps({"prompt": "a", "stream": True, **DRAWN}))
        self.test.check(old.getresponse().read().endswith(b"[DONE]\n\n"),
                        "a stream of HTTP/1.0")

    def queue(self):
        with Server(self.tenon, self.artifact, "--max-num-seqs", 1,
                    "--max-queued", 1) as server:
            long = {"prompt": "a", "max_tokens": 2000, "ignore_eos": True}
            held = []
            for _ in range(2):
                held.append(server.connect())
                held[-1].request("POST", "/v1/completions", json.dumps(long))
                while (server.metric("tenon:num_requests_running") +
                       server.metric("tenon:num_requests_waiting") < len(held)):
                    time.sleep(0.01)
            status, headers, _ = server.ask("/v1/completions", long)
            self.test.check(status == 429 and int(headers["Retry-After"]) >= 1,
                            f"a full queue: {status}")

    def end(self):
        """SIGTERM lets a stream end, and a second one does not."""
        with Server(self.tenon, self.artifact, "--log-requests") as server:
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(
                {"prompt": "a", "max_tokens": 300, "ignore_eos": True,
                 "stream": True}))
            answer = connection.getresponse()
            answer.read1(10)
            server.terminate()
            while server.ask("/health")[0] == 200:
                time.sleep(0.01)
            self.expect("refused while draining", server.ask(
                "/v1/completions", {"prompt": "a"})[0], 503)
            self.test.check(answer.read().endswith(b"[DONE]\n\n"),
                            "a stream ends after SIGTERM")
            status, errors = server.ended()
            self.expect("exit status", status, 0)
            self.test.check(any(
                json.loads(line)["path"] == "/v1/completions"
                for line in errors.splitlines()), f"the log: {errors}")
        # What would take minutes.
        with Server(self.tenon, self.artifact, "--drain-timeout",
                    3600) as server:
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(
                {"prompt": ["a"] * 128, "n": 8, "temperature": 1,
                 "max_tokens": 2000, "ignore_eos": True}))
            while server.metric("tenon:num_requests_running") == 0:
                time.sleep(0.01)
            server.terminate()
            while server.ask("/health")[0] == 200:
                time.sleep(0.01)
            server.terminate()
            self.expect("exit status after two", server.ended()[0], 0)

    def encoders(self):
        """Embeddings, ranks and classes: as alone, under load too."""
        sentences = self.test.compile(
            models.sentence_bert(self.test.work / "sentences", POSITIONS),
            "sentences")
        classes = self.test.compile(support.FIXTURES / "bert-classes",
                                    "classes")
        with Server(self.tenon, self.artifact, sentences,
                    classes) as server:
            texts = [" ".join(f"w{2 + (7 * i + k) % 90}" for k in range(i))
                     for i in (1, 2, 5, 9, 33, 64, 65, 90, 140)]
            one = lambda text: server.ask("/v1/embeddings", {
                "model": "sentences", "input": text})[2]["data"][0]["embedding"]
            alone = [one(text) for text in texts]
            answer = server.ask("/v1/embeddings", {
                "model": "sentences", "input": texts})[2]
            self.expect("embeddings together", [
                each["embedding"] for each in answer["data"]], alone)
            with concurrent.futures.ThreadPoolExecutor(9) as pool:
                self.expect("embeddings under load",
                            list(pool.map(one, texts)), alone)
            packed = server.ask("/v1/embeddings", {
                "model": "sentences", "input": texts[0],
                "encoding_format": "base64"})[2]["data"][0]["embedding"]
            self.expect("embeddings in base64", list(struct.unpack(
                f"<{len(alone[0])}f", base64.b64decode(packed))), [
                    struct.unpack("<f", struct.pack("<f", value))[0]
                    for value in alone[0]])
            embedded = json.loads(self.test.need(
                "tenon", "embed", sentences, "--text", texts[3],
                "--json"))["embeddings"][0]
            self.test.check(max(abs(a - b) for a, b in zip(
                embedded, alone[3])) < 1e-6, "the same as tenon embed")
            ranks = server.ask("/v1/rerank", {
                "model": "sentences", "query": texts[4],
                "documents": [texts[0], texts[4], {"text": texts[8]}],
                "top_n": 2})[2]["results"]
            self.test.check(
                len(ranks) == 2 and ranks[0]["index"] == 1
                and abs(ranks[0]["relevance_score"] - 1) < 1e-6
                and ranks[0]["document"]["text"] == texts[4],
                f"ranks: {ranks}")
            tokens = numpy.load(support.FIXTURES / "bert-classes" /
                                "input_ids.npy").reshape(-1)[:9].tolist()
            found = server.ask("/v1/classify", {
                "model": "classes", "input": [tokens, tokens[:3]]})[2]["data"]
            self.test.check(
                len(found) == 2 and all(
                    abs(sum(each["probs"]) - 1) < 1e-6
                    and len(each["probs"]) == each["num_classes"]
                    for each in found), f"classes: {found}")
            for path, body, part in (
                    ("/v1/embeddings", {"model": "tiny", "input": "a"},
                     "expected one of 'sentences'"),
                    ("/v1/embeddings", {"input": ""}, "no tokens"),
                    ("/v1/embeddings", {"input": "w1 " * 500}, "at most"),
                    ("/v1/embeddings", {"input": "a", "dimensions": 3},
                     "'dimensions' is 3"),
                    ("/v1/embeddings", {"input": {}}, "'input' is an object"),
                    ("/v1/rerank", {"query": "a", "documents": []},
                     "'documents' is an array"),
                    ("/v1/classify", {"model": "classes",
                                      "input": [[10 ** 6]]}, "1000000")):
                status, _, answer = server.ask(
                    path, {"model": "sentences", **body})
                self.test.check(
                    status == 400 and part in answer["error"]["message"],
                    f"{path} {part}: {status} {answer}")

    def pairs(self):
        """Ranks and classes of pairs have a tokenizer's ids and types."""
        words = {f"w{id}": id for id in range(4, models.VOCABULARY)}
        model = models.cross_encoder(self.test.work / "pairs", POSITIONS)
        models.pair_tokenizer(model, {
            "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, **words})
        pairs = self.test.compile(model, "pairs")
        query, documents = "w5 w6", ["w7", "w5 w6", "w9 w10 w11"]

        def alone(document, second):
            first, other = ([words[word] for word in text.split()]
                            for text in (query, document))
            ids = [2, *first, 3, *other, 3]
            types = [0] * (len(first) + 2) + [second] * (len(other) + 1)
            return json.loads(self.test.need(
                "tenon", "run", pairs, "--json",
                "--token-ids", ",".join(map(str, ids)),
                "--token-types", ",".join(map(str, types)),
            ))["classes"][0]["probability"]

        expected = [alone(document, 1) for document in documents]
        self.test.check(
            all(0 < score < 1 for score in expected)
            and abs(alone(documents[0], 0) - expected[0]) > 1e-4,
            f"scores of pairs: {expected}")
        with Server(self.tenon, self.artifact, pairs) as server:
            wish = {"model": "pairs", "query": query, "documents": documents}
            answer = server.ask("/v1/rerank", wish)[2]
            ranks = [(rank["index"], rank["relevance_score"])
                     for rank in answer["results"]]
            self.expect("the order of ranks", [at for at, _ in ranks], sorted(
                range(3), key=lambda at: -expected[at]))
            self.test.check(all(abs(expected[at] - score) < 1e-6
                                for at, score in ranks), f"ranks: {ranks}")
            self.expect("tokens of pairs", answer["usage"]["prompt_tokens"],
                        3 * 5 + 6)
            classes = server.ask("/v1/classify", {"model": "pairs", "input": [
                [query, document] for document in documents]})[2]["data"]
            self.test.check(all(
                abs(each["probs"][0] - score) < 1e-6
                for each, score in zip(classes, expected, strict=True)),
                f"classes of pairs: {classes}")
            long = {**wish, "documents": ["w7 " * 500]}
            status, _, refused = server.ask("/v1/rerank", long)
            self.test.check(
                status == 400 and "'documents[0]' has 505 tokens" in
                refused["error"]["message"], f"a long pair: {refused}")
            cut = server.ask("/v1/rerank", {**long,
                                            "truncate_prompt_tokens": -1})[2]
            self.expect("a pair that is cut", cut["usage"]["prompt_tokens"],
                        POSITIONS)

    def keys(self, work):
        keys = work / "keys"
        keys.write_text("first\nsecond\n")
        with Server(self.tenon, self.artifact, "--api-key-file",
                    keys) as server:
            for status, headers in (
                    (401, {}), (401, {"Authorization": "Bearer firs"}),
                    (200, {"Authorization": "Bearer second"}),
                    (200, {"X-Api-Key": "first"})):
                self.expect(f"keys {headers}", server.ask(
                    "/v1/models", headers=headers)[0], status)
            self.expect("health needs none", server.ask("/health")[0], 200)
        (work / "empty").write_text("\n")
        self.test.expect_error(
            "no keys", "has no keys: expected one a line", command=[
                "tenon", "serve", self.artifact, "--api-key-file",
                work / "empty"])
        self.test.expect_error(
            "two of a name", "two models called",
            command=["tenon", "serve", self.artifact, self.artifact])
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.test.expect_error(
                "a port in use", f"127.0.0.1:{port}: Address already in use",
                command=["tenon", "serve", self.artifact, "--port", port])
        path = work / "socket"
        with subprocess.Popen(
                [self.tenon, "serve", self.artifact, "--unix-socket", path],
                stderr=subprocess.PIPE, text=True) as process:
            self.test.check(f"unix:{path}" in process.stderr.readline(),
                            "a socket of the file system")
            with socket.socket(socket.AF_UNIX) as raw:
                raw.connect(str(path))
                raw.sendall(b"GET /live HTTP/1.0\r\n\r\n")
                self.test.check(raw.recv(100).startswith(b"HTTP/1."),
                                "an answer through it")
            process.terminate()
            process.communicate()
            self.test.check(process.returncode == 0 and not path.exists(),
                            "the socket is removed")


def compiled(test, example, positions=None, name="tiny", options=(),
             tokenizer=None, template=TEMPLATE):
    """The example model with a template, for that many tokens or its own
    number, with another tokenizer or its own."""
    model = test.work / name
    shutil.copytree(example, model)
    (model / "chat_template.jinja").write_text(template)
    if positions:
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps(
            config | {"max_position_embeddings": positions}))
    if tokenizer:
        (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    return test.compile(model, name, "--dtype", "f32", *options)


def spaced(test, example):
    """The model with a tokenizer that marks spaces as SentencePiece does, and
    a template that lets it reason."""
    text = (example / "tokenizer.json").read_text()
    tokenizer = json.loads(text.replace("\u0120", "\u2581"))
    space = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    tokenizer["pre_tokenizer"] = {
        "type": "Metaspace", "replacement": "\u2581",
        "prepend_scheme": "always", "split": True}
    tokenizer["decoder"] = {"type": "Sequence", "decoders": [
        space, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    effort = "{% if reasoning_effort == 'low' %}<think>{% endif %}"
    return compiled(test, example, name="spaced", tokenizer=tokenizer,
                    template=TEMPLATE + effort,
                    options=("--tool-format", "hermes"))


def main():
    test = support.Test(sys.argv[1:])
    tenon = sys.argv[1]
    artifact = compiled(test, pathlib.Path(sys.argv[3]))
    serve = Serve(test, tenon, artifact)
    objects = TEMPLATE.replace(
        "{{ call.function.arguments }}",
        "{% for key in call.function.arguments.keys() %}{{ key }}{% endfor %}")
    bare = compiled(test, pathlib.Path(sys.argv[3]), 1024, "bare",
                    ("--tool-format", "json"), template=objects)
    serve.kept_prompts()
    with Server(tenon, artifact, f"other={artifact}", f"bare={bare}",
                spaced(test, pathlib.Path(sys.argv[3]))) as server:
        serve.answers(server)
        serve.conversations(server)
        serve.texts_of_tokens(server)
        serve.reasoning(server)
        serve.other_forms(server)
        serve.constraints(server)
        serve.strict_tools(server)
        serve.texts(server)
        serve.errors(server)
        serve.gone(server)
        server.terminate()
        serve.expect("exit status", server.ended(), (0, ""))
    serve.encoders()
    serve.pairs()
    serve.queue()
    serve.end()
    serve.keys(test.work)
    test.finish()


if __name__ == "__main__":
    main()
