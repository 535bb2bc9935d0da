import RecordModel
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    private var accountEventRows: AccountEventStatements { AccountEventStatements(access: self) }
    private var credentialRows: CredentialStatements { CredentialStatements(access: self) }
    private var userRows: UserStatements { UserStatements(access: self) }

    func accountEvents(_ user: UserName, limit: Int) throws(ServerError) -> [AccountEvent] {
        try accountEventRows.accountEvents(user, limit: limit)
    }

    func hasSignedIn(_ user: UserName, client: Text, after milliseconds: Int64)
        throws(ServerError) -> Bool
    {
        try accountEventRows.hasSignedIn(user, client: client, after: milliseconds)
    }

    func addAccountEvent(_ event: AccountEvent) throws(ServerError) {
        try accountEventRows.addAccountEvent(event)
    }

    func removeAccountEvents(before milliseconds: Int64) throws(ServerError) {
        try accountEventRows.removeAccountEvents(before: milliseconds)
    }

    func apiToken(hash: Text) throws(ServerError) -> APITokenRow? {
        try credentialRows.apiToken(hash: hash)
    }

    func apiTokens(_ container: Text) throws(ServerError) -> [APITokenRow] {
        try credentialRows.apiTokens(container)
    }

    func putAPIToken(_ token: APITokenRow) throws(ServerError) {
        try credentialRows.putAPIToken(token)
    }

    func session(_ id: Text) throws(ServerError) -> SessionRow? {
        try credentialRows.session(id)
    }

    func sessions(_ user: UserName) throws(ServerError) -> [SessionRow] {
        try credentialRows.sessions(user)
    }

    func putSession(_ session: SessionRow) throws(ServerError) {
        try credentialRows.putSession(session)
    }

    func removeSessions(expiredBefore milliseconds: Int64) throws(ServerError) {
        try credentialRows.removeSessions(expiredBefore: milliseconds)
    }

    func serverKey(_ keyID: Text) throws(ServerError) -> ServerKeyRow? {
        try credentialRows.serverKey(keyID)
    }

    func serverKeys(_ container: Text) throws(ServerError) -> [ServerKeyRow] {
        try credentialRows.serverKeys(container)
    }

    func putServerKey(_ key: ServerKeyRow) throws(ServerError) {
        try credentialRows.putServerKey(key)
    }

    func user(_ name: UserName) throws(ServerError) -> UserRow? {
        try userRows.user(name)
    }

    func user(emailAddress: Text) throws(ServerError) -> UserRow? {
        try userRows.user(emailAddress: emailAddress)
    }

    func user(phoneNumber: Text) throws(ServerError) -> UserRow? {
        try userRows.user(phoneNumber: phoneNumber)
    }

    func users() throws(ServerError) -> [UserRow] {
        try userRows.users()
    }

    func putUser(_ user: UserRow) throws(ServerError) {
        try userRows.putUser(user)
    }
}
