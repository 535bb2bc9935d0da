import RecordWire

extension Permissions {
    /// Decides whether this kind of credential may call the operation (Protocol, "Credentials").
    /// Rights to zones, records and types are decided later, in the transaction that uses them.
    static func decide(
        _ endpoint: Endpoint, in scope: DatabaseScope, by caller: Caller
    ) -> Decision {
        switch caller {
        case .user(let user):
            guard !endpoint.isAdministrative || user.isAdministrator else {
                return .denied("This operation is for administrators.")
            }
        case .serverKey(let user, _, let managesSchema) where endpoint.isAdministrative:
            guard managesSchema, user.isAdministrator else {
                return .denied(
                    "This key may not manage the schema: that takes one that was added with "
                        + "`key add --schema` and whose user is an administrator.")
            }
        case .serverKey:
            guard scope == .public, !endpoint.needsPerson else {
                return .denied(
                    "A server-to-server key may use records, zones, subscriptions, assets and "
                        + "users of the public database only.")
            }
        case .anonymous:
            guard scope == .public, endpoint.isOpenToAnyone else {
                return .refused(
                    ServerError(
                        .authenticationRequired, "This operation needs a user: sign in first."))
            }
        }
        return .allowed
    }
}
