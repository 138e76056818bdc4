"""What happened to requests: --record and tenon replay, tenon explain, the log.

record.py TENON WORK EXAMPLE
"""

import concurrent.futures
import json
import pathlib
import re
import resource
import stat
import sys
import threading
import time

import models
import support
from serve import TOOL, Server, compiled

SCHEMA = {"type": "object", "properties": {
    "n": {"type": "integer", "minimum": 10, "maximum": 99},
    "s": {"enum": ["x", "y"]}},
    "required": ["n", "s"], "additionalProperties": False}
KEYS = "first-secret-key", "second-secret-key"
HEADERS = [("Authorization", f"Bearer {key}") for key in KEYS]


def wishes():
    """Requests of all kinds: (path, body). None has a seed unless it says so,
    and all draw."""
    user = [{"role": "user", "content": "hello there"}]
    text = {"temperature": 1.3, "max_tokens": 12}
    tool = {"type": "function", "function": {
        "name": "pick", "parameters": SCHEMA}}
    completions, chat = "/v1/completions", "/v1/chat/completions"
    form = {"type": "json_schema", "json_schema": {
        "name": "pair", "schema": SCHEMA}}
    yield completions, {"prompt": "The king", **text}
    yield completions, {"prompt": "The king", **text, "seed": 5, "logprobs": 2}
    yield completions, {"prompt": ["The king", "A long day"] * 2, **text,
                        "n": 2, "stream": True, "logprobs": 1,
                        "stream_options": {"include_usage": True}}
    yield completions, {"prompt": "word " * 90, **text, "stream": True,
                        "return_token_ids": True}
    yield completions, {"prompt": "word " * 90, **text, "stop": ["e"]}
    yield completions, {"prompt": "word " * 60, **text,
                        "prompt_lookup_num_tokens": 4, "stream": True}
    yield completions, {"prompt": "a", "max_tokens": 60, "temperature": 1.3,
                        "structured_outputs": {"regex": "[a-c]{3}x*"}}
    yield completions, {"prompt": "a", "echo": True, "logprobs": 1,
                        "max_tokens": 3}
    yield chat, {"messages": user, **text}
    yield chat, {"messages": user, **text, "stream": True, "tools": [TOOL]}
    yield chat, {"messages": user, "temperature": 1.3, "max_tokens": 99,
                 "response_format": form, "stream": True}
    yield chat, {"messages": user, "temperature": 1.3, "max_tokens": 99,
                 "tools": [tool], "tool_choice": "required"}
    yield chat, {"messages": user, "temperature": 1.3, "max_tokens": 99,
                 "tools": [tool], "tool_choice": "required", "stream": True}
    for stream in False, True:
        yield "/v1/responses", {"input": "hello", "temperature": 1.3,
                                "max_output_tokens": 9, "stream": stream}
        # Ends by itself, so it has a time of its end.
        yield "/v1/responses", {
            "input": "hello", "temperature": 1.3, "stream": stream, "text": {
                "format": {"type": "json_schema", "name": "pair",
                           "schema": SCHEMA}}}
        yield "/v1/messages", {"messages": user, "max_tokens": 9,
                               "temperature": 1.0, "stream": stream}
    yield "/v1/messages/count_tokens", {"messages": user}
    yield "/tokenize", {"prompt": "The king"}
    yield "/v1/embeddings", {"model": "sentences", "input": ["w3 w4", "w5"]}
    yield completions, {"prompt": "a", "temperature": "hot"}
    yield completions, {"prompt": "a", "model": "none"}


