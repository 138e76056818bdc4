"""The same request, the same bytes over HTTP, whatever else runs.

serve-equality.py TENON WORK EXAMPLE
"""

import concurrent.futures
import itertools
import json
import pathlib
import random
import re
import sys

import support
from serve import Server, compiled

# What a request may ask for, or what may happen to it. What beams and
# encoder-decoders add is in tests/unit/ServingCombinationsTest.cpp: no endpoint
# has them.
FACTORS = ("stream", "n", "logprobs", "stop", "logit_bias",
           "repetition_penalty", "prefix", "prompt_lookup_num_tokens",
           "cancellation", "echo", "schema", "tools")
# What excludes each other, and what the error says.
EXCLUDED = {
    # One endpoint has the one, another the other.
    ("echo", "tools"): "'tools' is not supported",
}
SCHEMA = {"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 6},
    "count": {"type": "integer", "minimum": 0, "maximum": 999}},
    "required": ["name", "count"], "additionalProperties": False}
TOOL = {"type": "function", "function": {
    "name": "pick", "parameters": SCHEMA}}
SHARED = "It was the best of times and the worst of times, as they say. " * 6


def pairs(row):
    return {(a, b, row[a], row[b])
            for a, b in itertools.combinations(FACTORS, 2)}


def is_possible(row):
    # Scores of an echoed prompt are not streamed, which has an error too.
    return not any(row[a] and row[b] for a, b in EXCLUDED) and not (
        row["echo"] and row["logprobs"] and row["stream"])


def covering_array(draw):
    """Rows that have every possible pair of values: of many at random the one
    that has most of what is missing, again and again."""
    missing = {(a, b, x, y) for a, b in itertools.combinations(FACTORS, 2)
               for x in (False, True) for y in (False, True)
               if not (x and y and (a, b) in EXCLUDED)}
    rows = []
    while missing:
        drawn = [{factor: draw.random() < 0.5 for factor in FACTORS}
                 for _ in range(200)]
        best = max((row for row in drawn if is_possible(row)),
                   key=lambda row: len(pairs(row) & missing))
        if new := pairs(best) & missing:
            missing -= new
            rows.append(best)
    return rows


def request(row, number):
    """The path and body of a row."""
    is_chat = row["tools"] or (not row["echo"] and number % 2)
    prompt = (SHARED if row["prefix"] else "") + f"Number {number}"
    body = {"temperature": 1.1, "seed": number,
            "max_tokens": 200 if row["schema"] or row["tools"] else 24}
    if is_chat:
        body["messages"] = [{"role": "user", "content": prompt}]
    else:
        body["prompt"] = prompt
    if row["n"]:
        body["n"] = 2
    if row["logprobs"]:
        body |= {"logprobs": True, "top_logprobs": 2} if is_chat else {
            "logprobs": 2}
    if row["stop"]:
        body["stop"] = ["7", "ing", "zq"]
    if row["logit_bias"]:
        body["logit_bias"] = {"300": 3, "20": -50}
    if row["repetition_penalty"]:
        body |= {"repetition_penalty": 1.3, "presence_penalty": 0.5}
    if row["prompt_lookup_num_tokens"]:
        body["prompt_lookup_num_tokens"] = 4
    if row["echo"]:
        body["echo"] = True
    if row["schema"]:
        body["response_format"] = {"type": "json_schema", "json_schema": {
            "name": "thing", "schema": SCHEMA}}
    if row["tools"]:
        body |= {"tools": [TOOL], "tool_choice": "required",
                 "parallel_tool_calls": False}
    return "/v1/chat/completions" if is_chat else "/v1/completions", body


def joined(text):
    """The choices of a stream, as an answer as a whole has them."""
    events = text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""], text[-200:]
    choices = {}
    for event in events[:-2]:
        for part in json.loads(event.removeprefix("data: "))["choices"]:
            whole = choices.setdefault(part["index"], {})
            delta = part.get("delta", {})
            for name, value in (("text", part.get("text")),
                                ("content", delta.get("content")),
                                ("calls", delta.get("tool_calls"))):
                if value:
                    whole[name] = whole.get(name, type(value)()) + value
            for name, value in (part["logprobs"] or {}).items():
                if value:
                    scores = whole.setdefault("logprobs", {})
                    scores[name] = scores.get(name, []) + value
            whole["finish_reason"] = part["finish_reason"] or whole.get(
                "finish_reason")
    return choices


def as_joined(choice):
    """A choice of an answer as a whole, in the form of joined()."""
    message = choice.get("message", {})
    calls = [{"index": index, **call}
             for index, call in enumerate(message.get("tool_calls", []))]
    scores = {name: value for name, value in (choice["logprobs"] or {}).items()
              if value}
    found = {"text": choice.get("text"), "content": message.get("content"),
             "calls": calls, "logprobs": scores,
             "finish_reason": choice["finish_reason"]}
    return {name: value for name, value in found.items() if value}


