"""Images in prompts over HTTP: the same answers as of tenon run, whatever else
runs, and what is refused.

images.py TENON WORK EXAMPLE
"""

import base64
import concurrent.futures
import json
import pathlib
import struct
import sys
import zlib

import numpy

import models
import support
from serve import Server, ServerTest, compiled

CHAT, RESPONSES, MESSAGES = ("/v1/chat/completions", "/v1/responses",
                             "/v1/messages")
QUESTION = "The king saw a picture"
JPEG = pathlib.Path(__file__).parent.parent / "image" / "files" / "420.jpg"


def png(seed, height=40, width=50):
    """A PNG file of noise."""
    pixels = numpy.random.default_rng(seed).integers(
        0, 256, (height, width, 3), dtype=numpy.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data
                + struct.pack(">I", zlib.crc32(name + data)))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def url(data, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def image(data, kind="png"):
    return {"type": "image_url", "image_url": {"url": url(data, kind)}}


def source(data, kind="png"):
    return {"type": "image", "source": {
        "type": "base64", "media_type": f"image/{kind}",
        "data": base64.b64encode(data).decode()}}


def chat(*content, **more):
    return {"messages": [{"role": "user", "content": list(content)}],
            "temperature": 0, "max_tokens": 12, "return_token_ids": True,
            "logprobs": True, "ignore_eos": True, **more}


def text(words):
    return {"type": "text", "text": words}


class Images(ServerTest):
    def answer(self, server, body):
        """New tokens with their scores, and the usage."""
        status, headers, answer = server.ask(CHAT, body)
        if status != 200:
            raise RuntimeError(answer)
        self.last = headers["X-Request-Id"]
        choice, = answer["choices"]
        return list(zip(choice["token_ids"], (
            each["logprob"] for each in choice["logprobs"]["content"]),
            strict=True)), answer["usage"]

    def ids_of(self, server, body):
        """The prompt's ids, an image as one token."""
        ids = server.ask("/tokenize", {"messages": body["messages"]})[2]
        short, left = [], 0
        for each in ids["tokens"]:
            left = left - 1 if left else (
                models.IMAGE_ROWS - 1 if each == models.IMAGE_TOKEN else 0)
            if not (each == models.IMAGE_TOKEN
                    and left != models.IMAGE_ROWS - 1):
                short.append(each)
        return ids["count"], short

    def run(self, ids, *pictures):
        """What tenon run answers."""
        options = []
        for number, each in enumerate(pictures):
            path = self.test.work / f"picture-{number}"
            path.write_bytes(each)
            options += ["--image", path]
        done = self.test.need(
            "tenon", "run", self.artifact, "--token-ids",
            ",".join(map(str, ids)), *options, "--temperature", 0,
            "--max-new-tokens", 12, "--ignore-eos", "--logprobs", 0, "--json")
        return [(each["token_id"], each["logprob"])
                for each in json.loads(done)["logprobs"]]

    def answers(self, server):
        first, second, photo = png(1), png(2), JPEG.read_bytes()
        found = []
        for content, pictures in (
                ([image(first), text(QUESTION)], [first]),
                ([image(second), text(QUESTION)], [second]),
                ([text(QUESTION), image(photo, "jpeg")], [photo]),
                ([image(second), text("and"), image(first)], [second, first]),
                ([text(QUESTION)], [])):
            body = chat(*content)
            count, ids = self.ids_of(server, body)
            self.expect("image tokens", ids.count(models.IMAGE_TOKEN),
                        len(pictures))
            new, usage = self.answer(server, body)
            self.expect("usage", usage["prompt_tokens"], count)
            self.expect("rows", count,
                        len(ids) + len(pictures) * (models.IMAGE_ROWS - 1))
            self.expect(f"as tenon run, {len(pictures)} images", new,
                        self.run(ids, *pictures))
            found.append(tuple(new))
        self.test.check(len(set(found)) == len(found),
                        f"images change answers: {found}")
        # Templates show an image as one token.
        self.expect("the prompt", server.ask("/apply-template", {
            "messages": chat(text("a"), image(first))["messages"]})[2],
            {"prompt": "[user] <image>\na[assistant]"})
        # No text of a user is one.
        status, _, answer = server.ask(CHAT, chat(text("<image> " + QUESTION)))
        self.expect("a text like the token", status, 200)

    def same_everywhere(self, server):
        """The three APIs, whole and streamed."""
        first = png(3)
        whole = server.ask(CHAT, chat(image(first), text(QUESTION)))[2]
        said = whole["choices"][0]["message"]["content"]
        size = whole["usage"]["prompt_tokens"]
        self.expect("streamed", "".join(
            event["choices"][0]["delta"].get("content", "")
            for event in server.events(
                CHAT, chat(image(first), text(QUESTION))) if event["choices"]),
            said)
        content = [{"type": "input_image", "image_url": url(first),
                    "detail": "low"}, {"type": "input_text", "text": QUESTION}]
        answer = server.ask(RESPONSES, {
            "input": [{"role": "user", "content": content}], "temperature": 0,
            "max_output_tokens": 12})[2]
        self.expect("responses", answer["output"][0]["content"][0]["text"], said)
        self.expect("their usage", answer["usage"]["input_tokens"], size)
        talk = {"messages": [{"role": "user", "content": [
            source(first), text(QUESTION)]}]}
        answer = server.ask(MESSAGES, {**talk, "temperature": 0,
                                       "max_tokens": 12})[2]
        self.expect("messages", answer["content"][0]["text"], said)
        self.expect("their number",
                    server.ask(MESSAGES + "/count_tokens", talk)[2],
                    {"input_tokens": size})
        # What tools answer may have images, in their own place.
        call = [{"role": "user", "content": [image(png(4)), text("a")]},
                {"role": "assistant", "content": "", "tool_calls": [{
                    "id": "c", "type": "function", "function": {
                        "name": "see", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c", "content": [
                    text("it"), image(first)]},
                {"role": "user", "content": [text("b"), image(png(5))]}]
        body = {"messages": call, "temperature": 0, "max_tokens": 12}
        said = server.ask(CHAT, body)[2]["choices"][0]["message"]["content"]
        blocks = [
            {"role": "user", "content": [source(png(4)), text("a")]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c", "name": "see", "input": {}}]},
            {"role": "user", "content": [
                text("b"),
                {"type": "tool_result", "tool_use_id": "c", "content": [
                    text("it"), source(first)]}, source(png(5))]}]
        answer = server.ask(MESSAGES, {"messages": blocks, "temperature": 0,
                                       "max_tokens": 12})[2]
        self.expect("results of tools", answer["content"][0]["text"], said)
        items = [
            {"role": "user", "content": [
                {"type": "input_image", "image_url": url(png(4))},
                {"type": "input_text", "text": "a"}]},
            {"type": "function_call", "call_id": "c", "name": "see",
             "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [
                {"type": "input_text", "text": "it"},
                {"type": "input_image", "image_url": url(first)}]},
            {"role": "user", "content": [
                {"type": "input_text", "text": "b"},
                {"type": "input_image", "image_url": url(png(5))}]}]
        answer = server.ask(RESPONSES, {"input": items, "temperature": 0,
                                        "max_output_tokens": 12})[2]
        self.expect("outputs of functions",
                    answer["output"][0]["content"][0]["text"], said)

    def together(self, server, caches):
        """Alone and at once, the same twice, others with the same tokens."""
        long = QUESTION + " and said that" * 12
        drawn = {"temperature": 1.5, "seed": 3, "max_tokens": 24}
        bodies = [chat(text(long), image(png(seed)), **drawn)
                  for seed in (10, 11, 12, 10)]
        bodies += [chat(image(png(seed)), image(png(20)), text(long), **drawn)
                   for seed in (10, 11)]
        alone = [self.answer(server, body)[0] for body in bodies]
        self.test.check(alone[0] != alone[1] and alone[4] != alone[5],
                        f"images decide: {alone}")
        self.expect("the same image", alone[3], alone[0])
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            for round in range(3):
                found = list(pool.map(
                    lambda body: self.answer(server, body)[0], bodies * 2))
                self.expect(f"at once, round {round}", found, alone * 2)
        usage = self.answer(server, bodies[4])[1]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        if caches:
            self.test.check(cached >= 64, f"kept tokens: {cached}")
        else:
            self.expect("nothing is kept", cached, 0)

    def explained(self, server):
        body = chat(image(png(30)), image(png(31)), text("a"))
        self.answer(server, body)
        prompt, = server.ask(f"/v1/requests/{self.last}")[2]["prompts"]
        self.test.check(prompt["images"]["encoded"] == 2
                        and prompt["images"]["ms"] > 0,
                        f"images of {prompt}")
        shown = self.test.need("tenon", "explain", self.last, "--url",
                               f"http://127.0.0.1:{server.port}")
        self.test.check("2 encoded, in " in shown, f"explained: {shown}")

    def refusals(self, server):
        good = image(png(1))

        def of_url(address):
            return CHAT, chat({"type": "image_url",
                               "image_url": {"url": address}})

        def of_part(part):
            return RESPONSES, {"input": [{"role": "user", "content": [part]}]}

        def of_source(**members):
            return MESSAGES, {"max_tokens": 1, "messages": [
                {"role": "user", "content": [
                    {"type": "image", "source": members}]}]}
        place = "'messages[0].content[0].image_url.url'"
        for (path, body), *parts in (
                (of_url("https://example.com/a.png"), place,
                 "nothing is fetched"),
                (of_url("file:///etc/passwd"), place, "nothing is fetched"),
                (of_url("data:image/gif;base64,R0lGODlh"), "'image/gif'",
                 "expected image/png or image/jpeg"),
                (of_url("data:image/png;base64,A*=="), "character at 1"),
                (of_url("data:image/png;base64,R0lGODlh"), "is a GIF file"),
                (of_url(url(png(1)[:200])), place, "the PNG"),
                (of_url(url(JPEG.read_bytes()[:200], "jpeg")), "the JPEG"),
                (of_url(url(png(1, 1, 65536))), "65536 x 1 pixels"),
                ((CHAT, chat(*[good] * 17)), "the image number 17",
                 "at most 16"),
                ((CHAT, chat(*[good] * 16)), "256", "the model's longest"),
                ((CHAT, {"messages": [{"role": "system", "content": [good]}]}),
                 "'messages[0].content'[0] is 'image_url'", "of users"),
                ((CHAT, chat({"type": "image"})), "[0] is 'image'"),
                ((CHAT, chat({"type": "input_audio"})), "'input_audio'"),
                ((CHAT, chat({"type": "image_url"})),
                 "'messages[0].content[0].image_url' is null"),
                ((CHAT, chat({"type": "image_url", "image_url": {
                    "url": url(png(1)), "detail": "huge"}})), "detail"),
                (of_part({"type": "input_image", "file_id": "file-1"}),
                 "'input[0].content[0].file_id'"),
                (of_part({"type": "input_image", "image_url": "http://a.b"}),
                 "'input[0].content[0].image_url'", "nothing is fetched"),
                (of_part({"type": "input_file", "file_id": "a"}),
                 "'input_file'"),
                ((RESPONSES, {"input": [{"role": "assistant", "content": [
                    {"type": "input_image", "image_url": url(png(1))}]}]}),
                 "of users"),
                (of_source(type="url", url="https://a.b"),
                 "'messages[0].content[0].source.type' is \"url\""),
                (of_source(type="file", file_id="f"), "\"file\""),
                (of_source(type="base64", media_type="image/webp", data="AA=="),
                 "'image/webp'"),
                (of_source(type="base64", media_type="image/png", data="AA"),
                 "a multiple of 4"),
                ((MESSAGES, {"max_tokens": 1, "messages": [
                    {"role": "assistant", "content": [source(png(1))]}]}),
                 "of users"),
                (("/v1/completions", {"prompt": "a <image> b"}),
                 "expected it once for each of 0 images")):
            status, _, answer = server.ask(path, body)
            message = answer.get("error", {}).get("message", "")
            self.test.check(status == 400 and all(
                part in message for part in parts) and "\n" not in message,
                f"{parts}: {status} {message[:300]!r}")
        self.test.check(server.wait_idle(), "nothing is left")

    def of_texts(self, server):
        """A model that reads texts only says so."""
        for path, body in (
                (CHAT, chat(image(png(1)))),
                (RESPONSES, {"input": [{"role": "user", "content": [
                    {"type": "input_image", "image_url": url(png(1))}]}]}),
                (MESSAGES, {"max_tokens": 1, "messages": [
                    {"role": "user", "content": [source(png(1))]}]})):
            status, _, answer = server.ask(path, {**body, "model": "text"})
            self.test.check(
                status == 400
                and "this model reads texts only" in answer["error"]["message"],
                f"{path}: {status} {answer}")


def check_marks(test, tenon, example):
    """A template that reads texts has the tokens before the text."""
    artifact = test.compile(models.llava(
        test.work / "marks", example,
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"),
        "marks", "--dtype", "f32")
    with Server(tenon, artifact, default="marks") as server:
        body = chat(text("see "), image(png(1)), text("<image>"),
                    image(png(2)))
        prompt = server.ask("/apply-template", {"messages": body["messages"]})[2]
        test.check(prompt == {"prompt": "user: <image>\n<image>\nsee <image>\n"},
                   f"marks: {prompt}")
        status, _, answer = server.ask(CHAT, body)
        test.check(status == 200, f"an answer: {answer}")


def check_record(test, tenon, artifact):
    """Requests with images can be given again."""
    record = test.work / "record.jsonl"
    with Server(tenon, artifact, "--record", record,
                default="sees") as server:
        for seed in 1, 2, 1:
            server.ask(CHAT, chat(image(png(seed)), text("a"), temperature=1))
        server.terminate()
        server.ended()
    done = test.run("tenon", "replay", record, artifact)
    test.check(done.returncode == 0 and "3" in done.stdout,
               f"replayed: {done.stdout} {done.stderr}")


def check_talk(test, artifact):
    """tenon chat takes images."""
    for number in 1, 2:
        (test.work / f"{number}.png").write_bytes(png(number))
    one, two = test.work / "1.png", test.work / "2.png"

    def said(*lines):
        done = test.run("tenon", "chat", artifact, "--temperature", 0,
                        "--max-new-tokens", 12,
                        input="\n".join(map(str, lines)))
        test.check(done.returncode == 0, f"chat: {done.stderr}")
        return done.stdout
    first, second = (said(f"/image {path}", QUESTION) for path in (one, two))
    test.check(len({first, second, said(QUESTION)}) == 3,
               f"images change answers: {first!r} {second!r}")
    # What is kept of one conversation is not another's, though its tokens are.
    test.check(said(f"/image {one}", QUESTION, "/reset", f"/image {two}",
                    QUESTION) == first + second, "one after the other")
    done = test.run("tenon", "chat", artifact,
                    input=f"/image {test.work}/none.png\n/image {__file__}\n")
    test.check(done.returncode == 1 and done.stderr.count("error") == 3
               and "expected a PNG or JPEG file" in done.stderr,
               f"no images: {done.stderr}")


def main():
    test = support.Test(sys.argv[1:])
    tenon, example = sys.argv[1], pathlib.Path(sys.argv[3])
    artifact = test.compile(models.llava(test.work / "sees", example), "sees",
                            "--dtype", "f32")
    texts = compiled(test, example, name="text")
    for caches in True, False:
        options = [] if caches else ["--no-prefix-cache"]
        with Server(tenon, artifact, texts, *options,
                    default="sees") as server:
            images = Images(test, tenon, artifact)
            images.together(server, caches)
            if not caches:
                continue
            images.answers(server)
            images.same_everywhere(server)
            images.explained(server)
            images.refusals(server)
            images.of_texts(server)
    check_marks(test, tenon, example)
    check_record(test, tenon, artifact)
    check_talk(test, artifact)
    test.finish()


if __name__ == "__main__":
    main()
