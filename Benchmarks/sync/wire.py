"""Requests and bytes over the wire: counted by a proxy before the server, without noise."""

import os
import random
import socket
import string
import threading
import time

from subjects import Failure

ZONE = "Few"
PATIENCE = 30
IDLE = 120


class Proxy:
    """A way to the server that counts what goes through, both ways."""

    def __init__(self, port):
        self.server = port
        self.requests = self.bytes = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                upstream = socket.create_connection(("127.0.0.1", self.server))
            except OSError:
                # A daemon that asks before the server listens, or after it has ended, asks again.
                client.close()
                continue
            for end in (client, upstream):
                # Otherwise an answer in two pieces waits 40 ms for the acknowledgement of the first.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in ((client, upstream, True), (upstream, client, False)):
                threading.Thread(target=self.copy, args=pair, daemon=True).start()

    def copy(self, source, target, is_request):
        try:
            while piece := source.recv(1 << 16):
                with self.lock:
                    self.bytes += len(piece)
                    if is_request:
                        self.requests += piece.count(b" HTTP/1.1\r\n")
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def take(self):
        with self.lock:
            found = (self.requests, self.bytes)
            self.requests = self.bytes = 0
        return found

    def end(self):
        self.listener.close()


def measure(pair, options):
    """Of a save of 300 bytes, of one character in 60 kB, and of an hour without work."""
    row = {}
    note = "wire.json"
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=60_000)
    small = [
        counted(pair, note, '{"body": "%s"}\n' % (f"{save} " + "word " * 55)) for save in range(5)]
    row["wire: requests of a save"] = sorted(requests for requests, _ in small)[2]
    row["wire: bytes of a save"] = sorted(size for _, size in small)[2]
    large = []
    for character in "!?;:":
        letters[30_000] = character
        large.append(counted(pair, "large.json", '{"body": "%s"}\n' % "".join(letters)))
    row["wire: bytes of a character"] = sorted(size for _, size in large[1:])[1]
    seconds = 5 if options.quick else IDLE
    pair.wire.take()
    time.sleep(seconds)
    # Both sides go through it.
    row["wire: bytes of an hour"] = pair.wire.take()[1] / 2 * 3_600 / seconds
    return row


def counted(pair, name, text):
    """The requests and bytes of one save, until the other side has it and both are at rest."""
    time.sleep(1)
    pair.wire.take()
    with open(os.path.join(pair.directory("a", ZONE), name), "w") as file:
        file.write(text)
    other = os.path.join(pair.directory("b", ZONE), name)
    end = time.monotonic() + PATIENCE
    while content(other) != text:
        if time.monotonic() > end:
            raise Failure(f"{other} does not come")
        time.sleep(0.02)
    time.sleep(1)
    return pair.wire.take()


def content(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None
