package import RecordModel

/// What files show of the exchange with a record server, and may ask of it. The tree does not know the
/// engine. Only what shares are asked waits for the server: who has them is its to say.
package struct ServerExchange: Sendable {
    /// A command of `ctl`.
    package enum Command: String, Sendable {
        case sync, pause, resume, retry
    }

    /// How it stands; nil while nobody is signed in.
    package var status: @Sendable () -> JSONValue?
    /// Errors: unsupported while nobody is signed in.
    package var run: @Sendable (Command) throws(RecordError) -> Void

    /// Brings bytes that only the server has.
    package var fetcher: any AssetFetcher

    /// Makes or changes a share as the text of its file says, and returns when what has become of it is
    /// in the store. Errors: those of the text; what the server answers; unavailable.
    package var saveShare: @Sendable (ShareFile, [UInt8]) throws(RecordError) -> Void

    /// Asks the server whether there is the share. Errors: notFound; unavailable.
    package var checkShare: @Sendable (ShareFile) throws(RecordError) -> Void

    /// Ends a share of this account, or leaves one of others. Errors: what the server answers.
    package var endShare: @Sendable (ShareFile) throws(RecordError) -> Void

    package init(
        status: @escaping @Sendable () -> JSONValue?,
        run: @escaping @Sendable (Command) throws(RecordError) -> Void,
        fetcher: any AssetFetcher = NoAssetFetcher(),
        saveShare: @escaping @Sendable (ShareFile, [UInt8]) throws(RecordError) -> Void = {
            (_, _) throws(RecordError) in throw Self.noServer
        },
        checkShare: @escaping @Sendable (ShareFile) throws(RecordError) -> Void = {
            (_) throws(RecordError) in throw Self.noServer
        },
        endShare: @escaping @Sendable (ShareFile) throws(RecordError) -> Void = {
            (_) throws(RecordError) in throw Self.noServer
        }
    ) {
        self.status = status
        self.run = run
        self.fetcher = fetcher
        self.saveShare = saveShare
        self.checkShare = checkShare
        self.endShare = endShare
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
