"""Text generation: the tool's bytes, from threads, coroutines and lists."""

import asyncio
import json
import re
import subprocess
import sys
import threading

import pytest
import tenon
from conftest import compiled

PROMPTS = ["In the beginning", "And the earth was", "a", [5, 6, 7]]
SETTINGS = tenon.Settings(max_new_tokens=12, temperature=0.8, seed=3)


def by_tool(example, tmp_path, lines):
    """What `tenon run --prompts` answers."""
    file = tmp_path / "requests.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    done = subprocess.run(
        [sys.executable, "-m", "tenon", "run", example, "--prompts", file],
        capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_same_as_the_tool(model, example, tmp_path):
    lines = [{"max_new_tokens": 12, "temperature": 0.8, "seed": 3,
              ("prompt" if isinstance(p, str) else "token_ids"): p}
             for p in PROMPTS]
    expected = by_tool(example, tmp_path, lines)
    together = model.generate(PROMPTS, SETTINGS)
    alone = [model.generate(p, SETTINGS) for p in PROMPTS]
    streamed = [list(model.stream(p, SETTINGS)) for p in PROMPTS]
    for answer, one, chunks, line in zip(together, alone, streamed, expected):
        assert answer.text == one.text == line["text"] == str(answer)
        assert answer.token_ids == one.token_ids == line["token_ids"]
        assert "".join(c.text for c in chunks) == line["text"]
        assert sum((c.token_ids for c in chunks), []) == line["token_ids"]
        assert chunks[-1].finish_reason == line["finish_reason"]
        assert answer.finish_reason == line["finish_reason"]
        assert answer.seed == 3


def test_coroutines_run_together(model):
    expected = [model.generate(p, SETTINGS).text for p in PROMPTS]

    async def streamed(prompt):
        return "".join([c.text async for c in model.stream(prompt, SETTINGS)])

    async def all_of_them():
        return await asyncio.gather(
            *map(streamed, PROMPTS),
            *(model.agenerate(p, SETTINGS) for p in PROMPTS))

    answers = asyncio.run(all_of_them())
    assert answers[:4] == expected
    assert [a.text for a in answers[4:]] == expected


def test_threads_share_a_model(model):
    expected = model.generate("In the", SETTINGS).text
    answers = [None] * 8

    def run(i):
        answers[i] = model.generate("In the", SETTINGS).text

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8


def test_settings(model):
    base = model.generate("In the beginning", max_new_tokens=10)
    assert len(base.token_ids) == 10 and base.finish_reason == "length"
    assert base.usage.completion_tokens == 10
    assert base.usage.prompt_tokens == len(base.prompt_token_ids)
    assert base.usage.total_s >= base.usage.first_token_s > 0
    first = base.token_ids[0]
    banned = model.generate("In the beginning", max_new_tokens=10,
                            bad_words=[[first]])
    assert first not in banned.token_ids
    biased = model.generate("In the beginning", max_new_tokens=3,
                            logit_bias={7: 100})
    assert biased.token_ids == [7, 7, 7]
    stopped = model.generate("In the beginning", max_new_tokens=10,
                             stop_token_ids=[base.token_ids[4]])
    assert stopped.finish_reason == "stop"
    assert stopped.choices[0].stop_reason == base.token_ids[4]
    text = base.text[3:6]
    cut = model.generate("In the beginning", max_new_tokens=10, stop=text)
    assert cut.choices[0].stop_reason == text and cut.finish_reason == "stop"
    assert cut.text == base.text[:base.text.index(text)]
    kept = model.generate("In the beginning", max_new_tokens=10, stop=[text],
                          include_stop=True)
    assert kept.text == cut.text + text
    several = model.generate("In the beginning", n=3, temperature=1.2, seed=1,
                             max_new_tokens=6)
    assert len(several.choices) == 3
    second = model.generate("In the beginning", temperature=1.2, seed=1,
                            first_choice=1, max_new_tokens=6)
    assert second.text == several.choices[1].text
    beams = model.generate("In the beginning", num_beams=2, temperature=0,
                           early_stopping="never", max_new_tokens=6)
    assert len(beams.token_ids) == 6
    guessed = model.generate("In the beginning", max_new_tokens=10,
                             prompt_lookup_num_tokens=4)
    assert guessed.token_ids == base.token_ids


def test_bad_words_as_text(model):
    base = model.generate("In the beginning", max_new_tokens=20)
    word = base.text.split()[1].strip(",.;:")
    without = model.generate("In the beginning", max_new_tokens=20,
                             bad_words=[word])
    assert f" {word} " not in without.text + " "


