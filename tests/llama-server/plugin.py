"""pytest's part of scripts/check-llama-server-tests: chooses tests by the table
and gives them the paths and words of this server.

The environment variable LLAMA_TESTS_TABLE names the table.
"""

import os
import pathlib
import re

import pytest
import utils

# llama-server has these with and without the prefix of OpenAI's API.
PREFIXED = ("/chat/completions", "/completions", "/embeddings", "/models",
            "/rerank", "/responses")
VERDICTS = ("run", "words", "no")
# Parameters of tests that count tokens of a text, as another tokenizer does.
COUNTS = ("n_prompt", "n_tokens")


class AnyCount:
    """Equal to every positive number."""

    def __eq__(self, other):
        return isinstance(other, int) and other > 0

    def __repr__(self):
        return "a positive number"


def read_table(path):
    """Verdicts by (file, pattern): a function, or cases of it, * is any text."""
    rows, file = {}, None
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            file = line
            continue
        match = re.fullmatch(r"  (\w+) +(test_\w+(?:\[\S*\])?)(?: +(.+))?", line)
        if not match or match[1] not in VERDICTS or not file or (
                (match[1] == "no") != bool(match[3])):
            raise pytest.UsageError(
                f"{path}:{number}: expected '  run TEST', '  words TEST' or "
                f"'  no TEST REASON' below the name of a file")
        rows[file, match[2]] = match[1], match[3]
    return rows


TABLE = pathlib.Path(os.environ["LLAMA_TESTS_TABLE"])
ROWS = read_table(TABLE)
current = {"words": False}


def match_regex(regex, text, original=utils.match_regex):
    """Theirs; where the words are their model's, whether there are any."""
    return bool(text) if current["words"] else original(regex, text)


def make_url(self, path, host=None, original=utils.ServerProcess.make_url):
    if path.startswith(PREFIXED):
        path = "/v1" + path
    return original(self, path, host)


def named_schema(form):
    """A "response_format" of llama-server's as OpenAI writes it."""
    if "schema" not in form:
        return form
    return {"type": "json_schema", "json_schema": {"schema": form["schema"]}}


def thinking(reasoning):
    """The flag --reasoning, whose default is to think, as a member."""
    return {"chat_template_kwargs": {"enable_thinking": reasoning != "off"}}


utils.match_regex = match_regex
utils.named_schema = named_schema
utils.thinking = thinking
utils.ServerProcess.make_url = make_url
# Loads models from a hub.
utils.ServerPreset.load_all = staticmethod(lambda: None)


def row_of(item):
    """The key of an item's row, the longest pattern that matches it."""
    def matches(pattern):
        return pattern == item.originalname or re.fullmatch(
            ".*".join(map(re.escape, pattern.split("*"))), item.name, re.S)

    keys = [key for key in ROWS if key[0] == item.path.name and matches(key[1])]
    return max(keys, key=lambda key: len(key[1]), default=None)


def pytest_collection_modifyitems(config, items):
    unused = set(ROWS)
    chosen, others, unlisted = [], [], []
    for item in items:
        key = row_of(item)
        if key is None:
            unlisted.append(item.nodeid)
            continue
        unused.discard(key)
        verdict = ROWS[key][0]
        item.user_properties.append(("verdict", verdict))
        (others if verdict == "no" else chosen).append(item)
        if verdict == "words" and hasattr(item, "callspec"):
            for name in COUNTS:
                if name in item.callspec.params:
                    item.callspec.params[name] = AnyCount()
    if config.getoption("keyword"):
        unused = set()
    if unlisted or unused:
        raise pytest.UsageError("\n".join(
            [f"{TABLE}: has no row for {name}" for name in unlisted] +
            [f"{TABLE}: no test is {file} {test}" for file, test in unused]))
    items[:] = chosen
    config.hook.pytest_deselected(items=others)


@pytest.fixture(autouse=True)
def words(request):
    verdicts = dict(request.node.user_properties)
    current["words"] = verdicts["verdict"] == "words"


def pytest_terminal_summary(terminalreporter):
    reasons = {}
    for item in terminalreporter.stats.get("deselected", []):
        reason = ROWS[row_of(item)][1] or "not chosen on the command line"
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda each: -each[1]):
        terminalreporter.write_line(f"{count:4} not run: {reason}")
