import FuseKit
import RecordModel
import RecordTree

/// The time for which the kernel may keep names and attributes. It is long, because the kernel is
/// notified of every change that it cannot see itself.
let cacheSeconds: Double = 86_400

extension FuseKit.LookupEntry {
    init(_ entry: NodeEntry) {
        self.init(
            node: NodeID(entry.node.rawValue), attributes: FileAttributes(entry.attributes),
            entryTimeout: entry.isCacheable ? cacheSeconds : entry.briefSeconds,
            attributeTimeout: entry.isCacheable
                ? entry.attributes.keptSeconds : entry.briefSeconds)
    }
}

extension NodeEntry {
    fileprivate var briefSeconds: Double { isBrief ? 1 : 0 }
}

extension Attributes {
    /// The seconds for which the kernel may keep the attributes. A write clears set-user-id and
    /// set-group-id bits, which the kernel does not see.
    var keptSeconds: Double { isAnnounced && mode & 0o6000 == 0 ? cacheSeconds : 0 }
}

extension FileAttributes {
    init(_ attributes: Attributes) {
        self.init(
            inode: attributes.inode, mode: attributes.mode, linkCount: attributes.links,
            uid: attributes.owner, gid: attributes.group, size: attributes.size,
            time: Time(attributes.modified))
        blocks = attributes.blocks
        accessTime = Time(attributes.accessed)
        changeTime = Time(attributes.changed)
        device = attributes.device
    }
}

extension Time {
    init(_ timestamp: Timestamp) {
        self.init(seconds: timestamp.seconds, nanoseconds: timestamp.subsecond)
    }
}

extension NodeChanges {
    /// Reads the changes. Errors: invalidArgument for a time whose nanoseconds are a second or
    /// more.
    init(_ changes: FuseKit.AttributeChanges) throws(RecordError) {
        self.init()
        mode = changes.mode
        owner = changes.uid
        group = changes.gid
        size = changes.size
        accessed = try changes.accessTime.map(Time.init)
        modified = try changes.modificationTime.map(Time.init)
    }
}

extension NodeChanges.Time {
    fileprivate init(_ change: FuseKit.AttributeChanges.TimeChange) throws(RecordError) {
        switch change {
        case .now: self = .now
        case .set(let time):
            guard (0..<1_000_000_000).contains(time.nanoseconds) else {
                throw RecordError(.invalidArgument, "a time has less than a second of nanoseconds")
            }
            self = .at(Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds))
        }
    }
}

extension NodeNumber {
    init(_ node: NodeID) { self.init(rawValue: node.rawValue) }
}

extension HandleNumber {
    init(_ handle: FileHandle) { self.init(rawValue: handle.rawValue) }
}

extension OpenedFile {
    init(_ opened: Opened) {
        self.init(
            handle: FileHandle(opened.handle.rawValue), keepCache: opened.keepCache,
            directIO: opened.isDirect, noFlush: opened.needsNoFlush)
    }
}

extension Requester {
    init(_ caller: FuseKit.CallingProcess) {
        self.init(threadID: caller.pid, user: caller.uid, group: caller.gid)
    }
}