def test_logprobs_and_echo(model):
    answer = model.generate("In the beginning", max_new_tokens=4, echo=True,
                            logprobs=2)
    assert answer.text.startswith("In the beginning")
    assert len(answer.prompt_logprobs) == len(answer.prompt_token_ids) - 1
    scores = answer.choices[0].logprobs
    assert len(scores) == 4
    for token, score in zip(answer.token_ids, scores):
        assert score.top_logprobs[0] == (token, score.logprob)
        assert score.top_logprobs[1][1] <= score.logprob <= 0
    rows = model.logits(answer.prompt_token_ids + answer.token_ids)
    at = len(answer.prompt_token_ids) - 1
    assert int(rows[at].argmax()) == answer.token_ids[0]


def test_constraints(model):
    wish = {"max_new_tokens": 240, "temperature": 1.0, "seed": 5}
    schema = {"type": "object", "required": ["name", "age"],
              "properties": {"name": {"enum": ["Ada", "Bob"]},
                             "age": {"type": "integer", "minimum": 10,
                                     "maximum": 99}},
              "additionalProperties": False}
    for given in schema, json.dumps(schema):
        answer = model.generate("In the", json_schema=given, **wish)
        assert answer.finish_reason == "eos"
        person = json.loads(answer.text)
        assert person["name"] in ("Ada", "Bob") and 10 <= person["age"] < 100
    ordered = model.generate("In the", json_schema=schema, fixed_order=True,
                             **wish)
    assert list(json.loads(ordered.text)) == ["name", "age"]
    assert re.fullmatch(r"[ab]{3,5}x", model.generate(
        "In the", regex="[ab]{3,5}x", **wish).text)
    texts = ["In the", "And the", "a"]
    chosen = model.generate(texts, choice=["yes", "no"], **wish)
    assert {c.text for c in chosen} <= {"yes", "no"}
    assert model.generate("In the", ebnf='root ::= "a" "b"{2}',
                          **wish).text == "abb"
    found = model.generate("In the", json_object=True, **wish).text
    assert found.lstrip().startswith("{")


def test_seeds(model):
    drawn = model.generate("In the", temperature=1.5, max_new_tokens=16)
    again = model.generate("In the", temperature=1.5, max_new_tokens=16,
                           seed=drawn.seed)
    assert again.text == drawn.text
    assert model.generate("In the", temperature=1.5,
                          max_new_tokens=16).seed != drawn.seed
    negative, same = (model.generate("In the", temperature=1.5, seed=seed,
                                     max_new_tokens=16)
                      for seed in (-5, 2**64 - 5))
    assert negative.text == same.text and negative.seed == -5


