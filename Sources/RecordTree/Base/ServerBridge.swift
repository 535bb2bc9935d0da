package import RecordModel

/// The connection of the files to the exchange with a record server: the state that files show, and
/// the requests that they make. The tree does not know the engine. Only requests about shares wait
/// for the server, because the server decides who has access.
package struct ServerBridge: Sendable {
    /// The requests of the files of shares.
    package enum ShareOrder: Sendable {
        /// Make or change the share to match the text of its file. Errors also: those of the text.
        case save([UInt8])
        /// Check whether the share exists. Errors also: notFound.
        case check
        /// End a share of this account, or leave a share of others.
        case end
    }

    /// Returns the state of the exchange. Returns nil while nobody is signed in.
    package var status: @Sendable () -> JSONValue?
    /// Runs a verb that is a line of `ctl`. Errors: unsupported while nobody is signed in.
    package var run: @Sendable (ControlVerb) throws(RecordError) -> Void

    /// Downloads bytes that only the server has.
    package var fetcher: any AssetFetcher

    /// Sends a request about a share to the server, and returns when the result is in the store.
    /// Errors: the server's refusals; unavailable.
    package var share: @Sendable (ShareOrder, ShareFile) throws(RecordError) -> Void

    package init(
        status: @escaping @Sendable () -> JSONValue?,
        run: @escaping @Sendable (ControlVerb) throws(RecordError) -> Void,
        fetcher: any AssetFetcher = NoAssetFetcher(),
        share: @escaping @Sendable (ShareOrder, ShareFile) throws(RecordError) -> Void = {
            (_, _) throws(RecordError) in throw Self.noServer
        }
    ) {
        self.status = status
        self.run = run
        self.fetcher = fetcher
        self.share = share
    }

    /// The exchange of a store without a server.
    package static let none = ServerBridge(
        status: { nil },
        run: { (_) throws(RecordError) in
            throw noServer
        })

    package static let noServer = RecordError(
        .unsupported,
        "no record server is set up for this store: recordfs login URL signs in to one")
}
