import Glibc
import RecordModel

/// Links of local files.
extension Renaming {
    /// Gives a scratch file another name (link). Records and assets have only one name each.
    func link(
        _ number: NodeNumber, newParent: NodeNumber, newName: [UInt8]
    ) throws(RecordError) -> NodeEntry {
        try permissions.checkWritable()
        try NameMeaning.checkLength(newName)
        if case .scratch(let id) = try nodes.node(number),
            case .asset(let file) = try naming.meaning(of: newName, in: try nodes.node(newParent))
        {
            try naming.fields.checkName(file)
            return try assetRenames.link(id, as: file)
        }
        // git, cp -l and rsync --link-dest expect EPERM where there are no hard links.
        guard case .scratch(let id) = try nodes.node(number),
            case .scratch(let place) = try naming.meaning(
                of: newName, in: try nodes.node(newParent)),
            !place.isOfShare
        else { throw RecordError(.notPermitted, "records have no hard links; copy the file") }
        let file = try scratch.file(id)
        try file.link(as: try scratch.newPath(place))
        let status = try file.base.status
        let linked = scratch.scratchNodes.link(id, at: place, is: status)
        guard let entry = try scratch.entry(of: linked) else {
            throw RecordError(.stale, "the file is gone")
        }
        return entry
    }
}
