import Foundation
import TestSupport
import Testing

extension MountTests {
    /// Programs that write beside or over a large field's file, held against the same on ext4, with a
    /// second machine in step.
    @Suite struct FieldToolTests {
        @Test(
            "every program leaves what it leaves on ext4, and other machines get the field's file")
        func matrix() async throws {
            let account = try await Account()
            let (a, b) = (try account.machine(), try account.machine())
            try a.ok(Self.sources)
            var done: [Run] = []
            for (number, tool) in FieldToolCase.all.enumerated() {
                done.append(try Run(tool, number, on: a))
            }
            try a.ok("recordfs sync")
            try b.ok("recordfs sync")
            for run in done {
                let wanted = run.plain.filter { run.isOfRecord($0.key) }
                var got: [String: String] = [:]
                _ = MountTable.wait(
                    seconds: 20,
                    until: {
                        got = (try? Run.files(in: "\(b.folder)/\(run.mounted)")) ?? [:]
                        return got == wanted
                    }, orUntil: { false })
                #expect(got == wanted, "on the other machine: \(run.tool.name)")
                let here = try Run.files(in: "\(a.folder)/\(run.mounted)")
                #expect(here == run.plain, "after the grace: \(run.tool.name)")
                try FieldToolResults.append(run, isAsOnDisk: here == run.plain && got == wanted)
            }
            // A name that changes alone, when all machines have the file.
            try a.ok("cd \(done[1].mounted) && mv r@data.bin r@data.dat")
            #expect(try b.eventually("ls \(done[1].mounted)", "r.json\nr@data.dat"))
            try a.ok("recordfs unmount")
            try b.ok("recordfs unmount")
        }

        /// What the scripts take, made once.
        private static let sources = #"""
            mkdir -p o plain; cd o
            seq 1 400 > start.bin; seq 500 900 > new.bin; printf 'one\nfour\nthree\n' > start.txt
            gzip -nk start.bin; xz -k start.bin
            printf -- '--- a\n+++ b\n@@ -1,3 +1,3 @@\n-one\n+two\n four\n three\n' > change.patch
            sqlite3 start.db 'create table t (n); insert into t values (1)'
            cat > exchange <<'END'
            #!/bin/sh
            S='\(^\|[/[:space:]]\)'
            sed -i -e "s#${S}a\([.@]\)#\1T\2#" -e "s#${S}b\([.@]\)#\1a\2#" -e "s#${S}T\([.@]\)#\1b\2#" "$1"
            END
            chmod +x exchange
            convert -size 40x30 gradient:red-blue -define png:exclude-chunks=date,time start.png
            convert start.png -strip start.jpg
            cat > page.py <<'END'
            parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                     b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"]
            text, places = b"%PDF-1.4\n", []
            for number, part in enumerate(parts):
                places.append(len(text))
                text += b"%d 0 obj" % (number + 1) + part + b"endobj\n"
            table = len(text)
            text += b"xref\n0 4\n0000000000 65535 f \n"
            text += b"".join(b"%010d 00000 n \n" % place for place in places)
            text += b"trailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % table
            open("start.pdf", "wb").write(text)
            END
            python3 page.py
            cat > serve.py <<'END'
            import http.server, sys
            class Quiet(http.server.SimpleHTTPRequestHandler):
                def log_message(self, *arguments): pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
            with open(sys.argv[1], "w") as port: port.write(f"{server.server_port}\n")
            server.serve_forever()
            END
            touch -d '2026-01-02 03:04:06' *
            """#

        /// One command, in a record type and in a folder of the disk.
        struct Run {
            let tool: FieldToolCase
            /// Below the home.
            let mounted: String
            /// The files that the disk has.
            let plain: [String: String]

            init(_ tool: FieldToolCase, _ number: Int, on home: CommandLineHome) throws {
                self.tool = tool
                mounted = "RecordFS/private/Tools/T\(number)"
                for folder in ["plain/T\(number)", mounted] {
                    let result = try home.shell(Self.script(tool, in: folder))
                    #expect(result.status == 0, "\(tool.name) in \(folder): \(result)")
                }
                plain = try Self.files(in: "\(home.folder)/plain/T\(number)")
                let files = try Self.files(in: "\(home.folder)/\(mounted)")
                #expect(files == plain, "\(tool.name): \(files.keys.sorted())")
            }

            private static func script(_ tool: FieldToolCase, in folder: String) -> String {
                let setup = tool.setup ?? "echo '{\"k\": 1}' > r.json; cp -p $O/\(tool.start) $F"
                return """
                    export O=$HOME/o F=\(tool.file); mkdir -p \(folder) && cd \(folder) || exit 1
                    served() {
                        rm -f $O/port; mkfifo $O/port
                        (cd $O && exec python3 serve.py port) & server=$!
                        read port < $O/port
                        "${@/URL/http://127.0.0.1:$port/new.bin}"; status=$?
                        kill $server; wait $server 2>/dev/null; return $status
                    }
                    \(setup)
                    \(tool.script)
                    """
            }

            /// The names with what tells the bytes from others; of a record its `k`.
            static func files(in folder: String) throws -> [String: String] {
                var files: [String: String] = [:]
                for name in try SystemCall.list(folder) {
                    let path = "\(folder)/\(name)"
                    var isDirectory: ObjCBool = false
                    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
                        !isDirectory.boolValue
                    else { continue }
                    let bytes = try SystemCall.readFile(path)
                    if name.hasSuffix(".json") {
                        let record = try JSONSerialization.jsonObject(with: Data(bytes))
                        files[name] = "\((record as? [String: Any])?["k"] ?? "")"
                    } else {
                        files[name] = Data(bytes).base64EncodedString()
                    }
                }
                return files
            }

            /// Whether other machines have it.
            func isOfRecord(_ name: String) -> Bool {
                name.hasSuffix(".json") || tool.fields.contains(name)
            }

            /// What of it stays on this machine.
            var beside: [String] { plain.keys.filter { !isOfRecord($0) }.sorted() }
        }
    }
}

/// The lines of the table that `scripts/field-table` makes.
private enum FieldToolResults {
    struct Row: Codable {
        let tool: String
        let isAsOnDisk: Bool
        let fields: [String]
        let beside: [String]
    }

    private static let path = "\(TestRoot.base)/field-tool-results.ndjson"
    private static let started = Locked(false)

    static func append(_ run: MountTests.FieldToolTests.Run, isAsOnDisk: Bool) throws {
        let isFirst = started.update { flag in
            defer { flag = true }
            return !flag
        }
        if isFirst { try SystemCall.writeFile(path, "") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let row = Row(
            tool: run.tool.name, isAsOnDisk: isAsOnDisk, fields: run.tool.fields,
            beside: run.beside)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: try encoder.encode(row) + Data("\n".utf8))
        try file.close()
    }
}
