package import RecordModel
import RecordSQL

extension Transaction {
    /// Brings a record back from the trash, with its type if that is gone.
    /// Errors: notFound, also for its zone; alreadyExists; accessDenied.
    package func restore(_ trash: Int64) throws(RecordError) -> RecordEntry {
        let row = try connection.first(
            "SELECT \(Columns.trash), text, created, created_by FROM trash WHERE id = ?",
            [.integer(trash)]
        ) { ($0.trash(), $0.bytes(8), $0.time(9), $0.string(10)) }
        guard let (entry, text, created, createdBy) = row else {
            throw RecordError(.notFound, "It is not in the trash.")
        }
        let type = try makeType(entry.zone, entry.type)
        let place = try writablePlace(type.id)
        for taken in [
            try connection.stored(type.id, entry.stem),
            try connection.stored(named: entry.name, entry.zone),
        ] {
            guard let taken, let there = try connection.stored(taken.id) else { continue }
            guard there.state == .waitingDelete else {
                throw RecordError(
                    .alreadyExists, "\(there.entry.stem).json is there already; move it first.")
            }
            try finalizeDelete(there.id)
        }
        var new = NewState(text: text, place: place, stem: entry.stem)
        new.kind = .restored
        new.created = created
        new.createdBy = createdBy
        new.name = entry.name
        new.knownAssets = try keptAssets(.trash, trash)
        let result = try create(new, over: nil, id: nil)
        try removeTrash(trash)
        return result.entry
    }

    /// Makes a version of history the record's present state, creating the record if need be.
    /// Errors: notFound, also for a version that is a deletion; accessDenied.
    package func restoreVersion(_ token: Int64) throws(RecordError) -> RecordEntry {
        guard let version = try connection.version(token), version.kind != .deleted else {
            throw RecordError(.notFound, "There is no such version.")
        }
        let existing = try connection.stored(named: version.name, version.zone)
        let type: TypeID
        if let existing {
            type = existing.entry.type
        } else {
            type = try makeType(version.zone, version.type).id
        }
        let place = try writablePlace(type)
        let stem =
            if let existing { existing.entry.stem } else {
                try freeStem(for: version.name, place)
            }
        var new = NewState(text: version.text, place: place, stem: stem)
        new.kind = .restored
        new.knownAssets = try keptAssets(.history, token)
        if let existing, existing.state != .draftOnly {
            return try update(existing, to: new).entry
        }
        new.name = version.name
        return try create(new, over: try connection.stored(type, stem), id: nil).entry
    }

    /// Deletes for good.
    package func removeTrash(_ trash: Int64) throws(RecordError) {
        try connection.run(
            "DELETE FROM kept_asset WHERE holder = ? AND holder_id = ?",
            [.integer(Holder.trash.rawValue), .integer(trash)])
        try connection.run("DELETE FROM trash WHERE id = ?", [.integer(trash)])
    }
}