def test_chat(model):
    messages = [{"role": "user", "content": "Hello"}]
    prompt = model.chat_prompt(messages)
    assert model.tokenizer.decode(prompt).endswith("user: Hello\nassistant:")
    answer = model.chat(messages, max_new_tokens=8)
    assert answer.prompt_token_ids == prompt
    assert answer.text == model.chat("Hello", max_new_tokens=8).text
    assert answer.text == "".join(
        c.text for c in model.chat_stream(messages, max_new_tokens=8))
    tools = model.chat_prompt(messages, tools=[{"name": "f"}])
    assert "1 tools" in model.tokenizer.decode(tools)
    assert not model.tokenizer.decode(
        model.chat_prompt(messages, add_generation_prompt=False)
    ).endswith("assistant:")
    for arguments in {"x": 1}, '{"x": 1}':
        assert '{"x": 1}\n' in model.tokenizer.decode(model.chat_prompt(
            [{"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "f", "arguments": arguments}}]}]))
    with pytest.raises(tenon.InvalidArgument, match="'role'"):
        model.chat([{"content": "x"}])
    with pytest.raises(tenon.InvalidArgument, match="JSON"):
        model.chat([{"role": "user", "content": object()}])


def test_tool_calls(model, artifacts):
    """The example calls nothing by itself: its answer is put in its place."""
    tools = [{"type": "function", "function": {"name": "f"}}]
    answer = model.chat("Hello", tools=tools, max_new_tokens=4)
    assert answer.tool_calls == [] and answer.text  # no format is known
    path = compiled(artifacts, artifacts / "example", "calls.tenon",
                    tool_format="json")
    with tenon.load(path, threads=1) as calling:
        request = calling.chat_stream("Hello", tools=tools, max_new_tokens=4)
        answer = request.result()
        assert answer.tool_calls == [] and answer.text
        said = '{"name": "f", "arguments": {"x": 1}}'
        choice = tenon.Choice(text=said, token_ids=calling.tokenizer.encode(
            said, special_tokens=False), finish_reason="eos")
        request._read_calls(choice)
        assert choice.finish_reason == "tool_calls"
        call, = choice.tool_calls
        assert call == tenon.ToolCall(call.id, "f", '{"x":1}')
        assert len(call.id) == 9 and choice.text == ""
        # Calls of strict tools fulfil their schemas.
        strict = [{"type": "function", "function": {
            "name": "f", "strict": True, "parameters": {
                "type": "object", "properties": {"x": {"enum": [7]}},
                "required": ["x"], "additionalProperties": False}}}]
        brace, = calling.tokenizer.encode("{", special_tokens=False)
        wish = {"logit_bias": {brace: 100}, "max_new_tokens": 200}
        called, *_ = calling.chat("Hello", tools=strict, **wish).tool_calls
        assert called.name == "f" and json.loads(called.arguments) == {"x": 7}
        assert calling.chat("Hello", tools=tools, **wish).tool_calls == []
        # What follows a stop text is no part of the answer.
        choice = tenon.Choice(text=said[:-2], token_ids=choice.token_ids,
                              finish_reason="stop", stop_reason="}")
        request._read_calls(choice)
        assert choice.tool_calls == [] and choice.text == said[:-2]
        assert choice.finish_reason == "stop"


@pytest.mark.parametrize("changes, message", [
    ({"temperature": "hot"}, "temperature is 'hot': expected a number"),
    ({"temperature": -2}, "temperature is -2"),
    ({"top_k": 1.5}, "top_k is 1.5: expected a whole number"),
    ({"temperatur": 1}, "unknown setting 'temperatur'"),
    ({"stop": "a\0b"}, "U\\+0000"),
    ({"logprobs": -1}, "logprobs is -1"),
    ({"n": 0}, "n is 0: expected at least 1"),
    ({"n": -1}, "n is -1: expected at least 1"),
    ({"n": None}, "n is None: expected a value as 1"),
    ({"n": 10**12, "temperature": 1}, "n is 1000000000000: expected 1 to"),
    ({"max_new_tokens": -1}, "max_new_tokens is -1: expected at least 0"),
    ({"min_new_tokens": -1}, "min_new_tokens is -1: expected at least 0"),
    ({"temperature": -1}, "temperature is -1: expected at least 0"),
    ({"temperature": float("nan")}, "temperature is nan"),
    ({"top_k": -1}, "top_k is -1: expected at least 0"),
    ({"top_p": -1}, "top_p is -1: expected above 0"),
    ({"min_p": -1}, "min_p is -1: expected at least 0"),
    ({"typical_p": 0}, "typical_p is 0: expected above 0"),
    ({"repetition_penalty": 0.0}, "repetition_penalty is 0.0: expected above"),
    ({"num_beams": -1}, "num_beams is -1: expected at least 1"),
    ({"num_beams": 2, "length_penalty": float("nan")},
     "length_penalty is nan: expected a finite"),
    ({"num_beams": 2, "early_stopping": -1}, "expected True or False"),
    ({"seed": 2**64}, "seed is 18446744073709551616: expected a whole number"),
    ({"seed": "x"}, "seed is 'x': expected a whole number"),
    ({"prefix_tokens": -1}, "prefix_tokens is -1"),
    ({"prompt_lookup_num_tokens": -1}, "prompt_lookup_num_tokens is -1"),
    ({"first_choice": -1}, "first_choice is -1"),
    ({"json_schema": {"type": "strin"}}, "json_schema: "),
    ({"json_schema": {"const": object()}}, "json_schema: .*JSON can hold"),
    ({"json_schema": 3}, "json_schema: "),
    ({"regex": "("}, "regex: "),
    ({"regex": 3}, "regex is 3: expected a text"),
    ({"regex": "a", "choice": ["a"]}, "regex is given beside choice"),
    ({"ebnf": "a\0"}, "ebnf: a text has the character U\\+0000"),
    ({"choice": []}, "choice is \\[\\]: expected a list of at least one"),
    ({"choice": "ab"}, "choice is 'ab': expected a list"),
    ({"choice": [1]}, "^choice is \\[1\\]: expected texts"),
    ({"stop": [1]}, "^stop is \\[1\\]: expected texts"),
    ({"logit_bias": {1: "x"}}, "logit_bias has 'x': expected a number"),
    ({"logit_bias": [1]}, "logit_bias is \\[1\\]: expected numbers by"),
    ({"json_object": 1}, "json_object is 1: expected True or False"),
    ({"json_object": True, "format": "x"}, "format is 'x': expected asserted"),
    ({"json_object": True, "num_beams": 2}, "num_beams is 2"),
    ({"bad_words": [["a"]]}, "expected a token id"),
    ({"bad_words": [""]}, "no tokens"),
    ({"logit_bias": {2**40: 1}}, "expected 0 to 2147483647"),
    ({"early_stopping": "maybe"}, "'never'"),
    ({"ignore_eos": 3}, "True or False"),
    ({"settings": {}}, "expected Settings"),
])
def test_wrong_settings(model, changes, message):
    with pytest.raises(tenon.InvalidArgument, match=message):
        model.generate("a", **changes)


def test_wrong_prompts(model):
    for prompt, message in [([[]], "no tokens"), ([10**6], "token"),
                            (["a", 3], "prompt is 3"), (3.5, "prompt is 3.5"),
                            ([1.5], "prompt is 1.5"), (None, "prompt is None"),
                            ([-1], "expected 0 to")]:
        with pytest.raises(tenon.InvalidArgument, match=message):
            model.generate(prompt)
    assert model.generate([]) == []
