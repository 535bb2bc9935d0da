import CSQLite
package import RecordModel

/// One prepared statement of one connection, bound and stepped by hand.
///
/// A point read has to cost less than 10 µs and a listing half a million rows a second. Values are
/// copied in (`SQLITE_TRANSIENT`), or lent for one call when they are large,
/// and copied out; no pointer leaves this type. Valid only inside the database access that made it.
package struct SQLStatement {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    /// Binds `values` to the parameters from 1 on.
    package func bind(_ values: [SQLValue]) throws(RecordError) {
        var index: Int32 = 0
        for value in values {
            index += 1
            try check(bind(value, at: index))
        }
    }

    /// Binds `values` to the parameters from 1 on and calls `body`. Large values are bound without
    /// a copy, so `body` has to finish with the statement.
    package func lend(
        _ values: [SQLValue], _ body: () throws(RecordError) -> Void
    ) throws(RecordError) {
        try lend(values[...], from: 1, body)
    }

    private func lend(
        _ values: ArraySlice<SQLValue>, from index: Int32, _ body: () throws(RecordError) -> Void
    ) throws(RecordError) {
        guard let value = values.first else { return try body() }
        let rest = values.dropFirst()
        guard case .blob(let bytes) = value, value.isLarge else {
            try check(bind(value, at: index))
            return try lend(rest, from: index + 1, body)
        }
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) {
                try check(
                    sqlite3_bind_blob64(
                        handle, index, buffer.baseAddress, UInt64(buffer.count), nil))
                try lend(rest, from: index + 1, body)
            } catch {
                failure = error
            }
            // The statement is kept for its next use, but these bytes are not.
            sqlite3_bind_null(handle, index)
        }
        if let failure { throw failure }
    }

    /// Binds one parameter. The others keep their values, even over `reset`.
    package func bind(_ value: SQLValue, to index: Int32) throws(RecordError) {
        try check(bind(value, at: index))
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let number): sqlite3_bind_int64(handle, index, number)
        case .real(let number): sqlite3_bind_double(handle, index, number)
        case .blob(let bytes):
            bytes.withUnsafeBytes { buffer in
                buffer.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : sqlite3_bind_blob64(
                        handle, index, buffer.baseAddress, UInt64(buffer.count), Self.transient)
            }
        case .text(let string):
            string.withCString { pointer in
                sqlite3_bind_text(handle, index, pointer, -1, Self.transient)
            }
        case .utf8(let bytes):
            bytes.withUnsafeBytes { buffer in
                sqlite3_bind_text64(
                    handle, index, buffer.baseAddress, UInt64(buffer.count), Self.transient,
                    UInt8(SQLITE_UTF8))
            }
        }
    }

    /// Moves to the next row and returns whether there is one. After an error or the last row the
    /// statement is reset.
    package func step() throws(RecordError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let error = failure()
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Ends a read before its last row, so that no lock on the log is kept.
    package func reset() { sqlite3_reset(handle) }

    /// Frees the copies of the bound values. Otherwise they are kept until the next values are
    /// bound.
    package func clear() { sqlite3_clear_bindings(handle) }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func bool(_ column: Int32) -> Bool { sqlite3_column_int64(handle, column) != 0 }

    package func int64IfPresent(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    /// Returns the bytes of a BLOB or TEXT column, or an empty array for NULL.
    package func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    package func bytesIfPresent(_ column: Int32) -> [UInt8]? {
        isNull(column) ? nil : bytes(column)
    }

    package func string(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }

    private static let transient = unsafeBitCast(
        OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)

    private func check(_ code: Int32) throws(RecordError) {
        guard code == SQLITE_OK else { throw failure() }
    }

    private func failure() -> RecordError {
        let connection = sqlite3_db_handle(handle)
        let code = sqlite3_extended_errcode(connection)
        let message = sqlite3_errmsg(connection).map { String(cString: $0) } ?? ""
        return RecordError(sqliteCode: code, message: message)
    }
}

/// A value to bind to a statement.
package enum SQLValue {
    case null
    case integer(Int64)
    case real(Double)
    case blob([UInt8])
    case text(String)
    /// Text that may hold NUL or invalid UTF-8 (for the search index).
    case utf8([UInt8])

    /// Indicates whether a copy of the value is too large to keep. For small values, clearing costs
    /// more than it saves.
    package var isLarge: Bool {
        switch self {
        case .blob(let bytes), .utf8(let bytes): bytes.count > 1 << 16
        case .text(let string): string.utf8.count > 1 << 16
        case .null, .integer, .real: false
        }
    }

    package static func time(_ time: Timestamp) -> SQLValue { .integer(time.nanoseconds) }
    package static func bool(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
    package static func name(_ name: some ByteName) -> SQLValue { .blob(name.bytes) }
    package static func optional(_ number: Int64?) -> SQLValue {
        number.map { .integer($0) } ?? .null
    }
    package static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .blob($0) } ?? .null }
    package static func optional(_ string: String?) -> SQLValue {
        string.map { .text($0) } ?? .null
    }
}
