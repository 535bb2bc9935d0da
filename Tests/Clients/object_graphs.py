"""Compares what a mount with a model makes of an app's objects with what Apple's text says.

usage: object_graphs.py RECORDFS SERVER DIRECTORY [--objects N] [--seed S] [--models A,B]

For each model of models/ there are two mounts, A and B, and a server. Graphs of objects are
written as files on A, or as records by core_data_writer.py, and changed on either side. After each
step the files of both mounts and the records that core_data_reader.py reads must be equal to the
graph. DIRECTORY gets the stores, the server and the mounts; who has made it removes it.
"""

import argparse
import os
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Benchmarks/server"))
from client import Client  # noqa: E402
from server import CALLBACK, PASSWORD, Server  # noqa: E402

import core_data_reader  # noqa: E402
from core_data_writer import Writer  # noqa: E402
from graph_files import Files  # noqa: E402
from graph_generator import Generator  # noqa: E402
from graph_model import Model, differences, others  # noqa: E402

MODELS = ["values", "family", "pairs", "trees", "tags", "mixed"]
EMAIL = "ada@example.org"
SHOWN, PATIENCE = 30, 30


class Machine:
    """A store with a model, and its mount."""

    def __init__(self, world, name, container, token, model):
        self.world, self.name = world, name
        self.state = os.path.join(world.directory, f"{name}-state")
        self.mount = os.path.join(world.directory, name)
        self.run("login", f"http://127.0.0.1:{world.server.port}", "--container", container,
                 "--user", EMAIL, "--password-stdin", text=PASSWORD + "\n",
                 RECORDFS_API_TOKEN=token)
        self.run("model", "attach", model)
        self.run("mount", self.mount)
        self.zone = os.path.join(self.mount, "private", core_data_reader.ZONE)

    def run(self, *arguments, text="", **environment):
        done = subprocess.run(
            [self.world.recordfs, *arguments], input=text, text=True, capture_output=True,
            env={**self.world.environment, "RECORDFS_STATE": self.state, **environment})
        if done.returncode != 0:
            raise RuntimeError(f"recordfs {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def problems(self):
        """What the mount itself says about the objects."""
        folder = os.path.join(self.mount, ".recordfs/meta/private", core_data_reader.ZONE)
        lines = []
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    text = file.read()
                if '"problems"' in text:
                    lines.append(f"{self.name}: {name}: {text[text.index('problems'):][:300]}")
        errors = self.run("errors").strip()
        return lines + [errors] if errors and "No " not in errors else lines


class World:
    def __init__(self, recordfs, server, directory):
        self.recordfs, self.directory = recordfs, directory
        os.makedirs(directory, exist_ok=True)
        homes = {f"XDG_{kind}_HOME": os.path.join(directory, ".home") for kind in
                 ("STATE", "CONFIG", "DATA", "CACHE")}
        self.environment = {**os.environ, **homes}
        self.server = Server(server, directory)
        self.server.start()
        self.server.command("user", "add", EMAIL, "--name", "Ada", "--password-stdin",
                            text=PASSWORD + "\n")

    def container(self, model):
        """A container for the model, with the API tokens of mounts and of other programs."""
        container = f"iCloud.org.example.{model}"
        self.server.command("container", "create", container)
        return container, *(
            self.server.command("token", "create", container, "--name", f"{model} {number}",
                                "--callback", callback).split()[0]
            for number, callback in enumerate(("http://127.0.0.1", CALLBACK)))


class Comparison:
    def __init__(self, world, model_path, seed, objects):
        self.world, self.path, self.model = world, model_path, Model(model_path)
        self.seed, self.objects, self.failures, self.machines = seed, objects, 0, []

    def begin(self):
        world, name = self.world, self.model.name
        container, token, other_token = world.container(name)
        # B has the same model in the form of Xcode.
        folder = os.path.join(world.directory, f"{name}.xcdatamodeld")
        subprocess.run([world.recordfs, "model", "export", self.path, "-o", folder], check=True,
                       env=world.environment, stdout=subprocess.DEVNULL)
        for machine, model in (("A", self.path), ("B", folder)):
            self.machines.append(Machine(world, f"{name}-{machine}", container, token, model))
        self.files = [Files(machine.zone, self.model, f"{machine.name} {self.seed}")
                      for machine in self.machines]
        self.client = Client("127.0.0.1", world.server.port, other_token, container=container)
        self.client.sign_in(EMAIL, PASSWORD)

    def run(self):
        generator = Generator(self.model, self.seed)
        long_values = max(3, self.objects // 300)
        graph = generator.graph(self.objects // 2, long_values)
        self.files[0].write(graph)
        self.compare("files written on A", graph)
        self.files[1].rewrite(graph, generator.edit(graph, self.objects // 4 + 5))
        self.compare("files changed on B", graph)

        writer = Writer(self.client, self.model, seed=self.seed)
        more = generator.graph(self.objects - self.objects // 2, long_values)
        writer.write(more)
        self.compare("records written", {**graph, **more})
        writer.write(more, generator.edit(more, self.objects // 4 + 5))
        graph = {**graph, **more}
        self.compare("records changed", graph)
        self.files[0].rewrite(graph, generator.edit(graph, self.objects // 4 + 5))
        self.compare("files of those records changed on A", graph)

        before = dict(graph)
        chosen, _, _ = generator.remove(graph, self.objects // 20 + 1)
        self.files[1].remove(chosen, before)
        # A removal is final after three seconds.
        self.compare("files removed on B", graph, waits=True)
        _, removed, changed = generator.remove(graph, self.objects // 20 + 1)
        writer.joins = core_data_reader.joins(self.client)
        writer.delete(graph, removed, changed)
        self.compare("records deleted", graph, waits=True)
        return self.failures

    def compare(self, step, graph, waits=False):
        start = time.monotonic()
        lines = self.all_differences(graph)
        while waits and lines and time.monotonic() < start + PATIENCE:
            lines = self.all_differences(graph)
        self.failures += len(lines)
        links = sum(len(others(what["links"], link)) for what in graph.values()
                    for link in what["links"])
        print(f"{self.model.name}: {step}: {len(graph)} objects, {links} links: "
              f"{f'{len(lines)} differences' if lines else 'equal'} "
              f"({time.monotonic() - start:.1f} s to compare)", flush=True)
        for line in lines[:SHOWN]:
            print(f"    {line[:1000]}", flush=True)

    def all_differences(self, graph):
        for machine in (*self.machines, self.machines[0]):
            machine.run("sync")
        found = {"the files of A": self.files[0].read(), "the files of B": self.files[1].read(),
                 "the records": core_data_reader.read(self.client, self.model)}
        lines = [f"{place}: {line}" for place, read in found.items()
                 for line in differences(graph, read)]
        for machine in self.machines:
            lines += machine.problems()
        # The server ends connections that are idle for long. The next request opens another one.
        self.client.connection.close()
        return lines

    def end(self):
        for machine in self.machines:
            if os.path.ismount(machine.mount):
                machine.run("unmount")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordfs")
    parser.add_argument("server")
    parser.add_argument("directory")
    parser.add_argument("--objects", type=int, default=150)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--models", default=",".join(MODELS))
    arguments = parser.parse_args()
    models, failures = arguments.models.split(","), 0
    world = World(arguments.recordfs, arguments.server, os.path.abspath(arguments.directory))
    try:
        for name in models:
            comparison = Comparison(world, os.path.join(here, "models", name + ".json"),
                                    arguments.seed, arguments.objects // len(models))
            try:
                comparison.begin()
                failures += comparison.run()
            finally:
                comparison.end()
    finally:
        world.server.stop()
    sys.exit(f"{failures} differences" if failures else 0)


if __name__ == "__main__":
    main()
