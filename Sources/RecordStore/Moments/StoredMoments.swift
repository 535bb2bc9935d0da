package import RecordModel
import RecordSQL

extension StoredMoments {
    /// Returns the named moments, the earliest first.
    package func named() throws(RecordError) -> [NamedMoment] {
        try store.read { connection throws(RecordError) in try connection.moments() }
    }

    /// Returns the tree of a moment.
    ///
    /// - Throws: notFound when versions that were shown then are no longer kept, or when there is no
    ///   moment with the name.
    package func tree(at point: RestorePoint) throws(RecordError) -> PastTree {
        try store.read { connection throws(RecordError) in
            let token = try connection.completeToken(at: point)
            return PastTree(store: store, token: min(token, try connection.lastToken()))
        }
    }

    /// Returns the tree after a version whose moment was found before.
    package func tree(after token: Int64) -> PastTree { PastTree(store: store, token: token) }
}
