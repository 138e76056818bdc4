"""Clients of a server of OpenAI's API: one thread for all of their streams.

What it costs is taken from the server's cores, so what comes is kept with its
time, and looked at in the end.
"""

import json
import random
import re
import select
import socket
import time

WORDS = ("time people way water day world life hand part child eye woman place "
         "work week case point company number group problem fact house king "
         "river stone town snow night road tree horse light voice door fire "
         "letter morning garden mountain island ship market school street "
         "window table paper story music colour winter summer field bread").split()

# Both servers write no spaces between JSON's tokens. The event that ends a text
# has an empty one.
HAS_TEXT = re.compile(rb'"text":"[^"]')


class Wish:
    """A request: about `tokens` of prompt, behind a beginning that it may share
    with others, and exactly `new` tokens of answer."""

    def __init__(self, seed, tokens, new, shared=""):
        dice = random.Random(seed)
        self.prompt = shared + " ".join(dice.choices(WORDS, k=tokens))
        self.new = new

    def body(self):
        return {"model": "model", "prompt": self.prompt, "max_tokens": self.new,
                "temperature": 0, "ignore_eos": True, "stream": True,
                "stream_options": {"include_usage": True}}


def wishes(seed, count, tokens, new, shared=""):
    """`count` requests with answers of new[0] to new[1] tokens."""
    dice = random.Random(seed)
    return [Wish(f"{seed}/{number}", tokens, dice.randint(*new), shared)
            for number in range(count)]


class Stream:
    """One request under way. `whole`: the client sleeps until the answer is
    complete, and knows nothing of when its tokens came."""

    def __init__(self, address, wish, whole=False):
        self.wish = wish
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if whole:
            # Readable only when so much has come or the server has closed.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT,
                                   1 << 20)
        body = json.dumps(wish.body()).encode()
        self.begin = time.perf_counter()
        self.socket.sendall(
            b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.parts = []  # What came, each with its time.

    def read(self):
        """Takes what has come; whether there is more to come."""
        got = self.socket.recv(1 << 16)
        self.parts.append((time.perf_counter(), got))
        if got and b"data: [DONE]" not in got:
            return True
        self.socket.close()
        return False

    def times(self):
        """When there was text."""
        return [at for at, got in self.parts if HAS_TEXT.search(got)]

    def usage(self):
        """Tokens of prompt and answer, as the server has counted them."""
        data = b"".join(got for _, got in self.parts)
        status = data.split(b"\r\n", 1)[0]
        if b" 200 " not in status:
            raise RuntimeError(data[:500].decode(errors="replace"))
        for line in reversed(data.split(b"\n")):
            if line.startswith(b"data: {") and b'"usage":{' in line:
                return json.loads(line[6:])["usage"]
        raise RuntimeError("no usage: " + data[-500:].decode(
            errors="replace"))


class Load:
    """What came of requests that so many clients made, each its next as soon as
    the one before was answered. `whole` as of Stream: no row() then."""

    def __init__(self, address, requests, clients, whole=False):
        waiting = list(reversed(requests))
        done = []
        streams = {}  # By descriptor.
        ready = select.epoll()

        def start():
            if waiting:
                stream = Stream(address, waiting.pop(), whole)
                streams[stream.socket.fileno()] = stream
                ready.register(stream.socket, select.EPOLLIN)

        begin, processor = time.perf_counter(), time.process_time()
        for _ in range(clients):
            start()
        while streams:
            for descriptor, _ in ready.poll():
                if not streams[descriptor].read():  # Closed, so forgotten.
                    done.append(streams.pop(descriptor))
                    start()
        self.seconds = time.perf_counter() - begin
        self.client_seconds = time.process_time() - processor
        usages = [stream.usage() for stream in done]
        for stream, usage in zip(done, usages):
            if usage["completion_tokens"] != stream.wish.new:
                raise RuntimeError(f"{usage} for {stream.wish.new} tokens")
        self.prompt_tokens = sum(one["prompt_tokens"] for one in usages)
        self.new_tokens = sum(one["completion_tokens"] for one in usages)
        times = [stream.times() for stream in done]
        self.first = sorted(of[0] - stream.begin
                            for stream, of in zip(done, times))
        self.gaps = sorted(b - a for of in times for a, b in zip(of, of[1:]))

    def row(self):
        return {"tokens/s": self.new_tokens / self.seconds,
                "first p50": quantile(self.first, 0.5),
                "first p95": quantile(self.first, 0.95),
                "gap p50": 1e3 * quantile(self.gaps, 0.5),
                "gap p95": 1e3 * quantile(self.gaps, 0.95)}


def quantile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1,
                             int(share * len(sorted_values)))]
