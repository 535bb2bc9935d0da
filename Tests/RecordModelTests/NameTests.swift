import RecordModel
import TestSupport
import Testing

@Suite("Names")
struct NameTests {
    @Test(
        "names are encoded so that they are legal, and come back",
        arguments: [
            ("soup", "soup"), ("Käse 😀", "Käse 😀"), ("a/b", "a%2Fb"), ("50%", "50%25"),
            ("a@b", "a%40b"), (".", "%2E"), ("..", "%2E."), ("...", "%2E.."), (".git", "%2Egit"),
            ("a.b", "a.b"), ("#x#", "%23x#"), ("x~", "x%7E"), ("~x", "~x"), ("~", "%7E"),
            ("_x", "_x"), ("-x", "-x"), ("x ", "x "), ("x.", "x."),
            ("a\nb\t\u{1B}[0m", "a%0Ab%09%1B[0m"),
            ("%2e%2e%2f", "%252e%252e%252f"), ("\u{2215}\u{FF0F}", "\u{2215}\u{FF0F}"),
            ("gpj.\u{202E}exe", "gpj.\u{202E}exe"), ("\u{200B}\u{FEFF}", "\u{200B}\u{FEFF}"),
            ("\u{85}", "%C2%85"), ("\u{A0}", "\u{A0}"), ("\u{7F}", "%7F"), ("CON", "CON"),
            ("cloudkit.zoneshare", "cloudkit.zoneshare"), ("_defaultZone", "_defaultZone"),
            ("👩‍👩‍👧", "👩‍👩‍👧"), ("x.json", "x.json"),
        ])
    func encoding(_ name: String, _ encoded: String) {
        #expect(text(NameCodec.encode(bytes(name))) == encoded)
        #expect(NameCodec.decode(bytes(encoded)) == bytes(name))
        #expect(Stem(encoding: RecordName(name)).decoded == RecordName(name))
    }

    @Test("bytes that are no UTF-8 are encoded one by one")
    func invalidUTF8() {
        let name: [UInt8] = [0x61, 0xFF, 0xC3, 0xA9, 0xC3, 0x00, 0xED, 0xA0, 0x80]
        #expect(text(NameCodec.encode(name)) == "a%FFé%C3%00%ED%A0%80")
        #expect(NameCodec.decode(NameCodec.encode(name)) == name)
    }

    @Test(
        "only the one encoding of a name is decoded",
        arguments: [
            "a%2fb", "%61", "%", "a%2", "a%", "%GG", "a/b", "a@b", ".a", "#a", "a~", "a\n", "%-",
            "%-0123456789abcdef0123456789abcdef", "a%%", "%C3%A9", "%C3",
        ])
    func notCanonical(_ encoded: String) {
        guard encoded != "%C3" else {
            #expect(NameCodec.decode(bytes(encoded)) == [0xC3])
            return
        }
        #expect(NameCodec.decode(bytes(encoded)) == nil)
        #expect(Stem(encoded).decoded == nil)
    }

    @Test("random bytes come back from their encoding, which no other name has", arguments: 0..<4)
    func roundTrip(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var seen: [[UInt8]: [UInt8]] = [:]
        let alphabet: [UInt8] =
            Array(" ./%@~#a%2F".utf8) + [0, 10, 0x7F, 0xC2, 0x85, 0xE2, 0x80, 0xFF]
        for _ in 0..<4000 {
            let name = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            let encoded = NameCodec.encode(name)
            #expect(NameCodec.decode(encoded) == name)
            #expect(UTF8Sequence.isValid(encoded))
            #expect(!encoded.contains { $0 == 0x2F || $0 < 0x20 || $0 == 0x40 })
            #expect(seen.updateValue(name, forKey: encoded) ?? name == name)
        }
    }

