"""A headless Chromium, spoken to through chromedriver as the W3C's WebDriver says; no package of Python is needed."""
import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window. Use it in a with statement; Chromium and its driver end with it."""

    def __init__(self, width=1280, height=900, dark=False):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.address = None
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.address = f"http://127.0.0.1:{found[1]}/session"
                break
        if not self.address:
            raise RuntimeError("chromedriver did not start")
        options = ["--headless=new", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}", "--force-device-scale-factor=1"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        if dark:
            options.append("--force-dark-mode")
        self.session = self._call("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": options}, "goog:loggingPrefs": {"browser": "ALL"}, "timeouts": {"script": 60000, "pageLoad": 120000}}}})["sessionId"]

    @staticmethod
    def there():
        return shutil.which("chromium") and shutil.which("chromedriver")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _call(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=150) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"]) from None

    def call(self, method, path, body=None):
        return self._call(method, f"/{self.session}{path}", body)

    def open(self, path, anchor=""):
        self.call("POST", "/url", {"url": path.resolve().as_uri() + anchor})

    def run(self, script, *arguments):
        """The value that a script returns, also when it is a promise."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def becomes(self, script, wanted, seconds=20):
        """Whether a script returns what is wanted; the page answers keys and links in its own time."""
        end = time.monotonic() + seconds
        while self.run(script) != wanted:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def press(self, key):
        """A key, as if typed."""
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def messages(self):
        """What the console has said since it was last asked."""
        return [f'{m["level"]}: {m["message"]}' for m in self.call("POST", "/se/log", {"type": "browser"})]

    def resize(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def media(self, name):
        """As if it were shown on "screen", or on paper, "print"."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": name}})

    def pdf(self):
        return base64.b64decode(self.call("POST", "/print", {"background": True}))
