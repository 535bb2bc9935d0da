"""pyicloud's CloudKit client, which nobody here wrote, against a record server.

usage: pyicloud_client.py BASE_URL API_TOKEN WEB_AUTH_TOKEN CERTIFICATE

BASE_URL is https://HOST:PORT/database/1/CONTAINER/development/private. pyicloud runs in its strict
mode, in which it refuses any key that it has not seen from iCloud's own hosts. It sends remapEnums,
as iCloud's web apps do.
"""

import os
import sys

os.environ["PYICLOUD_CK_EXTRA"] = "strict"

import requests  # noqa: E402
from pyicloud.common.cloudkit import client as pyicloud_client  # noqa: E402
from pyicloud.common.cloudkit import models  # noqa: E402

ZONE = models.CKZoneIDReq(zoneName="Clients")


def connect(base_url, api_token, web_token, certificate, **extra):
    session = requests.Session()
    session.trust_env = False  # else REQUESTS_CA_BUNDLE counts more than the next line
    session.verify = certificate
    return pyicloud_client.CloudKitContainerClient(
        base_url, session,
        {"ckAPIToken": api_token, "ckWebAuthToken": web_token, "remapEnums": True, **extra})


def expect(condition, what):
    if not condition:
        sys.exit(f"pyicloud: {what}")


def operation(kind, name, fields=None, tag=None, parent=None):
    record = models.CKWriteRecord(
        recordName=name, recordType="Note", fields=fields or {}, recordChangeTag=tag,
        parent=models.CKWriteParent(recordName=parent) if parent else None)
    return models.CKModifyOperation(operationType=kind, record=record)


def refused(code, call):
    """The call is answered with this serverErrorCode."""
    try:
        call()
    except pyicloud_client.CloudKitApiError as error:
        expect(code in str(error) + str(error.payload), f"{code} expected, not {error}")
        expect("validation failed" not in str(error),
               f"the error item has keys that pyicloud refuses: {error.payload}")
    else:
        sys.exit(f"pyicloud: {code} expected, but the call succeeded")


def all_types(number):
    return {
        "title": {"type": "STRING", "value": f"Note {number} ümlaut"},
        "number": {"type": "INT64", "value": number},
        "weight": {"type": "DOUBLE", "value": number + 0.5},
        "due": {"type": "TIMESTAMP", "value": 1767225600000 + number},
        "data": {"type": "BYTES", "value": "AAEC/w=="},
        "tags": {"type": "STRING_LIST", "value": ["red", "green"]},
        "counts": {"type": "INT64_LIST", "value": [1, 2, 3]},
        "link": {"type": "REFERENCE", "value": {"recordName": "note-0", "action": "NONE"}},
    }


def zones(client):
    names = [zone.zoneID.zoneName for zone in client.zones_list().zones]
    expect("_defaultZone" in names, f"zones/list without the default zone: {names}")
    client.raw_post("/zones/modify", {"operations": [
        {"operationType": "create", "zone": {"zoneID": {"zoneName": ZONE.zoneName}}}]})
    names = [zone.zoneID.zoneName for zone in client.zones_list().zones]
    expect(ZONE.zoneName in names, f"the made zone is not in {names}")


def modify(client):
    made = client.modify(
        operations=[operation("create", f"note-{n}", all_types(n)) for n in range(7)],
        zone_id=ZONE, atomic=True)
    expect(len(made.records) == 7, "7 records expected from records/modify")
    first = made.records[0]
    expect(first.fields["title"].value == "Note 0 ümlaut", "the title came back changed")
    expect(first.fields["due"].value.timestamp() == 1767225600.0, "the timestamp changed")
    expect(first.created.userRecordName.startswith("_"), "created has no user")
    changed = client.modify(
        operations=[operation("update", "note-0", {"number": {"type": "INT64", "value": 70}},
                              tag=first.recordChangeTag)], zone_id=ZONE).records[0]
    expect(changed.recordChangeTag != first.recordChangeTag, "the change tag did not step")
    expect(changed.fields["title"].value == "Note 0 ümlaut", "update lost another field")
    refused("CONFLICT", lambda: client.modify(
        operations=[operation("update", "note-0", {"number": {"type": "INT64", "value": 71}},
                              tag=first.recordChangeTag)], zone_id=ZONE))
    refused("CONFLICT", lambda: client.modify(
        operations=[operation("create", "note-1", all_types(1))], zone_id=ZONE))


