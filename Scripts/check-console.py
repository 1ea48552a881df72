"""What Scripts/check-console runs: a served store, and a browser that looks at its page."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

from browser import NARROW, WIDE, Tab, has_text, require

CTL, CHROMIUM, PICTURES = sys.argv[1:4]
HOSTILE_LABEL = "<img src=x onerror=\"window.hacked='label'\">"
HOSTILE_VALUE = "<script>window.hacked='value'</script><img src=x onerror=\"window.hacked='value'\">"
HOSTILE_NAME = '"><svg onload=window.hacked=1>'


# MARK: Stores


class Place:
    """A folder with stores and the processes of syncctl that use them."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="cipherstore-console-")
        self.processes = []
        with open(self.path("pw"), "w") as file:
            file.write("a passphrase of the check\n")
        os.chmod(self.path("pw"), 0o600)
        self.environment = dict(os.environ, SYNCCTL_PASSPHRASE_FILE=self.path("pw"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def ctl(self, *words, expects=0):
        done = subprocess.run(
            [CTL, *words], capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=60)
        require(
            expects is None or done.returncode == expects,
            f"syncctl {' '.join(words)} exited with {done.returncode}: {done.stderr}")
        return done.stdout

    def document(self, *words):
        return json.loads(self.ctl(*words, "--json"))

    def edit(self, store, *statements):
        script = "PRAGMA key = 'a passphrase of the check'; PRAGMA cipher_page_size = 4096;\n" + "".join(text + ";\n" for text in statements)
        done = subprocess.run(
            ["sqlcipher", "-bail", self.path(store)], input=script, capture_output=True, text=True, timeout=60)
        require(done.returncode == 0 and "rror" not in done.stderr, f"sqlcipher: {done.stderr}")

    def start(self, *words, output=None):
        process = subprocess.Popen(
            [CTL, *words], env=self.environment, cwd=self.folder, stdout=output or subprocess.DEVNULL,
            stderr=open(self.path("log"), "a"))
        self.processes.append(process)
        return process

    def serve(self, listen="127.0.0.1:0"):
        with open(self.path("serve.json"), "w") as output:
            process = self.start("serve", "hub.db", "other.db", "--listen", listen, "--json", output=output)
        for _ in range(300):
            with open(self.path("serve.json")) as file:
                line = file.readline()
            if line.endswith("\n"):
                return process, json.loads(line)
            require(process.poll() is None, "the server has ended")
            time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def join(self, label, *options):
        link = self.document("invite", "hub.db", "--label", label, *options)["link"]
        name = f"device{len(os.listdir(self.folder))}.db"
        self.ctl("init", name, "--join", link)
        return name

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def key(number):
    return str(uuid.UUID(int=0x0190F5FE7C007A008000000000000000 + number))


def make_stores(place):
    """A hub with five devices, conflicts and rows that wait."""
    plain = sqlite3.connect(place.path("plain.sqlite"))
    plain.executescript("""
        CREATE TABLE note (id TEXT PRIMARY KEY, title TEXT, body TEXT, pinned INTEGER);
        CREATE TABLE tag (id TEXT PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE "%s" (id TEXT PRIMARY KEY, "a b" TEXT);
        """ % HOSTILE_NAME.replace('"', '""'))
    plain.executemany(
        "INSERT INTO note VALUES (?, ?, ?, 0)",
        [(key(n), f"Note {n}", "Milk, bread and a letter to the bank. " * 20) for n in range(1, 241)])
    plain.executemany("INSERT INTO tag VALUES (?, ?)", [(key(1000 + n), f"tag {n}") for n in range(12)])
    plain.commit()
    plain.close()
    place.ctl("init", "hub.db", "--from", "plain.sqlite")
    place.ctl("track", "hub.db", "note", "tag", HOSTILE_NAME)
    place.ctl("init", "other.db")
    server, listening = place.serve()
    devices = {
        "phone": place.join("Anna's phone"),
        "laptop": place.join("laptop"),
        "kiosk": place.join("kiosk in the hall", "--read-only", "--tables", "note"),
        "hostile": place.join(HOSTILE_LABEL),
        "tablet": place.join("old tablet"),
    }
    place.ctl("invite", "hub.db", "--label", "not used")
    place.ctl("device", "revoke", "hub.db", "old tablet")
    # Values that lose, and names that two rows want.
    edits = [("title", "Groceries"), ("title", HOSTILE_VALUE), ("body", "x" * 400), ("title", "\u202eright to left")]
    for number, (column, value) in enumerate(edits, 1):
        place.edit("hub.db", f"UPDATE note SET {column} = '{value.replace(chr(39), chr(39) * 2)}' WHERE id = '{key(number)}'")
    place.edit("hub.db", f"INSERT INTO tag VALUES ('{key(2001)}', 'urgent')", f"INSERT INTO tag VALUES ('{key(2002)}', 'home')")
    time.sleep(0.05)
    place.edit(
        devices["phone"], "UPDATE note SET title = 'from the phone', body = 'short' WHERE id <= '%s'" % key(4),
        f"INSERT INTO tag VALUES ('{key(2003)}', 'urgent')")
    place.edit(devices["laptop"], f"INSERT INTO tag VALUES ('{key(2004)}', 'home')", f"DELETE FROM note WHERE id = '{key(9)}'")
    place.edit("hub.db", f"UPDATE note SET pinned = 1 WHERE id = '{key(9)}'")
    # Who receives a value that loses keeps it.
    for command, device in (("push", "phone"), ("push", "laptop"), ("sync", "laptop"), ("sync", "hostile"), ("sync", "phone")):
        place.ctl(command, devices[device], expects=None)
    place.ctl("clone", "hub.db", "stick.db", "--to-passphrase-file", "pw")
    place.ctl("sync", "hub.db", "--remote", "stick.db", expects=None)
    refused = place.ctl("sync", "hub.db", "--remote", "other.db", expects=None)
    require(not refused, "a store of another database was synchronized with")
    return server, listening, devices


# MARK: Checks


LIVE = "document.getElementById('connection').textContent === 'Live'"


def check_what_it_shows(tab, link):
    tab.open(link)
    seconds = tab.wait(LIVE + " && document.querySelectorAll('#devices tbody tr').length === 5", "no devices are shown")
    require(tab.evaluate("location.hash") == "" and "#" not in tab.evaluate("location.href"), "the secret is in the address")
    secret = link.split("#")[1]
    entries = tab.send("Page.getNavigationHistory")["entries"]
    require(not any(secret in entry["url"] for entry in entries), "the secret is in the history")
    require(tab.evaluate("document.cookie") == "", "scripts can read the cookie")
    cookies = tab.send("Network.getCookies")["cookies"]
    require(len(cookies) == 1, f"there are {len(cookies)} cookies")
    cookie = cookies[0]
    require(
        cookie["name"].startswith("__Host-cipherstore-") and cookie["secure"] and cookie["httpOnly"]
        and cookie["sameSite"] == "Strict" and cookie["session"], f"the cookie is {cookie}")
    require(tab.text("h1") == "hub.db", "the name of the store is missing")
    devices = tab.text("#devices")
    for text in ("Anna's phone", "kiosk in the hall", "read-only", "revoked", HOSTILE_LABEL, "up to date"):
        require(text in devices, f"{text} is not among the devices: {devices}")
    conflicts = tab.text("#conflicts")
    for text in (HOSTILE_VALUE, "Groceries", "\\u{202e}right to left", "a deletion", "Anna's phone"):
        require(text in conflicts, f"{text} is not among the conflicts: {conflicts}")
    require("x" * 200 not in conflicts, "a long value was not shortened")
    require("has the value of another row" in tab.text("#parked"), "no row waits")
    require(HOSTILE_NAME in tab.text("#tables"), "the table with the strange name is missing")
    require("stick.db" in tab.text("#peers") and "other.db" in tab.text("#remotes"), f"other replicas are missing: {tab.text('#peers')}, {tab.text('#remotes')}")
    return seconds


def check_nothing_ran(tab, origin):
    require(tab.evaluate("typeof window.hacked") == "undefined", "a value of a row ran as a script")
    require(tab.evaluate("document.querySelectorAll('main img, main script, [onerror], [onload]').length") == 0, "a value became markup")
    tab.check_policy(origin)


def check_it_is_live(tab, place, devices):
    """A synchronization shows without a reload; so do lag, and a device that watches."""
    tab.evaluate("window.marker = 1")
    before = tab.evaluate("document.querySelector('#tables tbody td.number').innerText")
    place.edit(devices["laptop"], *[f"INSERT INTO note VALUES ('{key(3000 + n)}', 'live', hex(randomblob(3000)), 0)" for n in range(30)])
    place.ctl("sync", devices["laptop"], expects=None)
    latency = tab.wait(
        has_text("#tables", "269") + " && " + has_text("#devices", "30 changes"),
        f"a synchronization is not shown (it was {before})")
    tab.picture("behind")
    place.start("watch", devices["phone"], "--json")
    tab.wait(has_text("#devices", "live"), "a device that watches is not live")
    tab.wait("document.querySelectorAll('#charts path.sent')[0].getAttribute('d').length > 0", "no throughput is drawn")
    require(tab.evaluate("window.marker") == 1, "the page was loaded anew")
    return latency


def check_several_stores(tab, place):
    """A browser with sessions of two stores goes from one to the other."""
    tab.open(place.document("console", "other.db")["link"])
    tab.wait(LIVE + " && document.querySelector('h1').innerText === 'other.db'", "the other store is not shown")
    require("No device was enrolled yet" in tab.text("#devices"), "the other store has devices")
    tab.wait("document.querySelectorAll('#stores a').length === 2", "the stores are not listed")
    tab.picture("empty")
    tab.evaluate("document.querySelector('#stores a').click()")
    tab.wait(LIVE + " && document.querySelector('h1').innerText === 'hub.db'", "the way back is not there")


def check_conflicts(tab, place):
    """A conflict is looked at, and dealt with: one is kept, one is restored."""
    def show(text):
        before = tab.evaluate("document.querySelectorAll('#conflicts tbody tr').length")
        tab.evaluate(
            "[...document.querySelectorAll('#conflicts tbody tr')].find(line => line.innerText.includes(%s)).querySelector('button').click()"
            % json.dumps(text))
        tab.wait("document.getElementById('conflict').open && " + has_text("#conflict", "What happened to the row"), f"the conflict of {text} is not shown")
        return before

    before = show(HOSTILE_VALUE)
    dialog = tab.text("#conflict")
    for text in (HOSTILE_VALUE, "from the phone", "Anna's phone", "this store", "inserted"):
        require(text in dialog, f"{text} is not in the conflict: {dialog}")
    for scheme in ("light", "dark"):
        tab.scheme(scheme)
        tab.picture("conflict-" + scheme)
    tab.size(*NARROW)
    time.sleep(0.3)
    wide = tab.evaluate("document.getElementById('conflict').scrollWidth - document.getElementById('conflict').clientWidth")
    require(wide <= 0, "the conflict is wider than its window")
    tab.picture("conflict-narrow")
    tab.size(*WIDE)
    tab.scheme("light")
    tab.evaluate("[...document.querySelectorAll('#conflict-actions button')].find(made => made.innerText.startsWith('Keep')).click()")
    tab.wait("!document.getElementById('conflict').open", "a conflict that was kept stays open")
    tab.wait(f"document.querySelectorAll('#conflicts tbody tr').length === {before - 1}", "the list has a conflict that was kept")
    before = show("Groceries")
    tab.evaluate("[...document.querySelectorAll('#conflict-actions button')].find(made => made.innerText.startsWith('Restore')).click()")
    tab.wait(f"document.querySelectorAll('#conflicts tbody tr').length === {before - 1}", "the list has a conflict that was restored")
    require(tab.evaluate("document.getElementById('conflict-body').children.length") == 0, "something of a conflict is left")
    found = place.ctl("sql", "hub.db", f"SELECT title FROM note WHERE id = '{key(1)}'")
    require("Groceries" in found, f"the value was not restored: {found}")


def check_ends(tab, place, server, listening, link):
    """What becomes of links and sessions when they end."""
    origin = listening["url"]
    tab.evaluate(f"location.hash = {json.dumps(link.split('#')[1])}")
    tab.wait(has_text("#help", "This link does not open"), "a link that was used is not explained")
    require(tab.evaluate("location.hash") == "" and "syncctl console" in tab.text("#help"), "the help is wrong")
    tab.picture("used-link")
    # The session is still there.
    tab.open(origin + "/")
    tab.wait(LIVE, "the page at / does not find its session")
    place.ctl("console", "hub.db", "--revoke")
    tab.wait(has_text("#help", "The session has ended"), "a revocation is not shown")
    require(tab.evaluate("document.querySelectorAll('tr').length") == 0, "rows are left after the end of the session")
    tab.open(place.document("console", "hub.db")["link"])
    tab.wait(LIVE + " && document.querySelectorAll('#devices tbody tr').length === 5", "a new link does not open")
    server.terminate()
    server.wait(timeout=30)
    tab.wait(has_text("#connection", "Connection lost"), "the end of the server is not shown")
    tab.picture("lost")
    place.serve(listening["url"].split("//")[1])
    tab.evaluate("document.getElementById('retry').click()")
    tab.wait(has_text("#help", "The session has ended"), "the page does not connect to the new server")
    tab.open(place.document("console", "hub.db")["link"])
    tab.wait(LIVE, "a link of the new server does not open")
    tab.evaluate("document.getElementById('end').click()")
    tab.wait(has_text("#help", "The session has ended"), "the session can't be ended")
    require(len(tab.send("Network.getCookies")["cookies"]) == 1, "the cookie is left, or that of the other store is not")


def main():
    start = time.monotonic()
    place = Place()
    tab = None
    try:
        server, listening, devices = make_stores(place)
        tab = Tab(CHROMIUM, place.folder, PICTURES)
        tab.size(*WIDE)
        link = place.document("console", "hub.db")["link"]
        shown = check_what_it_shows(tab, link)
        latency = check_it_is_live(tab, place, devices)
        tab.check_sizes()
        check_nothing_ran(tab, listening["url"])
        check_conflicts(tab, place)
        require(not tab.complaints, f"the browser complains: {tab.complaints}")
        check_several_stores(tab, place)
        check_ends(tab, place, server, listening, link)
        strangers = tab.strangers(listening["url"])
        require(not strangers, f"the page asked elsewhere: {strangers}")
        with open(place.path("log")) as file:
            require(link.split("#")[1] not in file.read(), "the secret is in the server's log")
        print(
            f"check-console: shown after {shown:.1f} s, a synchronization after {latency:.1f} s, "
            f"{len(tab.requests)} requests, all to the server; {time.monotonic() - start:.0f} s")
    except AssertionError as error:
        print(f"check-console: error: {error}", file=sys.stderr)
        if tab:
            print("\n".join(tab.complaints), file=sys.stderr)
            tab.picture("failed")
        sys.exit(1)
    finally:
        if tab:
            tab.end()
        place.end()


main()
