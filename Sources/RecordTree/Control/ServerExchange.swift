package import RecordModel

/// What files show of the exchange with a record server, and may ask of it. The tree does not know the
/// engine. Only what shares are asked waits for the server: who has them is its to say.
package struct ServerExchange: Sendable {
    /// A command of `ctl`.
    package enum Command: String, Sendable {
        case sync, pause, resume, retry
    }

    /// What files of shares ask.
    package enum ShareOrder: Sendable {
        /// Make or change it as the text of its file says. Errors also: those of the text.
        case save([UInt8])
        /// Say whether there is the share. Errors also: notFound.
        case check
        /// End one of this account, or leave one of others.
        case end
    }

    /// How it stands; nil while nobody is signed in.
    package var status: @Sendable () -> JSONValue?
    /// Errors: unsupported while nobody is signed in.
    package var run: @Sendable (Command) throws(RecordError) -> Void

    /// Brings bytes that only the server has.
    package var fetcher: any AssetFetcher

    /// Asks the server, and returns when what has become of the share is in the store. Errors: what the
    /// server answers; unavailable.
    package var share: @Sendable (ShareOrder, ShareFile) throws(RecordError) -> Void

    package init(
        status: @escaping @Sendable () -> JSONValue?,
        run: @escaping @Sendable (Command) throws(RecordError) -> Void,
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

    /// Of a store that no server knows.
    package static let none = ServerExchange(
        status: { nil },
        run: { (_) throws(RecordError) in
            throw noServer
        })

    package static let noServer = RecordError(
        .unsupported,
        "no record server is set up for this store: recordfs login URL signs in to one")
}
