/// An error in words that a user can act on.
///
/// The codes are closed: each has one errno (RecordMount) and one reaction. Lower errors become a
/// `RecordError` where they are born. No code recognises an error by its text.
package struct RecordError: Error, Sendable, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        // Content that cannot be accepted: a draft keeps it.
        /// The text is not strict JSON.
        case invalidJSON
        /// The text is JSON, but not a record: the root is no object, or there is an unknown `$`
        /// key, a bad field name or a bad tag.
        case invalidRecord
        /// A value does not fit the field's type in the schema.
        case schemaMismatch
        /// The record cannot fit within the limits.
        case tooLarge
        /// A rename onto a record failed with one of the errors above. The record's draft keeps the
        /// text.
        case refusedRename

        // Names and places.
        case invalidName
        case nameTooLong
        case notFound
        case alreadyExists
        case notEmpty
        case isDirectory
        case notDirectory
        /// A rename across a border of type, zone or database. `mv` then copies.
        case crossDevice
        /// Never allowed here, for any user.
        case notPermitted
        /// This user may not do it: the share or the mount is read-only.
        case accessDenied
        case readOnly
        case unsupported
        case invalidArgument
        case noSuchAttribute
        case rangeTooSmall
        /// A name that a user still holds, although the object behind it no longer exists.
        case stale

        // The machine.
        case noSpace
        case quotaExceeded
        case tooManyOpenFiles
        /// Another process uses the store.
        case storeLocked
        /// The store was made by a newer version.
        case storeTooNew
        case corrupt
        case ioFailure
        case interrupted
        case timedOut
        /// An asset that is not on this machine and cannot be downloaded now.
        case unavailable
        /// A failed system call on a scratch file: its errno passes through unchanged.
        case system
    }

    package let code: Code
    /// One sentence that says what is wrong and what to do.
    package let message: String
    /// The place in a text, for `invalidJSON`, `invalidRecord` and `schemaMismatch`.
    package let position: TextPosition?
    /// The errno of the call, for `system` only.
    package let systemErrno: Int32

    package init(
        _ code: Code, _ message: String, at position: TextPosition? = nil, errno: Int32 = 0
    ) {
        self.code = code
        self.message = message
        self.position = position
        self.systemErrno = errno
    }

    /// Indicates whether the content causes the error, so that a draft keeps the text.
    package var isAboutContent: Bool {
        switch code {
        case .invalidJSON, .invalidRecord, .schemaMismatch, .tooLarge: true
        default: false
        }
    }
}

/// A place in a text: the line and the column (in bytes) from 1, and the offset in bytes from 0.
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
