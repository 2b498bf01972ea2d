#!/usr/bin/env python3
"""The live page in a real browser: headless Chromium, spoken to over its own protocol, beside a daemon that proves. With
CUZK_TEST_PICTURE=FILE.png the page is kept as a picture (docs/status-page.png)."""
import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
import http_test  # noqa: E402
from daemon_test import until, window_args  # noqa: E402

CHROMIUM = os.environ.get("CUZK_TEST_CHROMIUM", "chromium")


class Browser:
    """One page of a headless Chromium: a websocket of a few lines, one call at a time."""

    def __init__(self, width, height):
        self.dir = tempfile.mkdtemp(prefix="cuzk-page-")
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             f"--window-size={width},{height}", f"--user-data-dir={self.dir}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = Path(self.dir) / "DevToolsActivePort"
        until(lambda: file.exists() and "\n" in file.read_text())
        port = int(file.read_text().split("\n")[0])
        pages = []

        def there():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as r:
                pages[:] = [p for p in json.load(r) if p["type"] == "page"]
            return pages
        until(there)
        path = re.sub(r"^ws://[^/]*", "", pages[0]["webSocketDebuggerUrl"])
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode() +
                             "\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.input = self.socket.makefile("rb")
        while self.input.readline() not in (b"\r\n", b""):
            pass
        self.number = 0

    def send(self, text):
        data = text.encode()
        head = bytes([0x81]) + (bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xfe]) + struct.pack(">H", len(data)))
        self.socket.sendall(head + b"\0\0\0\0" + data)  # masked with zeros

    def receive(self):
        text = b""
        while True:
            first, size = self.input.read(2)
            size &= 0x7f
            if size >= 126:
                size = int.from_bytes(self.input.read(2 if size == 126 else 8), "big")
            text += self.input.read(size)
            if first & 0x80:
                return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        self.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def text(self, name):
        return self.value(f"document.getElementById({json.dumps(name)}).innerText")

    def picture(self, file):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def end(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


@unittest.skipIf(shutil.which(CHROMIUM) is None, "there is no Chromium")
class Page(http_test.Case):
    def browse(self):
        browser = Browser(1280, 900)
        self.addCleanup(browser.end)
        browser.call("Page.navigate", url=f"http://127.0.0.1:{self.port}/")
        until(lambda: (browser.value("document.body?.dataset.looked") or "0") != "0")
        return browser

    def batch_of_porep(self, path):
        args = ["-t", "porep", "--c1", http_test.daemon_test.DATA / "porep-2k/c1.json", "--miner-id", "1000", "--sector-num", "1"]
        p = subprocess.Popen([http_test.BENCH, "batch", "--config", str(path), *map(str, args), "-c", "1"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(p)

    def test_page(self):
        picture = os.environ.get("CUZK_TEST_PICTURE")
        path = self.config(srs={"preload": ["wpost-2k", "winning-2k"]}, memory={"total_budget": "4GiB"})
        daemon = self.start(path)
        browser = self.browse()
        self.assertEqual(browser.text("state"), "ready")
        self.assertEqual(browser.text("timeline"), "no proofs now")
        self.assertIn("wpost-2k", browser.text("circuits"))
        self.assertIn("none", browser.text("errors"))
        wrong = window_args()
        wrong[wrong.index("--randomness") + 1] = "01" * 32
        self.bench("single", "--config", path, *wrong, code=1)
        until(lambda: "failed" in browser.text("errors") and "challenge" in browser.text("errors"))
        if picture:
            self.batch_of_porep(path)
        batch = self.batch(path, 12, 3)
        until(lambda: "window-post" in browser.text("timeline"))
        until(lambda: browser.value("document.querySelectorAll('#timeline rect').length") > 8)
        until(lambda: "busy" in browser.text("devices"))
        self.assertEqual(browser.value("document.querySelectorAll('#timeline title').length > 0"), True)
        until(lambda: int(self.status()["counters"]["total_completed"]) >= 6)
        if picture:
            browser.picture(picture)
        batch.communicate()
        until(lambda: re.search(r"window-post\s+0\s+0\s+12\s+1", browser.text("queue")))
        self.assertIn("window-post", browser.text("timeline"))  # they stay for a while after their end
        problems = browser.value("document.querySelectorAll('script, link, img, iframe').length")
        self.assertEqual(problems, 1, "the page has one script, its own")
        daemon.kill()
        until(lambda: browser.text("state") == "no answer")


if __name__ == "__main__":
    unittest.main()
