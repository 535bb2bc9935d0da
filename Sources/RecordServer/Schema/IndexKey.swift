package import RecordWire

/// The bytes under which an index finds a value.
package enum IndexKey {
    /// Compares byte by byte as values of one field type do; at most 256 bytes, so that longer
    /// texts with one key can differ. Nil for what has no order: assets and lists.
    package static func encode(_ value: WireValue) -> [UInt8]? { nil }
}
