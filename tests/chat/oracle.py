"""Jinja as Transformers' apply_chat_template sets it up: the reference."""

import datetime
import functools
import json

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """{% generation %}: marks an assistant's text, which shows nothing."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_text")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None,
           sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment(with_from_json=False):
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = (
        lambda form: datetime.datetime.now().strftime(form))
    if with_from_json:
        # Transformers has no such filter; some published templates want it.
        made.filters["from_json"] = json.loads
    return made


def render(env, source, variables):
    """{"text": ...}, or {"error": ...} whatever Python raises."""
    try:
        return {"text": compiled(env, source).render(**variables)}
    except Exception as error:  # pylint: disable=broad-except
        return {"error": f"{type(error).__name__}: {error}"}


@functools.lru_cache(maxsize=8)
def compiled(env, source):
    return env.from_string(source)