    @Test("names too long for a file are shortened with a hash, others are not")
    func shortening() {
        let fits = RecordName(String(repeating: "x", count: 250))
        #expect(Stem(encoding: fits).bytes == fits.bytes)
        #expect(!Stem(encoding: fits).isShortened)
        for name in [
            RecordName(String(repeating: "x", count: 251)),
            RecordName(String(repeating: "é", count: 126)),
            RecordName(String(repeating: "字", count: 85)),
            RecordName(String(repeating: "/", count: 84)),
            RecordName("a" + String(repeating: "/", count: 300)),
            RecordName("ab" + String(repeating: "\u{1F600}", count: 300)),
            RecordName(bytes: [UInt8](repeating: 0xFF, count: 255)),
        ] {
            let stem = Stem(encoding: name)
            #expect(stem.fileName.count <= 255)
            #expect(stem.bytes.count > 210)
            #expect(UTF8Sequence.isValid(stem.bytes))
            #expect(stem.isShortened)
            #expect(stem.decoded == nil)
            let hash = SHA256.hash(name.bytes).hex.prefix(32)
            #expect(stem.description.hasSuffix("%-" + hash))
            let kept = Array(stem.bytes.dropLast(34))
            #expect(NameCodec.decode(kept).map { name.bytes.starts(with: $0) } == true)
        }
    }

    @Test("names that differ only behind the cut have other stems")
    func shortenedDiffer() {
        let long = String(repeating: "x", count: 260)
        #expect(Stem(encoding: RecordName(long + "a")) != Stem(encoding: RecordName(long + "b")))
        #expect(Stem(encoding: RecordName("\u{E9}")) != Stem(encoding: RecordName("e\u{301}")))
        #expect(Stem(encoding: RecordName("A")) != Stem(encoding: RecordName("a")))
        #expect(Stem("").decoded == nil)
    }

    @Test("the rules for fields, types and zones")
    func rules() {
        for good in ["a", "A1_b", String(repeating: "a", count: 255)] {
            #expect(FieldName(good).isValid)
        }
        for bad in [
            "", "_a", "1a", "a-b", "a.b", "ä", "$parent", String(repeating: "a", count: 256),
        ] {
            #expect(!FieldName(bad).isValid, "\(bad)")
        }
        for good in ["Recipe", "_Hidden", "CD_Item"] { #expect(RecordTypeName(good).isValid) }
        for bad in ["", "1", "a b", "cloudkit.share", ".git", "a/b"] {
            #expect(!RecordTypeName(bad).isValid, "\(bad)")
        }
        for good in ["_defaultZone", "Küche", "a b", "a/b", String(repeating: "a", count: 255)] {
            #expect(ZoneName(good).isValid, "\(good)")
        }
        for bad in [
            "", "a\nb", String(repeating: "a", count: 256), String(repeating: "/", count: 90),
        ] {
            #expect(!ZoneName(bad).isValid, "\(bad)")
        }
        #expect(!ZoneName(bytes: [0xFF]).isValid)
        #expect(
            ZoneMapping.plain.typeName(ofDirectory: bytes("Recipe")) == RecordTypeName("Recipe"))
        #expect(ZoneMapping.plain.typeName(ofDirectory: bytes(".git")) == nil)
        #expect(ZoneMapping.plain.directoryName(of: RecordTypeName("Recipe")) == bytes("Recipe"))
    }
}

@Suite("Endings of large fields")
struct FileExtensionTests {
    @Test(
        "what a file name should not hold is shown as %XX, and the rest as it is",
        arguments: [
            ("jpg", "jpg"), ("tar.gz", "tar.gz"), ("50%", "50%"), ("", ""), ("a/b", "a%2Fb"),
            ("exe\u{202E}gpj", "exe%E2%80%AEgpj"), ("\u{85}", "%C2%85"), ("a\nb", "a%0Ab"),
        ])
    func shown(_ ending: String, _ shown: String) {
        #expect(FileExtension.shown(bytes(ending)) == bytes(shown))
        #expect(FileExtension.isValid(bytes(ending)) == (ending == shown && !ending.isEmpty))
        #expect(shown.isEmpty || FileExtension.isValid(bytes(shown)))
    }

    @Test("a long one is cut between characters, whatever its bytes are")
    func cut() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            let ending = (0..<Int.random(in: 1...90, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let shown = FileExtension.shown(ending)
            #expect(FileExtension.isValid(shown), "\(ending)")
            #expect(FileExtension.shown(shown) == shown)
        }
    }
}

@Suite("What a name in a TYPE directory is")
struct EntryNameTests {
    private func asset(_ stem: String, _ field: String, _ index: Int?, _ end: String) -> EntryName {
        .asset(
            stem: Stem(stem), field: FieldName(field), index: index, fileExtension: bytes(end))
    }

