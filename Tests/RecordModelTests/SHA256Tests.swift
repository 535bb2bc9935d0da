import RecordModel
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "the vectors of NIST",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                    + "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func vectors(_ message: String, _ digest: String) {
        #expect(SHA256.hash(bytes(message)).hex == digest)
        var plain = SHA256(isPortable: true)
        plain.update(bytes(message))
        #expect(ContentHash(digest: plain.finalize()).hex == digest)
    }

    @Test("the CPU's instructions and plain code give the same for every length and every split")
    func instructions() {
        var random = SystemRandomNumberGenerator()
        for length in 0...300 {
            let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            var plain = SHA256(isPortable: true)
            plain.update(message)
            let digest = plain.finalize()
            var whole = SHA256()
            whole.update(message)
            #expect(whole.finalize() == digest, "\(message)")
            var split = SHA256()
            var at = 0
            while at < length {
                let end = Int.random(in: at...length, using: &random)
                split.update(Array(message[at..<end]))
                at = end
            }
            #expect(split.finalize() == digest, "in pieces: \(message)")
        }
    }

    @Test("one million times a")
    func million() {
        var hash = SHA256()
        let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        for _ in 0..<1000 { hash.update(chunk) }
        #expect(
            ContentHash(digest: hash.finalize()).hex
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("the pieces in which bytes come do not matter")
    func pieces() {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let whole = SHA256.hash(message)
        for size in [1, 3, 55, 56, 63, 64, 65, 127, 128, 999] {
            var hash = SHA256()
            var at = 0
            while at < message.count {
                hash.update(Array(message[at..<min(at + size, message.count)]))
                at += size
            }
            #expect(ContentHash(digest: hash.finalize()) == whole, "pieces of \(size)")
        }
    }
}