class Requests:
    def __init__(self, test, artifact, sentences):
        self.test = test
        self.artifact = artifact
        self.sentences = sentences
        self.keys = test.work / "keys"
        self.keys.write_text("\n".join(KEYS) + "\n")
        self.second = test.work / "second"
        self.second.write_text(KEYS[1])

    def expect(self, what, found, expected):
        self.test.check(found == expected, f"{what}: {found} != {expected}")

    def server(self, *options):
        return Server(self.test.tenon, self.artifact, self.sentences,
                      "--threads", 1, *options)

    def replay(self, record, *options, artifact=None, more=None):
        """Results by line, and what the process answered."""
        done = self.test.run(
            "tenon", "replay", record, f"tiny={artifact or self.artifact}",
            *([self.sentences] if more is None else more), "--json", "--threads", "1", *options)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return {line["line"]: line for line in lines}, done

    def record(self):
        """Everything under load, and again."""
        path = self.test.work / "record.jsonl"
        all_wishes = list(wishes()) * 2
        with self.server("--api-key-file", self.keys, "--record",
                         path) as server:
            ask = lambda wish: server.ask(*wish, headers=HEADERS[:1])
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                answers = list(pool.map(ask, all_wishes))
            self.expect("unknown keys", server.ask(
                "/v1/completions", {"prompt": "not recorded"},
                headers=[("Authorization", "Bearer none")])[0], 401)
            server.ask("/v1/models", headers=HEADERS[:1])
            # A client that goes, in the middle of a stream.
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(
                {"prompt": "a", "max_tokens": 8000, "ignore_eos": True,
                 "stream": True, "temperature": 1.3}), dict(HEADERS[:1]))
            connection.getresponse().read1(10)
            connection.close()
            # And one without an answer.
            connection = server.connect()
            connection.request("POST", "/v1/completions", json.dumps(
                {"prompt": "b", "max_tokens": 8000, "ignore_eos": True}),
                dict(HEADERS[:1]))
            while server.metric("tenon:num_requests_running") == 0:
                time.sleep(0.01)
            connection.close()
            self.test.check(server.wait_idle(), "all have ended")
            server.terminate()
            self.expect("exit status", server.ended(), (0, ""))
        text = path.read_text()
        self.expect("its mode", stat.S_IMODE(path.stat().st_mode), 0o600)
        self.test.check(not any(key in text for key in KEYS)
                        and "Bearer" not in text and "not recorded" not in text,
                        "no keys, and nothing of who has none")
        lines = [json.loads(line) for line in text.splitlines()]
        self.expect("lines", len(lines), 1 + len(all_wishes) + 2)
        by_id = {line["id"]: line for line in lines[1:]}
        for (path_, body), (status, headers, answer) in zip(all_wishes, answers):
            line = by_id[headers["X-Request-Id"]]
            whole = answer if isinstance(answer, str) else json.loads(
                line["answer"])
            self.test.check(
                line["path"] == path_ and json.loads(line["body"]) == body
                and line["status"] == status
                and (whole == answer if not isinstance(answer, str)
                     else line["answer"] == answer),
                f"the record of {path_} {body}")
        model = json.loads(self.test.need("tenon", "inspect", self.artifact,
                                          "--json"))["code"][0]["level"]
        first = by_id[answers[0][1]["X-Request-Id"]]
        self.test.check(first["seed"] > 0 and first["model"]["level"].startswith(
            model) and len(first["model"]["artifact"]) >= 8,
            f"seed and model: {first['seed']} {first['model']}")
        self.expect("two draws differ", first["seed"] == by_id[
            answers[len(all_wishes) // 2][1]["X-Request-Id"]]["seed"], False)
        self.replays(path, lines)
        return path, lines

    def replays(self, path, lines):
        for options in [], ["--as-recorded"]:
            found, done = self.replay(path, *options)
            self.expect(f"what is replayed {options}", len(found),
                        len(lines) - 1)
            other = {line: result for line, result in found.items()
                     if result["result"] != "same"}
            gone = [number for number, line in enumerate(lines, 1)
                    if line.get("status") == 499]
            self.test.check(
                done.returncode == 0 and done.stderr == ""
                and sorted(other) == gone and len(gone) == 1
                and "client went" in other[gone[0]]["why"],
                f"the same bytes {options}: {other} {done.stderr}")
        cut = [number for number, line in enumerate(lines, 1)
               if line.get("gone") and line["status"] == 200]
        self.test.check(len(cut) == 1 and found[cut[0]]["result"] == "same"
                        and 0 < len(lines[cut[0] - 1]["answer"]),
                        f"a stream that was cut: {cut}")
        done = self.test.run("tenon", "replay", path, self.artifact,
                             self.sentences, "--threads", "1")
        self.test.check(done.stdout.endswith(" 0 different, 1 skipped\n"),
                        f"in words: {done.stdout}")

    def changed(self, path, lines):
        """Replay sees what is not as it was."""
        # Enough of them, and one of another model.
        lines = lines[:15] + [line for line in lines[15:]
                              if line["path"] == "/v1/embeddings"][:1]
        path = self.test.work / "part.jsonl"
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n"
                                for line in lines))
        other = self.test.work / "changed.jsonl"

        def write(number, **members):
            changed = list(lines)
            changed[number] = {**lines[number], **members}
            other.write_text("".join(
                json.dumps(line, separators=(",", ":")) + "\n"
                for line in changed))
        drawn = next(i for i, line in enumerate(lines) if i and line["status"]
                     == 200 and '"stream"' not in line["body"] and
                     '"temperature": 1.3, "max_tokens": 12' in line["body"]
                     and not re.search("seed|stop", line["body"]))
        write(drawn, seed=lines[drawn]["seed"] + 1)
        found, done = self.replay(other)
        self.test.check(
            done.returncode == 1 and [
                line for line, result in found.items()
                if result["result"] == "differs"] == [drawn + 1]
            and "1 of " in done.stderr and "byte " in found[drawn + 1]["why"],
            f"another seed: {done.stderr} {found[drawn + 1]}")
        write(drawn, status=400)
        found, done = self.replay(other)
        self.test.check(found[drawn + 1]["why"].startswith(
            "status 400 recorded, now 200"), f"{found[drawn + 1]}")
        write(drawn, answer=lines[drawn]["answer"].replace("a", "b"))
        self.test.expect_error(
            "a damaged answer", f"{other}:{drawn + 1}: ", "'checksum' is",
            command=["tenon", "replay", other, self.artifact])
        found, done = self.replay(path, "--max-num-seqs", "3")
        self.expect("another bound", done.stderr, "")
        found, done = self.replay(path, more=[])
        self.test.check(done.returncode == 0 and any(
            "its model 'sentences' was not given" in result.get("why", "")
            for result in found.values()), f"a model that is missing: {found}")
        smaller = self.test.compile(self.test.work / "tiny", "int8",
                                    "--quantize", "int8")
        found, done = self.replay(path, artifact=smaller)
        self.test.check(
            done.returncode == 1 and "model 'tiny': artifact '" in done.stderr
            and "answers may differ" in done.stderr and sum(
                r["result"] == "differs" for r in found.values()) > 5,
            f"another artifact: {done.stderr}")
        self.test.expect_error(
            "no record", "is no record of tenon serve",
            command=["tenon", "replay", self.keys, self.artifact])
        self.test.expect_error(
            "a record that is none", "--record: ", "is no record",
            command=["tenon", "serve", self.artifact, "--port", "0",
                     "--record", self.keys])

    def full(self):
        """A disk that is full, and is not any more."""
        path = self.test.work / "full.jsonl"
        with self.server("--record", path) as server:
            ask = lambda: server.ask("/v1/completions", {
                "prompt": "a", "max_tokens": 3})[0]
            self.expect("before", ask(), 200)
            while path.read_text().count("\n") < 2:
                time.sleep(0.01)
            limit = path.stat().st_size + 10
            hard = resource.prlimit(server.process.pid,
                                    resource.RLIMIT_FSIZE)[1]
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                             (limit, hard))
            self.expect("while it is full", [ask() for _ in range(3)],
                        [200] * 3)
            line = server.process.stderr.readline()
            self.test.check("--record: " in line and "File too large" in line,
                            f"a note: {line}")
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                             (hard, hard))
            self.expect("after", ask(), 200)
            server.terminate()
            self.test.check("are recorded again" in server.ended()[1],
                            "another note")
        found, done = self.replay(path)
        # Lines are written by a thread of their own: the last of the three may
        # come to it when there is room again.
        lost = re.search(r"(\d) requests? w(?:as|ere) not recorded", done.stderr)
        self.test.check(
            done.returncode == 0 and lost and len(found) + int(lost[1]) == 5,
            f"what is there is whole: {found} {done.stderr}")

    def explain(self):
        with self.server("--api-key-file", self.keys, "--max-num-seqs", 2,
                         "--max-step-ms", 1) as server:
            url = f"http://127.0.0.1:{server.port}"

            def explain(name, *options, key=self.keys):
                return self.test.run("tenon", "explain", name, "--url", url,
                                     "--api-key-file", key, *options)
            explained = lambda name: json.loads(
                explain(name, "--json").stdout)
            long = {"prompt": "a", "max_tokens": 8000, "ignore_eos": True,
                    "stream": True}
            held = []
            for name in "held-1", "held-2":
                connection = server.connect()
                connection.request(
                    "POST", "/v1/completions", json.dumps(long),
                    dict([HEADERS[0], ("X-Request-Id", name)]))
                connection.getresponse().read1(10)
                held.append(connection)
            prompt = "word " * 100
            done = threading.Event()

            def wait():
                server.ask("/v1/completions", {
                    "prompt": prompt, "max_tokens": 5, "ignore_eos": True,
                    "structured_outputs": {"regex": "[a-e]+"}},
                    headers=[HEADERS[0], ("X-Request-Id", "waits/1")])
                done.set()
            waiting = threading.Thread(target=wait)
            waiting.start()
            while server.metric("tenon:num_requests_waiting") == 0:
                time.sleep(0.01)
            now = explained("waits/1")
            self.test.check(
                now["state"] == "running" and now["status"] is None
                and now["prompts"][0]["state"] == "queued"
                and now["prompts"][0]["prefilling_at_ms"] is None,
                f"one that waits: {now}")
            now = explained("held-1")
            self.test.check(
                now["prompts"][0]["state"] == "decoding"
                and now["prompts"][0]["decoding"]["steps"] > 0,
                f"one that runs: {now}")
            for connection in held:
                connection.close()
            done.wait(60)
            waiting.join()
            server.ask("/v1/completions", {"prompt": prompt, "max_tokens": 2},
                       headers=[HEADERS[0], ("X-Request-Id", "again")])
            self.explained(explained, prompt)
            self.test.check(
                explained("cmpl-again") == explained("again"),
                "by the id of the answer")
            text = explain("waits/1").stdout
            self.test.check(
                all(part in text for part in (
                    "waits/1: /v1/completions, model tiny, answered, status "
                    "200", "queued", "tokens, step ", "compiled a grammar",
                    "steps, p50", "ended", "texts in a step")), f"{text}")
            for what, parts, arguments in (
                    ("another's", ["status 404", "is none of the last"],
                     ["waits/1", "--url", url, "--api-key-file", self.second]),
                    ("unknown", ["'nothing': is none of the last requests"],
                     ["nothing", "--url", url, "--api-key-file", self.keys]),
                    ("no key", ["status 401"], ["waits/1", "--url", url]),
                    ("no server", ["Connection refused"],
                     ["a", "--url", "http://127.0.0.1:1"]),
                    ("no socket", ["No such file"],
                     ["a", "--url", f"unix:{self.test.work}/none"]),
                    ("no URL", ["the URL is 'ftp://a'"],
                     ["a", "--url", "ftp://a"])):
                self.test.expect_error(what, *parts,
                                       command=["tenon", "explain", *arguments])

    def explained(self, explained, prompt):
        """What is said of requests that have ended."""
        gone = explained("held-1")
        self.test.check(
            gone["state"] == "client gone"
            and gone["prompts"][0]["finish_reasons"] == ["cancelled"],
            f"one that was given up: {gone}")
        ended = explained("waits/1")
        own = ended["prompts"][0]
        times = [own[name] for name in (
            "queued_at_ms", "prefilling_at_ms", "decoding_at_ms",
            "ended_at_ms")]
        self.test.check(
            ended["state"] == "answered" and ended["status"] == 200
            and times == sorted(times)
            and times[-1] <= ended["total_ms"]
            and abs(times[1] - times[0] - own["queue_ms"]) < 0.01,
            f"times: {ended}")
        self.test.check(
            sum(s["tokens"] for s in own["slices"]) == ended["prompt_tokens"]
            and len(own["slices"]) > 1
            and all(s["ms"] > 0 for s in own["slices"])
            and own["decoding"]["steps"] == ended["completion_tokens"] - 1
            and own["decoding"]["step_ms_max"] >= own["decoding"][
                "step_ms_p50"] > 0
            and 1 <= own["decoding"]["texts_mean"] <= 2
            and ended["grammar_ms"] > 0 and ended["cached_tokens"] == 0,
            f"steps: {ended}")
        again = explained("again")
        self.test.check(
            again["cached_tokens"] > 0
            and again["prompts"][0]["cached_tokens"] == again["cached_tokens"]
            and again["prompts"][0]["cached_pages"] > 0
            and sum(s["tokens"] for s in again["prompts"][0]["slices"])
            == again["prompt_tokens"] - again["cached_tokens"],
            f"a prompt from the cache: {again}")

    def log(self):
        body = {"prompt": "a secret", "max_tokens": 4, "ignore_eos": True}
        for option, has_content in ("--log-requests", False), (
                "--log-content", True):
            with self.server(option) as server:
                status, headers, answer = server.ask("/v1/completions", body)
                server.ask("/v1/completions", {"prompt": 5})
                server.ask("/nothing")
                server.terminate()
                lines = [json.loads(line)
                         for line in server.ended()[1].splitlines()]
            line = lines[0]
            self.test.check(
                line["id"] == headers["X-Request-Id"]
                and line["model"] == "tiny" and line["status"] == 200
                and line["prompt_tokens"] == answer["usage"]["prompt_tokens"]
                and line["completion_tokens"] == 4 and line["cached_tokens"] == 0
                and line["finish_reasons"] == ["length"]
                and 0 <= line["queue_ms"] <= line["first_token_ms"]
                <= line["total_ms"], f"a line: {line}")
            self.expect("others", [(l["status"], l["path"]) for l in lines[1:]],
                        [(400, "/v1/completions"), (404, "/nothing")])
            if has_content:
                self.test.check(json.loads(line["body"]) == body
                                and json.loads(line["answer"]) == answer,
                                f"with content: {line}")
            else:
                self.test.check("secret" not in json.dumps(lines),
                                "without content")


def main():
    test = support.Test(sys.argv[1:])
    # Texts that are long enough to be looked at while they are written.
    artifact = compiled(test, pathlib.Path(sys.argv[3]), positions=8192)
    positions = 150
    sentences = test.compile(
        models.sentence_bert(test.work / "sentences", positions), "sentences")
    requests = Requests(test, artifact, sentences)
    requests.changed(*requests.record())
    requests.full()
    requests.explain()
    requests.log()
    test.finish()


main()
