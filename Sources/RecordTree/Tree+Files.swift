import Glibc
package import RecordModel

extension Tree {
    /// Opens a file (open). This also does the work of O_TRUNC, because the kernel sends no setattr
    /// for it.
    package func open(_ number: NodeNumber, flags: Int32, caller: Requester) throws(RecordError)
        -> Opened
    {
        try rooms.request.opening.open(number, flags: flags, caller: caller)
    }

    /// Makes a file and opens it (create), or opens a file that has got the name in the meantime.
    package func create(
        parent: NodeNumber, name: [UInt8], mode: UInt32, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened) {
        try rooms.request.opening.create(
            parent: parent, name: name, mode: mode, flags: flags, caller: caller)
    }

    package func read(_ number: HandleNumber, offset: Int64, count: Int) throws(RecordError)
        -> ReadResult
    {
        try rooms.request.handleRequests.read(number, offset: offset, count: count)
    }

    package func write(
        _ number: HandleNumber, offset: Int64, data: UnsafeRawBufferPointer, isWriteback: Bool
    ) throws(RecordError) {
        try rooms.request.handleRequests.write(
            number, offset: offset, data: data, isWriteback: isWriteback)
    }

    /// Saves a file when a descriptor is closed (flush), and throws the errors of the save.
    package func flush(_ number: HandleNumber) throws(RecordError) {
        try rooms.request.handleRequests.flush(number)
    }

    /// Puts written data on stable storage (fsync). Invalid content does not fail here: it is on
    /// stable storage as a draft, and close reports the fault.
    package func synchronize(_ number: HandleNumber, dataOnly: Bool) throws(RecordError) {
        try rooms.request.handleRequests.synchronize(number, dataOnly: dataOnly)
    }

    /// Puts the directory on stable storage (fsyncdir): its waiting deletes become final.
    package func synchronizeDirectory(_ number: NodeNumber) throws(RecordError) {
        try rooms.request.handleRequests.synchronizeDirectory(number)
    }

    /// Ends a handle after its last descriptor was closed (release). No caller receives an error.
    package func release(_ number: HandleNumber) {
        rooms.request.handleRequests.release(number)
    }

    package func seek(_ number: HandleNumber, offset: Int64, whence: Int32) throws(RecordError)
        -> Int64
    {
        try rooms.request.handleRequests.seek(number, offset: offset, whence: whence)
    }

    package func allocate(_ number: HandleNumber, mode: Int32, offset: Int64, length: Int64)
        throws(RecordError)
    {
        try rooms.request.handleRequests.allocate(
            number, mode: mode, offset: offset, length: length)
    }

    /// Returns notices that make the kernel hand over the data that programs have written into
    /// mappings of open files. For each notice the kernel does so before it drops the pages.
    package func pagesOfOpenFiles() -> [KernelNotice] {
        rooms.ground.handles.pagesOfOpenFiles()
    }

    /// Returns the wait of a change of an asset that failed because its bytes are not on this
    /// machine. The change can be tried again after the answer, which contains no bytes. Returns
    /// nil when there is no such asset.
    package func missingBytes(of number: NodeNumber, handle: HandleNumber?) -> DeferredCall? {
        rooms.asset.fetching.missingBytes(of: number, handle: handle)
    }

    /// Returns whether closing a descriptor (flush) may save a share.
    package func mayAskServer(closing number: HandleNumber) -> Bool {
        rooms.share.shareRequests.mayAskServer(closing: number)
    }

    /// Returns whether the name belongs to a share: removing it, or giving it to a file, may need a
    /// request to the server.
    package func mayAskServer(about name: [UInt8], in parent: NodeNumber) -> Bool {
        rooms.share.shareRequests.mayAskServer(about: name, in: parent)
    }

    /// Ends the shares whose time has come, and shows others again. Called from its own thread,
    /// because the server may delay it.
    package func endDueShares() {
        rooms.share.shareRequests.endDueShares()
    }
}
