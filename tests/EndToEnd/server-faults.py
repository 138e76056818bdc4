"""tenon serve: its end under load, and damaged files of models.

server-faults.py TENON WORK EXAMPLE
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import socket
import string
import subprocess
import sys
import time

import models
import serve
import support

LONG = {"max_tokens": 60, "ignore_eos": True, "temperature": 1.2}
TEXT = "/v1/completions"


def wish(number, **more):
    return {"prompt": "word " * (1 + number), "seed": number, **LONG, **more}


class Faults(serve.ServerTest):
    def under_load(self, server, count, **more):
        """So many requests under way; futures of what each is answered, None
        for a connection that ends before."""
        def ask(number):
            try:
                return server.ask(TEXT, wish(number, **more))
            except (OSError, http.client.HTTPException):
                return None
        pool = concurrent.futures.ThreadPoolExecutor(count)
        answers = [pool.submit(ask, number) for number in range(count)]
        pool.shutdown(wait=False)
        while (server.metric("tenon:num_requests_running")
               + server.metric("tenon:num_requests_waiting") < count):
            time.sleep(0.01)
        return answers

    def drains(self):
        """What was taken before SIGTERM ends as it would have, queued or not."""
        with serve.Server(self.tenon, self.artifact, "--max-num-seqs", 4,
                          "--drain-timeout", 600) as server:
            alone = [server.ask(TEXT, wish(number))[2]["choices"]
                     for number in range(10)]
            answers = self.under_load(server, 10)
            server.terminate()
            while server.ask("/health")[0] == 200:
                time.sleep(0.01)
            refused = server.ask(TEXT, wish(0))
            self.expect("refused while it drains", refused[0], 503)
            self.expect("alive while it drains", server.ask("/live")[0], 200)
            done = [answer.result() for answer in answers]
            self.expect("answered while it drains",
                        [answer and answer[0] for answer in done], [200] * 10)
            self.expect("as alone", [answer and answer[2].get("choices")
                                     for answer in done], alone)
            self.expect("exit status", server.ended(), (0, ""))
            try:
                server.ask("/live")
                self.test.check(False, "it still listens")
            except OSError:
                self.test.check(True, "it listens no more")

    def drain_timeout(self):
        """What does not end in time is given up, and says so."""
        for streams in False, True:
            with serve.Server(self.tenon, self.artifact, "--max-num-seqs", 2,
                              "--drain-timeout", 0.05) as server:
                answers = self.under_load(server, 40, stream=streams)
                begin = time.monotonic()
                server.terminate()
                done = [answer.result() for answer in answers]
                said = server.ended()
                taken = time.monotonic() - begin
                self.expect("exit status", said, (0, ""))
                self.test.check(taken < 20, f"ends after {taken:.1f} s")
                if streams:
                    bad = [answer for answer in done if answer is None or not (
                        answer[2].endswith("[DONE]\n\n")
                        or '"error"' in answer[2].split("\n\n")[-2]
                        or '"error"' in answer[2].split("\n\n")[-3])]
                else:
                    bad = [answer for answer in done
                           if answer is None or answer[0] not in (200, 503)]
                given_up = sum(answer is not None and "error" in str(answer[2])
                               for answer in done)
                self.test.check(not bad and given_up,
                                f"{given_up} of 40 are told that it ends, "
                                f"streams {streams}: {bad[:2]}")

    def hostile(self):
        """A pattern whose text gets ever more ways to go on ends its own
        request, and no other."""
        ways = "|".join(rf"(.|\n)*[^{letter}](.|\n){{300}}{letter}"
                        for letter in string.ascii_letters)
        limited = {"structured_outputs": {"regex": ways}}
        with serve.Server(self.tenon, self.artifact) as server:
            alone = [server.ask(TEXT, wish(number))[2]["choices"]
                     for number in range(4)]
            answers = self.under_load(server, 4)
            status, _, answer = server.ask(TEXT, wish(9, **limited))
            self.expect("status of a pattern with too many ways", status, 400)
            self.test.check("too many ways to go on" in answer["error"]["message"],
                            f"message: {answer}")
            *_, last = server.events(TEXT, wish(9, **limited, stream=True))
            self.test.check("too many ways to go on" in json.dumps(last),
                            f"the last event: {last}")
            done = [answer.result() for answer in answers]
            self.expect("beside a pattern with too many ways",
                        [answer and answer[2].get("choices") for answer in done],
                        alone)

    def killed(self, work):
        """SIGKILL under load leaves nothing that a new server minds."""
        path = work / "socket"
        port = None
        command = [self.tenon, "serve", f"tiny={self.artifact}",
                   "--default-model", "tiny"]
        answer = None
        for round in range(3):
            with serve.Server(self.tenon, self.artifact) as server:
                answers = self.under_load(server, 12, stream=round == 1)
                server.process.kill()
                ended = [one.result() for one in answers]
                self.test.check(
                    all(one is None or one[0] == 200 for one in ended),
                    "clients of a killed server hear of it")
                port = server.port
            again = subprocess.Popen(
                [*command, "--port", str(port)], stderr=subprocess.PIPE,
                text=True)
            self.test.check(f":{port}" in again.stderr.readline(),
                            "the same port again")
            server = serve.Server.__new__(serve.Server)
            server.port = port
            found = server.ask(TEXT, wish(3))[2]["choices"]
            self.test.check(answer in (None, found), "the same answer again")
            answer = found
            again.kill()
            again.communicate()
        for _ in range(2):
            with subprocess.Popen([*command, "--unix-socket", path],
                                  stderr=subprocess.PIPE, text=True) as process:
                self.test.check(f"unix:{path}" in process.stderr.readline(),
                                "the same socket again")
                with socket.socket(socket.AF_UNIX) as raw:
                    raw.connect(str(path))
                    raw.sendall(b"GET /health HTTP/1.0\r\n\r\n")
                    self.test.check(b"200 OK" in raw.recv(1000),
                                    "an answer through it")
                process.kill()

    def files(self, work, sentences):
        """What is promised of files that change (runtime/README.md), and that
        other models of the process go on."""
        for what in ("replaced", "removed", "shorter", "empty", "overwritten",
                     "longer"):
            changed = work / "changed.tenon"
            other = work / "sentences-changed.tenon"
            shutil.copy(self.artifact, changed)
            shutil.copy(sentences, other)
            # Beyond the tick of the clock in which it was written.
            time.sleep(0.05)
            with serve.Server(self.tenon, self.artifact, f"changed={changed}",
                              f"sentences={other}") as server:
                ask = lambda model, **more: server.ask(
                    TEXT, {**wish(5), "model": model, **more})
                embed = lambda: server.ask("/v1/embeddings", {
                    "model": "sentences", "input": "w1 w2"})
                good = ask("tiny")[2]["choices"]
                self.expect("both", ask("changed")[2]["choices"], good)
                vector = embed()[2]["data"]
                beside = self.under_load(server, 3)
                for file in changed, other:
                    self.change(file, what)
                if what in ("replaced", "removed"):
                    self.expect(what, ask("changed")[2]["choices"], good)
                    self.expect(what, embed()[2]["data"], vector)
                else:
                    for _ in range(2):
                        status, _, answer = ask("changed")
                        self.test.check(
                            status == 500 and "changed.tenon" in
                            answer["error"]["message"],
                            f"{what}: {status} {answer!r}")
                        status, _, answer = embed()
                        self.test.check(
                            status == 500 and "sentences-changed.tenon" in
                            answer["error"]["message"],
                            f"{what}, encoder: {status} {answer!r}")
                    streamed = ask("changed", stream=True)
                    self.test.check(
                        '"error"' in str(streamed[2]),
                        f"{what}, stream: {streamed[0]} {streamed[2]!r}")
                self.expect("beside it", [one.result()[0] for one in beside],
                            [200] * 3)
                self.expect("another model", ask("tiny")[2]["choices"], good)
                self.test.check(server.wait_idle(), "nothing is left")
                server.terminate()
                self.expect("exit status", server.ended(), (0, ""))

    def change(self, file, what):
        if what == "removed":
            file.unlink()
        elif what == "replaced":
            new = file.with_suffix(".new")
            new.write_bytes(b"another")
            os.replace(new, file)
        elif what == "shorter":
            os.truncate(file, file.stat().st_size // 2)
        elif what == "empty":
            os.truncate(file, 0)
        elif what == "longer":
            with file.open("ab") as opened:
                opened.write(b"more")
        else:
            with file.open("r+b") as opened:
                opened.seek(file.stat().st_size // 2)
                opened.write(bytes(1 << 16))


def main():
    test = support.Test(sys.argv[1:])
    # No thread spins on a core that another server or a client needs.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    tenon, example = sys.argv[1], pathlib.Path(sys.argv[3])
    tiny = test.compile(example, "tiny", "--dtype", "f32")
    faults = Faults(test, tenon, tiny)
    faults.drains()
    faults.drain_timeout()
    faults.hostile()
    faults.killed(test.work)
    sentences = test.compile(
        models.sentence_bert(test.work / "sentences", serve.POSITIONS),
        "sentences")
    faults.files(test.work, sentences)
    test.finish()


if __name__ == "__main__":
    main()
