#!/usr/bin/env bash
# Server-to-server requests with curl and openssl only, as Apple's description says
# (CloudKit Web Services Reference, "Composing Web Service Requests"):
#   message   = date ":" base64(SHA-256(body)) ":" path
#   signature = base64(ECDSA-P256-SHA256(message)), DER
# usage: s2s.sh BASE_URL CONTAINER KEY_ID PRIVATE_KEY.pem
set -euo pipefail
base=$1 container=$2 key_id=$3 key=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "s2s: $*" >&2; exit 1; }

# request OPERATION BODY [DATE] [BODY-TO-SIGN]: status in $status, answer in $answer.
# With method=GET as a client that sends no body.
request() {
    local path="/database/1/$container/development/${scope:-public}/$1" body=$2
    local date=${3:-$(date -u +%Y-%m-%dT%H:%M:%SZ)} signed=${4-$2}
    local hash signature
    hash=$(printf %s "$signed" | openssl dgst -sha256 -binary | base64 -w0)
    signature=$(printf '%s:%s:%s' "$date" "$hash" "$path" |
        openssl dgst -sha256 -sign "$key" | base64 -w0)
    local send=(-X POST --data-binary "$body")
    [[ ${method:-POST} == POST ]] || send=(-X "$method")
    status=$(curl -sS -o "$folder/answer" -w '%{http_code}' "${send[@]}" \
        -H 'Content-Type: text/plain' \
        -H "X-Apple-CloudKit-Request-KeyID: $key_id" \
        -H "X-Apple-CloudKit-Request-ISO8601Date: $date" \
        -H "X-Apple-CloudKit-Request-SignatureV1: $signature" "$base$path")
    answer=$(cat "$folder/answer")
}

name=s2s-$RANDOM$RANDOM
create='{"operations":[{"operationType":"create","record":{"recordType":"News","recordName":"'$name'","fields":{"title":{"value":"signed"}}}}]}'
request records/modify "$create"
[[ $status == 200 ]] || fail "create: $status $answer"
jq -e '.records[0].recordName == "'"$name"'" and .records[0].fields.title.value == "signed"' \
    <<<"$answer" >/dev/null || fail "create: $answer"

request records/lookup '{"records":[{"recordName":"'"$name"'"}]}'
[[ $status == 200 ]] || fail "lookup: $status $answer"
jq -e '.records[0].fields.title.value == "signed"' <<<"$answer" >/dev/null || fail "$answer"

request records/query '{"query":{"recordType":"News","filterBy":[{"fieldName":"title","comparator":"EQUALS","fieldValue":{"value":"signed","type":"STRING"}}]}}'
[[ $status == 200 ]] || fail "query: $status $answer"
jq -e --arg name "$name" '[.records[].recordName] | index($name) != null' <<<"$answer" \
    >/dev/null || fail "query: $answer"

# Who the key acts as, by either method and name, and people that it looks up, as CloudKitPy asks.
for operation in users/caller users/current; do
    for method in GET POST; do
        body='{}'
        [[ $method == POST ]] || body=
        method=$method request "$operation" "$body"
        [[ $status == 200 ]] || fail "$method $operation: $status $answer"
        jq -e '(.userRecordName | startswith("_")) and .firstName == "Ada"' <<<"$answer" >/dev/null ||
            fail "$method $operation: $answer"
    done
done
request users/lookup/email '{"users":[{"emailAddress":"ada@example.org"}]}'
[[ $status == 200 ]] || fail "users/lookup/email: $status $answer"
jq -e '.users[0].firstName == "Ada"' <<<"$answer" >/dev/null || fail "users/lookup/email: $answer"

request records/lookup '{"records":[{"recordName":"other"}]}' '' "{}"
[[ $status == 401 ]] || fail "another body than the signed one: $status"
request records/lookup '{"records":[]}' "$(date -u -d '-11 minutes' +%Y-%m-%dT%H:%M:%SZ)"
[[ $status == 401 ]] || fail "a date 11 minutes ago: $status"
request records/lookup '{"records":[]}' "$(date -u -d '+11 minutes' +%Y-%m-%dT%H:%M:%SZ)"
[[ $status == 401 ]] || fail "a date 11 minutes ahead: $status"
jq -e '.serverErrorCode == "AUTHENTICATION_FAILED"' <<<"$answer" >/dev/null || fail "$answer"
scope=private request zones/list "{}"
[[ $status == 403 ]] || fail "a key in a private database: $status $answer"
openssl ecparam -name prime256v1 -genkey -noout -out "$folder/other.pem"
key=$folder/other.pem
request records/lookup '{"records":[]}'
[[ $status == 401 ]] || fail "a signature of another key: $status"
echo "s2s: create, lookup and query signed with openssl; wrong body, date and key refused"
