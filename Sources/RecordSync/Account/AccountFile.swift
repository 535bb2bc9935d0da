import Glibc
package import RecordModel
import RecordWire

/// The account of a store: STATE/account.json. Only its user may read the file, because it holds
/// the tokens.
package struct AccountFile: Sendable {
    package let path: String

    package init(stateDirectory: String) { path = stateDirectory + "/account.json" }

    /// Returns the account, or nil when nobody was ever signed in.
    /// Errors: ioFailure, corrupt for a file that is not an account.
    package func read() throws(RecordError) -> Account? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("opened") }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(descriptor, &text, text.count)
        guard count >= 0 else { throw failure("read") }
        do throws(ServerError) {
            return try Account(JSONReader(try Self.parse(Array(text[..<count]))))
        } catch {
            throw RecordError(
                .corrupt, "\(path) is no account: \(error.reason) recordfs login creates it again.")
        }
    }

    private static func parse(_ text: [UInt8]) throws(ServerError) -> JSONValue {
        do throws(RecordError) {
            return try JSONParser.parse(text)
        } catch {
            throw ServerError(.badRequest, "\(error).")
        }
    }

    /// Changes the account while no other process changes it, and returns the result. The whole
    /// change is written or nothing, also when the power fails. Nothing is written when `change`
    /// leaves the account as it is.
    /// Errors: noSpace, ioFailure, corrupt; the errors that `change` throws.
    @discardableResult
    package func update(
        _ change: (inout Account?) throws(RecordError) -> Void
    ) throws(RecordError) -> Account? {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure("locked") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("locked") }
        }
        let old = try read()
        var account = old
        try change(&account)
        if let account, account != old { try write(account) }
        return account
    }

    private func write(_ account: Account) throws(RecordError) {
        let temporary = path + ".new"
        let text = account.json.serialized() + [UInt8(ascii: "\n")]
        unlink(temporary)
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("made") }
        let isWritten = Glibc.write(descriptor, text, text.count) == text.count
        let isKept = isWritten && fsync(descriptor) == 0
        let error = isKept ? nil : failure("written")
        close(descriptor)
        if let error {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else { throw failure("replaced") }
    }

    private func failure(_ what: String) -> RecordError {
        let code: RecordError.Code = errno == ENOSPC ? .noSpace : .ioFailure
        return RecordError(
            code, "\(path) cannot be \(what): \(String(cString: strerror(errno))).")
    }
}

extension Account {
    var json: JSONValue {
        let json: JSONValue = [
            "server": .string(Text(server)), "container": .string(container),
            "environment": .string(Text(environment.rawValue)), "apiToken": .string(apiToken),
            "webAuthToken": .string(webAuthToken), "user": .string(Text(utf8: user.bytes)),
            "profile": .string(Text(profile.rawValue)),
        ]
        guard let refusedMilliseconds else { return json }
        return .object(
            (json.object ?? [])
                + [JSONMember(key: "refused", value: .number(JSONNumber(refusedMilliseconds)))])
    }

    init(_ json: JSONReader) throws(ServerError) {
        let name = try json.required("environment").string().string
        guard let environment = ServerEnvironment(rawValue: name) else {
            throw json.error("has an environment that is none.")
        }
        self.init(
            server: try json.required("server").string().string,
            container: try json.required("container").string(), environment: environment,
            apiToken: try json.required("apiToken").string(),
            webAuthToken: try json.required("webAuthToken").string(),
            user: try UserName(try json.required("user")),
            // Files of earlier programs have no profile.
            profile: try json.choice("profile") ?? .recordfs)
        refusedMilliseconds = try json["refused"].map { (json) throws(ServerError) in
            try json.int64()
        }
    }
}
