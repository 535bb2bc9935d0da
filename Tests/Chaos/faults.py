"""What breaks, and is mended again: some of each kind at any time, in an order that a seed gives."""

import random
import signal
import threading

# Seconds between two faults of one kind, and how long one lasts at most.
PAUSE = (1, 6)


class Fault:
    def __init__(self, name, begin, end, longest):
        self.name, self.begin, self.end, self.longest = name, begin, end, longest


def of_machine(machine):
    return [
        Fault(f"kill {machine.name}", machine.kill, machine.mount, 3),
        Fault(f"kill {machine.name}", machine.kill, machine.mount, 1),
        Fault(f"full disk of {machine.name}", machine.disk.fill, machine.disk.free, 8),
    ]


def of_server(world, longest):
    server = world.server
    restart = server.start

    def kill():
        server.process.kill()
        server.process.wait()

    return [
        Fault("kill the server", kill, restart, 3),
        Fault("stop the server", server.stop, restart, longest),
        Fault(
            "freeze the server", lambda: server.process.send_signal(signal.SIGSTOP),
            lambda: server.process.send_signal(signal.SIGCONT), 6),
        Fault("full disk of the server", world.server_disk.fill, world.server_disk.free, 8),
    ]


def of_network(world, longest):
    network = world.network
    modes = [
        Fault(f"network: {mode}", lambda mode=mode: network.set(mode),
              lambda: network.set("pass"), longest)
        for mode in ("refuse", "answers", "answers", "cuts", "stall")]
    return modes + [Fault("network: each fifth packet lost", network.lose, network.keep, 15)]


class Breaker(threading.Thread):
    """Faults of one kind, one after another, until it is over; the last one is mended too."""

    def __init__(self, world, name, faults, seed):
        super().__init__(name=f"breaker {name}")
        self.world, self.faults = world, faults
        self.random = random.Random(seed)
        self.done = {}

    def run(self):
        try:
            while not self.world.is_over.wait(self.random.uniform(*PAUSE)):
                fault = self.random.choice(self.faults)
                self.world.say(fault.name)
                fault.begin()
                self.world.is_over.wait(self.random.uniform(0.1, fault.longest))
                fault.end()
                self.done[fault.name] = self.done.get(fault.name, 0) + 1
        except BaseException as error:
            self.world.violation(f"{self.name}: {type(error).__name__}: {error}")
            self.world.is_over.set()
            raise
