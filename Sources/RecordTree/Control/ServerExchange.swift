package import RecordModel

/// What `.recordfs` shows of the exchange with a record server, and may ask of it. The tree does not
/// know the engine; nothing here may wait for a server.
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

    package init(
        status: @escaping @Sendable () -> JSONValue?,
        run: @escaping @Sendable (Command) throws(RecordError) -> Void,
        fetcher: any AssetFetcher = NoAssetFetcher()
    ) {
        self.status = status
        self.run = run
        self.fetcher = fetcher
    }

    /// Of a store that no server knows.
    package static let none = ServerExchange(
        status: { nil },
        run: { (_) throws(RecordError) in
            throw RecordError(
                .unsupported,
                "no record server is set up for this store: recordfs login URL signs in to one")
        })
}
