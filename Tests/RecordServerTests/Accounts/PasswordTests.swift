import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

@Suite("Passwords")
struct PasswordTests {
    @Test("a password is stored as scrypt with its cost, a new salt each time, and is found again")
    func format() async throws {
        let password = Array("correct horse".utf8)
        let first = try await Password.hash(password)
        let second = try await Password.hash(password)
        #expect(first != second)
        let parts = first.string.split(separator: "$")
        #expect(parts.prefix(4) == ["scrypt", "16384", "8", "5"])
        #expect(Base64.decode(Array(parts[4].utf8))?.count == 16)
        #expect(Base64.decode(Array(parts[5].utf8))?.count == 32)
        #expect(try await Password.verify(password, against: first))
        #expect(try await !Password.verify(Array("correct horsf".utf8), against: first))
    }

    @Test("the hash is that of RFC 7914")
    func vector() async throws {
        // RFC 7914, section 12, the second vector, cut to 32 bytes.
        let hash: [UInt8] = [
            0xFD, 0xBA, 0xBE, 0x1C, 0x9D, 0x34, 0x72, 0x00, 0x78, 0x56, 0xE7, 0x19, 0x0D, 0x01,
            0xE9, 0xFE, 0x7C, 0x6A, 0xD7, 0xCB, 0xC8, 0x23, 0x78, 0x30, 0xE7, 0x73, 0x76, 0x63,
            0x4B, 0x37, 0x31, 0x62,
        ]
        let salt = String(decoding: Base64.encode(Array("NaCl".utf8)), as: UTF8.self)
        let stored =
            "scrypt$1024$8$16$\(salt)$"
            + String(decoding: Base64.encode(hash), as: UTF8.self)
        #expect(try await Password.verify(Array("password".utf8), against: Text(stored)))
    }

    @Test("an older cost in a stored hash goes on working")
    func olderCost() async throws {
        let password = Array("correct horse".utf8)
        let stored = try await Password.hash(password, cost: .quick)
        #expect(stored.utf8.starts(with: "scrypt$16$1$1$".utf8))
        #expect(try await Password.verify(password, against: stored))
    }

    @Test(
        "what is no stored hash fits no password",
        arguments: [
            "", "x", "scrypt$16$1$1$$", "scrypt$15$1$1$AAAA$AAAA",
            "scrypt$1073741824$8$1$AAAA$AAAA",
            "md5$16$1$1$AAAA$AAAA", "scrypt$16$1$1$AAAA$AAAA", "scrypt$-16$1$1$AAAA$AAAA",
        ])
    func rubbish(_ stored: String) async throws {
        #expect(
            try await !Password.verify(
                Array("correct horse".utf8), against: Text(stored), unknownCost: .quick))
    }

    @Test("nobody's password is never right, and an empty one neither")
    func nobody() async throws {
        let stored = try await Password.hash(Array("correct horse".utf8), cost: .quick)
        #expect(try await !Password.verify(Array("correct horse".utf8), against: nil))
        #expect(try await !Password.verify([], against: stored))
        #expect(try await !Password.verify([], against: nil))
        let long = [UInt8](repeating: 0x61, count: 1 << 20)
        #expect(try await !Password.verify(long, against: stored))
    }

    @Test("a new password has 8 characters to 1024 bytes of text without control characters")
    func rules() {
        #expect(Password.fault(of: Array("kvtmqwx".utf8)) != nil)
        #expect(Password.fault(of: Array("kvtmqwxz".utf8)) == nil)
        // Characters as people count them, whatever they are made of.
        #expect(Password.fault(of: Array("pässwör".utf8)) != nil)
        #expect(Password.fault(of: Array("e\u{301}👩‍👩‍👧o\u{308}".utf8)) != nil)
        #expect(Password.fault(of: Array("漢字仮名交じり文".utf8)) == nil)
        #expect(Password.fault(of: Array(String(repeating: "漢字", count: 32).utf8)) == nil)
        let families = String(repeating: "👩‍👩‍👧👨‍👨‍👦", count: 24)
        #expect(Password.fault(of: Array(families.utf8)) == nil)
        #expect(Password.fault(of: Array(" with spaces around ".utf8)) == nil)
        #expect(Password.fault(of: Array("pässwörter 😀".utf8)) == nil)
        #expect(Password.fault(of: Array("1234567\n8".utf8)) != nil)
        #expect(Password.fault(of: Array("1234567\u{7F}".utf8)) != nil)
        #expect(Password.fault(of: [UInt8](repeating: 0x61, count: 20)) != nil)
        let invalid: [UInt8] = [0xFF, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37]
        #expect(Password.fault(of: invalid) != nil)
        let long = Array(String(repeating: "abcd", count: 256).utf8)
        #expect(Password.fault(of: long) == nil)
        #expect(Password.fault(of: long + [0x61]) != nil)
    }

    @Test(
        "the most common passwords are refused, in any case and with digits behind them",
        arguments: [
            "password", "12345678", "PASSWORD", "Password1", "password2026!", "qwertyuiop",
            "iloveyou", "1q2w3e4r5t", "baseball99", "zzzzzzzzzz", "alice@example.org", "Alice.Long",
        ])
    func common(_ password: String) {
        var user = UserRow(
            name: UserName("_a"), emailAddress: "alice.long@example.org", passwordHash: "",
            createdMilliseconds: 0)
        if password.contains("@") { user.emailAddress = "alice@example.org" }
        let fault = Password.fault(of: Array(password.utf8), for: user)
        #expect(fault?.contains("easy to guess") == true, "\(fault ?? "taken")")
    }

    @Test("more than 3 000 common passwords are known, and what is not common is taken")
    func uncommon() {
        #expect(CommonPasswords.count >= 3_000)
        for password in ["correct horse", "rainbow tractor", "kvtmqwxz", "2718281828459045x"] {
            #expect(Password.fault(of: Array(password.utf8)) == nil)
        }
    }

    @Test("a password is compared as it was typed: no case is folded, nothing is cut or trimmed")
    func verbatim() async throws {
        let password =
            " Grüße an Alle, die das hier lesen und weiter lesen und nie aufhören, 1234567 "
        let stored = try await Password.hash(Array(password.utf8), cost: .quick)
        #expect(try await Password.verify(Array(password.utf8), against: stored))
        for other in [String(password.dropLast()), password.lowercased(), password + "x"] {
            #expect(try await !Password.verify(Array(other.utf8), against: stored))
        }
    }

    @Test("many hashes at once are all made, and too many are asked to come later")
    func crowd() async throws {
        let queue = ScryptQueue(width: 2, maximumWaiting: 40)
        @Sendable func derive() async -> ServerError? {
            do throws(ServerError) {
                _ = try await queue.derive([1], salt: [2], cost: .quick)
                return nil
            } catch {
                return error
            }
        }
        let answered = await countTrue(300) { _ in
            let error = await derive()
            return error == nil || error?.code == .tryAgainLater && error?.retryAfter != nil
        }
        #expect(answered == 300)
        #expect(await derive() == nil)
    }
}
