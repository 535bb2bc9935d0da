import RecordControl
import RecordModel
import RecordMount

/// A mount of this machine. It is read from the kernel's table, so that a mount that does not
/// answer cannot block a command.
package struct MountTable {
    package let mountpoint: String
    /// The directory of the file system that is shown there. It is `/` except for bind mounts.
    package let root: String
    package let type: String
    /// The state directory of its store, for a RecordFS mount.
    package let source: String

    package var isRecordFS: Bool { type == "fuse.recordfs" }

    /// Returns the RecordFS mounts.
    package static func recordMounts() -> [MountTable] { all().filter(\.isRecordFS) }

    /// Returns the mounts of a store, which may be shown at several places.
    package static func mounts(ofStore directory: String) -> [MountTable] {
        recordMounts().filter { HostDirectory.isSame($0.source, directory) }
    }

    /// Returns the mount at a place, the topmost if there are several.
    package static func mount(at mountpoint: String) -> MountTable? {
        all().last { $0.mountpoint == mountpoint }
    }

    package static func all() -> [MountTable] {
        do {
            let text = try readWholeFile("/proc/self/mountinfo")
            return text.split(separator: UInt8(ascii: "\n")).compactMap(parse)
        } catch {
            return []
        }
    }

    /// Reads `36 35 98:0 /root /mountpoint options [optional...] - type source options`, see
    /// proc(5).
    private static func parse(_ line: ArraySlice<UInt8>) -> MountTable? {
        let fields = line.split(separator: 0x20)
        guard let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash > 5,
            fields.count > dash + 2
        else { return nil }
        return MountTable(
            mountpoint: unescape(fields[4]), root: unescape(fields[3]),
            type: unescape(fields[dash + 1]), source: unescape(fields[dash + 2]))
    }

    /// Decodes a field in which space, tab, newline and backslash are written as `\040` and so on.
    private static func unescape(_ field: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether the daemon of this mount has ended ("Transport endpoint is not connected").
    package static func isStale(_ mountpoint: String) -> Bool {
        MountDaemon.isStale(mountpoint: mountpoint)
    }
}
