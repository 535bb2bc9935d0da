import RecordModel
package import RecordWire

/// Where a server keeps everything but the bytes of assets.
///
/// Bodies run on a thread of the storage, never on the cooperative pool, and are synchronous: no
/// network, no clock, no randomness of their own, because a storage with several writers runs a
/// body again after a serialisation failure. All that a body reads is one point in time; what a
/// write body reads is still true at its commit.
///
/// Nothing assumes one server process: what is decided in a body is decided at its commit, and a
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

    /// What there is to measure of the storage, for /metrics.
    func gauges() async -> [MetricsGauge]
}

extension Storage {
    package func gauges() async -> [MetricsGauge] { [] }
}

/// A value of a storage for /metrics.
package struct MetricsGauge: Hashable, Sendable {
    /// As Prometheus takes it.
    package let name: String
    package let help: String
    package let value: Int64
    package init(_ name: String, _ help: String, _ value: Int64) {
        self.name = name
        self.help = help
        self.value = value
    }
}

/// One point in time of a storage.
package protocol StorageReader: ZoneReader, RecordReader, TreeReader, ShareReader,
    AccountReader, AccountEventReader, OperatorReader, SettingReader, PushReader, AssetReader
{
    /// What this process has parsed of the storage's schemas.
    var schemas: SchemaCache { get }
}

/// A transaction that writes.
package protocol StorageTransaction: StorageReader, ZoneWriter, RecordWriter, TreeWriter,
    ShareWriter, AccountWriter, AccountEventWriter, OperatorWriter, SettingWriter, PushWriter,
    AssetWriter
{}
