"""Many requests at once: the same request, the same bytes.

serving.py TENON WORK EXAMPLE
"""

import json
import random
import sys

import support

REQUESTS = 48


def requests(text):
    """Prompts of mixed lengths, some of which begin alike; mixed settings."""
    draw = random.Random(3)
    shared = text[:600]
    lines = []
    for number in range(REQUESTS):
        start = draw.randrange(len(text) - 400)
        prompt = text[start:start + draw.randrange(1, 300)]
        if number % 3 == 0:
            prompt = shared[:draw.randrange(len(shared))] + prompt
        request = {"prompt": prompt, "seed": number,
                   "max_new_tokens": draw.randrange(1, 24)}
        if number % 2:
            request["temperature"] = 1.5
        if number % 5 == 1:
            request["logprobs"] = 2
        if number % 7 == 2:
            request["repetition_penalty"] = 1.2
        if number % 10 == 3:
            request |= {"echo": True, "logprobs": 1}
        if number % 16 == 4:
            request |= {"n": 2, "temperature": 1.1}
        if number % 16 == 5:
            request |= {"num_beams": 2, "seed": 0}
            request.pop("temperature", None)
            request.pop("logprobs", None)
        if number % 9 == 8 and "num_beams" not in request:
            request["stop"] = ["e", "the"]
        lines.append(request)
    return lines


