"""What soak-server and tests of a server under load share: the process, a client
that may go at any moment, and requests with one answer each."""

import asyncio
import json
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile

import robustness

# Seconds for what takes a moment; far more than a busy machine needs.
PATIENCE = 60

# In the format of Hermes' calls, which the server looks for in answers.
CHAT_TEMPLATE = """{% for message in messages %}<{{ message.role }}> {{ message.content }}
{% endfor %}{% if tools %}<tool_call>"arguments"{% for tool in tools %} {{ tool.function.name }}{% endfor %}
{% endif %}<assistant>"""


class Server:
    """A running tenon serve; what it says goes to a file."""

    def __init__(self, build, *arguments):
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [robustness.tool(build, "tenon"), "serve",
             *map(str, arguments), "--port", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.said, env=robustness.environment(),
            start_new_session=True)

    def output(self):
        self.said.seek(0)
        return self.said.read().decode(errors="replace")

    async def start(self):
        """Until it listens."""
        for _ in range(int(PATIENCE / 0.02)):
            found = re.search(r"listens at http://127\.0\.0\.1:(\d+)",
                              self.output())
            if found:
                self.port = int(found[1])
                return self
            if self.process.poll() is not None:
                break
            await asyncio.sleep(0.02)
        raise RuntimeError(f"the server does not listen: {self.output()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    async def terminate(self, seconds=PATIENCE):
        """Its exit status after SIGTERM; None when it does not end."""
        self.process.send_signal(signal.SIGTERM)
        return await self.ended(seconds)

    async def ended(self, seconds=PATIENCE):
        for _ in range(int(seconds / 0.02)):
            if self.process.poll() is not None:
                return self.process.returncode
            await asyncio.sleep(0.02)
        return None

    def log(self):
        """The lines of --log-requests, and all others."""
        requests, others = [], []
        for line in self.output().splitlines():
            if line.startswith("{"):
                requests.append(json.loads(line))
            elif "listens at" not in line:
                others.append(line)
        return requests, others

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    async def metric(self, name):
        """The sum of a metric over all models."""
        answer = await ask(self, "GET", "/metrics")
        return sum(float(value) for value in re.findall(
            rf"^{name}{{[^}}]*}} (\S+)$", answer.body.decode(), re.M))

    async def wait_idle(self):
        """Until no request runs or waits; whether that came."""
        for _ in range(int(PATIENCE / 0.05)):
            if not (await self.metric("tenon:num_requests_running")
                    + await self.metric("tenon:num_requests_waiting")):
                return True
            await asyncio.sleep(0.05)
        return False


class Answer:
    """status is None where the connection ended before there was one."""

    def __init__(self, status=None, headers=(), body=b"", chunks=0, whole=False):
        self.status = status
        self.headers = dict(headers)
        self.body = body
        self.chunks = chunks
        self.is_whole = whole

    def content(self):
        """What is compared: JSON, or the list of it in events, choice by
        choice, without what depends on time and on the prefix cache."""
        text = self.body.decode(errors="replace")
        if not self.headers.get("content-type", "").startswith(
                "text/event-stream"):
            return scrubbed(json.loads(text))
        events = [scrubbed(json.loads(line[6:])) for line in text.splitlines()
                  if line.startswith("data: {")]

        def choice(event):
            return event["choices"][0]["index"] if event.get("choices") else -1
        # Which of two prompts' choices comes first depends on the load.
        return sorted(events, key=choice)


# Of a time, and of what is cached: usage counts those tokens separately.
VOLATILE = {"created", "created_at", "completed_at", "prompt_tokens_details",
            "input_tokens_details", "input_tokens", "cache_read_input_tokens",
            "cache_creation_input_tokens"}


def scrubbed(value):
    if isinstance(value, dict):
        return {key: scrubbed(one) for key, one in value.items()
                if key not in VOLATILE}
    if isinstance(value, list):
        return [scrubbed(one) for one in value]
    return value


def request_bytes(path, body, headers=(), method="POST"):
    """A request as (head, body)."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost",
             f"Content-Length: {len(data)}",
             *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode(), data


class Connection:
    """One connection of a client."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.pause = 0  # Seconds before a chunk is read.

    @classmethod
    async def open(cls, server, receive_buffer=0):
        raw = socket.socket()
        raw.setblocking(False)
        if receive_buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            await asyncio.get_running_loop().sock_connect(
                raw, ("127.0.0.1", server.port))
        except OSError:
            raw.close()
            raise
        limit = receive_buffer or 1 << 16
        return cls(*await asyncio.open_connection(sock=raw, limit=limit))

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self):
        """Reads one answer, as far as it comes."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            return Answer()
        lines = head.split("\r\n")
        status = int(lines[0].split()[1])
        headers = {name.lower(): value.strip() for name, value in
                   (line.split(":", 1) for line in lines[1:] if line)}
        if status == 100:
            return await self.answer()
        body, chunks = b"", 0
        try:
            if headers.get("transfer-encoding") == "chunked":
                while size := int(await self.reader.readline() or b"x", 16):
                    body += await self.reader.readexactly(size)
                    chunks += 1
                    if self.pause:
                        await asyncio.sleep(self.pause)
                    await self.reader.readexactly(2)
                await self.reader.readexactly(2)
            elif "content-length" in headers:
                body = await self.reader.readexactly(
                    int(headers["content-length"]))
            else:
                body = await self.reader.read()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return Answer(status, headers, body, chunks)
        return Answer(status, headers, body, chunks, True)

    def close(self, resets=False):
        """Goes, as a process that ends, or as one whose network is lost."""
        if resets:
            raw = self.writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
        self.writer.transport.abort()


async def ask(server, method, path, body=b"", headers=()):
    """One request on a connection of its own."""
    connection = await Connection.open(server)
    try:
        await connection.send(b"".join(
            request_bytes(path, body, headers, method)))
        return await asyncio.wait_for(connection.answer(), PATIENCE)
    finally:
        connection.close()


#===----------------------------------------------------------------------===#
# Requests with one answer each
#===----------------------------------------------------------------------===#

WORDS = ("the king said that a house of stone would stand by the old river and "
         "no one in the town had seen such snow before").split()
SCHEMA = {"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 12},
    "count": {"type": "integer", "minimum": 0, "maximum": 99},
    "kind": {"enum": ["a", "b", "c"]}},
    "required": ["name", "kind"], "additionalProperties": False}
CONSTRAINTS = ({"json": SCHEMA}, {"regex": "[a-f]{2,9}( [0-9]+)?"},
               {"choice": ["yes", "no", "perhaps"]},
               {"grammar": 'root ::= item ("," item)*\nitem ::= [a-z]+'})


def some_text(dice, most=30):
    """Words that other texts begin with, too, and then some of its own."""
    shared = dice.choice([0, 0, 40, 70])
    begin = [WORDS[i * 7 % len(WORDS)] for i in range(shared)]
    return " ".join(begin + dice.choices(WORDS, k=dice.randint(1, most)))


def some_request(dice):
    """Path and body of a request that has one answer, whatever else runs."""
    kind = dice.choice(["chat", "chat", "completion", "completion", "response",
                        "message"])
    new = dice.choice([1, 4, 16, 40, 60])
    drawn = {"temperature": dice.choice([0, 1.1])}
    if kind == "message":
        # It has no seed.
        drawn = {"temperature": 0}
    elif drawn["temperature"]:
        drawn["seed"] = dice.randrange(1000)
    streams = dice.random() < 0.5
    body = {"model": "tiny", **drawn, "stream": streams}
    talk = [{"role": "user", "content": some_text(dice)}
            for _ in range(dice.choice([1, 1, 2]))]
    path = {"chat": "/v1/chat/completions", "completion": "/v1/completions",
            "response": "/v1/responses", "message": "/v1/messages"}[kind]
    constrains = dice.random() < 0.3
    offers = dice.random() < 0.3
    if kind in ("chat", "completion"):
        body["max_tokens"] = new
        if drawn["temperature"] and dice.random() < 0.4:
            body["n"] = dice.randint(2, 3)
        if dice.random() < 0.2:
            body["stop"] = [" a", "king"]
        if streams and dice.random() < 0.5:
            body["stream_options"] = {"include_usage": True}
        if dice.random() < 0.3:
            body["ignore_eos"] = True
    if kind == "completion":
        body["prompt"] = (some_text(dice) if dice.random() < 0.7 else
                          [some_text(dice) for _ in range(2)])
        if dice.random() < 0.3:
            body["logprobs"] = dice.randint(0, 5)
        if constrains:
            body["structured_outputs"] = dice.choice(CONSTRAINTS)
    elif kind == "chat":
        body["messages"] = talk
        if dice.random() < 0.3:
            body.update(logprobs=True, top_logprobs=dice.randint(0, 3))
        if offers:
            body["tools"] = [{"type": "function", "function": {
                "name": "find", "parameters": SCHEMA}}]
            body["tool_choice"] = dice.choice(["auto", "required"])
        elif constrains:
            body["response_format"] = {"type": "json_schema", "json_schema": {
                "name": "thing", "schema": SCHEMA, "strict": True}}
    elif kind == "response":
        body["input"] = talk[0]["content"]
        body["max_output_tokens"] = max(new, 16)
        if offers:
            body["tools"] = [{"type": "function", "name": "find",
                              "parameters": SCHEMA}]
            body["tool_choice"] = dice.choice(["auto", "required"])
        elif constrains:
            body["text"] = {"format": {"type": "json_schema", "name": "thing",
                                       "schema": SCHEMA}}
    else:
        body["messages"] = talk[:1]
        body["max_tokens"] = new
        if offers:
            body["tools"] = [{"name": "find", "input_schema": SCHEMA}]
            body["tool_choice"] = {"type": dice.choice(["auto", "any"])}
    return path, body


#===----------------------------------------------------------------------===#
# Clients that go
#===----------------------------------------------------------------------===#

def go_after(dice):
    """At which point of a request its client goes."""
    return dice.choice(["head", "body", "sent", "waiting", "waiting",
                        "answering", "answering"])


async def ask_and_go(server, dice, head, body, longest):
    """Sends a request, or a part of it, and goes: while it is sent, while it
    waits and runs (at a moment of up to `longest` seconds), or while its answer
    is read."""
    connection = await Connection.open(server)
    point = go_after(dice)
    try:
        if point == "head":
            await connection.send(head[:dice.randrange(len(head))])
            await asyncio.sleep(dice.choice([0, 0.01]))
        elif point == "body":
            await connection.send(head + body[:dice.randrange(len(body))])
            await asyncio.sleep(dice.choice([0, 0.01]))
        else:
            await connection.send(head + body)
        if point == "waiting":
            await asyncio.sleep(longest * dice.random() ** 2)
        elif point == "answering":
            await asyncio.wait_for(
                connection.reader.read(dice.choice([1, 200, 1000])), PATIENCE)
    except ConnectionError:
        pass
    finally:
        connection.close(resets=dice.random() < 0.5)
    return point
