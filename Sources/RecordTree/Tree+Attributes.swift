import Glibc
package import RecordModel

extension Tree {
    /// Returns the attributes of a node (getattr).
    package func attributes(of number: NodeNumber, handle: HandleNumber?) throws(RecordError)
        -> (Attributes, isCacheable: Bool)
    {
        try rooms.naming.nodeAttributes.attributes(of: number, handle: handle)
    }

    /// Changes attributes: chmod, chown, truncate, utimens (setattr). A change to the current value
    /// succeeds without any effect, because every editor and copier repeats it.
    package func setAttributes(
        of number: NodeNumber, _ changes: NodeChanges, handle: HandleNumber?
    ) throws(RecordError) -> (Attributes, isCacheable: Bool) {
        try rooms.request.attributeChanges.setAttributes(of: number, changes, handle: handle)
    }

    package func attribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) -> [UInt8] {
        try rooms.request.extendedAttributes.attribute(name, of: number)
    }

    package func attributeNames(of number: NodeNumber) throws(RecordError) -> [[UInt8]] {
        try rooms.request.extendedAttributes.attributeNames(of: number)
    }

    package func setAttribute(
        _ name: [UInt8], of number: NodeNumber, to value: [UInt8], flags: Int32
    ) throws(RecordError) {
        try rooms.request.extendedAttributes.setAttribute(name, of: number, to: value, flags: flags)
    }

    package func removeAttribute(_ name: [UInt8], of number: NodeNumber) throws(RecordError) {
        try rooms.request.extendedAttributes.removeAttribute(name, of: number)
    }

    /// Returns the figures that statfs shows of a node. Below `private` and below a zone of others
    /// this is the free space that the server last reported. Elsewhere it is the space on the disk
    /// with the store.
    package func figures(of number: NodeNumber) throws(RecordError) -> FileSystemFigures {
        try rooms.request.space.figures(of: number)
    }

    package var isForOwnerAlone: Bool { rooms.naming.access.isForOwnerAlone }

    /// Checks whether the caller may read, write or execute (access(2), chdir(2)). Throws the
    /// caller's error.
    package func checkAccess(_ number: NodeNumber, mask: Int32) throws(RecordError) {
        try rooms.naming.access.checkAccess(number, mask: mask)
    }
}
