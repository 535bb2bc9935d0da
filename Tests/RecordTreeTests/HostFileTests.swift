import Foundation
import RecordModel
import TestSupport
import Testing

@testable import RecordTree

/// Files of the host, as the files of this machine and working copies use them.
@Suite("Files of the host")
struct HostFileTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "recordfs-host-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    private func withFiles(_ body: () throws -> Void) throws {
        defer {
            #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: directory) }
        }
        try body()
    }

    private func make(_ path: String, _ bytes: [UInt8] = []) throws -> HostFile {
        let file = try HostFile(path: Array(path.utf8), flags: O_RDWR | O_CREAT | O_EXCL)
        try file.writeAll(bytes)
        return file
    }

    private func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    // MARK: Copies

    /// Between two file systems, from a file that the kernel makes up, and into one that only
    /// appends, the kernel does not copy.
    @Test(
        "a copy has the first bytes of the source, wherever the source is",
        arguments: [0, 1, 4095, 4096, 1 << 20, (1 << 20) + 1, (2 << 20) + 17], [false, true])
    func copies(size: Int, isElsewhere: Bool) throws {
        try withFiles {
            let bytes = pattern(size)
            let place =
                isElsewhere ? "/dev/shm/recordfs-\(UUID().uuidString)" : directory + "/source"
            let source = try make(place, bytes)
            if isElsewhere { unlink(place) }
            for (index, count) in [size, size / 2, size + 100, 0].enumerated() {
                let target = try make("\(directory)/target\(index)")
                try target.copy(from: source, count: Int64(count))
                #expect(try target.readAll() == Array(bytes.prefix(count)), "\(count)")
            }
            #expect(try source.readAll() == bytes)
        }
    }

    @Test("a copy over a longer file leaves what is behind it")
    func over() throws {
        try withFiles {
            let source = try make(directory + "/source", Array("new".utf8))
            let target = try make(directory + "/target", Array("old and longer".utf8))
            try target.copy(from: source, count: 3)
            #expect(try target.readAll() == Array("new and longer".utf8))
        }
    }

    @Test("a copy that the target does not take says why, and changes no source")
    func refused() throws {
        try withFiles {
            let bytes = pattern(5000)
            let source = try make(directory + "/source", bytes)
            _ = try make(directory + "/target")
            let target = try HostFile(path: Array((directory + "/target").utf8), flags: O_RDONLY)
            let error = #expect(throws: RecordError.self) {
                try target.copy(from: source, count: 5000)
            }
            #expect(error?.contractErrno == EBADF)
            let full = try HostFile(path: Array("/dev/full".utf8), flags: O_WRONLY)
            let noSpace = #expect(throws: RecordError.self) {
                try full.copy(from: source, count: 5000)
            }
            #expect(noSpace?.contractErrno == ENOSPC)
            #expect(try source.readAll() == bytes)
        }
    }

    @Test("a copy to a local name is all or nothing, with its time and a mode that others read")
    func placed() throws {
        try withFiles {
            let storage = ScratchStorage(stateDirectory: directory)
            try storage.prepareBase(of: ScratchRoute(path: Array("t1/name".utf8)))
            let target = try storage.name(ScratchRoute(path: Array("t1/name".utf8)))
            let source = try make(directory + "/source", pattern(70_000))
            let time = Timestamp(seconds: 1_000_000_000)
            for _ in 1...2 { try storage.place(copyOf: source, at: target, modified: time) }
            let status = try #require(try target.status())
            #expect(status.st_size == 70_000 && status.st_mode & 0o777 == 0o644)
            #expect(status.st_mtim.timestamp == time)
            try storage.place(Array("text".utf8), at: target, modified: time)
            #expect(try target.open(O_RDONLY).readAll() == Array("text".utf8))
            // What cannot be placed leaves the old file and no other.
            let closed = try HostFile(path: Array((directory + "/source").utf8), flags: O_WRONLY)
            #expect(throws: RecordError.self) {
                try storage.place(copyOf: closed, at: target, modified: time)
            }
            let names = try storage.root.names().map { String(decoding: $0, as: UTF8.self) }
            #expect(names == ["t1"])
            #expect(try target.open(O_RDONLY).readAll() == Array("text".utf8))
        }
    }

    // MARK: Reads and writes

    @Test("a read ends at the end of the file, and a write leaves a hole before it")
    func readsAndWrites() throws {
        try withFiles {
            let file = try make(directory + "/f", Array("0123456789".utf8))
            for (offset, count, expected) in [
                (0, 4, "0123"), (8, 10, "89"), (10, 1, ""), (1000, 5, ""), (0, 0, ""),
            ] {
                let read = try file.read(offset: Int64(offset), count: count)
                #expect(String(decoding: read, as: UTF8.self) == expected)
            }
            try Array("X".utf8).withUnsafeBytes { try file.write($0, offset: 12) }
            #expect(try file.readAll() == Array("0123456789".utf8) + [0, 0, UInt8(ascii: "X")])
        }
    }

    @Test("a write that fails leaves the size as it was")
    func failedWrite() throws {
        try withFiles {
            let file = try make(directory + "/f", Array("text".utf8))
            for offset in [Int64.max - 1, -1] {
                #expect(throws: RecordError.self) {
                    try Array("more".utf8).withUnsafeBytes { try file.write($0, offset: offset) }
                }
                #expect(try file.readAll() == Array("text".utf8))
            }
        }
    }

    // MARK: Names

    @Test("a path longer than the system takes leads to its file by each of its calls")
    func longPath() throws {
        try withFiles {
            let base = try HostFile(path: Array(directory.utf8), flags: pathOnly)
            let part = [UInt8](repeating: UInt8(ascii: "d"), count: 250)
            var path: [UInt8] = []
            for _ in 0..<40 {
                path += path.isEmpty ? part : [UInt8(ascii: "/")] + part
                try HostName(base, path).makeDirectory()
            }
            #expect(path.count > 2 * Int(PATH_MAX))
            let file = try HostName(base, path + Array("/f".utf8))
            try file.open(O_RDWR | O_CREAT | O_EXCL).writeAll(Array("deep".utf8))
            #expect(try file.status()?.st_size == 4)
            #expect(try HostName(base, path).names() == [Array("f".utf8)])
            let moved = try HostName(base, Array("up".utf8))
            try file.rename(to: moved, flags: 0)
            #expect(try file.status() == nil)
            try HostName(moved.held()).link(as: file)
            #expect(try file.status()?.st_nlink == 2)
            try file.remove(isDirectory: false)
            while !path.isEmpty {
                try HostName(base, path).remove(isDirectory: true)
                path = Array(path.dropLast(min(path.count, 251)))
            }
            #expect(try HostName(base, []).names() == [Array("up".utf8)])
        }
    }

    @Test("names come sorted by their bytes, and none for a directory that was never made")
    func names() throws {
        try withFiles {
            let base = try HostFile(path: Array(directory.utf8), flags: pathOnly)
            for name in ["b", "a", "é", "A", ".x"] { _ = try make("\(directory)/\(name)") }
            let names = try HostName(base, []).names().map { String(decoding: $0, as: UTF8.self) }
            #expect(names == [".x", "A", "a", "b", "é"])
            #expect(try HostName(base, Array("none".utf8)).names() == [])
            let error = #expect(throws: RecordError.self) {
                try HostName(base, Array("a".utf8)).names()
            }
            #expect(error?.contractErrno == ENOTDIR)
        }
    }

    @Test("a held file keeps its bytes, modes and attributes without a name")
    func held() throws {
        try withFiles {
            let base = try HostFile(path: Array(directory.utf8), flags: pathOnly)
            let name = try HostName(base, Array("f".utf8))
            _ = try make(directory + "/f", Array("text".utf8))
            let held = HostName(try name.held())
            try name.remove(isDirectory: false)
            #expect(try held.status()?.st_nlink == 0)
            #expect(try held.open(O_RDONLY).readAll() == Array("text".utf8))
            try held.setMode(0o640)
            try held.setAttribute(Array("user.a".utf8), to: [1, 2, 0, 3], flags: 0)
            #expect(try held.attribute(Array("user.a".utf8)) == [1, 2, 0, 3])
            #expect(try held.attributeNames() == [Array("user.a".utf8)])
            try held.removeAttribute(Array("user.a".utf8))
            let error = #expect(throws: RecordError.self) {
                try held.attribute(Array("user.a".utf8))
            }
            #expect(error?.contractErrno == ENODATA)
            #expect(try held.status().map { $0.st_mode & 0o777 } == 0o640)
        }
    }

    @Test("no symlink is followed, and a pipe without another end is no wait")
    func specialFiles() throws {
        try withFiles {
            let base = try HostFile(path: Array(directory.utf8), flags: pathOnly)
            _ = try make(directory + "/f", Array("text".utf8))
            let link = try HostName(base, Array("link".utf8))
            try link.makeSymlink(to: Array("f".utf8))
            #expect(try link.target() == Array("f".utf8))
            #expect(throws: RecordError.self) { try link.open(O_RDONLY) }
            #expect(try HostName(link.held()).target() == Array("f".utf8))
            let pipe = try HostName(base, Array("pipe".utf8))
            try pipe.makeNode(kind: UInt32(S_IFIFO), device: 0)
            _ = try pipe.open(O_RDONLY)
            let error = #expect(throws: RecordError.self) { try pipe.open(O_WRONLY) }
            #expect(error?.contractErrno == ENXIO)
        }
    }
}
