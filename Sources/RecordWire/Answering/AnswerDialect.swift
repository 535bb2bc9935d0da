/// Which shapes an answer has where Apple's documents and its hosts differ.
package enum AnswerDialect: String, CaseIterable, Sendable {
    /// The documented keys and the keys that RecordFS adds.
    case webServices
    /// The keys that iCloud's own hosts answer with and none besides, for clients that know only
    /// those. They ask for it with `remapEnums=true`.
    case iCloud
}
