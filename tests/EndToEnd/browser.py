"""A headless Chromium that a test drives, through its debugging pipe: messages
of the DevTools protocol, each ended by a zero byte, on descriptors 3 and 4."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time

PATIENCE = 60  # Seconds that anything may take.
LOWEST = 10    # Of descriptors, so that none is 3 or 4 already.


class Browser:
    """One page. Keeps what it asked for and what went wrong in it."""

    def __init__(self, executable, profile):
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, LOWEST)
                for _ in range(2) for end in os.pipe()]
        commands, self.out, self.into, answers = ends

        def give():
            os.dup2(commands, 3)
            os.dup2(answers, 4)
        # The sandbox needs what containers do not have, and root refuses it;
        # the page comes from a server of the test.
        self.process = subprocess.Popen(
            [executable, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=give, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.left = b""
        self.number = 0
        self.session = None
        self.requests = []  # Of the page: method, URL, body.
        self.failures = []  # Errors in its console.
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.out)
        os.close(self.into)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _read(self, deadline):
        """The next message; None at the deadline."""
        while b"\0" not in self.left:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.into], [], [], wait)[0]:
                return None
            part = os.read(self.into, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.left += part
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        what, of = event.get("method"), event.get("params", {})
        if what == "Network.requestWillBeSent":
            request = of["request"]
            self.requests.append((request["method"], request["url"],
                                  request.get("postData")))
        elif what == "Runtime.exceptionThrown":
            self.failures.append(json.dumps(of["exceptionDetails"]))
        elif what == "Runtime.consoleAPICalled" and of["type"] in (
                "error", "warning", "assert"):
            self.failures.append(json.dumps(of["args"]))
        elif what == "Log.entryAdded" and of["entry"]["level"] == "error":
            self.failures.append(of["entry"]["text"])

    def call(self, method, **parameters):
        """The result of a command; what happens meanwhile is noted."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while answer := self._read(deadline):
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)
        raise RuntimeError(f"{method}: no answer in {PATIENCE} seconds")

    def value(self, expression):
        """What JavaScript makes of an expression, awaited."""
        done = self.call("Runtime.evaluate", expression=expression,
                         awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait(self, expression):
        """Until an expression is true; whether that came."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.value(expression):
                return True
            time.sleep(0.05)
        return False

    def open(self, url):
        self.call("Page.navigate", url=url)
        return self.wait("document.readyState === 'complete'")

    def write(self, text):
        """Types text where the focus is."""
        self.call("Input.insertText", text=text)

    def press(self, key, shift=False):
        """Presses Enter, Tab or Space."""
        code, text = {"Enter": (13, "\r"), "Tab": (9, ""),
                      "Space": (32, " ")}[key]
        event = {"key": " " if key == "Space" else key, "code": key,
                 "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        self.call("Input.dispatchKeyEvent",
                  type="keyDown" if text else "rawKeyDown", **event,
                  **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=width < 600)

    def picture(self, path):
        png = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(png))
