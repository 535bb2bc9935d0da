import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Debian's iso-codes as records: about 8 000 languages and 5 000 subdivisions.
    @Suite struct IsoCodesTests {
        /// Of the languages, which are over 7 000, for what copies one by one.
        private static let copied = LongForm.isAskedFor ? Int.max : 2_000

        @Test("every way to copy the languages in gives the same tree", arguments: CopyWay.all)
        func copy(way: CopyWay) throws {
            let mounted = try MountedStore(patience: 600)
            let source = try IsoCodes.unpack(
                "639-3", key: "alpha_3", to: mounted.outside, atMost: Self.copied)
            let count = try SystemCall.list(source).count
            #expect(count >= 2_000)
            try SystemCall.makeDirectory("\(mounted.mountPoint)/private/Codes")
            let target = "\(mounted.mountPoint)/private/Codes/Language"
            try finish(["bash", "-ec", way.script, "bash", source, target], seconds: 300).check()
            try compare(source, target, in: mounted)
            #expect(try mounted.store.count("record WHERE state = 0") == count)
            #expect(try mounted.store.count("history") == count)
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("a second rsync transfers nothing, also after a remount")
        func secondRsync() throws {
            let mounted = try MountedStore(patience: 600)
            let source = try IsoCodes.unpack(
                "639-3", key: "alpha_3", to: mounted.outside, atMost: Self.copied)
            let target = try mounted.makeType("private/Codes/Language")
            try succeed("rsync", "-a", "\(source)/", "\(target)/", seconds: 300)
            for round in 1...2 {
                let changes = try succeed(
                    "rsync", "-a", "--itemize-changes", "\(source)/", "\(target)/", seconds: 300)
                #expect(changes == "", "round \(round)")
                try mounted.remount()
            }
        }

        @Test("recordfs import takes languages and subdivisions, and tools find them")
        func importFile() throws {
            let mounted = try MountedStore(patience: 600)
            for (list, key, type) in [
                ("639-3", "alpha_3", "Language"), ("3166-2", "code", "Subdivision"),
            ] {
                let rows = "\(mounted.outside)/\(type).ndjson"
                try IsoCodes.rows(list, to: rows)
                let start = ContinuousClock.now
                try mounted.recordfs(
                    "import", "--quiet", "--name-field", key, rows, "private/Codes/\(type)")
                let took = ContinuousClock.now - start
                print("import of \(type): \(took)")
                let expected = try succeed("wc", "-l", rows).split(separator: " ")[0]
                let folder = "\(mounted.mountPoint)/private/Codes/\(type)"
                #expect(try SystemCall.list(folder).count == Int(expected))
                let keys = try succeed("bash", "-c", "jq -r .\(key) \(rows) | sort")
                let shown = try succeed(
                    "bash", "-c", "cat \(folder)/*.json | jq -r .\(key) | sort", seconds: 120)
                #expect(shown == keys)
            }
        }

        private func compare(_ source: String, _ target: String, in mounted: MountedStore) throws {
            for command in [
                "find . -type f -name '*.json' | LC_ALL=C sort | sha256sum",
                "grep -r Arab . | LC_ALL=C sort | sha256sum",
                "find . -type f -printf '%s %p\\n' | LC_ALL=C sort | sha256sum",
                "find . -name '[a-f]*.json' | LC_ALL=C sort | xargs jq -c . | sha256sum",
                "find . -name 'a*.json' | LC_ALL=C sort | xargs sort | sha256sum",
            ] {
                let wanted = try succeed("bash", "-c", command, directory: source, seconds: 120)
                let shown = try succeed("bash", "-c", command, directory: target, seconds: 120)
                #expect(shown == wanted, "\(command)")
            }
            try succeed("diff", "-r", source, target, seconds: 120)
        }
    }
}

/// One way to bring a folder of files into a new folder: `$1` to `$2`.
struct CopyWay: Sendable, CustomTestStringConvertible {
    let name: String
    let script: String
    var testDescription: String { name }

    static let all = [
        CopyWay(
            name: "shell loop",
            script: #"mkdir "$2"; for f in "$1"/*; do cat "$f" > "$2/${f##*/}"; done"#),
        CopyWay(name: "cp -r", script: #"cp -r "$1" "$2""#),
        CopyWay(name: "tar x", script: #"mkdir "$2"; tar c -C "$1" . | tar x -C "$2""#),
        CopyWay(name: "rsync -a", script: #"rsync -a "$1/" "$2/""#),
    ]
}

/// The lists of the iso-codes package.
enum IsoCodes {
    /// One file for each of the first entries, named by `key`; gives the folder.
    static func unpack(
        _ list: String, key: String, to outside: String, atMost limit: Int
    ) throws -> String {
        let folder = "\(outside)/\(list)"
        try succeed(
            "python3", "-c",
            """
            import json, os, sys
            folder, list, key, limit = sys.argv[1:]
            os.mkdir(folder)
            for row in json.load(open(f'/usr/share/iso-codes/json/iso_{list}.json'))[list][:int(limit)]:
                with open(f'{folder}/{row[key]}.json', 'w') as file:
                    json.dump(row, file, indent=2, ensure_ascii=False)
                    file.write('\\n')
            """, folder, list, key, "\(limit)")
        return folder
    }

    /// One entry a line.
    static func rows(_ list: String, to path: String) throws {
        let text = try succeed(
            "jq", "-c", ".[\"\(list)\"][]", "/usr/share/iso-codes/json/iso_\(list).json")
        try SystemCall.writeFile(path, text)
    }
}
