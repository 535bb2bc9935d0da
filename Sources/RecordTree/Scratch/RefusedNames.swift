import RecordModel

/// Reports the reason why the name of a zone or record type was refused. It is written to a local
/// file `.error` beside the name, because `mkdir` prints only "Invalid argument".
final class RefusedNames: Sendable {
    let nodeNotices: NodeNotices
    let options: TreeOptions
    let scratch: ScratchFiles

    init(_ ground: Ground, scratch: ScratchFiles) {
        nodeNotices = ground.nodeNotices
        options = ground.options
        self.scratch = scratch
    }

    /// Runs a function that makes something with the name, and reports its refusal.
    func telling<Result>(
        _ name: [UInt8], in directory: Node, _ body: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        do throws(RecordError) {
            let result = try body()
            try forgetRefusal(in: directory)
            return result
        } catch  where error.code == .invalidName || error.code == .notPermitted {
            try tell(error, of: name, in: directory)
            throw error
        }
    }

    private func tell(
        _ error: RecordError, of name: [UInt8], in directory: Node
    ) throws(RecordError) {
        guard let place = Self.refusals(of: directory) else { return }
        let text = "\(String(decoding: NameCodec.encode(name), as: UTF8.self)): \(error)\n"
        let path: HostName
        do throws(RecordError) {
            path = try scratch.newPath(place)
        } catch {
            // Where nothing may be written, nothing can be made either.
            return
        }
        try scratch.put(
            Array(text.utf8), at: place, path, modified: options.now.asStored)
        nodeNotices.nameChanged(place)
    }

    /// Removes the last reported refusal after a valid name.
    func forgetRefusal(in directory: Node) throws(RecordError) {
        guard let place = Self.refusals(of: directory), try scratch.find(place) != nil else {
            return
        }
        try scratch.remove(place, isDirectory: false, isChecked: false)
        nodeNotices.nameChanged(place)
    }

    private static func refusals(of directory: Node) -> ScratchPlace? {
        switch directory {
        case .database(let database) where database != .shared:
            ScratchPlace(directory: .database(database), name: NameMeaning.errorName)
        case .zone(let zone): ScratchPlace(directory: .zone(zone), name: NameMeaning.errorName)
        default: nil
        }
    }
}
