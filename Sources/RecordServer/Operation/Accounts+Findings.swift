import RecordModel
package import RecordServerCore
package import RecordWire

extension Accounts {
    /// Returns findings about accounts that an operator may have forgotten.
    package func findings() async throws(ServerError) -> [Finding] {
        let users = try await users()
        var findings: [Finding] = []
        if !users.contains(where: { $0.isAdministrator && !$0.isDisabled }) {
            findings.append(
                Finding(
                    .warning, "users",
                    "Nobody is an administrator: nobody can manage schemas over HTTP."))
        }
        for user in users where StoredPassword(user.passwordHash) == nil {
            findings.append(
                Finding(
                    .warning, "users",
                    "\(user.emailAddress) has no password: make a link (`user reset-link`)."))
        }
        if try await containers().isEmpty {
            findings.append(Finding(.warning, "containers", "There is none."))
        }
        let waiting = try await reports().count
        if waiting > 0 {
            findings.append(
                Finding(.warning, "reports", "\(waiting) wait to be looked at (`report list`)."))
        }
        let sealKey = try await storage.read { (reader) throws(ServerError) in
            try reader.setting(ServerSetting.sealKey)
        }
        if (sealKey?.count ?? 0) < 32 {
            findings.append(
                Finding(
                    sealKey == nil ? .warning : .bad, "seal key",
                    sealKey == nil
                        ? "There is none yet: the server has never run." : "It is too short."))
        }
        return findings.isEmpty ? [Finding(.good, "accounts", "nothing is odd")] : findings
    }
}
