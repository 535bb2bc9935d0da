import Logging
import RecordModel
import RecordServerCore
import RecordWire

/// The outcome of an attempt to sign in, for the log and the metrics.
enum SignInOutcome: String, CaseIterable, Sendable {
    case ok, wrong, throttled, busy
}

extension Pages {
    /// Returns the user with this address and password, or nil for a wrong one. Every outcome is
    /// counted and written to the log, with the network address and without the typed text.
    ///
    /// Errors: `throttled`, `tryAgainLater`, with the time to wait.
    func verified(
        _ emailAddress: Text, _ password: [UInt8], _ request: PageRequest
    ) async throws(ServerError) -> UserRow? {
        let user: UserRow?
        do throws(ServerError) {
            user = try await passwords.user(
                emailAddress: emailAddress, password: password, address: request.client.address,
                device: knownDevice(request), now: request.client.now)
        } catch {
            if error.code == .throttled || error.code == .tryAgainLater {
                let outcome: SignInOutcome = error.code == .throttled ? .throttled : .busy
                note(outcome, try await accountName(emailAddress), request)
            }
            throw error
        }
        if let user {
            note(.ok, user.name, request)
        } else {
            note(.wrong, try await accountName(emailAddress), request)
        }
        return user
    }

    /// Returns the account of an address, for the log. Addresses of no account are not written
    /// down, because people type passwords there.
    private func accountName(_ emailAddress: Text) async throws(ServerError) -> UserName? {
        try await service.storage.read { (reader) throws(ServerError) in
            try reader.user(emailAddress: EmailAddress.folded(emailAddress))?.name
        }
    }

    private func note(_ outcome: SignInOutcome, _ user: UserName?, _ request: PageRequest) {
        metrics.noteSignIn(outcome)
        var metadata = eventMetadata(user, request)
        metadata["outcome"] = "\(outcome.rawValue)"
        logger.log(level: outcome == .ok ? .notice : .warning, "sign-in", metadata: metadata)
    }

    /// Writes to the log that a user has ended a sign-in. Nil for one that had ended before.
    func noteSignOut(_ user: UserName?, _ request: PageRequest) {
        guard let user else { return }
        logger.notice("sign-out", metadata: eventMetadata(user, request))
    }

    /// Returns the values that the log has for every action on an account.
    func eventMetadata(_ user: UserName?, _ request: PageRequest) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "id": "\(request.client.requestID)", "address": "\(request.client.address)",
        ]
        if let user { metadata["user"] = "\(user)" }
        return metadata
    }

    /// Returns the event for an action of the account's owner at this moment. `client` is the
    /// client that the person signs in to, if it is not this site.
    func event(
        _ kind: AccountEvent.Kind, of user: UserName, client: Text? = nil, isNewPlace: Bool = false,
        _ request: PageRequest
    ) -> AccountEvent {
        let agents = [client, request.userAgent].compactMap { $0 }.filter { !$0.isEmpty }
        return AccountEvent(
            user: user, kind: kind, milliseconds: request.milliseconds,
            address: Text(request.client.address),
            agent: Text(agents.map(\.string).joined(separator: ", ")), isNewPlace: isNewPlace)
    }

    /// Stores that somebody has signed in, for the owner to see.
    func noteSignIn(_ user: UserRow, to target: SignInTarget, _ request: PageRequest)
        async throws(ServerError)
    {
        var client: Text?
        if case .client(let place, _) = target { client = place.token.name }
        let isKnownDevice = knownDevice(request)?.users.contains(user.name) ?? false
        let known = event(.signedIn, of: user.name, client: client, request)
        let new = event(.signedIn, of: user.name, client: client, isNewPlace: true, request)
        try await service.storage.write { (transaction) throws(ServerError) in
            let isKnownAddress = try transaction.isKnownAddress(
                request.client.address, of: user.name, at: request.milliseconds)
            try transaction.addAccountEvent(isKnownDevice || isKnownAddress ? known : new)
        }
    }
}
