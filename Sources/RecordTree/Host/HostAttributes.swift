import CLinux
import Glibc
import RecordModel

/// Extended attributes of scratch files are the host's own; of the file that `base` holds.
extension HostName {
    func attribute(_ name: [UInt8]) throws(RecordError) -> [UInt8] {
        try grown { buffer in
            withPath(throughProc) { path in
                withPath(name) { getxattr(path, $0, buffer.baseAddress, buffer.count) }
            }
        }
    }

    func attributeNames() throws(RecordError) -> [[UInt8]] {
        let list = try grown { buffer in
            withPath(throughProc) { path in
                buffer.withMemoryRebound(to: CChar.self) {
                    listxattr(path, $0.baseAddress, $0.count)
                }
            }
        }
        let names = list.split(separator: 0).map(Array.init)
        return names.filter { $0.starts(with: Array("user.".utf8)) }
    }

    func setAttribute(_ name: [UInt8], to value: [UInt8], flags: Int32)
        throws(RecordError)
    {
        let result = withPath(throughProc) { path in
            withPath(name) { setxattr(path, $0, value, value.count, flags) }
        }
        guard result == 0 else { throw .lastSystemError("setxattr", path) }
    }

    func removeAttribute(_ name: [UInt8]) throws(RecordError) {
        let result = withPath(throughProc) { path in withPath(name) { removexattr(path, $0) } }
        guard result == 0 else { throw .lastSystemError("removexattr", path) }
    }

    /// Calls with a buffer for the largest value that Linux allows.
    private func grown(_ call: (UnsafeMutableBufferPointer<UInt8>) -> Int) throws(RecordError)
        -> [UInt8]
    {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
            count = call(buffer)
            filled = max(count, 0)
        }
        guard count >= 0 else { throw .lastSystemError("getxattr") }
        return bytes
    }
}
