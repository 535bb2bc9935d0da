/// The settings with which a connection is opened.
package struct SQLOptions: Sendable {
    /// The time that a statement waits for locks of other processes.
    package var busySeconds: Int32 = 10
    package var isReadOnly = false
    package var hasForeignKeys = true
    /// Indicates whether the database gets a write-ahead log, if it has none yet.
    package var hasLog = false
    /// Statements that run before the log is made, for example more PRAGMAs.
    package var script = ""

    package init() {}
}
