import RecordModel
import RecordWire

extension OperationContext {
    /// Returns the context of a request whose sealed URL is its only credential. It is the same as
    /// for a call of `user` in the database that has the zone for this user.
    static func bearer(
        _ endpoint: Endpoint, of user: UserRow?, zone: ZoneKey, requestID: Text, now: Timestamp
    ) -> OperationContext {
        let scope: DatabaseScope =
            zone.database.isPublic
            ? .public : zone.database.owner == user?.name ? .private : .shared
        return OperationContext(
            endpoint: endpoint, container: zone.database.container, scope: scope,
            caller: user.map(Caller.user) ?? .anonymous, requestID: requestID, now: now,
            baseURL: "")
    }
}

extension ZoneKey {
    /// The zone in a request.
    var identifier: ZoneIdentifier { ZoneIdentifier(zone: zone, owner: database.owner) }
}
