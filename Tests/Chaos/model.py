"""What must be in the files: the last acknowledged state of each, or one that was tried after it."""

import threading

ABSENT = None


class File:
    """One file that one writer alone changes."""

    def __init__(self):
        self.acknowledged = ABSENT
        # What was tried since and has failed, or whose end nobody has seen: it may be so or not.
        self.tried = []

    @property
    def is_certain(self):
        return not self.tried


class Model:
    """Files by their path below the mount, of all writers."""

    def __init__(self):
        self.lock = threading.Lock()
        self.files = {}
        self.acknowledged = 0

    def attempt(self, path, content, action):
        """Runs what shall make the file so; the error, when it was not acknowledged."""
        with self.lock:
            file = self.files.setdefault(path, File())
            # From now on somebody may see it.
            file.tried.append(content)
        try:
            action()
        except OSError as error:
            return error
        with self.lock:
            file.acknowledged = content
            file.tried = []
            self.acknowledged += 1
        return None

    def snapshot(self):
        with self.lock:
            return {path: (file.acknowledged, list(file.tried)) for path, file in self.files.items()}


class Counters:
    """Fields of records that both machines change, each its own: numbers that only grow."""

    def __init__(self):
        self.lock = threading.Lock()
        # (path, field): the last acknowledged, the last tried.
        self.values = {}
        self.acknowledged = 0

    def next(self, key):
        with self.lock:
            acknowledged, tried = self.values.get(key, (0, 0))
            self.values[key] = (acknowledged, tried + 1)
            return tried + 1

    def acknowledge(self, key, number):
        with self.lock:
            self.values[key] = (number, self.values[key][1])
            self.acknowledged += 1

    def snapshot(self):
        with self.lock:
            return dict(self.values)
