import FuseKit
import Glibc
import RecordStore

extension CallingProgram {
    /// The longest name that the kernel keeps for a process, with the newline after it.
    private static let nameBytes = 16

    /// The program whose call of the kernel this thread serves.
    static var ofServedCall: CallingProgram? {
        guard let thread = ServedCaller.current?.threadID else { return nil }
        return CallingProgram(thread: thread) { name(of: thread) }
    }

    /// Returns the name that the kernel has for a thread, which is that of its program unless the
    /// program has given it another one.
    private static func name(of thread: Int32) -> String? {
        guard thread > 0 else { return nil }
        let file = open("/proc/\(thread)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: nameBytes)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let name = String(decoding: bytes[..<count], as: UTF8.self)
        return name.split(separator: "\n").first.map(String.init)
    }
}
