import Glibc
package import RecordModel

extension Tree {
    /// Finds a name (lookup). Returns nil when it does not exist; the kernel may remember that too.
    package func lookup(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError)
        -> NodeEntry?
    {
        try rooms.request.lookup.lookup(parent: parent, name: name, caller: caller)
    }

    /// Notes that the kernel has dropped lookups of a node (forget).
    package func forget(_ number: NodeNumber, count: UInt64) {
        rooms.request.lookup.forget(number, count: count)
    }

    /// Returns whether the kernel may keep the answer "not found" for this name.
    ///
    /// A change that makes the name without a creating call of the kernel withdraws the answer by a
    /// notice. Such changes are a change from another machine, and a refused rename whose draft
    /// appears under the name. Any save of a record's text may make assets under many names, so
    /// their absence is not kept.
    package func canCacheAbsence(parent: NodeNumber, name: [UInt8], caller: Requester) -> Bool {
        rooms.request.lookup.canCacheAbsence(parent: parent, name: name, caller: caller)
    }

    package func openDirectory(_ number: NodeNumber) throws(RecordError) -> Opened {
        try rooms.request.listing.openDirectory(number)
    }

    /// Lists from an offset on (readdirplus): calls `add` until it returns false. The list has no
    /// `.` and `..`. `add` must count a lookup with `didList` for each entry that it has taken.
    package func list(
        _ number: HandleNumber, from offset: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        try rooms.request.listing.list(number, from: offset, add)
    }

    /// Counts a lookup for a listed entry that the kernel has taken.
    package func didList(_ entry: NodeEntry) {
        rooms.request.listing.didList(entry)
    }

    /// Makes a zone, a record type or a scratch directory, depending on the place of the name
    /// (mkdir).
    package func makeDirectory(
        parent: NodeNumber, name: [UInt8], mode: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try rooms.request.directories.makeDirectory(
            parent: parent, name: name, mode: mode, caller: caller)
    }

    /// Removes an empty zone, record type or scratch directory (rmdir).
    package func removeDirectory(parent: NodeNumber, name: [UInt8]) throws(RecordError) {
        try rooms.request.directories.removeDirectory(parent: parent, name: name)
    }

    /// Makes a symlink; only scratch names can be one (symlink).
    package func makeSymlink(
        parent: NodeNumber, name: [UInt8], target: [UInt8],
        caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) -> NodeEntry {
        try rooms.request.directories.makeSymlink(
            parent: parent, name: name, target: target, caller: caller)
    }

    package func target(ofSymlink number: NodeNumber) throws(RecordError) -> [UInt8] {
        try rooms.request.directories.target(ofSymlink: number)
    }

    /// Makes a file without opening it (mknod): a regular one, in scratch of any kind.
    package func makeNode(
        parent: NodeNumber, name: [UInt8], mode: UInt32, device: UInt64 = 0, caller: Requester
    ) throws(RecordError) -> NodeEntry {
        try rooms.request.directories.makeNode(
            parent: parent, name: name, mode: mode, device: device, caller: caller)
    }

    /// Renames (renameat2). The identity of a record is its name: a file that takes a record's name
    /// updates the record, and a record that loses its name waits for its delete
    /// (MountContract, "Identity").
    package func rename(
        parent: NodeNumber, name: [UInt8], newParent: NodeNumber, newName: [UInt8],
        flags: UInt32, caller: Requester = Requester(threadID: 0)
    ) throws(RecordError) {
        try rooms.renaming.renaming.rename(
            parent: parent, name: name, newParent: newParent, newName: newName, flags: flags,
            caller: caller)
    }

    /// Gives a scratch file another name (link). Records and assets have only one name each.
    package func link(
        _ number: NodeNumber, newParent: NodeNumber, newName: [UInt8]
    ) throws(RecordError) -> NodeEntry {
        try rooms.renaming.renaming.link(number, newParent: newParent, newName: newName)
    }

    /// Removes a file (unlink). A record's delete waits for the grace time.
    package func remove(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError) {
        try rooms.renaming.removing.remove(parent: parent, name: name, caller: caller)
    }
}