    @Test(
        "names that end in .json are records",
        arguments: [
            ("x.json", "x"), ("x.json.json", "x.json"), ("CON.json", "CON"), ("a b.json", "a b"),
            ("%2Egit.json", "%2Egit"), ("~.json", "~"), ("a%zz.json", "a%zz"), ("-.json", "-"),
            ("4913.json", "4913"), ("gpj.\u{202E}exe.json", "gpj.\u{202E}exe"), (" .json", " "),
        ])
    func records(_ name: String, _ stem: String) {
        #expect(EntryName(classifying: bytes(name)) == .record(Stem(stem)))
    }

    @Test(
        "what tools make beside a file is scratch",
        arguments: [
            "", ".", "..", "4913", "sed8VmXRQ", "lu1869010bhm.tmp", ".rec.json.swp", "rec.json~",
            "#rec.json#", ".rec.json.a8Gd3k", ".#rec.json", ".json", "x.JSON", "x.jso", "json",
            "tmpabc", "XXpBeQbk", ".fuse_hidden0001", ".git", "rec.json.orig", ".~lock.a.json#",
            "a@b c.png", "a@", "@photo.png", "a@1.png", "x.json@", ".a@photo.png", "#a@photo.png#",
            "a@photo.png~", ".#a@photo.png", "x.json\n", "x.json/", "user@example-host",
        ])
    func scratch(_ name: String) {
        #expect(EntryName(classifying: bytes(name)) == .scratch(bytes(name)))
    }

    @Test("names with @ and a field are assets")
    func assets() {
        let expected: [(String, EntryName)] = [
            ("a@photo", asset("a", "photo", nil, "")),
            ("a@photo.png", asset("a", "photo", nil, "png")),
            ("a@photo.tar.gz", asset("a", "photo", nil, "tar.gz")),
            ("a@photo.0.png", asset("a", "photo", 0, "png")),
            ("a@photo.12", asset("a", "photo", 12, "")),
            ("a@photo.007.png", asset("a", "photo", nil, "007.png")),
            ("a@photo.7z", asset("a", "photo", nil, "7z")),
            ("a@photo.1234567890.x", asset("a", "photo", nil, "1234567890.x")),
            ("a@config.json", asset("a", "config", nil, "json")),
            ("x.json@photo.png", asset("x.json", "photo", nil, "png")),
            ("a%40b@photo.png", asset("a%40b", "photo", nil, "png")),
            ("user@host", asset("user", "host", nil, "")),
        ]
        for (name, entry) in expected {
            #expect(EntryName(classifying: bytes(name)) == entry, "\(name)")
            guard case .asset(let stem, let field, let index, let end) = entry else { continue }
            #expect(
                EntryName.assetFileName(stem: stem, field: field, index: index, fileExtension: end)
                    == bytes(name))
        }
    }

    @Test("no encoded record name is taken for anything but a record", arguments: 0..<3)
    func encodedNames(seed: UInt64) {
        var generator = JSONGenerator(seed: seed)
        for _ in 0..<500 {
            let stem = Stem(encoding: RecordName(bytes: generator.string().utf8 + [0x61]))
            #expect(EntryName(classifying: stem.fileName) == .record(stem))
        }
    }
}

@Suite struct OwnerNameTests {
    @Test(
        "an owner's directory is the name, encoded but for @",
        arguments: [
            ("amy@example.org", "amy@example.org"), ("_5f0c", "_5f0c"), ("a/b@h", "a%2Fb@h"),
            ("%40", "%2540"), ("a%40", "a%2540"), (".a@", "%2Ea@"), ("@@", "@@"),
        ])
    func directories(_ name: String, _ directory: String) {
        #expect(String(decoding: OwnerName(name).fileName, as: UTF8.self) == directory)
        #expect(OwnerName(fileName: Array(directory.utf8)) == OwnerName(name))
    }

    @Test(
        "a directory that is spelled otherwise is nobody's",
        arguments: ["amy%40h", "a%2fb", "%", ".a", "a\u{1}"])
    func others(_ directory: String) {
        #expect(OwnerName(fileName: Array(directory.utf8)) == nil)
    }
}