def lookup(client):
    found = client.lookup(["note-3", "note-0"], zone_id=ZONE).records
    expect([record.recordName for record in found] == ["note-3", "note-0"], "lookup order")
    expect(found[1].fields["number"].value == 70, "lookup shows an old value")
    missing = client.lookup(["note-0", "nobody"], zone_id=ZONE).records[1]
    expect(missing.serverErrorCode == "NOT_FOUND", f"a missing record gave {missing}")
    few = client.lookup(["note-3"], zone_id=ZONE, desired_keys=["number"]).records[0]
    expect(list(few.fields) == ["number"], f"desiredKeys gave {list(few.fields)}")


def query(client):
    names, marker = [], None
    while True:
        page = client.query(
            query=models.CKQueryObject(
                recordType="Note",
                filterBy=[models.CKQueryFilterBy(
                    comparator="GREATER_THAN", fieldName="number",
                    fieldValue={"type": "INT64", "value": 1})],
                sortBy=[models.CKQuerySortBy(fieldName="number", ascending=False)]),
            zone_id=ZONE, results_limit=2, continuation=marker)
        names += [record.recordName for record in page.records]
        marker = page.continuationMarker
        if not marker:
            break
    expect(names == ["note-0", "note-6", "note-5", "note-4", "note-3", "note-2"],
           f"query in pages gave {names}")
    tagged = client.query(
        query=models.CKQueryObject(recordType="Note", filterBy=[
            models.CKQueryFilterBy(comparator="IN", fieldName="title", fieldValue={
                "type": "STRING_LIST", "value": ["Note 2 ümlaut", "Note 5 ümlaut"]})]),
        zone_id=ZONE)
    expect(sorted(r.recordName for r in tagged.records) == ["note-2", "note-5"], "IN")


def changes(client):
    request = models.CKZoneChangesZoneReq(zoneID=models.CKZoneID(zoneName=ZONE.zoneName))
    seen, token = [], None
    for page in client.iter_changes(zone_req=request, results_limit=3):
        seen += [record.recordName for record in page.records]
        token = page.syncToken
    expect(sorted(seen) == [f"note-{n}" for n in range(7)], f"changes/zone gave {seen}")
    before = client.database_changes()
    expect(ZONE.zoneName in [z.zoneID.zoneName for z in before.zones], "changes/database")
    client.modify(operations=[operation("forceDelete", "note-6")], zone_id=ZONE)
    after = client.database_changes(sync_token=before.syncToken)
    expect([z.zoneID.zoneName for z in after.zones] == [ZONE.zoneName],
           "changes/database after one change")
    request = models.CKZoneChangesZoneReq(
        zoneID=models.CKZoneID(zoneName=ZONE.zoneName), syncToken=token)
    page = client.changes(zone_req=request).zones[0]
    expect([type(r).__name__ for r in page.records] == ["CKTombstoneRecord"],
           f"one tombstone expected, not {page.records}")
    refused("CHANGE_TOKEN_EXPIRED", lambda: client.changes(zone_req=models.CKZoneChangesZoneReq(
        zoneID=models.CKZoneID(zoneName=ZONE.zoneName), syncToken=token[:-2] + "AA")))


def assets(client):
    content = os.urandom(300_000)
    value = client.upload_asset(record_type="Note", field_name="photo", record_name="note-1",
                                data=content, zone_id=ZONE)
    made = client.modify(operations=[operation("forceUpdate", "note-1", {
        "photo": {"type": "ASSETID", "value": value.model_dump(exclude_none=True)}})],
        zone_id=ZONE).records[0]
    url = made.fields["photo"].value.downloadURL
    expect(client.download_asset_bytes(url) == content, "the asset came back changed")
    streamed = b"".join(client.download_asset_stream(url.replace("${f}", "photo.jpg")))
    expect(streamed == content, "the streamed asset came back changed")
    found = client.lookup(["note-1"], zone_id=ZONE).records[0]
    expect(found.fields["photo"].value.size == len(content), "the asset's size")


def main():
    arguments = sys.argv[1:]
    client = connect(*arguments)
    zones(client)
    modify(client)
    lookup(client)
    query(client)
    changes(client)
    assets(client)
    with_token = connect(*arguments, getCurrentSyncToken=True)
    token = with_token.query_sync_token(
        query=models.CKQueryObject(recordType="Note"), zone_id=ZONE)
    expect(token, "getCurrentSyncToken gave no token")
    print("pyicloud: zones, modify, query, lookup, changes and assets in strict mode")


main()
