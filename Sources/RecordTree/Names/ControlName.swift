import RecordModel

/// A name in a directory of `.recordfs`.
struct ControlName: Sendable {
    let name: [UInt8]
    let path: ControlPath

    init(_ name: [UInt8], _ path: ControlPath) {
        self.name = name
        self.path = path
    }

    init(_ name: String, _ path: ControlPath) { self.init(Array(name.utf8), path) }
}
