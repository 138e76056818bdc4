"""The page of tenon serve, in a headless Chromium, by keyboard.

page.py TENON WORK EXAMPLE: leaves pictures in WORK.
"""

import json
import pathlib
import re
import shutil
import sys

import support
from browser import Browser
from serve import Server, compiled

# Of a page: what its parts say.
ARTICLES = "[...document.querySelectorAll('article')]"
LAST = f"({ARTICLES}.at(-1)?.textContent ?? '')"
NOTE = "(document.querySelector('article:last-child small')?.textContent ?? '')"
FOCUS = "document.activeElement.id"
IDLE = "(!document.getElementById('send').disabled)"


def engine(name):
    """A number of the view of the engine."""
    return (f"Number.parseFloat([...document.querySelectorAll('#engine dt')]"
            f".find(dt => dt.textContent === '{name}')"
            f"?.nextElementSibling.textContent)")


class Page:
    def __init__(self, test, server, browser):
        self.test = test
        self.server = server
        self.browser = browser
        self.origin = f"http://127.0.0.1:{server.port}"

    def focus(self, name):
        """Goes to an element by Tab, as a person does; whether it is there."""
        for _ in range(30):
            if self.browser.value(FOCUS) == name:
                return True
            self.browser.press("Tab")
        return False

    def set(self, name, text):
        self.test.check(self.focus(name), f"{name} by Tab")
        self.browser.value(f"document.getElementById('{name}').select()")
        self.browser.write(text)

    def say(self, text):
        """Sends a message by keyboard."""
        self.test.check(self.focus("text"), "the message by Tab")
        self.browser.write(text)
        self.browser.press("Enter")

    def ended(self, what):
        self.test.check(self.browser.wait(f"{IDLE} && {NOTE} !== ''"), what)

    def wish(self):
        """The last request for an answer."""
        return json.loads([body for method, url, body in self.browser.requests
                           if url.endswith("/v1/chat/completions")][-1])

    def begin(self):
        browser = self.browser
        self.test.check(browser.open(self.origin + "/"), "the page opens")
        self.test.check(browser.wait(
            "document.getElementById('model').value !== ''"), "a model")
        self.test.check(browser.value(FOCUS) == "text",
                        "the message has the focus")
        # How many lengths the answer had shows that it came in parts.
        browser.value("""
            window.lengths = new Set();
            new MutationObserver(() => lengths.add(
                document.getElementById('talk').lastElementChild
                    ?.textContent.length))
              .observe(document.getElementById('talk'),
                       {childList: true, subtree: true, characterData: true});
            0""")
        self.set("max_tokens", "400")
        self.test.check(self.focus("text"), "back to the message")

    def conversation(self):
        browser = self.browser
        browser.write("hello")
        browser.press("Enter", shift=True)
        browser.write("there")
        self.test.check(
            browser.value("document.getElementById('text').value")
            == "hello\nthere" and not browser.value(f"{ARTICLES}.length"),
            "Shift+Enter begins a line")
        browser.press("Enter")
        self.ended("an answer")
        self.test.check(
            browser.value(f"{ARTICLES}.map(a => a.className)")
            == ["user", "assistant"]
            and browser.value(f"{ARTICLES}[0].textContent") == "hello\nthere",
            "the conversation is shown")
        wish = self.wish()
        self.test.check(
            wish["messages"] == [{"role": "user", "content": "hello\nthere"}]
            and "temperature" not in wish and "seed" not in wish,
            f"what is asked: {wish}")
        parts = browser.value("lengths.size")
        self.test.check(parts > 5, f"it is streamed, in {parts} parts")
        browser.picture(self.test.work / "wide.png")

    def settings(self):
        browser = self.browser
        for name, value in (("system", "be short"), ("temperature", "1.1"),
                            ("top_p", "0.9"), ("max_tokens", "7"),
                            ("seed", "3")):
            self.set(name, value)
        self.say("again")
        self.ended("an answer with settings")
        wish = self.wish()
        self.test.check(
            {name: wish.get(name) for name in (
                "temperature", "top_p", "max_tokens", "seed")}
            == {"temperature": 1.1, "top_p": 0.9, "max_tokens": 7, "seed": 3}
            and wish["messages"][0] == {"role": "system", "content": "be short"}
            and [m["role"] for m in wish["messages"][1:]]
            == ["user", "assistant", "user"], f"settings are sent: {wish}")
        note = browser.value(NOTE)
        self.test.check(re.match(r"[1-7] tokens, [\d.]+ a second, ", note),
                        f"its numbers: {note}")
        return browser.value(LAST)

    def again(self, before):
        browser = self.browser
        count = browser.value(f"{ARTICLES}.length")
        self.test.check(self.focus("again"), "Regenerate by Tab")
        browser.press("Enter")
        self.ended("another answer")
        strip = lambda text: re.sub(r"\d+ tokens, .*", "", text, flags=re.S)
        self.test.check(
            browser.value(f"{ARTICLES}.length") == count
            and strip(browser.value(LAST)) == strip(before)
            and self.wish()["messages"][-1]["content"] == "again",
            "regenerate asks the same, and with a seed has the same answer")

    def stop(self):
        browser = self.browser
        self.set("max_tokens", "100000")
        self.set("temperature", "0")
        self.set("top_p", "1")
        self.say("a long one")
        self.test.check(browser.wait(f"{engine('Requests that run')} === 1 && "
                                     f"{engine('Generated tokens/s')} > 0"),
                        "a request that runs is seen, and how fast")
        self.test.check(self.focus("stop"), "Stop by Tab")
        browser.press("Space")
        self.test.check(browser.wait(f"{NOTE} === 'stopped'"),
                        f"it is stopped: {browser.value(NOTE)}")
        self.test.check(self.server.wait_idle(), "and the engine with it")
        self.test.check(browser.wait(f"{engine('Requests that run')} === 0"),
                        "which is seen")

    def mistakes(self):
        browser = self.browser
        self.set("top_p", "7")
        failures = list(browser.failures)
        self.say("wrong")
        self.test.check(browser.wait(
            "document.querySelector('article.error') !== null"), "an error")
        self.test.check("top_p" in browser.value(LAST),
                        f"it says why: {browser.value(LAST)}")
        # The browser itself writes down that the status was 400.
        browser.failures = failures + [
            failure for failure in browser.failures[len(failures):]
            if "status of 400" not in failure]
        self.set("top_p", "0.5")
        self.test.check(self.focus("reset"), "New conversation by Tab")
        browser.press("Enter")
        self.test.check(browser.value(f"{ARTICLES}.length") == 0
                        and browser.value(FOCUS) == "text",
                        "a new conversation")

    def narrow(self):
        browser = self.browser
        self.set("max_tokens", "20")
        self.say("word" * 60)
        self.ended("a long word")
        for width, height in (320, 568), (390, 844), (768, 1024):
            browser.resize(width, height)
            browser.picture(self.test.work / f"width-{width}.png")
            wide = browser.value("document.documentElement.scrollWidth")
            self.test.check(wide <= width, f"{width} wide: {wide}")
            talk = browser.value(
                "document.getElementById('talk').clientHeight")
            self.test.check(talk > 0.35 * height,
                            f"there is room for the conversation: {talk}")
            # What has the focus can be seen.
            for name in "text", "send", "max_tokens":
                self.test.check(self.focus(name), f"{name} at {width}")
                box = browser.value(f"""(() => {{
                    const box = document.getElementById('{name}')
                        .getBoundingClientRect();
                    return [box.left, box.top, box.right, box.bottom]; }})()""")
                self.test.check(
                    box[0] >= 0 and box[1] >= 0 and box[2] <= width
                    and box[3] <= height, f"{name} at {width}: {box}")


def main():
    test = support.Test(sys.argv[1:])
    # Texts that are long enough to be looked at while they are written.
    artifact = compiled(test, pathlib.Path(sys.argv[3]), positions=8192)
    with Server(test.tenon, artifact, "--threads", 1) as server, Browser(
            shutil.which("chromium"), test.work / "profile") as browser:
        page = Page(test, server, browser)
        page.begin()
        page.conversation()
        page.again(page.settings())
        page.stop()
        page.mistakes()
        page.narrow()
        elsewhere = [url for _, url, _ in browser.requests
                     if not url.startswith((page.origin + "/", "data:"))]
        test.check(browser.requests and not elsewhere,
                   f"{len(browser.requests)} requests, elsewhere: {elsewhere}")
        test.check(not browser.failures, f"no errors: {browser.failures}")
    test.finish()


main()
