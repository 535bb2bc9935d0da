import TestSupport
import Testing

extension MountTests {
    /// Shares that curl makes and accepts with documented requests, and a mount on the other side.
    @Suite struct ShareByProtocolTests: TestsOfTwoUsers {
        let users: TwoUsers

        init() async throws {
            users = try await TwoUsers()
        }

        /// `ask DATABASE/OPERATION BODY`, with the tokens of the machine's account.
        private static let ask = """
            ask() {
                key=$(jq -r '.apiToken | @uri' .local/share/recordfs/account.json)
                token=$(jq -r '.webAuthToken | @uri' .local/share/recordfs/account.json)
                server=$(jq -r '.server' .local/share/recordfs/account.json)
                curl -sS "$server/database/1/iCloud.org.recordfs.default/development/$1?ckAPIToken=$key&ckWebAuthToken=$token" \\
                    -H 'Content-Type: application/json' --data "$2"
            }

            """

        private func ask(
            _ home: CommandLineHome, _ operation: String, _ body: String, _ show: String
        ) throws -> String {
            try home.ok("\(Self.ask)ask \(operation) '\(body)' | jq -r '\(show)'")
        }

        @Test(
            "a share that curl has made is accepted at a mount, and both see what the other writes")
        func madeByCurl() async throws {
            _ = try ask(
                alice, "private/zones/modify",
                #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "Plans"}}}]}"#,
                ".")
            // The share and its root are in one request (Protocol, "Sharing").
            let link = try ask(
                alice, "private/records/modify",
                """
                {"zoneID": {"zoneName": "Plans"}, "operations": [
                  {"operationType": "create", "record": {"recordName": "topic", "recordType": "Topic",
                    "createShortGUID": true, "fields": {"title": {"value": "Summer"}}}},
                  {"operationType": "create", "record": {"recordName": "note", "recordType": "Topic",
                    "parent": {"recordName": "topic"}, "fields": {"title": {"value": "Boat"}}}},
                  {"operationType": "create", "record": {"recordType": "cloudkit.share",
                    "forRecord": {"recordName": "topic"}, "publicPermission": "NONE",
                    "participants": [{"type": "USER", "permission": "READ_WRITE",
                      "acceptanceStatus": "INVITED",
                      "userIdentity": {"lookupInfo": {"emailAddress": "bob@localhost"}}}]}}]}
                """, ".records[] | select(.shortGUID and .recordType == \"cloudkit.share\") | .url")
            let place = try bob.ok("recordfs accept '\(link)'")
            #expect(place == "shared/admin@localhost/Plans")
            #expect(
                try bob.eventually(
                    "ls -A RecordFS/\(place)/Topic", ".topic.share.json\nnote.json\ntopic.json"))
            try bob.ok("sed -i s/Summer/Winter/ RecordFS/\(place)/Topic/topic.json; recordfs sync")
            #expect(
                try ask(
                    alice, "private/records/lookup",
                    #"{"zoneID": {"zoneName": "Plans"}, "records": [{"recordName": "topic"}]}"#,
                    ".records[0].fields.title.value") == "Winter")
            // The owner's mount has it too.
            #expect(
                try alice.eventually(
                    "jq -r .participants[0].status RecordFS/private/Plans/Topic/.topic.share.json",
                    "ACCEPTED"))
            _ = try ask(
                alice, "private/records/modify",
                """
                {"zoneID": {"zoneName": "Plans"}, "operations": [{"operationType": "forceUpdate",
                  "record": {"recordName": "note", "recordType": "Topic",
                    "parent": {"recordName": "topic"}, "fields": {"title": {"value": "Ship"}}}}]}
                """, ".")
            #expect(try bob.eventually("jq -r .title RecordFS/\(place)/Topic/note.json", "Ship"))
            try end()
        }

        @Test("a share of a mount is accepted by curl, with the permission that it gives")
        func acceptedByCurl() async throws {
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"title": "Soup"}' > RecordFS/private/Kitchen/Recipe/soup.json
                echo '{"participants": [{"address": "bob@localhost"}]}' > RecordFS/private/Kitchen/.share.json
                """)
            let guid = try alice.ok(
                "jq -r .url RecordFS/private/Kitchen/.share.json | sed 's|.*/||; s|#.*||'")
            #expect(
                try ask(
                    bob, "public/records/resolve", #"{"shortGUIDs": [{"value": "\#(guid)"}]}"#,
                    ".results[0].participantStatus") == "INVITED")
            let zone = try ask(
                bob, "public/records/accept", #"{"shortGUIDs": [{"value": "\#(guid)"}]}"#,
                ".results[0].zoneID | tojson")
            let lookUp = #"{"zoneID": \#(zone), "records": [{"recordName": "soup"}]}"#
            #expect(
                try ask(bob, "shared/records/lookup", lookUp, ".records[0].fields.title.value")
                    == "Soup")
            let write = """
                {"zoneID": \(zone), "operations": [{"operationType": "forceUpdate",
                  "record": {"recordName": "soup", "recordType": "Recipe",
                    "fields": {"title": {"value": "Stew"}}}}]}
                """
            #expect(
                try ask(bob, "shared/records/modify", write, ".records[0].serverErrorCode")
                    == "ACCESS_DENIED")
            // The mount of the same account hears of it without any action.
            #expect(
                try bob.eventually(
                    "cat RecordFS/shared/admin@localhost/Kitchen/Recipe/soup.json",
                    #"{"title": "Soup"}"#))
            #expect(
                try alice.eventually(
                    "jq -r '.participants[0].status' RecordFS/private/Kitchen/.share.json",
                    "ACCEPTED"))
            try alice.ok(
                "cd RecordFS/private/Kitchen && sed s/READ_ONLY/READ_WRITE/ .share.json > .n && mv .n .share.json"
            )
            #expect(
                try ask(bob, "shared/records/modify", write, ".records[0].fields.title.value")
                    == "Stew")
            #expect(
                try alice.eventually(
                    "jq -r .title RecordFS/private/Kitchen/Recipe/soup.json", "Stew"))
            try end()
        }
    }
}
