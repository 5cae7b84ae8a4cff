#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/web in headless Chromium: the page finds a face and enlarges a frame, and both networks have the hashes of this machine, by each
of its modules, which import nothing. A hash that is wrong on purpose must be reported. Writes page.png, what the page looks like.

  web.py on|off FOLDER      off says that it is switched off
"""
import base64
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "tests" / folder) for folder in ("guards", "models/support")]
from models import SHARED, path_of  # noqa: E402
from target_guards import zig  # noqa: E402
from windows import OFF  # noqa: E402

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
PHOTOS = SHARED.parent / "images"
EQUAL = "equal to the CPU"


def skipped(why):
    print(f"SKIPPED: {why}")
    return 0


def photo_of(folder):
    """A photo with a face as PNG: the first photo beside the models, or what examples/models/fetch_images.sh brings."""
    from PIL import Image
    found = sorted(PHOTOS.glob("*.jpg"))
    if not found:
        return None
    path = folder / "chosen.png"
    picked = next((p for p in found if "face" in p.name or "person" in p.name), found[0])
    Image.open(picked).convert("RGB").save(path)
    return path


def build(folder, face):
    """Builds the page. Returns an error or None."""
    photo = photo_of(folder)
    python = [p for p in zig() if p == sys.executable]
    settings = dict(os.environ, NSK_WEB_FACE=str(face), **({"NSK_WEB_PHOTO": str(photo)} if photo else {}), **({"NSK_PYTHON": sys.executable} if python else {}))
    done = subprocess.run([REPOSITORY / "examples/web/build.sh", folder / "page"], capture_output=True, text=True, env=settings)
    print(done.stdout.strip())
    return None if done.returncode == 0 else done.stderr[-2000:]


def imports_something(module):
    """Whether a WebAssembly module has a section of imports."""
    data, at = module.read_bytes(), 8
    while at < len(data):
        section, at, size, shift = data[at], at + 1, 0, 0
        while True:
            byte, at = data[at], at + 1
            size, shift = size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        if section == 2:
            return True
        at += size
    return False


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


class Browser:
    """Headless Chromium, by the DevTools protocol on two pipes: messages of JSON that end with a zero byte."""

    def __init__(self, chromium):
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        options = "--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1240,1000 --remote-debugging-pipe"
        command = f"exec {chromium} {options} 3<&{to_browser} 4>&{from_browser}"
        self.process = subprocess.Popen(["bash", "-c", command], pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.session = b"", 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.pending:
                some = os.read(self.input, 1 << 16)
                if not some:
                    raise SystemExit("chromium ended")
                self.pending += some
            text, self.pending = self.pending.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                return answer["result"]

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def show(self, address):
        """Opens a page; returns the texts of its cells by name when all is computed, or None after a minute."""
        self.ask("Page.navigate", url=address)
        for _ in range(600):
            time.sleep(0.1)
            if self.value("location.href") == address and self.value("document.body?.dataset.state") == "done":
                return {name: self.value(f"document.getElementById('{name}').textContent") for name in ("module", "detector", "upscaler", "faces_text")}
        return None

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()


def judge(browser, folder, address):
    """Returns what is wrong."""
    wrong, expected = [], folder / "expected.json"
    for module in ("networks_exact.wasm", "networks.wasm"):
        says = browser.show(f"{address}?module={module}")
        if not says:
            return [f"{module}: the page computes for more than a minute, or stops"]
        print(f"{module}: {says}")
        if says["module"] != module:
            wrong.append(f"{module} was asked for, {says['module']} ran")
        wrong += [f"{module}: {name} {says[name]}" for name in ("detector", "upscaler") if EQUAL not in says[name]]
        if not re.match("[1-9]", says["faces_text"]):
            wrong.append(f"{module}: no face was found")
        if imports_something(folder / module):
            wrong.append(f"{module} imports something")
    browser.screenshot(folder / "page.png")
    print(folder / "page.png")
    right = expected.read_text()
    expected.write_text(json.dumps({**json.loads(right), "upscaler": "0" * 16}))
    says = browser.show(address)
    expected.write_text(right)
    if not says or EQUAL in says["upscaler"] or EQUAL not in says["detector"]:
        wrong.append(f"seeded, but not reported: a wrong hash of the upscaler ({says})")
    return wrong


def main():
    switch, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if switch == "off":
        print(OFF)
        return 0
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not chromium:
        return skipped("chromium is not installed (apt install chromium)")
    if not zig():
        return skipped("ziglang is not installed (tools/install_dependencies.sh)")
    face = path_of("face_front")
    if not face:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    failed = build(folder, face)
    if failed:
        print(failed)
        return 1
    page = folder / "page"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(page)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(chromium)
    wrong = judge(browser, page, f"http://127.0.0.1:{server.server_port}/index.html")
    browser.close()
    server.shutdown()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