class Serving:
    def __init__(self, test, example):
        self.test = test
        self.work = test.work
        self.example = example
        self.requests = requests((example / "heldout.txt").read_text())

    def answers(self, artifact, lines, *options):
        """What was generated, line by line, without how long it took."""
        path = self.work / "requests.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = self.test.need("tenon", "run", artifact, "--prompts", path,
                             *options)
        found = []
        for number, line in enumerate(out.splitlines()):
            answer = json.loads(line)
            if answer["index"] != number:
                self.test.check(False, f"index {answer['index']} at {number}")
            answer.pop("timings")
            answer.pop("index")
            found.append((answer.pop("cached_tokens"), answer))
        return found

    def same(self, name, *compile_options):
        artifact = self.test.compile(self.example, name, *compile_options)
        order = list(range(REQUESTS))
        random.Random(1).shuffle(order)
        # As many as the variants for few tokens take, and more.
        for running in "2", "12":
            options = "--max-num-seqs", running
            together = self.answers(artifact, self.requests, *options)
            whole = [answer for _, answer in together]
            self.test.check(len(whole) == REQUESTS and any(
                cached for cached, _ in together), f"{name}: prefixes are shared")
            variations = {
                "no prefix cache": ["--no-prefix-cache"],
                "small slices": ["--max-step-ms", "0.001"],
                "whole prompts": ["--max-step-ms", "100000"],
                "1 thread": ["--threads", "1"],
                "3 threads, small slices": ["--threads", "3", "--max-step-ms",
                                            "0.001"],
            }
            for what, more in variations.items():
                found = [answer for _, answer in self.answers(
                    artifact, self.requests, *options, *more)]
                wrong = [i for i in range(REQUESTS) if found[i] != whole[i]]
                self.test.check(not wrong, f"{name}, {running} at once, {what}: "
                                           f"requests that differ: {wrong}")
            found = [answer for _, answer in self.answers(
                artifact, [line if "num_beams" in line else
                           line | {"prompt_lookup_num_tokens": 1 + i % 9}
                           for i, line in enumerate(self.requests)], *options)]
            wrong = [i for i in range(REQUESTS) if found[i] != whole[i]]
            self.test.check(not wrong, f"{name}, {running} at once, look-up: "
                                       f"requests that differ: {wrong}")
            kept = self.work / f"{name}-{running}.prefixes"
            for command in "first", "later":
                answers = self.answers(artifact, self.requests, *options,
                                       "--prefix-cache", kept)
                wrong = [i for i in range(REQUESTS)
                         if answers[i][1] != whole[i]]
                self.test.check(not wrong, f"{name}, {running} at once, kept "
                                f"prefixes, {command} command: requests that "
                                f"differ: {wrong}")
            before = sum(cached for cached, _ in together)
            after = sum(cached for cached, _ in answers)
            self.test.check(after > before, f"{name}: {after} tokens from the "
                                            f"file, {before} without")
            found = self.answers(artifact,
                                 [self.requests[i] for i in order], *options)
            wrong = [i for place, i in enumerate(order)
                     if found[place][1] != whole[i]]
            self.test.check(not wrong, f"{name}, {running} at once, another "
                                       f"order: requests that differ: {wrong}")
            wrong = [i for i in range(0, REQUESTS, 7) if self.answers(
                artifact, [self.requests[i]], *options)[0][1] != whole[i]]
            self.test.check(not wrong, f"{name}, {running} at once, alone: "
                                       f"requests that differ: {wrong}")

    def prefix_files(self, artifact):
        """Files of cached prefixes that are wrong."""
        requests = self.work / "one.jsonl"
        requests.write_text(json.dumps("In the beginning " * 40) + "\n")
        kept = self.work / "one.prefixes"
        run = ["tenon", "run", artifact, "--prompts", requests,
               "--prefix-cache", kept, "--max-new-tokens", "2"]
        self.test.need(*run)
        whole = kept.read_bytes()
        kept.write_bytes(whole[:-1])
        self.test.expect_error("a damaged file", str(kept), "pages is",
                               command=run)
        self.test.check(kept.read_bytes() == whole[:-1], "it is left as it is")
        kept.write_bytes(whole[:20] + bytes(4) + whole[24:])
        done = self.test.run(*run)
        self.test.check(done.returncode == 0
                        and "was made by another artifact" in done.stderr
                        and kept.read_bytes() == whole,
                        f"another's file is replaced: {done.stderr}")
        self.test.expect_error("the artifact", "is no file of cached prefixes",
                               command=[*run[:-4], "--prefix-cache", artifact])
        self.test.expect_error(
            "both", "--no-prefix-cache", status=2,
            command=[*run, "--no-prefix-cache"])

    def mistakes(self, artifact):
        path = self.work / "wrong.jsonl"

        def error(content):
            path.write_text(content)
            done = self.test.run("tenon", "run", artifact, "--prompts", path)
            return done.returncode, done.stdout, done.stderr
        good = '{"prompt": "a", "max_new_tokens": 2}\n'
        for content, expected in (
                (good + "[1]\n", f"{path}:2: is an array: expected a string or "
                                 f"an object"),
                (good + "\n{\n", f"{path}:3: "),
                (good + '{"prompt": "a", "output": "x"}\n',
                 f"{path}:2: 'output' is no option of a request"),
                ('{"prompt": {}}', f"{path}:1: 'prompt' is an object: expected "
                                   f"a string, or an array of such"),
                ('{"max_new_tokens": 3}',
                 f"{path}:1: expected one of 'prompt', 'messages' and "
                 "'token_ids'"),
                ('{"prompt": "a", "messages": []}',
                 f"{path}:1: expected one of 'prompt', 'messages'"),
                ('{"prompt": "a", "tools": []}',
                 f"{path}:1: 'tools' is for 'messages'"),
                ('{"messages": [{"role": "user", "content": "a"}]}',
                 f"{path}:1: "),
                ('{"messages": [{"role": "user", "content": "a"}], '
                 '"tools": [{}]}',
                 f"{path}:1: 'tools[0]' is no function"),
                ('{"prompt": "a", "temperature": -1}',
                 f"{path}:1: temperature is -1: expected a finite number"),
                ("\n", f"{path}: has no requests")):
            status, out, said = error(content)
            self.test.check(
                status == 1 and out == "" and said.count("\n") == 1
                and said.startswith(f"tenon: error: {expected}"),
                f"{content!r}: {said!r}")
        status, out, said = error(good + json.dumps(
            {"prompt": "a", "max_new_tokens": 2, "n": 9, "temperature": 1})
            + "\n{\"token_ids\": [1, 99999999]}\n" + good)
        lines = [json.loads(line) for line in out.splitlines()]
        self.test.check(
            status == 1 and len(lines) == 4 and "2 of 4 requests" in said
            and "9 texts at once: expected at most 8" in lines[1]["error"]
            and len(lines[1]["choices"]) == 9
            and "token id 99999999" in lines[2]["error"]
            and lines[0]["token_ids"] == lines[3]["token_ids"],
            f"a request that never fits: {said} {lines}")


def main():
    test = support.Test(sys.argv[1:])
    serving = Serving(test, support.pathlib.Path(test.names[0]))
    serving.same("f32", "--dtype", "f32")
    serving.same("int4", "--quantize", "int4")
    serving.prefix_files(test.work / "f32.tenon")
    serving.mistakes(test.work / "f32.tenon")
    test.finish()


main()
