import Glibc
package import RecordModel

/// The changes that a setattr requests. Nil leaves a value unchanged.
package struct NodeChanges: Sendable {
    package enum Time: Sendable {
        case now
        case at(Timestamp)
    }
    package var mode: UInt32?
    package var owner: UInt32?
    package var group: UInt32?
    package var size: Int64?
    package var accessed: Time?
    package var modified: Time?
    package init() {}
}
