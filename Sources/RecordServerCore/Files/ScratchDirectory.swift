import Glibc
package import RecordWire

/// A directory for this process alone, below `$TMPDIR` or `/tmp`.
package struct ScratchDirectory: Sendable {
    package let path: String

    package init() throws(ServerError) {
        let named = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let base = named.isEmpty ? "/tmp" : named
        var template = Array("\(base)/recordfs-server-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ServerError(
                .internalError,
                "No directory can be made in \(base): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the directory with its content. Files that cannot be removed stay, in a place that
    /// the system cleans.
    package func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        do throws(ServerError) {
            for name in try AssetDirectory.names(in: path) { remove(path + "/" + name) }
        } catch { return }
        rmdir(path)
    }
}
