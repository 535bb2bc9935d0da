"""Runs clients of the protocol that nobody here wrote against a recordfs-server with TLS.

usage: run.py SERVER PYTHON      PYTHON is of an environment with pyicloud and requests-cloudkit

Makes a data directory, a certificate, a user, tokens and a key, signs in by the redirect flow, and
runs pyicloud_client.py, s2s.sh and requests_cloudkit_client.py; then hostile_bodies.py on a server of its own.
"""

import os
import socket
import ssl
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../Benchmarks/server"))
from client import Client  # noqa: E402

CONTAINER = "iCloud.org.example.clients"
EMAIL, PASSWORD = "ada@example.org", "correct horse battery staple"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def certificate(folder):
    names = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem")]
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
            "-out", names[0], "-keyout", names[1])
    return names


def signing_key(folder):
    names = [os.path.join(folder, name) for name in ("private.pem", "public.pem")]
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", names[0])
    openssl("ec", "-in", names[0], "-pubout", "-out", names[1])
    return names


class Server:
    def __init__(self, program, folder):
        self.program, self.data = program, os.path.join(folder, "data")
        self.certificate, key = certificate(folder)
        self.log = open(os.path.join(folder, "log"), "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
             "--container", CONTAINER, "--tls-certificate", self.certificate, "--tls-key", key],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.startswith("Listening at https://"):
                self.port = int(line.strip().rstrip("/").rsplit(":", 1)[1])
                return
        self.log.seek(0)
        sys.exit(f"the server did not start: {self.log.read()}")

    def command(self, *arguments, text=None):
        return subprocess.run([self.program, *arguments, "--data", self.data], input=text,
                              text=True, check=True, stdout=subprocess.PIPE).stdout

    def stop(self):
        self.process.terminate()
        if self.process.wait(30) != 0:
            sys.exit(f"the server ended with {self.process.returncode}")


def run(program, python, folder):
    server = Server(program, folder)
    try:
        server.command("user", "add", EMAIL, "--name", "Ada Lovelace", "--password-stdin",
                       text=PASSWORD + "\n")
        token = server.command("token", "create", CONTAINER, "--name", "clients",
                               "--callback", "http://127.0.0.1/done").split()[0]
        context = ssl.create_default_context(cafile=server.certificate)
        client = Client("127.0.0.1", server.port, token, tls=context, container=CONTAINER)
        client.sign_in(EMAIL, PASSWORD)
        base = f"https://127.0.0.1:{server.port}"
        subprocess.run(
            [python, os.path.join(here, "pyicloud_client.py"),
             f"{base}/database/1/{CONTAINER}/development/private", token, client.web_token,
             server.certificate], check=True)
        private, public = signing_key(folder)
        key_id = server.command("key", "add", public, CONTAINER, "--user", EMAIL,
                                "--name", "clients").split()[0]
        subprocess.run([os.path.join(here, "s2s.sh"), base, CONTAINER, key_id, private],
                       check=True, env={**os.environ, "CURL_CA_BUNDLE": server.certificate})
        subprocess.run(
            [python, os.path.join(here, "requests_cloudkit_client.py"), base, CONTAINER, key_id,
             private, server.certificate], check=True)
    finally:
        server.stop()


def main():
    program, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run(program, python, folder)
    subprocess.run(
        [sys.executable, os.path.join(here, "hostile_bodies.py"), program], check=True)


main()
