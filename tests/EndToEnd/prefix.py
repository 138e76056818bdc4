"""Prompts that an artifact has run: tenon compile --prefix.

prefix.py TENON WORK EXAMPLE
"""

import json
import shutil
import struct
import sys

import support

ONE_PROGRAM = ("--few-tokens", "8")
PAGE = 64
TEMPLATE = """{%- for message in messages -%}
[{{ message.role }}] {{ message.content }}
{% endfor -%}
{%- if add_generation_prompt %}[assistant]{% endif -%}
"""


class Prefix:
    def __init__(self, test, example):
        self.test = test
        self.model = test.work / "model"
        shutil.copytree(example, self.model)
        (self.model / "chat_template.jinja").write_text(TEMPLATE)
        text = (example / "heldout.txt").read_text()
        self.system = text[:900]
        self.other = text[1000:1500]
        self.baked = test.work / "baked.tenon"
        # A request alone and one through the scheduler, which has room for
        # eight, run the same program.
        self.plain = test.compile(self.model, "plain", *ONE_PROGRAM)

    def lines(self, *values, name="prefix.jsonl"):
        path = self.test.work / name
        path.write_text("".join(json.dumps(v) + "\n" for v in values))
        return path

    def bake(self, *values):
        self.test.need("tenon", "compile", self.model, *ONE_PROGRAM,
                       "--prefix", self.lines(*values), "-o", self.baked)

    def answers(self, artifact, requests, *options):
        """Cached tokens of each request, and the rest of its answer."""
        path = self.lines(*requests, name="requests.jsonl")
        out = self.test.need("tenon", "run", artifact, "--prompts", path,
                             "--temperature", "1.3", "--seed", "5",
                             "--max-new-tokens", "12", *options)
        found = [json.loads(line) for line in out.splitlines()]
        for answer in found:
            answer.pop("timings")
        return [a.pop("cached_tokens") for a in found], found

    def check_kinds(self):
        """A text, ids, and a conversation that goes on in two ways."""
        text = self.other + " and"
        ids = [3 + i * 7 % 200 for i in range(2 * PAGE + 5)]
        talk = [{"role": "system", "content": self.system}]
        self.bake(text, {"prompt": self.system}, {"token_ids": ids},
                  {"messages": talk})
        requests = [
            {"prompt": text + " on"}, {"token_ids": [*ids, 9]},
            {"messages": [*talk, {"role": "user", "content": "Hello?"}]},
            {"messages": [*talk, {"role": "user", "content": "You?"}]},
            {"prompt": "something else " * 40}]
        # Each alone: what one has run is not cached for the next.
        for request in requests:
            (cached,), answer = self.answers(self.baked, [request])
            (without,), expected = self.answers(self.plain, [request])
            is_known = request is not requests[-1]
            self.test.check(without == 0, f"plain {request}: {without} cached")
            self.test.check(cached % PAGE == 0 and (cached > 0) == is_known,
                            f"{request}: {cached} cached tokens")
            self.test.check(answer == expected,
                            f"{request}: {answer}: expected {expected}")
        cached, _ = self.answers(self.baked, [{"token_ids": [*ids, 9]}])
        self.test.check(cached == [2 * PAGE], f"ids: {cached} cached")
        cached, _ = self.answers(self.baked, requests[:1], "--no-prefix-cache")
        self.test.check(cached == [0], f"--no-prefix-cache: {cached}")
        self.check_report(4)

    def check_report(self, prompts):
        report = json.loads(self.test.need("tenon", "inspect", self.baked,
                                           "--json", "--verify"))["prefixes"]
        self.test.check(
            report["prompts"] == prompts and report["tokens"] % PAGE == 0
            and report["bytes"] > 0, f"inspect: {report}")

    def check_commands(self):
        """run and chat begin with it as well."""
        options = ("--system", self.system, "--temperature", "1.3", "--seed",
                   "5", "--max-new-tokens", "12")
        found = [json.loads(self.test.need(
            "tenon", "run", artifact, "--chat", "--json", "--prompt", "Hello?",
            *options)) for artifact in (self.plain, self.baked)]
        for answer in found:
            answer.pop("timings")
        cached = [answer.pop("cached_tokens") for answer in found]
        self.test.check(cached[0] == 0 and cached[1] >= PAGE,
                        f"run --chat: {cached} cached tokens")
        self.test.check(found[0] == found[1], f"run --chat: {found}")
        talks = [self.test.run("tenon", "chat", artifact, *options,
                               input="Hello?\nAnd?\n")
                 for artifact in (self.plain, self.baked)]
        self.test.check(talks[0].returncode == 0 and talks[0].stdout
                        and talks[0].stdout == talks[1].stdout,
                        f"chat: {talks}")
        # The same request through the scheduler.
        _, (answer,) = self.answers(self.baked, [{"messages": [
            {"role": "system", "content": self.system},
            {"role": "user", "content": "Hello?"}]}])
        answer.pop("index")
        self.test.check(answer == found[0], f"{answer}: expected {found[0]}")

    def section(self):
        """Offset of the prefixes in the artifact."""
        data = self.baked.read_bytes()
        at, size = struct.unpack_from("<QQ", data, 24)
        return json.loads(data[at:at + size])["prefixes"]["offset"]

    def check_others(self):
        """Pages of another CPU or version are not used, damaged ones are
        refused."""
        good = bytearray(self.baked.read_bytes())
        at = self.section()
        request = {"prompt": self.other + " and more"}
        expected = self.answers(self.plain, [request])
        data = good.copy()
        data[at + 16] ^= 1  # the binding
        self.baked.write_bytes(data)
        self.test.check(self.answers(self.baked, [request]) == expected,
                        "of another CPU: the same answer, nothing cached")
        done = self.test.run("tenon", "run", self.baked, "--prompt", "a",
                             "--max-new-tokens", "1")
        self.test.check(done.returncode == 0 and "on another CPU: they run "
                        "again" in done.stderr, f"of another CPU: {done}")
        data = good.copy()
        data[at + 8192] ^= 1  # in a page
        self.baked.write_bytes(data)
        for command in (("run", self.baked, "--prompt", "a"),
                        ("chat", self.baked)):
            self.test.expect_error("damaged page", f"{self.baked}: prefixes: "
                                   "page ", ": its checksum is wrong",
                                   command=("tenon", *command))
        self.test.expect_error("damaged page", "damaged: the checksum of "
                               "prefixes", command=("tenon", "inspect",
                                                    self.baked, "--verify"))
        self.baked.write_bytes(good)

    def check_wrong(self):
        where = self.test.work / "prefix.jsonl"
        before = self.baked.read_bytes()
        for line, said in (
                ("{", f"{where}:1: "),
                ("3", f"{where}:1: is a number: expected a string or an "
                 "object"),
                ('{"text": "a"}', f"{where}:1: 'text' is no member of a prefix:"
                 " expected prompt, token_ids, messages and tools"),
                ("{}", f"{where}:1: expected one of 'prompt', 'messages' and"),
                ('{"prompt": 1}', f"{where}:1: 'prompt' is a number: expected a "
                 "string"),
                ('{"token_ids": [-1]}', f"{where}:1: 'token_ids' is '[-1]': "
                 "expected an array of token ids"),
                ('{"token_ids": [' + "9," * 70 + "999999]}", f"{where}:1: "
                 "token id 999999"),
                ('{"messages": []}', f"{where}:1: 'messages' is '[]'"),
                ('{"messages": [{"role": "user", "content": 1}], "tools": 2}',
                 f"{where}:1: "),
                ('{"prompt": "a", "tools": []}', f"{where}:1: 'tools' is for "
                 "'messages'"),
                ("", f"{where}: has no prompts: expected one a line"),
                ('"short"', f"{where}:1: has "),
                (json.dumps("long " * 600), f"{where}:1: the prompt has ")):
            where.write_text(line + "\n")
            self.test.expect_error(
                line[:60], said, command=("tenon", "compile", self.model,
                                          "--prefix", where, "-o", self.baked))
        where.write_text('{"messages": [{"role": "user", "content": "a"}]}\n')
        (self.model / "chat_template.jinja").unlink()
        self.test.expect_error(
            "no template", f"{where}:1: {self.baked}: the artifact has no chat "
            "template", command=("tenon", "compile", self.model, "--prefix",
                                 where, "-o", self.baked))
        self.test.expect_error(
            "no level that runs here", "--prefix runs the model: expected a "
            "--target-cpu that runs here, at most avx2", isa="AVX2",
            command=("tenon", "compile", self.model, "--prefix", where,
                     "--target-cpu", "avx512", "-o", self.baked))
        self.test.expect_error(
            "no artifact", "--prefix is for an artifact, not for text",
            status=2, command=("tenon", "compile", self.model, "--prefix", where,
                     "--emit", "placed"))
        self.test.check(self.baked.read_bytes() == before,
                        "a wrong line leaves the artifact as it was")


def main():
    test = support.Test(sys.argv[1:3])
    prefix = Prefix(test, support.pathlib.Path(sys.argv[3]))
    prefix.check_kinds()
    prefix.check_commands()
    prefix.check_others()
    prefix.check_wrong()
    test.finish()


main()
