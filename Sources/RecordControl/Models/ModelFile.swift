import Glibc
package import RecordModel
package import RecordObjects

/// A model on the disk: an `.xcdatamodeld` with its versions, an `.xcdatamodel`, or a text in one
/// of the forms of `ModelText`.
package struct ModelFile: Sendable {
    package static let versionEnding = ".xcdatamodel"
    private static let marker = ".xccurrentversion"

    private let path: String
    /// The names of the versions, without `.xcdatamodel`, sorted. Empty for anything but an
    /// `.xcdatamodeld`.
    package let versions: [String]

    /// Opens a model. `-` is standard input.
    ///
    /// Errors: `notFound`, `accessDenied`, `ioFailure`; `invalidArgument` for a folder without a
    /// model.
    package init(path: String) throws(RecordError) {
        guard path == "-" || Self.kind(of: path) != nil else {
            throw FileReading.failure(path, ENOENT)
        }
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        if Self.kind(of: trimmed) != S_IFDIR {
            (self.path, versions) = (trimmed, [])
        } else if trimmed.hasSuffix(Self.versionEnding) {
            (self.path, versions) = (try Self.contents(of: trimmed), [])
        } else {
            (self.path, versions) = (trimmed, try Self.versions(in: trimmed))
        }
    }

    /// Reads a version, or the one that the app uses when no name is given.
    ///
    /// Errors: `notFound`, `accessDenied`, `ioFailure`, `invalidArgument`, `invalidJSON`.
    package func model(version: String? = nil) throws(RecordError) -> ObjectModel {
        if let version, !versions.contains(version) {
            let names = versions.map { "\"\($0)\"" }.joined(separator: ", ")
            throw RecordError(
                .notFound,
                "\(path): there is no version \"\(version)\". "
                    + (names.isEmpty ? "It has no versions." : "There is: \(names)."))
        }
        guard !versions.isEmpty else { return try Self.read(path) }
        let name = if let version { version } else { try currentVersion() }
        return try Self.read(try Self.contents(of: "\(path)/\(name)\(Self.versionEnding)"))
    }

    // MARK: Reading

    private static func versions(in folder: String) throws(RecordError) -> [String] {
        let names = try versionNames(in: folder)
        guard !names.isEmpty else {
            throw RecordError(
                .invalidArgument, "\(folder): no \(versionEnding) is in it, so it is no model.")
        }
        return names
    }

    /// Returns the names of the versions in a folder, sorted, without their ending.
    static func versionNames(in folder: String) throws(RecordError) -> [String] {
        try HostDirectory.names(in: folder).map { String(decoding: $0, as: UTF8.self) }
            .filter { $0.hasSuffix(versionEnding) }
            .map { String($0.dropLast(versionEnding.count)) }.sorted()
    }

    private func currentVersion() throws(RecordError) -> String {
        let place = "\(path)/\(Self.marker)"
        var named: String?
        if Self.kind(of: place) != nil {
            let text = try readWholeFile(place, limit: ModelText.bytesMax)
            named = try Self.about(place) { () throws(RecordError) in
                try ModelText.currentVersion(text)
            }
        }
        if let named {
            guard let found = versions.first(where: { $0 + Self.versionEnding == named }) else {
                throw RecordError(
                    .invalidArgument, "\(place): it names \"\(named)\", which is no version here.")
            }
            return found
        }
        guard versions.count == 1 else {
            throw RecordError(
                .invalidArgument,
                "\(path): it has \(versions.count) versions, and no \(Self.marker) says which one "
                    + "the app uses. Name one of the \(Self.versionEnding) in it.")
        }
        return versions[0]
    }

    /// Returns the path of the text in an `.xcdatamodel`.
    private static func contents(of folder: String) throws(RecordError) -> String {
        let path = "\(folder)/contents"
        // Xcode 3 wrote two binary files instead.
        if kind(of: path) == nil, kind(of: "\(folder)/elements") != nil {
            throw RecordError(
                .invalidArgument,
                "\(folder): it is in the binary form of Xcode 3. Open it in a newer Xcode, and save "
                    + "it.")
        }
        return path
    }

    private static func read(_ path: String) throws(RecordError) -> ObjectModel {
        let text = try readWholeFile(path, limit: ModelText.bytesMax)
        return try about(path) { () throws(RecordError) in try ModelText.parse(text) }
    }

    private static func about<Value>(
        _ path: String, _ body: () throws(RecordError) -> Value
    ) throws(RecordError) -> Value {
        do throws(RecordError) {
            return try body()
        } catch {
            throw RecordError(error.code, "\(path): \(error)")
        }
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
