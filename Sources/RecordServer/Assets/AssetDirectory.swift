package import RecordModel

/// The bytes of assets, each file under the SHA-256 of its content: `ab/<sha256>`, unfinished
/// ones in `tmp/`.
package struct AssetDirectory: Sendable {
    package let path: String
    /// Makes the directory where it is missing.
    package init(path: String) throws(RecordError) { self.path = path }
}
