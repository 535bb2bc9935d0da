/// What went wrong, in words that a user can act on.
///
/// The codes are closed: each has one errno (RecordMount) and one reaction. Lower errors become a
/// `RecordError` where they are born; nothing recognises an error by its text.
package struct RecordError: Error, Sendable, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        // Content that cannot be accepted: a draft keeps it.
        /// The text is not strict JSON.
        case invalidJSON
        /// JSON, but not a record: root is no object, unknown `$` key, bad field name or tag.
        case invalidRecord
        /// A value does not fit the field's type in the schema.
        case schemaMismatch
        /// The record cannot fit within the limits.
        case tooLarge
        /// One of the above at a rename onto a record: its draft keeps the text.
        case refusedRename

        // Names and places.
        case invalidName
        case nameTooLong
        case notFound
        case alreadyExists
        case notEmpty
        case isDirectory
        case notDirectory
        /// Rename over a border of type, zone or database; `mv` then copies.
        case crossDevice
        /// Never allowed here, whoever asks.
        case notPermitted
        /// This user may not: a read-only share or mount.
        case accessDenied
        case readOnly
        case unsupported
        case invalidArgument
        case noSuchAttribute
        case rangeTooSmall
        /// A name that a user still holds, whose thing is gone.
        case stale

        // The machine.
        case noSpace
        case quotaExceeded
        case tooManyOpenFiles
        /// Another process has the store.
        case storeLocked
        /// The store was made by a newer version.
        case storeTooNew
        case corrupt
        case ioFailure
        case interrupted
        case timedOut
        /// An asset that is not on this machine and cannot be had now.
        case unavailable
        /// A failed system call on a scratch file: its errno passes through unchanged.
        case system
    }

    package let code: Code
    /// One sentence: what is wrong and what to do.
    package let message: String
    /// Where in a text, for `invalidJSON`, `invalidRecord` and `schemaMismatch`.
    package let position: TextPosition?
    /// For `system` only: the errno of the call.
    package let systemErrno: Int32

    package init(
        _ code: Code, _ message: String, at position: TextPosition? = nil, errno: Int32 = 0
    ) {
        self.code = code
        self.message = message
        self.position = position
        self.systemErrno = errno
    }

    /// Whether the content is to blame, so that a draft keeps the text.
    package var isAboutContent: Bool {
        switch code {
        case .invalidJSON, .invalidRecord, .schemaMismatch, .tooLarge: true
        default: false
        }
    }
}

/// A place in a text: 1-based line and column (in bytes), 0-based offset in bytes.
package struct TextPosition: Hashable, Sendable {
    package let line: Int
    package let column: Int
    package let offset: Int
    package init(line: Int, column: Int, offset: Int) {
        self.line = line
        self.column = column
        self.offset = offset
    }
}

extension RecordError: CustomStringConvertible {
    package var description: String {
        guard let position else { return message }
        return "line \(position.line), column \(position.column): \(message)"
    }
}
