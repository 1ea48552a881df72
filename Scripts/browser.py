"""A page in a headless Chromium, for what Scripts/check-console runs."""

import base64
import json
import os
import subprocess
import time
import urllib.request

from websockets.sync.client import connect

WIDE, NARROW = (1280, 900), (380, 800)
PATIENCE_SECONDS = 20


def require(condition, message):
    if not condition:
        raise AssertionError(message)


def has_text(selector, text):
    return f"document.querySelector({json.dumps(selector)}).innerText.includes({json.dumps(text)})"


class Tab:
    """A page of a browser, spoken to by its debugging protocol."""

    def __init__(self, browser, folder, pictures):
        """pictures is the folder that pictures go to; none are taken when it is empty."""
        self.pictures = pictures
        self.process = subprocess.Popen(
            [
                browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                "--ignore-certificate-errors", "--remote-debugging-port=0", f"--user-data-dir={folder}/profile",
                # Nothing else can be reached, and what tries is seen below.
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank",
            ], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            # What it leaves behind goes with the folder.
            env=dict(os.environ, TMPDIR=folder))
        port_file = f"{folder}/profile/DevToolsActivePort"
        for _ in range(600):
            if os.path.exists(port_file) and open(port_file).read().count("\n"):
                break
            time.sleep(0.05)
        port = open(port_file).readline().strip()
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=20))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = connect(address, max_size=64 << 20)
        self.number = 0
        self.requests, self.complaints = [], []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(domain + ".enable")

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=30))
            if message.get("id") == self.number:
                require("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]
            self.note(message)

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"])[:600])

    def evaluate(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        require("exceptionDetails" not in answer, f"{expression}: {answer.get('exceptionDetails')}")
        return answer["result"].get("value")

    def wait(self, expression, what):
        """Waits until an expression is true."""
        start = time.monotonic()
        # While a page is loaded, its elements are not there.
        guarded = f"(() => {{ try {{ return {expression} }} catch {{ return false }} }})()"
        while not self.evaluate(guarded):
            if time.monotonic() - start > PATIENCE_SECONDS:
                raise AssertionError(f"{what}; the page says: {self.evaluate('document.body.innerText')}")
            time.sleep(0.1)
        return time.monotonic() - start

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def open(self, url):
        # Another fragment alone would not load the page.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def scheme(self, value):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, name):
        if not self.pictures:
            return
        os.makedirs(self.pictures, exist_ok=True)
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        answer = self.send(
            "Page.captureScreenshot", captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(os.path.join(self.pictures, name + ".png"), "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=30)

    def strangers(self, origin):
        """What was asked of others than a server."""
        return [url for url in self.requests if not url.startswith((origin + "/", "data:", "about:"))]

    def check_policy(self, origin):
        """Nothing came from elsewhere, and a mistake of the page would not make it run: the policy stands for itself."""
        require(not self.strangers(origin), f"the page asked elsewhere: {self.strangers(origin)}")
        require(not self.complaints, f"the browser complains: {self.complaints}")
        refused = self.evaluate("(() => { try { document.createElement('p').innerHTML = '<b>' } catch { return true } })()")
        require(refused, "the policy lets text become markup")
        self.evaluate("(() => { const made = document.createElement('script'); made.append('window.hacked = 1'); document.head.append(made) })()")
        require(self.evaluate("typeof window.hacked") == "undefined", "the policy lets an inline script run")
        self.evaluate("document.body.append(Object.assign(document.createElement('img'), {src: 'https://elsewhere.example/x'}))")
        time.sleep(0.2)
        self.evaluate("document.querySelector('body > img').remove()")
        require(len(self.complaints) >= 3, f"the browser did not refuse all: {self.complaints}")
        self.requests, self.complaints = [url for url in self.requests if "elsewhere.example" not in url], []

    def check_sizes(self, *more):
        """Takes pictures, light and dark, and looks that the page is not wider than its window."""
        for scheme in ("light", "dark"):
            self.scheme(scheme)
            self.size(*WIDE)
            time.sleep(0.3)
            self.picture("-".join((*more, scheme)))
        self.scheme("light")
        for width, height in (NARROW, (2200, 1200)):
            self.size(width, height)
            time.sleep(0.3)
            wide = self.evaluate("document.documentElement.scrollWidth")
            require(wide <= width, f"the page is {wide} wide in a window of {width}")
            self.picture("-".join((*more, "narrow" if width < 500 else "huge")))
        self.size(*WIDE)
