"""Conversations: templates in artifacts, tenon run --chat, tenon chat.

chat.py TENON WORK EXAMPLE
"""

import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import termios
import time

import support

BOS, EOS = "<|begin_of_text|>", "<|end_of_text|>"
TEMPLATE = """{{ bos_token }}
{%- for message in messages -%}
[{{ message.role }}] {{ message.content }}
{% endfor -%}
{%- if add_generation_prompt %}[assistant]{% endif -%}
"""
# Drawn, as then what comes depends on every token before.
DRAWN = "--temperature", "1.2", "--max-new-tokens", "12"
SEED = 7
SETTINGS = *DRAWN, "--seed", str(SEED)


def rendered(*messages):
    """What TEMPLATE makes of (role, content), without the BOS."""
    return "".join(f"[{role}] {content}\n" for role, content in messages) + (
        "[assistant]")


class Chat:
    def __init__(self, test, example):
        self.test = test
        self.example = example

    def model(self, name, files):
        folder = self.test.work / name
        shutil.copytree(self.example, folder)
        for file, text in files.items():
            (folder / file).write_text(text)
        return folder

    def says(self, artifact, *lines, options=SETTINGS):
        """A run of tenon chat on lines of input through pipes."""
        return self.test.run("tenon", "chat", artifact, *options,
                             input="".join(line + "\n" for line in lines))

    def expect(self, what, done, output, errors=(), status=0):
        lines = done.stderr.splitlines()
        self.test.check(
            done.returncode == status and done.stdout == output
            and len(lines) == len(errors)
            and all(part in line for part, line in zip(errors, lines)),
            f"{what}: exit status {done.returncode}, expected {status}; "
            f"{done.stdout!r}, expected {output!r}; {lines}, expected "
            f"{list(errors)}")

    def text(self, artifact, *messages, seed=SEED):
        """What the model goes on with, by the prompt as plain text."""
        return json.loads(self.test.need(
            "tenon", "run", artifact, "--prompt", rendered(*messages), *DRAWN,
            "--seed", seed, "--json"))["text"]

    def expected(self, artifact, *messages, seed=SEED):
        """The same as a command prints it."""
        text = self.text(artifact, *messages, seed=seed)
        return text if text.endswith("\n") else text + "\n"

    def run_command(self, artifact):
        asked = ("user", "Who are you?")
        self.expect("--chat", self.test.run(
            "tenon", "run", artifact, "--chat", "--prompt", asked[1],
            *SETTINGS), self.expected(artifact, asked))
        self.expect("--chat --system", self.test.run(
            "tenon", "run", artifact, "--chat", "--system", "Be kind.",
            "--prompt", asked[1], *SETTINGS),
            self.expected(artifact, ("system", "Be kind."), asked))
        answer = json.loads(self.test.need(
            "tenon", "run", artifact, "--chat", "--prompt", f"{EOS} a {BOS}",
            "--json", "--echo", *SETTINGS))
        ids = answer["prompt_token_ids"]
        self.test.check(ids[0] == 8190 and not {8190, 8191} & set(ids[1:]),
                        f"a user's special tokens are text: {ids}")
        for what, options, part in (
                ("--system alone", ["--system", "a", "--prompt", "a"],
                 "--system needs --chat"),
                ("--chat of ids", ["--chat", "--token-ids", "1"],
                 "--chat needs --prompt")):
            self.test.expect_error(what, part, status=2, command=[
                "tenon", "run", artifact, *options])

    def requests(self, artifact):
        """Conversations in a file of requests, beside plain ones."""
        talks = [[("user", "Who are you?")],
                 [("system", "Be kind."), ("user", "Hi"), ("assistant", "Yes"),
                  ("user", f"{EOS} and {BOS}?")]]
        lines = []
        for talk in talks:
            messages = [{"role": r, "content": c} for r, c in talk]
            lines += [{"messages": messages, "echo": True},
                      {"prompt": rendered(*talk), "echo": True}]
        path = self.test.work / "talks.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        answers = [json.loads(line) for line in self.test.need(
            "tenon", "run", artifact, "--prompts", path, "--temperature", "0",
            "--max-new-tokens", "8").splitlines()]
        self.test.check(answers[0]["token_ids"] == answers[1]["token_ids"]
                        and answers[0]["prompt_token_ids"]
                        == answers[1]["prompt_token_ids"],
                        f"messages as their prompt: {answers[:2]}")
        ids = answers[2]["prompt_token_ids"]
        self.test.check(ids[0] == 8190 and not {8190, 8191} & set(ids[1:])
                        and 8191 in answers[3]["prompt_token_ids"][1:],
                        f"a user's special tokens are text: {ids}")

    def pipe(self, artifact):
        first, second = ("user", "Who are you?"), ("user", "And I?")
        one = self.expected(artifact, first)
        two = self.expected(
            artifact, first, ("assistant", self.text(artifact, first)), second,
            seed=SEED + 1)
        self.expect("two messages", self.says(artifact, first[1], second[1]),
                    one + two)
        again = self.expected(artifact, first, seed=SEED + 1)
        self.expect("a new conversation",
                    self.says(artifact, first[1], "/reset", first[1]),
                    one + again)
        told = ("system", "Be kind."), first
        self.expect("/system",
                    self.says(artifact, "a", "/system Be kind.", first[1]),
                    self.expected(artifact, ("user", "a"))
                    + self.expected(artifact, *told, seed=SEED + 1))
        self.expect("--system", self.says(
            artifact, first[1], options=(*SETTINGS, "--system", "Be kind.")),
            self.expected(artifact, *told))
        lines = self.expected(artifact, ("user", "/reset\n\na  b"))
        self.expect("a block", self.says(
            artifact, '"""', "/reset", "", "a  b", '"""'), lines)
        self.expect("a line that goes on", self.says(artifact, "a\\", "b"),
                    self.expected(artifact, ("user", "a\nb")))
        self.expect("/exit", self.says(artifact, "/exit", "a"), "")
        short = self.test.need("tenon", "run", artifact, "--chat", "--prompt",
                               first[1], *SETTINGS[:2], *SETTINGS[4:],
                               "--max-new-tokens", "3")
        self.expect("/set", self.says(
            artifact, "/set max_new_tokens 3", first[1], "/reset",
            "/set max-new-tokens", first[1]), short + again)

    def mistakes(self, artifact):
        one = self.expected(artifact, ("user", "a"))
        for what, line, part in (
                ("an unknown command", "/rest", "unknown command '/rest'"),
                ("an unknown setting", "/set warmth 1", "setting 'warmth'"),
                ("a setting that is none here", "/set n 2", "setting 'n'"),
                ("a value of another kind", "/set temperature hot", "hot"),
                ("a value out of range", "/set temperature -1",
                 "temperature is -1"),
                ("too long a message", "long " * 300,
                 "expected at most 256; /reset")):
            self.expect(what, self.says(artifact, line, "a"), one,
                        [part, "1 input failed"], status=1)
        full = self.says(artifact, "a", options=(
            "--temperature", "0", "--ignore-eos"))
        self.test.check(full.returncode == 0 and len(full.stdout) > 300
                        and "the longest of 256 tokens; /reset" in full.stderr,
                        f"a full context: {full.stdout[-80:]!r} "
                        f"{full.stderr!r}")
        plain = self.test.compile(self.example, "plain")
        for command in ["chat"], ["run", "--chat", "--prompt", "a"]:
            self.test.expect_error("no template", "has no chat template",
                                   command=["tenon", command[0], plain,
                                            *command[1:]])
        report = json.loads(self.test.need("tenon", "inspect", plain,
                                           "--json"))
        self.test.check(report["chat"] is None, "inspect: no chat template")

    def compiling(self):
        for what, files, parts in (
                ("syntax", {"chat_template.jinja": "a\n {% fi %}"},
                 ["chat_template.jinja: line 2, column 5"]),
                ("rendering", {"chat_template.jinja":
                               "{{ raise_exception('No.') }}"},
                 ["chat_template.jinja: for a message of a user: line 1",
                  "No."])):
            folder = self.model("bad-" + what, files)
            out = folder / "model.tenon"
            done = self.test.run("tenon", "compile", folder, "-o", out)
            self.test.check(
                done.returncode == 0 and done.stderr.count("\n") == 1
                and all(part in done.stderr for part in (
                    "tenon: note: ", "the chat template is left out",
                    *parts)),
                f"{what} of a template: {done.returncode} {done.stderr!r}")
            self.test.expect_error(f"{what}: left out", "has no chat template",
                                   command=["tenon", "chat", out])

    def terminal(self, artifact):
        """Ctrl-C stops an answer, and leaves when pressed twice."""
        master, slave = pty.openpty()
        run = subprocess.Popen(
            [self.test.tenon, "chat", str(artifact), "--temperature", "0",
             "--ignore-eos"], stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(
                0, termios.TIOCSCTTY, 0))
        os.close(slave)
        seen = ""

        def until(text, after=0):
            nonlocal seen
            end = time.monotonic() + 60
            while text not in seen[after:] and time.monotonic() < end:
                if not select.select([master], [], [], 1)[0]:
                    continue
                try:
                    seen += os.read(master, 4096).decode(errors="replace")
                except OSError:
                    break
            return text in seen[after:]

        good = until(">>> ")
        for turn in range(2):
            start = len(seen)
            os.write(master, b"tell\n")
            good = good and until("tell\r\n", start)
            # The first text of the answer.
            begin = len(seen)
            while good and len(seen) == begin:
                seen += os.read(master, 64).decode(errors="replace")
            os.write(master, b"\x03")
            good = good and until("\n>>> ", begin)
            self.test.check(good and "the answer is cut" not in seen,
                            f"Ctrl-C stops answer {turn}: {seen[-200:]!r}")
        start = len(seen)
        os.write(master, b"\x03")
        good = until("Ctrl-C again leaves", start) and until(">>> ", start)
        os.write(master, b"\x03")
        try:
            status = run.wait(60)
        except subprocess.TimeoutExpired:
            run.kill()
            status = run.wait()
        os.close(master)
        self.test.check(good and status == 0,
                        f"Ctrl-C twice leaves: {status} {seen[-200:]!r}")

    def tools(self):
        """Formats of calls: found, given, and calls told from text. A drawn
        text has none; unit tests read some."""
        template = TEMPLATE + '{% if tools %}<tool_call>"arguments"{{ tools }}{% endif %}'
        found = self.test.compile(self.model("tools", {
            "chat_template.jinja": template}), "found", "--dtype", "f32")
        given = self.test.compile(self.test.work / "tools", "given", "--dtype",
                                  "f32", "--tool-format", "mistral")
        none = self.test.compile(self.test.work / "tools", "none", "--dtype",
                                 "f32", "--tool-format", "none")
        for artifact, name in ((found, "hermes"), (given, "mistral"),
                               (none, None)):
            report = json.loads(self.test.need("tenon", "inspect", artifact,
                                               "--json"))
            self.test.check(report["chat"]["tool_format"] == name,
                            f"tool format {name}: {report['chat']}")
        offered = [{"type": "function", "function": {
            "name": "f", "parameters": {"type": "object"}}}]
        file = self.test.work / "offered.json"
        file.write_text(json.dumps(offered))
        line = {"messages": [{"role": "user", "content": "Hi"}],
                "tools": offered, "max_new_tokens": 5, "seed": 1}
        requests = self.test.work / "tools.jsonl"
        requests.write_text(json.dumps(line) + "\n")
        plain = ["tenon", "run", found, "--chat", "--prompt", "Hi",
                 "--max-new-tokens", "5", "--seed", "1", "--json"]
        alone = json.loads(self.test.need(*plain, "--tools", file))
        listed = json.loads(self.test.need("tenon", "run", found, "--prompts",
                                           requests))
        del line["tools"]
        requests.write_text(json.dumps(line) + "\n" + json.dumps(
            {"prompt": "Hi", "chat": True, "max_new_tokens": 5, "seed": 1}))
        common = [json.loads(text) for text in self.test.need(
            "tenon", "run", found, "--prompts", requests, "--tools",
            file).splitlines()]
        line["tools"] = offered
        requests.write_text(json.dumps(line) + "\n")
        for what, answer in (("--tools", alone), ("--prompts", listed),
                             ("--tools of messages", common[0]),
                             ("--tools of a prompt", common[1])):
            self.test.check(answer["tool_calls"] == [], f"{what}: {answer}")
            self.test.check(answer["token_ids"] == alone["token_ids"],
                            f"{what}: the same answer")
        answer = json.loads(self.test.need(*plain))
        self.test.check("tool_calls" not in answer and
                        answer["prompt_tokens"] < alone["prompt_tokens"],
                        f"no tools: {answer}")
        answer = json.loads(self.test.need("tenon", "run", none, "--prompts",
                                           requests))
        self.test.check("tool_calls" not in answer, f"no format: {answer}")
        file.write_text("{}")
        self.test.expect_error(
            "--tools of an object", f"{file}: is an object: expected an array of "
            "tools", command=[*plain, "--tools", file])

    def typed(self, artifact, *lines, options):
        """What a terminal shows of a conversation."""
        master, slave = pty.openpty()
        run = subprocess.Popen(
            [self.test.tenon, "chat", *map(str, (artifact, *options))],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        os.write(master, "".join(f"{line}\n" for line in lines).encode())
        seen = b""
        while select.select([master], [], [], 60)[0]:
            try:
                part = os.read(master, 4096)
            except OSError: # the other end is closed
                break
            seen += part
        os.close(master)
        run.kill()
        run.wait()
        return seen.decode(errors="replace")

    def calls(self):
        """Calls in a conversation, and their results. Two tokens of the
        vocabulary are whole calls here, which a bias makes the answer."""
        template = (
            "{{ bos_token }}{% if tools %}{{ tools | length }} tools\n{% endif %}"
            "{% for m in messages %}[{{ m.role }}] {{ m.content }}"
            "{% if m.tool_calls %}{% for c in m.tool_calls %}"
            "<{{ c.function.name }} {{ c.function.arguments | tojson }}>"
            "{% endfor %}{% endif %}{{ '\\n' }}{% endfor %}"
            "{% if add_generation_prompt %}[assistant]{% endif %}")
        folder = self.model("calls", {"chat_template.jinja": template})
        file = folder / "tokenizer.json"
        tokenizer = json.loads(file.read_text())
        vocabulary, merges = (tokenizer["model"][key]
                              for key in ("vocab", "merges"))
        f = '{"name":"f","arguments":{"x":1}}'
        ids = []
        for text in f, f'[{f},{{"name":"g","arguments":{{}}}}]':
            replaced = "".join(merges.pop())
            ids.append(vocabulary.pop(replaced))
            vocabulary[text] = ids[-1]
        file.write_text(json.dumps(tokenizer))
        artifact = self.test.compile(folder, "calls", "--dtype", "f32",
                                     "--tool-format", "json")
        offered = self.test.work / "two.json"
        offered.write_text(json.dumps([
            {"type": "function", "function": {"name": name}}
            for name in ("f", "g")]))

        def says(*lines, more=()):
            return self.says(artifact, *lines, options=(
                *SETTINGS, "--tools", offered, *more))

        def goes_on(seed, *turns):
            return self.test.need("tenon", "run", artifact, "--prompt",
                                  "2 tools\n" + rendered(*turns), *DRAWN,
                                  "--seed", seed)

        def forced(number):
            return f"/set logit_bias {ids[number]}=100", "/set max_new_tokens 1"

        free = "/set logit_bias", "/set max_new_tokens"
        one = "[call f {\"x\":1}]\n"
        asked = ("user", "Weather?")
        told = asked, ("assistant", '<f {"x": 1}>'), ("tool", "sunny")
        for more in (), ("--stop", "never said"):
            self.expect(f"a call {more}", says(
                *forced(0), asked[1], *free, "sunny", more=more),
                one + goes_on(SEED + 1, *told))
        self.expect("a call without a result", says(
            *forced(0), asked[1], "/reset", *free, "Hi"),
            one + goes_on(SEED + 1, ("user", "Hi")))
        both = asked, ("assistant", '<f {"x": 1}><g {}>'), (
            "tool", "sunny"), ("tool", "/cold")
        answer = goes_on(SEED + 1, *both)
        self.expect("two calls", says(
            *forced(1), asked[1], *free, "sunny", '"""', "/cold", '"""'),
            one + "[call g {}]\n" + answer)
        self.expect("a result that does not fit", says(
            *forced(0), asked[1], *free, "long " * 300, "sunny"),
            one + goes_on(SEED + 1, *told),
            ["expected at most 256; /reset", "1 input failed"], status=1)
        seen = self.typed(
            artifact, *forced(1), asked[1], "sunny", "/exit",
            options=(*SETTINGS, "--tools", offered))
        marks = [seen.find(mark) for mark in (
            "[call f ", "[call g ", "result of f> ", "result of g> ")]
        self.test.check(-1 not in marks and marks == sorted(marks),
                        f"a terminal asks for results: {seen!r}")
        # A text that quotes no call is what it is without tools.
        self.expect("no call", says("Hi"), goes_on(SEED, ("user", "Hi")))
        none = self.test.compile(folder, "no-calls", "--dtype", "f32")
        self.test.expect_error(
            "--tools without a format", "nothing says how this model writes "
            "calls", command=["tenon", "chat", none, "--tools", offered])

    def all(self):
        self.compiling()
        self.tools()
        self.calls()
        artifact = self.test.compile(
            self.model("talks", {"chat_template.jinja": TEMPLATE}), "talks",
            "--dtype", "f32")
        report = json.loads(self.test.need("tenon", "inspect", artifact,
                                           "--json"))
        self.test.check(
            report["chat"] == {"templates": {"default": TEMPLATE}, "tokens": {
                "bos_token": BOS, "eos_token": EOS}, "tool_format": None},
            f"inspect --json: {report['chat']}")
        self.test.check(
            f"'default' of {len(TEMPLATE)} bytes"
            in self.test.need("tenon", "inspect", artifact), "inspect")
        offered = self.test.work / "unread.json"
        tool = {"type": "function", "function": {"name": "f"}}
        offered.write_text(json.dumps([tool]))
        requests = self.test.work / "unread.jsonl"
        requests.write_text(json.dumps({"tools": [tool], "messages": [
            {"role": "user", "content": "Hi"}]}))
        for more in (["--chat", "--prompt", "Hi", "--tools", offered],
                     ["--prompts", requests]):
            self.test.expect_error(
                "tools that the template does not read", "reads no 'tools'",
                command=["tenon", "run", artifact, *more])
        self.run_command(artifact)
        self.requests(artifact)
        self.pipe(artifact)
        self.mistakes(artifact)
        self.terminal(artifact)


if __name__ == "__main__":
    TEST = support.Test(sys.argv[1:])
    Chat(TEST, pathlib.Path(TEST.names[0])).all()
    TEST.finish()
