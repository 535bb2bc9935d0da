"""One hostile caller, and what it can do to a server."""

import random
import socket
import threading
import time
import urllib.parse

from client import CONTAINER


class Caller(threading.Thread):
    """One caller with a kind of abuse, over and over, until the time is up."""

    def __init__(self, client, end, work, statuses):
        super().__init__(daemon=True)
        self.client, self.end, self.work, self.statuses = client, end, work, statuses
        self.answer = b""

    def run(self):
        while time.monotonic() < self.end:
            try:
                self.note(self.work(self))
            except (OSError, ValueError, KeyError, IndexError):
                self.note("broken")

    def note(self, status):
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def pause(self, seconds):
        time.sleep(max(0, min(seconds, self.end - time.monotonic())))

    def connect(self, receives=None):
        """A connection; one that receives so many bytes at a time holds up who sends to it."""
        sock = socket.socket()
        sock.settimeout(30)
        if receives:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        sock.connect((self.client.host, self.client.port))
        return sock

    def head(self, path, length, method="POST", anonymous=False, headers=""):
        query = {"ckAPIToken": self.client.api_token}
        if not anonymous:
            query["ckWebAuthToken"] = self.client.web_token
            query["clientId"] = f"client {random.random()}"
        target = path if "?" in path else f"{path}?{urllib.parse.urlencode(query)}"
        if "Content-Type" not in headers:
            headers += "Content-Type: application/json\r\n"
        return (f"{method} {target} HTTP/1.1\r\nHost: {self.client.host}\r\nConnection: close\r\n"
                f"Content-Length: {length}\r\n{headers}\r\n").encode()

    def request(self, path, body=b"", read=True, **options):
        """Sends over a connection of its own; the status, and little of the answer if not read."""
        with self.connect(None if read else 4096) as sock:
            try:
                sock.sendall(self.head(path, len(body), **options) + body)
            except OSError:
                pass
            first = sock.recv(4096)
            if not read:
                self.take_slowly(sock)
            else:
                while len(part := sock.recv(65536)) > 0:
                    if len(first) < 100_000:
                        first += part
        self.answer = first
        return first[9:12].decode() or "none"

    def take_slowly(self, sock):
        """A little of an answer at a time, for some seconds."""
        for _ in range(20):
            if not sock.recv(1024):
                return
            self.pause(0.25)

    def path(self, name, scope="private"):
        return f"/database/1/{CONTAINER}/development/{scope}/{name}"

    def operation(self, name, body, scope="private", **options):
        return self.request(self.path(name, scope), body, **options)

    def content(self):
        return self.answer.split(b"\r\n\r\n", 1)[1]
