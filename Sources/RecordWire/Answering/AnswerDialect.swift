/// The shape of an answer where Apple's documents and its hosts differ.
package enum AnswerDialect: String, CaseIterable, Sendable {
    /// The documented keys and the keys that RecordFS adds.
    case webServices
    /// Only the keys that iCloud's own hosts answer with, for clients that know only those. They
    /// ask for it with `remapEnums=true`.
    case iCloud
}