class Equality:
    def __init__(self, test, artifact):
        self.test = test
        self.artifact = artifact
        draw = random.Random(5)
        rows = [row for _ in range(3) for row in covering_array(draw)]
        found = set().union(*map(pairs, rows))
        wanted = {(a, b) for a, b, x, y in found if x and y}
        test.check(wanted | set(EXCLUDED) == set(
            itertools.combinations(FACTORS, 2)), f"{len(rows)} rows have "
            "every pair of options")
        self.rows = rows
        self.requests = [request(row, number)
                         for number, row in enumerate(rows)]

    def server(self, *options):
        # Threads change nothing (serving.py), but wait for each other where
        # other programs run.
        return Server(self.test.tenon, self.artifact, "--max-num-seqs", 8,
                      "--threads", 1, *options)

    def choices(self, server, number):
        """What a request answers, without what says when and who."""
        path, body = self.requests[number]
        row = self.rows[number]
        if row["cancellation"]:
            self.leave(server, number)
        if row["stream"]:
            status, _, text = server.ask(path, {**body, "stream": True})
            return joined(text) if status == 200 else text
        status, _, answer = server.ask(path, body)
        if status != 200:
            return answer
        return {choice["index"]: as_joined(choice)
                for choice in answer["choices"]}

    def leave(self, server, number):
        """A client that asks the same and goes in the middle."""
        path, body = self.requests[number]
        connection = server.connect()
        connection.request("POST", path, json.dumps({**body, "stream": True}))
        connection.getresponse().read1(1 + number * 50)
        connection.close()

    def whole(self, server):
        """Every request alone, none streamed: what all others must be."""
        found = []
        for path, body in self.requests:
            status, _, answer = server.ask(path, body)
            self.test.check(status == 200, f"{body}: {status} "
                                           f"{answer if status != 200 else ''}")
            found.append({choice["index"]: as_joined(choice)
                          for choice in answer["choices"]})
        return found

    def effects(self, whole):
        """That options show in answers."""
        for row, (_, body), choices in zip(self.rows, self.requests, whole):
            good = len(choices) == body.get("n", 1)
            for choice in choices.values():
                text = choice.get("text", choice.get("content", ""))
                ended = choice["finish_reason"] != "length"
                good &= ("logprobs" in choice) == ("logprobs" in body)
                if row["echo"]:
                    good &= text.startswith(body["prompt"])
                    text = text[len(body["prompt"]):]
                is_text = row["schema"] and not row["tools"]
                if is_text and ended and not row["stop"]:
                    good &= set(json.loads(text)) == {"name", "count"}
                if is_text:
                    good &= re.match(r"[\s{]", text + "{") is not None
                if row["tools"] and ended and not row["stop"]:
                    good &= choice["calls"][0]["function"]["name"] == "pick"
                if row["stop"]:
                    good &= not any(stop in text for stop in body["stop"])
            self.test.check(good, f"{body}: {choices}")
        ended = {choice["finish_reason"] for choices in whole
                 for choice in choices.values()}
        self.test.check(ended >= {"stop", "length", "tool_calls"},
                        f"how they end: {ended}")

    def same(self, what, found, whole, order):
        wrong = [self.requests[i] for place, i in enumerate(order)
                 if found[place] != whole[i]]
        self.test.check(not wrong, f"{what}: of {len(order)} requests differ "
                                   f"{wrong}")

    def together(self, server, order):
        with concurrent.futures.ThreadPoolExecutor(len(order)) as pool:
            return list(pool.map(lambda i: self.choices(server, i), order))

    def run(self):
        order = list(range(len(self.requests)))
        with self.server("--no-prefix-cache") as server:
            whole = self.whole(server)
            self.effects(whole)
            self.same("one after another, streams too",
                      [self.choices(server, i) for i in order], whole, order)
            self.same("together", self.together(server, order), whole, order)
            self.test.check(server.wait_idle(), "all have ended")
        with self.server("--max-step-ms", "0.001") as server:
            for what in "in another order", "again, from cached prefixes":
                random.Random(what).shuffle(order)
                self.same(f"small slices, {what}",
                          self.together(server, order), whole, order)
            self.test.check(server.metric("tenon:prefix_cache_hits_total") > 0,
                            "prompts are kept")
        with self.server("--max-queued", 1000) as server:
            twice = order * 2
            self.same("all twice", self.together(server, twice),
                      whole, twice)
            # Everybody goes, and nothing stays.
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                list(pool.map(lambda i: self.leave(server, i), order))
            self.test.check(server.wait_idle(), "who has gone leaves nothing")
            self.same("after that", self.together(server, order), whole, order)
            self.refusals(server)

    def refusals(self, server):
        """What excludes each other has an error that says so."""
        user = {"messages": [{"role": "user", "content": "a"}]}
        form = {"type": "json_schema",
                "json_schema": {"name": "thing", "schema": SCHEMA}}
        for path, body, part in (
                ("/v1/chat/completions", {**user, "echo": True},
                 "'echo' is not supported"),
                ("/v1/completions", {"prompt": "a", "tools": [TOOL]},
                 EXCLUDED["echo", "tools"]),
                # A call that is forced takes the place of the text; one that
                # may come would be forbidden by its grammar.
                ("/v1/chat/completions", {
                    **user, "tools": [TOOL], "response_format": form},
                 "leaves no room"),
                ("/v1/completions", {"prompt": "a", "num_beams": 2},
                 "'num_beams' is not supported"),
                ("/v1/completions", {"prompt": "a", "echo": True,
                                     "logprobs": 1, "stream": True},
                 "'echo' with 'logprobs'")):
            status, _, answer = server.ask(path, body)
            self.test.check(status == 400 and part in json.dumps(answer),
                            f"{body}: {status} {answer}")


def main():
    test = support.Test(sys.argv[1:])
    # The template writes tools into the prompt.
    artifact = compiled(test, pathlib.Path(sys.argv[3]), positions=2048)
    Equality(test, artifact).run()
    test.finish()


main()
