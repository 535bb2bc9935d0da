import RecordModel
package import RecordWire

/// The place where a server keeps everything except the bytes of assets.
///
/// Bodies run on a thread of the storage, never on the cooperative pool, and are synchronous. They
/// use no network, no clock and no randomness of their own, because a storage with several writers
/// runs a body again after a serialisation failure. Everything that a body reads is from one point
/// in time. Everything that a write body reads is still true at its commit.
///
/// Nothing assumes one server process: the decisions of a body become valid at its commit, and a
/// position of a feed is given there, so that no reader meets position n + 1 before n.
package protocol Storage: Sendable {
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result

    /// Commits when `body` returns, rolls back when it throws. Returns once the commit is on
    /// stable storage.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result

    /// Writes something that may get lost, such as a hint that something has changed. It is like
    /// `write`, but may return before the commit is on stable storage: a power failure may undo
    /// it. Nothing that was committed before is lost then.
    func writeHint<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result

    /// Returns the measurements of the storage for /metrics.
    func gauges() async -> [MetricsGauge]
}

extension Storage {
    package func writeHint<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        try await write(body)
    }

    package func gauges() async -> [MetricsGauge] { [] }
}

/// A value of a storage for /metrics.
package struct MetricsGauge: Hashable, Sendable {
    /// The name in the form that Prometheus takes.
    package let name: String
    package let help: String
    package let value: Int64
    package init(_ name: String, _ help: String, _ value: Int64) {
        self.name = name
        self.help = help
        self.value = value
    }
}

/// A view of a storage at one point in time.
package protocol StorageReader: ZoneReader, RecordReader, TreeReader, ShareReader,
    AccountReader, AccountEventReader, OperatorReader, SettingReader, PushReader, AssetReader,
    FormerReader
{
    /// The schemas of the storage that this process has parsed.
    var schemas: SchemaCache { get }
}

/// A transaction that writes.
package protocol StorageTransaction: StorageReader, ZoneWriter, RecordWriter, TreeWriter,
    ShareWriter, AccountWriter, AccountEventWriter, OperatorWriter, SettingWriter, PushWriter,
    AssetWriter, FormerWriter
{}
