"""A TCP proxy between machines and their record server that does what bad networks do.

Usage: proxy.py LISTEN-PORT SERVER-PORT; a mode a line on standard input, answered by `ok`.
"""

import asyncio
import os
import random
import socket
import struct
import sys

# pass      as if it were not there
# refuse    no connection, and those that stand are reset
# answers   of each third request the answer is lost: the server has done what was asked, and the
#           connection is reset as soon as it answers
# cuts      connections are reset after some thousand bytes, in whatever direction
# stall     nothing goes through, and nobody is told
MODES = ("pass", "refuse", "answers", "cuts", "stall")


class Proxy:
    def __init__(self, port, server):
        self.port, self.server = port, server
        self.mode = "pass"
        self.connections = set()
        self.listener = None
        self.changed = asyncio.Event()

    async def set_mode(self, mode):
        if mode not in MODES:
            raise ValueError(mode)
        self.mode = mode
        self.changed.set()
        self.changed = asyncio.Event()
        if mode == "refuse" and self.listener:
            self.listener.close()
            self.listener = None
            for connection in list(self.connections):
                connection.reset()
        if mode != "refuse" and self.listener is None:
            self.listener = await asyncio.start_server(
                self.accept, "127.0.0.1", self.port, reuse_address=True)

    async def accept(self, reader, writer):
        connection = Connection(self, reader, writer)
        self.connections.add(connection)
        try:
            await connection.serve()
        finally:
            self.connections.discard(connection)

    async def passable(self):
        while self.mode == "stall":
            await self.changed.wait()


class Connection:
    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.upstream = None
        self.bytes_left = random.randrange(100, 60_000)
        # Whether the next byte of the server begins an answer.
        self.is_asked = False

    def reset(self):
        """RST, so that nobody takes what came for all there is."""
        for writer in (self.writer, self.upstream):
            if writer is None:
                continue
            connection = writer.get_extra_info("socket")
            if connection is not None:
                try:
                    connection.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                except OSError:
                    pass
            writer.transport.abort()

    async def serve(self):
        try:
            await self.proxy.passable()
            reader, self.upstream = await asyncio.open_connection("127.0.0.1", self.proxy.server)
            await asyncio.gather(
                self.pump(self.reader, self.upstream, True), self.pump(reader, self.writer, False))
        except (OSError, asyncio.IncompleteReadError):
            self.reset()

    async def pump(self, source, target, is_request):
        while data := await source.read(65_536):
            await self.proxy.passable()
            if self.loses(len(data), is_request):
                self.reset()
                return
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()

    def loses(self, count, is_request):
        mode = self.proxy.mode
        begins_answer = not is_request and self.is_asked
        self.is_asked = is_request
        if mode == "cuts":
            self.bytes_left -= count
            return self.bytes_left < 0
        return mode == "answers" and begins_answer and random.random() < 1 / 3


async def main():
    random.seed(int(sys.argv[3]))
    proxy = Proxy(int(sys.argv[1]), int(sys.argv[2]))
    await proxy.set_mode("pass")
    print("ok", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await proxy.set_mode(line.strip())
        print("ok", flush=True)
    # Connections that stand are not waited for.
    os._exit(0)


asyncio.run(main())
