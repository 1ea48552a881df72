"""What Scripts/check-console runs for the page of a relay: relays with stores that use them, and a browser that looks."""

import base64
import hashlib
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time

from browser import NARROW, WIDE, Tab, has_text, require

CTL, CHROMIUM, PICTURES = sys.argv[1:4]
LIVE = "document.getElementById('connection').textContent === 'Live'"


class Place:
    """A folder with two stores, and the relays that they meet in."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cipherstore-relay-page-")
        self.processes = []
        for name in ("pw", "admission"):
            with open(self.path(name), "w") as file:
                file.write(secrets.token_hex(32) + "\n")
            os.chmod(self.path(name), 0o600)
        self.environment = dict(os.environ, SYNCCTL_PASSPHRASE_FILE=self.path("pw"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def ctl(self, *words):
        done = subprocess.run(
            [CTL, *words], capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=60)
        require(done.returncode == 0, f"syncctl {' '.join(words)} exited with {done.returncode}: {done.stderr}")
        return done.stdout

    def document(self, *words):
        return json.loads(self.ctl(*words, "--json"))

    def start(self, *words, output=None):
        process = subprocess.Popen(
            [CTL, *words], env=self.environment, cwd=self.folder, stdout=output or subprocess.DEVNULL,
            stderr=open(self.path("log"), "a"))
        self.processes.append(process)
        return process

    def relay(self, storage, *options, listen="127.0.0.1:0"):
        with open(self.path("listening"), "w") as output:
            process = self.start("relay", "--storage", storage, "--listen", listen, *options, "--json", output=output)
        for _ in range(600):
            with open(self.path("listening")) as file:
                line = file.readline()
            if line.endswith("\n"):
                return process, json.loads(line)
            require(process.poll() is None, f"the relay has ended: {open(self.path('log')).read()[-600:]}")
            time.sleep(0.05)
        raise AssertionError("the relay does not listen")

    @staticmethod
    def stop(process):
        process.send_signal(signal.SIGTERM)
        require(process.wait(timeout=60) == 0, "the relay did not end well")

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


def lasting_port():
    """A port that is free, and not among those that connections get, so that the relay can be started on it again."""
    first = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0]) if os.path.exists("/proc/sys/net") else 32768
    for port in range(max(1024, first) - 1, 1024, -1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("no port is free")


class Asker:
    """Sends requests of its own to a relay, right ones and wrong ones."""

    def __init__(self, port):
        self.port = port
        self.channel, self.token, self.folder = secrets.token_hex(16), secrets.token_hex(32), secrets.token_hex(16)

    def ask(self, method, path, body=None, **headers):
        # It is the relay that was started here.
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=30, context=ssl._create_unverified_context())
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def own(self, method, path="", body=None, **headers):
        return self.ask(method, f"/v1/channels/{self.channel}{path}", body, authorization="Bearer " + self.token, **headers)

    def make(self):
        digest = hashlib.sha256(bytes.fromhex(self.token)).hexdigest()
        status, _ = self.ask("PUT", f"/v1/channels/{self.channel}", json.dumps({"readToken": digest, "writeToken": digest}))
        require(status == 201, f"a channel could not be made: {status}")

    def write(self, name, content):

        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        status, text = self.own("PUT", f"/files/{self.folder}/{name}", content, content_digest=f"sha-256=:{digest}:")
        require(status in (200, 201), f"a file could not be written: {status} {text}")

    def be_refused(self):
        """Gets each of the refusals that are easily had."""
        statuses = {self.own("GET", f"/files/{self.folder}/none")[0], self.own("PUT", f"/files/{self.folder}/x", b"x")[0],
                    self.own("PUT", f"/files/{self.folder}/x", content_length=str(5 << 30), content_digest="sha-256=:" + "A" * 43 + "=:")[0]}
        for _ in range(40):
            statuses.add(self.ask("GET", f"/v1/channels/{self.channel}", authorization="Bearer " + secrets.token_hex(32))[0])
        require({400, 401, 404, 413, 429} <= statuses, f"the relay refuses otherwise than expected: {statuses}")


# MARK: Checks


def check_what_it_shows(tab, place, asker):
    tab.open(f"https://127.0.0.1:{asker.port}/")
    seconds = tab.wait(LIVE, "the page is not live")
    require(tab.text("#about").startswith("version "), f"the version is missing: {tab.text('#about')}")
    for text in ("RUNNING", "CHANNELS", "FILES", "ON THE DISK", "WATCHES", "REQUESTS", "of 100,000", "SQLite file"):
        require(text.lower() in tab.text("#tiles").lower(), f"{text} is missing: {tab.text('#tiles')}")
    require("up to 1.0 GiB and 100,000 files" in tab.text("#storage"), f"the quota is missing: {tab.text('#storage')}")
    require("its fingerprint" in tab.text("#access") and "anybody" in tab.text("#access"), f"the access is wrong: {tab.text('#access')}")
    require("Nothing was refused" in tab.text("#refused"), "something was refused")
    require(tab.evaluate("getComputedStyle(document.getElementById('warnings')).display") == "none", "there are warnings")
    tab.picture("relay-new")
    return seconds


def check_it_is_live(tab, place, asker, fingerprint):
    """What stores and others do shows without a reload."""
    tab.evaluate("window.marker = 1")
    link = place.document("share", "a.db", "--relay", f"https://127.0.0.1:{asker.port}", "--fingerprint", fingerprint)["link"]
    place.ctl("init", "b.db", "--join", link)
    watch = place.start("watch", "b.db", "--json")
    tab.wait("document.querySelector('#tiles > div:nth-child(5) .value').innerText === '1'", "a watch is not shown")
    asker.make()
    latency = tab.wait("document.querySelector('#tiles > div:nth-child(2) .value').innerText === '2'", "a second channel is not shown")
    for number in range(60):
        asker.write(f"f{number}", secrets.token_bytes(40_000 + 1_000 * number))
        if number % 5 == 0:
            asker.own("GET", f"/files/{asker.folder}/f{number}")
            time.sleep(0.4)
    place.ctl("sync", "a.db")
    asker.be_refused()
    tab.wait(has_text("#refused", "429"), "refusals are not shown")
    for status, text in ((400, "malformed"), (401, "The token is wrong"), (404, "not there"), (413, "4 GiB"), (429, "too often")):
        require(str(status) in tab.text("#refused") and text in tab.text("#refused"), f"{status} is not explained: {tab.text('#refused')}")
    requests = tab.text("#requests")
    for text in ("Write a file", "201\u00a0×\u00a0", "Read a file", "Wait for changes", "Make a channel", "Look at a channel", " ms"):
        require(text in requests, f"{text} is not among the requests: {requests}")
    for chart in (1, 2):
        for path in (1, 2):
            tab.wait(
                f"document.querySelector('#charts figure:nth-child({chart}) path:nth-of-type({path})').getAttribute('d').length > 0",
                f"part {path} of chart {chart} is not drawn")
    require(tab.evaluate("window.marker") == 1, "the page was loaded anew")
    watch.terminate()
    tab.wait("document.querySelector('#tiles > div:nth-child(5) .value').innerText === '0'", "a watch that ended is still shown")
    return latency


def check_it_names_nobody(tab, place, asker):
    status, text = asker.ask("GET", "/page/state")
    require(status == 200 and len(text) <= 64 << 10, f"the state is {len(text)} bytes, and {status}")
    shown = text.decode() + tab.evaluate("document.documentElement.outerHTML")
    for word in (asker.channel, asker.token, asker.folder, "f59", place.folder, "relay.db", "a.db", "127.0.0.1"):
        require(word not in shown, f"{word} is shown")
    # A proxy on this machine hands it to nobody.
    nothing = asker.ask("GET", "/none")
    require(nothing[0] == 404, "an unknown path is there")
    for headers in ({"host": "relay.example"}, {"x-forwarded-for": "192.0.2.1"}, {"forwarded": "for=192.0.2.1"}, {"connection": "close"}):
        for path in ("/", "/page/state", "/page/page.js", "/metrics"):
            require(asker.ask("GET", path, **headers) == nothing, f"{path} is answered with {headers}")


def check_charts(tab):
    """The time that the charts show is chosen by keyboard; what was before the page was opened is there."""
    tab.open(tab.evaluate("location.href"))
    tab.wait(LIVE, "the page is not live again")
    require(tab.evaluate("document.querySelector('#charts path').getAttribute('d').length") > 0, "the past is forgotten")
    label = "document.querySelector('#charts svg').getAttribute('aria-label')"
    require("2 minutes" in tab.evaluate(label) and "refused" in tab.evaluate(label), f"the chart is called {tab.evaluate(label)}")
    for name in ("Tab", "ArrowRight"):
        for kind in ("keyDown", "keyUp"):
            tab.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode={"Tab": 9, "ArrowRight": 39}[name])
    tab.wait(label + ".includes('2 hours')", "the arrow keys do not change the charts")
    require(tab.evaluate("document.activeElement.name") == "range", "the focus is elsewhere")
    tab.picture("relay-hours")
    tab.evaluate("document.querySelector('input[name=range]').click()")
    tab.wait(label + ".includes('2 minutes')", "the charts do not go back")


def check_for_everybody(tab):
    """Each part has a name for those who do not see it, and nothing moves for those who asked for that."""
    nodes = tab.send("Accessibility.getFullAXTree")["nodes"]
    found = {}
    for node in nodes:
        if not node.get("ignored"):
            found.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("radio", "image", "table", "region", "heading", "columnheader", "status"):
        require(found.get(role), f"nothing is a {role}: {sorted(found)}")
    for role in ("button", "radio", "image", "table", "heading", "columnheader"):
        require(all(found.get(role, [])), f"a {role} has no name: {found[role]}")
    levels = tab.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(made => made.tagName).join(' ')")
    require(levels.startswith("H1 H2") and levels.count("H1") == 1, f"the headings are {levels}")
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    tab.wait("document.getAnimations().length === 0", "something moves")
    small = tab.evaluate("""[...document.querySelectorAll('main *')].filter(made => made.children.length === 0 && made.textContent.trim()
        && parseFloat(getComputedStyle(made).fontSize) < 11).length""")
    require(small == 0, f"{small} texts are too small")


def check_copy(tab, fingerprint):
    """The fingerprint is the one that the relay prints, and can be copied."""
    require(tab.evaluate("document.getElementById('fingerprint').textContent") == fingerprint, "the fingerprint is another one")
    require("valid at all times" in tab.text("#access"), f"the last day is wrong: {tab.text('#access')}")
    tab.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    tab.send("Page.bringToFront")
    tab.evaluate("document.getElementById('copy').focus(); document.getElementById('copy').click()")
    tab.wait(has_text("#copied", "Copied"), "nothing says that it was copied")
    require(tab.evaluate("navigator.clipboard.readText()") == fingerprint, "something else was copied")
    # Where pages may not copy, it is selected.
    tab.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    tab.evaluate("document.getElementById('copy').click()")
    tab.wait(has_text("#copied", "Ctrl+C"), "nothing says how to copy")
    require(tab.evaluate("getSelection().toString()") == fingerprint, "something else is selected")
    tab.picture("relay-selected")


def check_it_comes_back(tab, place, process, port):
    """The end of the relay shows; when it is back, the page goes on by itself."""
    tab.evaluate("window.marker = 2")
    started = tab.evaluate("document.querySelector('#tiles time').getAttribute('datetime')")
    place.stop(process)
    tab.wait(has_text("#connection", "does not answer, this is from"), "the end of the relay is not shown")
    require(tab.evaluate("document.body.classList.contains('lost')"), "old figures look like new ones")
    require("2" in tab.text("#tiles > div:nth-child(2) .value"), "what was known last is gone")
    tab.picture("relay-lost")
    process, _ = place.relay("relay.db", listen=f"127.0.0.1:{port}")
    seconds = tab.wait(LIVE, "the page does not go on after the relay was started again")
    require(tab.evaluate("window.marker") == 2, "the page was loaded anew")
    require(tab.evaluate("document.querySelector('#tiles time').getAttribute('datetime')") > started, "the start is the one before")
    require(tab.text("#tiles > div:nth-child(2) .value") == "2", "the channels are gone")
    require(not tab.evaluate("document.body.classList.contains('lost')"), "new figures look like old ones")
    # By hand, too.
    place.stop(process)
    tab.wait("!document.getElementById('retry').hidden", "there is no button to try again")
    process, _ = place.relay("relay.db", listen=f"127.0.0.1:{port}")
    tab.evaluate("document.getElementById('retry').click()")
    tab.wait(LIVE, "the button does not help")
    return seconds


def check_certificates(tab, place):
    """Without TLS there is no certificate, and no page unless it is asked for; of one of files, the last day is told."""
    process, listening = place.relay("plain.db", "--plaintext-on-loopback")
    connection = http.client.HTTPConnection("127.0.0.1", listening["port"], timeout=10)
    connection.request("GET", "/")
    require(connection.getresponse().status == 404, "there is a page before a proxy")
    connection.close()
    place.stop(process)
    process, listening = place.relay("plain.db", "--plaintext-on-loopback", "--page", "--admission-file", "admission")
    tab.open(listening["url"] + "/")
    tab.wait(LIVE, "the page is not live without TLS")
    for text in ("no certificate", "need the admission token"):
        require(text in tab.text("#access"), f"{text} is missing: {tab.text('#access')}")
    require("Fingerprint" not in tab.text("#access") and "Last day" not in tab.text("#access"), "there is a fingerprint of nothing")
    require(open(place.path("admission")).read().strip() not in tab.evaluate("document.documentElement.outerHTML"), "the token is shown")
    place.stop(process)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9",
         "-subj", "/CN=relay.example", "-keyout", place.path("key.pem"), "-out", place.path("chain.pem")],
        check=True, capture_output=True)
    os.chmod(place.path("key.pem"), 0o600)
    process, listening = place.relay("files.db", "--tls-cert", "chain.pem", "--tls-key", "key.pem")
    tab.open(listening["url"] + "/")
    tab.wait(LIVE, "the page is not live with a certificate of files")
    # Nine days are all that it has.
    require("in 8 days" in tab.text("#validity") or "in 9 days" in tab.text("#validity"), f"the last day is missing: {tab.text('#validity')}")
    require(tab.evaluate("document.getElementById('warnings').hidden"), "a new certificate is warned of")
    return process, listening


def pretend(tab, change):
    """Has the page show a state that is not easily had: change is the body of a function of the state."""
    tab.evaluate("""(() => {
        const ask = window.ask = window.ask || window.fetch
        window.fetch = async (...words) => {
            const state = await (await ask(...words)).json()
            ;(state => { %s })(state)
            return new Response(JSON.stringify(state), { status: 200 })
        }
    })()""" % change)


def check_warnings(tab):
    day = 86400000
    pretend(tab, f"state.certificate.from = state.now - 80 * {day}; state.certificate.until = state.now + 6.5 * {day}")
    tab.wait(has_text("#warnings", "The last day of the certificate is"), "a last day that is near is not told")
    require("in 6 days" in tab.text("#warnings") and "SIGHUP" in tab.text("#warnings"), f"the warning is {tab.text('#warnings')}")
    pretend(tab, f"state.certificate.from = state.now - 80 * {day}; state.certificate.until = state.now - {day}")
    tab.wait(has_text("#warnings", "The certificate was valid until"), "a last day that has passed is not told")
    pretend(tab, """
        delete state.storage.holds
        state.loads.watches.count = 13650
        state.loads.connections.count = 16384
        state.relay.upSeconds = 86400 * 400
        state.certificate.from = state.now - 86400000 * 80
        state.certificate.until = state.now + 86400000 * 3
        state.requests.push({ kind: 'write', microseconds: 2.5e6, answers: [200, 201, 400, 401, 404, 408, 409, 411, 412, 413, 416, 429, 503, 507].map(status => ({ status, count: 123456789012 })) })
        for (const series of state.traffic) for (let index = 0; index < 120; index += 1) {
            series.answered[index] = Math.round(400 + 300 * Math.sin(index / 9)); series.refused[index] = index % 17 === 0 ? 90 : 0
            series.sent[index] = 9e8 + index * 1e6; series.received[index] = 4e8
        }""")
    tab.wait(has_text("#warnings", "The storage can't be used"), "a storage that can't be used is not told")
    for text in ("Watches: 13,650 of 15,000", "Connections: 16,384 of 16,384"):
        require(text in tab.text("#warnings"), f"{text} is not told: {tab.text('#warnings')}")
    require("not known" in tab.text("#tiles") and "can't be read" in tab.text("#storage"), "figures are shown that nobody knows")
    tab.check_sizes("relay", "trouble")
    pretend(tab, "state.version = 2")
    tab.wait(has_text("#connection", "another version now"), "a state of another version is taken")


def main():
    start = time.monotonic()
    place = Place()
    tab = None
    try:
        plain = sqlite3.connect(place.path("plain.sqlite"))
        plain.execute("CREATE TABLE note (id TEXT PRIMARY KEY, title TEXT)")
        plain.commit()
        plain.close()
        place.ctl("init", "a.db", "--from", "plain.sqlite")
        place.ctl("track", "a.db", "note")
        port = lasting_port()
        process, listening = place.relay("relay.db", listen=f"127.0.0.1:{port}")
        asker = Asker(port)
        tab = Tab(CHROMIUM, place.folder, PICTURES)
        tab.send("Accessibility.enable")
        tab.size(*WIDE)
        origin = f"https://127.0.0.1:{port}"
        shown = check_what_it_shows(tab, place, asker)
        latency = check_it_is_live(tab, place, asker, listening["fingerprint"])
        tab.check_sizes("relay")
        check_it_names_nobody(tab, place, asker)
        tab.check_policy(origin)
        check_charts(tab)
        check_for_everybody(tab)
        check_copy(tab, listening["fingerprint"])
        require(not tab.complaints, f"the browser complains: {tab.complaints}")
        back = check_it_comes_back(tab, place, process, port)
        require(not tab.strangers(origin), f"the page asked elsewhere: {tab.strangers(origin)}")
        asked = len(tab.requests)
        # A relay that doesn't answer is complained of by the browser, too.
        tab.complaints = []
        check_certificates(tab, place)
        check_warnings(tab)
        require(not tab.complaints, f"the browser complains: {tab.complaints}")
        print(
            f"check-console: the relay's page: shown after {shown:.1f} s, a channel after {latency:.1f} s, back after {back:.1f} s, "
            f"{asked} requests, all to the relay; {time.monotonic() - start:.0f} s")
    except AssertionError as error:
        print(f"check-console: error: the relay's page: {error}", file=sys.stderr)
        if tab:
            print("\n".join(tab.complaints), file=sys.stderr)
            tab.picture("relay-failed")
        sys.exit(1)
    finally:
        if tab:
            tab.end()
        place.end()


main()
