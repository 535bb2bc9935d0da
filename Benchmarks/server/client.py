"""A client of the record server that costs little: one connection, bodies made beforehand."""

import http.client
import json
import re
import time
import urllib.parse

CONTAINER = "iCloud.org.recordfs.bench"


class Client:
    """One signed-in user on one kept connection."""

    def __init__(self, host, port, api_token, web_token=None, tls=None, container=CONTAINER):
        self.host, self.port, self.container = host, port, container
        self.api_token, self.web_token = api_token, web_token
        self.scheme = "https" if tls else "http"
        self.connection = (
            http.client.HTTPSConnection(host, port, timeout=300, context=tls) if tls
            else http.client.HTTPConnection(host, port, timeout=300))

    def twin(self):
        return Client(self.host, self.port, self.api_token, self.web_token)

    def credentials(self):
        query = {"ckAPIToken": self.api_token}
        if self.web_token:
            query["ckWebAuthToken"] = self.web_token
        return urllib.parse.urlencode(query)

    def send(self, path, body):
        """The raw answer and the seconds from the first byte sent to the last byte read."""
        headers = {"Content-Type": "application/json"}
        start = time.perf_counter()
        self.connection.request("POST", f"{path}?{self.credentials()}", body, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        elapsed = time.perf_counter() - start
        self.web_token = answer.getheader("X-Apple-CloudKit-Web-Auth-Token") or self.web_token
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {data[:300]!r}")
        return data, elapsed

    def call(self, operation, body, scope="private"):
        path = f"/database/1/{self.container}/development/{scope}/{operation}"
        return self.send(path, json.dumps(body).encode())

    def ask(self, operation, body, scope="private"):
        return json.loads(self.call(operation, body, scope)[0])

    def sign_in(self, email, password):
        """The redirect flow of the protocol, without a browser: 421, page, form, callback."""
        self.connection.request("GET", f"/database/1/{self.container}/development/public/"
                                f"users/caller?{self.credentials()}")
        answer = self.connection.getresponse()
        problem = json.loads(answer.read())
        if answer.status != 421:
            raise RuntimeError(f"users/caller without a user: {answer.status} {problem}")
        url = urllib.parse.urlsplit(problem["redirectURL"])
        page_path = url.path + ("?" + url.query if url.query else "")
        self.connection.request("GET", page_path)
        page = self.connection.getresponse()
        text = page.read().decode()
        cookies = [value.split(";")[0] for name, value in page.getheaders()
                   if name.lower() == "set-cookie"]
        form = {}
        for tag in re.findall(r"<input[^>]*>", text):
            name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
            if name and 'type="hidden"' in tag:
                form[name.group(1)] = value.group(1) if value else ""
        action = re.search(r'<form[^>]*action="([^"]*)"', text)
        names = re.findall(r'<input[^>]*type="(?:email|text)"[^>]*name="([^"]*)"', text) + \
            re.findall(r'<input[^>]*name="([^"]*)"[^>]*type="(?:email|text)"', text)
        secrets = re.findall(r'<input[^>]*type="password"[^>]*name="([^"]*)"', text) + \
            re.findall(r'<input[^>]*name="([^"]*)"[^>]*type="password"', text)
        form[names[0]], form[secrets[0]] = email, password
        target = action.group(1).replace("&amp;", "&") if action and action.group(1) else page_path
        self.connection.request("POST", target, urllib.parse.urlencode(form), {
            "Content-Type": "application/x-www-form-urlencoded", "Cookie": "; ".join(cookies),
            "Origin": f"{self.scheme}://{self.host}:{self.port}"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        location = answer.getheader("Location") or ""
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query).get("ckWebAuthToken")
        if not token:
            raise RuntimeError(f"sign-in: {answer.status} {location} {text[:300]}")
        self.web_token = token[0]


def fields(number):
    """About 300 bytes of fields, of the kinds that records have."""
    return {
        "title": {"value": f"Record number {number}", "type": "STRING"},
        "number": {"value": number, "type": "INT64"},
        "share": {"value": number * 0.25 + 0.125, "type": "DOUBLE"},
        "due": {"value": 1767225600000 + number * 1000, "type": "TIMESTAMP"},
        "note": {"value": ("word%d " % (number % 977)) * 12, "type": "STRING"},
    }


def creates(zone, start, count):
    operations = [
        {"operationType": "create",
         "record": {"recordName": f"r{number:08d}", "recordType": "Item",
                    "fields": fields(number)}}
        for number in range(start, start + count)]
    return json.dumps({"zoneID": {"zoneName": zone}, "operations": operations}).encode()
