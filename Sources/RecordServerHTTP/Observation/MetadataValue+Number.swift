import Logging

extension Logger.MetadataValue {
    /// Returns a value that a program reads as a number.
    static func number(_ value: some BinaryInteger) -> Logger.MetadataValue {
        .stringConvertible(Int64(clamping: value))
    }
}
