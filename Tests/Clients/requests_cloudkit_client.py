"""requests-cloudkit, which nobody here wrote, against a record server.

usage: requests_cloudkit_client.py BASE_URL CONTAINER KEY_ID PRIVATE_KEY CERTIFICATE

The package is of Python 2: what it hands to hashlib and to files is text. Its signing is done here, by the same
functions of the same library; what it sends, and what it leaves out of the head of a request, is its own.
"""

import base64
import hashlib
import json
import sys

import ecdsa
import requests
from requests_cloudkit.cloudkit import CloudKitAuth


class Auth(CloudKitAuth):
    def make_signature(self, formatted_date, body, path):
        if isinstance(body, str):
            body = body.encode()
        digest = base64.b64encode(hashlib.sha256(body or b"").digest()).decode()
        with open(self.key_file_name) as file:
            key = ecdsa.SigningKey.from_pem(file.read())
        return base64.b64encode(key.sign(
            f"{formatted_date}:{digest}:{path}".encode(), hashfunc=hashlib.sha256,
            sigencode=ecdsa.util.sigencode_der)).decode()


def expect(condition, what):
    if not condition:
        sys.exit(f"requests-cloudkit: {what}")


def main():
    base, container, key_id, key, certificate = sys.argv[1:]
    session = requests.Session()
    session.trust_env = False
    session.verify = certificate
    session.auth = Auth(key_id, key)
    place = f"{base}/database/1/{container}/development/public/"

    def call(method, operation, body=None):
        answer = session.request(
            method, place + operation, data=None if body is None else json.dumps(body))
        expect(answer.status_code == 200, f"{operation}: {answer.status_code} {answer.text}")
        return answer.json()

    me = call("GET", "users/caller")
    expect(me["userRecordName"].startswith("_"), f"users/caller gave {me}")
    made = call("POST", "records/modify", {"operations": [{
        "operationType": "create",
        "record": {"recordType": "News", "fields": {"title": {"value": "by requests-cloudkit"}}}}]})
    name = made["records"][0]["recordName"]
    found = call("POST", "records/lookup", {"records": [{"recordName": name}]})["records"][0]
    expect(found["fields"]["title"]["value"] == "by requests-cloudkit", f"lookup gave {found}")
    expect(found["created"]["userRecordName"] == me["userRecordName"], f"created by {found}")
    print("requests-cloudkit: users/caller, create and lookup")


main()
