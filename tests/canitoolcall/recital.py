"""A model that answers each scenario of canitoolcall's probe as it asks for.

The probe judges the model and the server together. This model never errs, so
that whatever fails is the server's: its logits depend on the position alone, of
which each scenario has its own, as its chat template fills the prompt up.
"""

import json
import shutil
import subprocess
import sys

import numpy
from canitoolcall.probe import BUILTIN_SCENARIOS

import models


def call(name, **arguments):
    return ("<tool_call>\n" + json.dumps(
        {"name": name, "arguments": arguments}, ensure_ascii=False) +
        "\n</tool_call>")


ANSWERS = {
    "single-call": call("get_weather", city="Paris"),
    "parallel-calls": call("get_weather", city="Paris") + "\n" +
    call("get_weather", city="Tokyo"),
    "no-call": "42",
    "nested-args": call(
        "create_event", title="Design review", start="2026-10-01T15:00:00Z",
        attendees=[{"name": "Ana", "email": "ana@example.com"},
                   {"name": "Bo", "email": "bo@example.com"}],
        location={"city": "Berlin", "room": "4.12"}),
    "unicode-args": call("save_note", title="Grüße aus Zürich",
                         body="Café ☕ in 東京 — naïve résumé 🚀"),
    "empty-args": call("get_server_time"),
    "forced-tool-choice": call("get_weather", city="Lisbon"),
    "tool-result-followup": "It is 18 degrees, and the sky is clear.",
    "reasoning-then-call": "<think>\n9.9 is 9.90.\n</think>\n\n" +
    call("record_answer", answer="9.9")}

# Positions: prompts without what fills them up, and answers, are shorter.
FIRST, APART = 256, 192
POSITIONS = FIRST + APART * len(BUILTIN_SCENARIOS)
WIDTH = 64

# Hermes' format is known by the texts of the third line.
TEMPLATE = """{{ bos_token * FILL.get(messages[0].content, 1) -}}
{% for message in messages %}<{{ message.role }}> {{ message.content }}
{% endfor %}{% if tools %}<tool_call>"arguments"</tool_call>
{% endif %}<assistant>"""


def checkpoint(folder, example, tokens, fill):
    """A GPT-2 without weights but for embeddings: `tokens` are those behind
    each position, `fill` says by first messages how often the BOS stands."""
    config = json.loads((example / "config.json").read_text())
    vocabulary = config["vocab_size"]
    table = numpy.random.default_rng(1).standard_normal((vocabulary, WIDTH))
    table /= numpy.linalg.norm(table, axis=1, keepdims=True)
    places = numpy.zeros((POSITIONS, WIDTH))
    for position, token in tokens.items():
        # Far longer than the embedding of whatever token stands there.
        places[position] = 100 * table[token]
    tensors = {"wte.weight": table, "wpe.weight": places,
               "ln_f.weight": numpy.ones(WIDTH),
               "ln_f.bias": numpy.zeros(WIDTH)}
    for name, outputs in {"attn.c_attn": 3 * WIDTH, "attn.c_proj": WIDTH,
                          "mlp.c_fc": WIDTH, "mlp.c_proj": WIDTH}.items():
        tensors[f"h.0.{name}.weight"] = numpy.zeros((WIDTH, outputs))
        tensors[f"h.0.{name}.bias"] = numpy.zeros(outputs)
    for name in "ln_1", "ln_2":
        tensors[f"h.0.{name}.weight"] = numpy.ones(WIDTH)
        tensors[f"h.0.{name}.bias"] = numpy.zeros(WIDTH)
    folder.mkdir()
    models.write_safetensors(folder / "model.safetensors", {
        name: ("F32", values.shape, values.astype(numpy.float32).tobytes())
        for name, values in tensors.items()})
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
        "n_embd": WIDTH, "n_head": 2, "n_inner": WIDTH, "n_layer": 1,
        "n_positions": POSITIONS, "vocab_size": vocabulary,
        "bos_token_id": config["bos_token_id"],
        "eos_token_id": config["eos_token_id"], "tie_word_embeddings": True}))
    for name in ("tokenizer.json", "tokenizer_config.json",
                 "generation_config.json"):
        shutil.copy(example / name, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace(
        "FILL", json.dumps(fill, ensure_ascii=False)))


def make(tenon, example, work):
    """The artifact, in the folder `work`, with the tokenizer of `example`."""

    def run(*arguments):
        return subprocess.run([tenon, *arguments], check=True,
                              capture_output=True, text=True).stdout

    def artifact(name, tokens, fill):
        folder, path = work / name, work / f"{name}.tenon"
        shutil.rmtree(folder, ignore_errors=True)
        checkpoint(folder, example, tokens, fill)
        run("compile", folder, "-o", path)
        return path

    unfilled = artifact("unfilled", {}, {})
    requests = work / "scenarios.jsonl"
    requests.write_text("".join(
        json.dumps({"messages": scenario.messages, "tools": scenario.tools,
                    "echo": True, "max_new_tokens": 0}) + "\n"
        for scenario in BUILTIN_SCENARIOS))
    prompts = [len(json.loads(line)["prompt_token_ids"]) for line in
               run("run", unfilled, "--prompts", requests).splitlines()]
    texts = work / "answers.json"
    texts.write_text(json.dumps(
        [ANSWERS[scenario.id] for scenario in BUILTIN_SCENARIOS]))
    # Without the BOS, which begins each.
    answers = [ids[1:] for ids in json.loads(
        run("tokenize", unfilled, "--json-lines", texts))]
    end = json.loads((example / "config.json").read_text())["eos_token_id"]
    tokens, fill = {}, {}
    for index, (scenario, length, answer) in enumerate(
            zip(BUILTIN_SCENARIOS, prompts, answers, strict=True)):
        start = FIRST + APART * index
        if length > start or len(answer) >= APART:
            sys.exit(f"recital.py: {scenario.id} has {length} and "
                     f"{len(answer)} tokens: expected up to {start} and "
                     f"{APART - 1}")
        # One is there without filling.
        fill[scenario.messages[0]["content"]] = start - length + 1
        for place, token in enumerate([*answer, end]):
            tokens[start - 1 + place] = token
    return artifact("recital", tokens, fill)
