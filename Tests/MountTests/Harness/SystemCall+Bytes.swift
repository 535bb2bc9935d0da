import Glibc

/// The calls that take names which are not UTF-8.
extension SystemCall {
    /// The errno of what `body` does; 0 when it succeeds, -1 for another error.
    static func code(_ body: () throws -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch let error as SystemCallError {
            return error.code
        } catch {
            return -1
        }
    }

    private static func open(bytes path: [UInt8], _ flags: Int32) throws -> Int32 {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        let descriptor = Glibc.open(text, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw SystemCallError("open \(String(decoding: path, as: UTF8.self))")
        }
        return descriptor
    }

    static func writeFile(bytes path: [UInt8], _ content: [UInt8]) throws {
        let descriptor = try open(bytes: path, O_WRONLY | O_CREAT | O_TRUNC)
        do {
            try write(descriptor, content)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        try close(descriptor)
    }

    static func readFile(bytes path: [UInt8]) throws -> [UInt8] {
        let descriptor = try open(bytes: path, O_RDONLY)
        defer { Glibc.close(descriptor) }
        return try read(descriptor, count: 1 << 20, at: 0)
    }

    /// As `list`, but the bytes of the names.
    static func listBytes(_ path: String) throws -> [[UInt8]] {
        try listBytes(Array(path.utf8))
    }

    static func listBytes(_ path: [UInt8]) throws -> [[UInt8]] {
        guard let stream = opendir(path.map { CChar(bitPattern: $0) } + [0]) else {
            throw SystemCallError("opendir \(String(decoding: path, as: UTF8.self))")
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                Array(raw.prefix { $0 != 0 })
            }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names
    }
}
