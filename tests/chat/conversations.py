"""Conversations that chat templates are tried with."""

USER = {"role": "user", "content": "What is 2 + 2?"}
ANSWER = {"role": "assistant", "content": "It is 4."}
AGAIN = {"role": "user", "content": "And times 3?"}
SYSTEM = {"role": "system", "content": "You are brief."}

WEATHER = {"type": "function", "function": {
    "name": "get_weather",
    "description": "The weather of a place.\nNow, or \"later\".",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "A city, e.g. Zürich"},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "detail": {"type": ["string", "null"]}},
        "required": ["city"]},
    "return": {"type": "string", "description": "a sentence"}}}
NESTED = {"type": "function", "function": {
    "name": "book",
    "description": "",
    "parameters": {
        "type": "object",
        "properties": {
            "stops": {"type": "array", "items": {
                "type": "object",
                "properties": {"at": {"type": "string"},
                               "long": {"type": "number"}},
                "required": ["at"]}},
            "who": {"type": "object", "properties": {
                "name": {"type": "string", "nullable": True}},
                "additionalProperties": False},
            "flag": {"type": "boolean", "default": False},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "required": ["stops", "who"]}}}
NO_PARAMETERS = {"type": "function", "function": {
    "name": "now", "description": "The time.",
    "parameters": {"type": "object", "properties": {}}}}
TOOLS = [WEATHER, NESTED, NO_PARAMETERS]


def call(name, arguments, number=1):
    made = {"type": "function",
            "function": {"name": name, "arguments": arguments}}
    if number is not None:
        made["id"] = f"call{number:05}"
    return made


def with_calls(*calls, content=None, **more):
    return {"role": "assistant", "content": content, "tool_calls": list(calls),
            **more}


def result(content, number=1, name="get_weather"):
    return {"role": "tool", "name": name, "tool_call_id": f"call{number:05}",
            "content": content}


ASKED = {"role": "user", "content": "How is it in Zürich?"}
CALL = call("get_weather", {"city": "Zürich", "days": 2, "unit": "celsius"})
CALL_TEXT = call("get_weather", '{"city": "Zürich", "days": 2}')
CALL_ODD = call("book", {"stops": [{"at": "a\"b'c", "long": 1.5}], "flag": True,
                         "who": None, "x": {"y": [1, 2.0, 1e22]}}, 2)
RESULT = result('{"sky": "clear", "degrees": 21.5}')


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


# Names with messages and what else is given.
BASES = {
    "one": ([USER], {}),
    "system": ([SYSTEM, USER], {}),
    "turns": ([USER, ANSWER, AGAIN], {}),
    "system-turns": ([SYSTEM, USER, ANSWER, AGAIN], {}),
    "answered": ([SYSTEM, USER, ANSWER], {}),
    "empty": ([], {}),
    "empty-content": ([{"role": "user", "content": ""}], {}),
    "empty-system": ([{"role": "system", "content": ""}, USER], {}),
    "no-content": ([{"role": "user"}], {}),
    "null-content": ([USER, {"role": "assistant", "content": None}], {}),
    "two-users": ([USER, AGAIN], {}),
    "assistant-first": ([ANSWER, USER], {}),
    "late-system": ([USER, SYSTEM, AGAIN], {}),
    "developer": ([{"role": "developer", "content": "Do as told."}, USER], {}),
    "odd-role": ([{"role": "narrator", "content": "Night."}, USER], {}),
    "unicode": ([{"role": "user", "content":
                  "\u00a0 ß Ünïcode 水 🦙👩‍👩‍👧 \u202e\u2028 İ ǆ \u0301 \t\r\n x \ufeff"}],
                {}),
    "spaces": ([{"role": "user", "content": "  \n two  spaces \n\n "},
                {"role": "assistant", "content": "\n\n answer \n"}, USER], {}),
    "markup": ([{"role": "user", "content":
                 "<b>&amp;</b> {{ x }} {% if %} <think>no</think> '\"\\ %s {0}"}],
               {}),
    "long": ([{"role": "user", "content": "word " * 4000},
              {"role": "assistant", "content": "line\n" * 2000}, AGAIN], {}),
    "many": ([{"role": ("user", "assistant")[i % 2], "content": f"turn {i}"}
              for i in range(61)], {}),
    "parts": ([{"role": "user", "content": parts("one", " two ")}], {}),
    "parts-system": ([{"role": "system", "content": parts("Be brief.")},
                      {"role": "user", "content": parts("Hi")},
                      {"role": "assistant", "content": parts("Hello", "!")},
                      USER], {}),
    "parts-image": ([{"role": "user", "content":
                      [{"type": "image"}, *parts("What is it?")]}], {}),
    "image-url": ([{"role": "user", "content":
                    [{"type": "image_url", "image_url": {"url": "a.png"}},
                     *parts("And this?")]}], {}),
    "thinking": ([USER, {"role": "assistant", "content": "It is 4.",
                         "reasoning_content": "2 and 2 ..."}, AGAIN], {}),
    "thinking-inline": ([USER, {"role": "assistant", "content":
                                "<think>\n2 and 2 ...\n</think>\n\nIt is 4."},
                         AGAIN], {}),
    "thinking-key": ([USER, {"role": "assistant", "content": "It is 4.",
                             "thinking": "2 and 2", "reasoning": "2, 2"},
                      AGAIN], {}),
    "tools": ([USER], {"tools": TOOLS}),
    "tools-system": ([SYSTEM, USER], {"tools": [WEATHER]}),
    "tools-none": ([SYSTEM, USER], {"tools": []}),
    "tools-parts": ([{"role": "user", "content": parts("Go")}],
                    {"tools": TOOLS}),
    "call": ([ASKED, with_calls(CALL)], {"tools": TOOLS}),
    "call-result": ([SYSTEM, ASKED, with_calls(CALL), RESULT],
                    {"tools": TOOLS}),
    "call-answer": ([ASKED, with_calls(CALL), RESULT,
                     {"role": "assistant", "content": "Clear."}, AGAIN],
                    {"tools": [WEATHER]}),
    "call-text": ([ASKED, with_calls(CALL_TEXT), RESULT], {"tools": TOOLS}),
    "call-content": ([ASKED, with_calls(CALL, content="Let me look."), RESULT],
                     {"tools": TOOLS}),
    "call-empty": ([ASKED, with_calls(call("now", {}), content=""),
                    result("12:00", name="now")], {"tools": TOOLS}),
    "calls": ([ASKED, with_calls(CALL, CALL_ODD), RESULT,
               result("booked", 2, "book")], {"tools": TOOLS}),
    "calls-thinking": ([ASKED, with_calls(CALL, CALL_ODD,
                                          reasoning_content="Which city?"),
                        RESULT, result("booked", 2, "book"),
                        {"role": "assistant", "content": "Done.",
                         "reasoning_content": "fine"}, AGAIN],
                       {"tools": TOOLS}),
    "call-no-tools": ([ASKED, with_calls(CALL), RESULT], {}),
    "call-no-id": ([ASKED, with_calls(call("now", {}, None)),
                    {"role": "tool", "content": "12:00"}], {"tools": TOOLS}),
    "call-bare": ([ASKED, {"role": "assistant", "tool_calls":
                           [{"name": "now", "arguments": {"a": 1}}]},
                   {"role": "tool", "content": parts("12:00")}],
                  {"tools": TOOLS}),
    "result-json": ([ASKED, with_calls(CALL),
                     result({"sky": ["clear", None, True, 1.0]})],
                    {"tools": TOOLS}),
    "function-role": ([ASKED, with_calls(CALL),
                       {"role": "function", "name": "get_weather",
                        "content": "clear"}], {"tools": TOOLS}),
    "documents": ([USER], {"documents": [
        {"title": "A", "text": "First.", "doc_id": 1},
        {"title": "B", "contents": "Second."}]}),
    "options": ([SYSTEM, USER], {
        "enable_thinking": False, "thinking": False, "reasoning_effort": "low",
        "date_string": "1 Jan 2026", "tools_in_user_message": False,
        "custom_tools": [WEATHER], "builtin_tools": ["browser", "python"],
        "model_identity": "You are a test.", "keep_cot": True}),
    "options-on": ([SYSTEM, USER, ANSWER, AGAIN], {
        "enable_thinking": True, "thinking": True, "reasoning_effort": "high",
        "date_string": "1 Jan 2026", "response_format": {"type": "json_object"},
        "controls": {"length": "long"}, "tool_choice": "required",
        "tools": TOOLS, "preserve_thinking": True, "clear_thinking": False}),
}

MODEL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
         "unk_token": "<unk>"}


def matrix():
    """Names with the variables that apply_chat_template would give."""
    for name, (messages, more) in BASES.items():
        for prompt in (True, False):
            yield (f"{name}{'+' if prompt else '-'}",
                   {"messages": messages, "tools": None, "documents": None,
                    "add_generation_prompt": prompt, **more})
