import RecordModel

/// The last file of a directory that could not be read or saved, for `.error`.
struct AssetFailure: Sendable {
    enum Kind: Sendable { case unread, unsaved, unmade }

    let kind: Kind
    let subject: String
    let error: RecordError
    let since: Timestamp
}

extension AssetFailure {
    var report: String { sentence + "\n" }

    var sentence: String {
        switch kind {
        case .unread: "\(subject) could not be read: \(error)"
        case .unsaved: "\(subject) could not be saved, and its bytes are not kept: \(error)"
        case .unmade: "\(subject) cannot be made: \(error)"
        }
    }
}
