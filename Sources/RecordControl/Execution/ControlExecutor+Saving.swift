import RecordModel
import RecordStore

extension ControlExecutor {
    func put(_ path: RecordPath, _ text: [UInt8]) throws(RecordError) -> ControlReply {
        let stem = try path.requireRecord()
        let result = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> SaveResult in
            let type = try transaction.makeType(at: path)
            return try transaction.records.save(
                text: text, type: type.id, stem: stem, keptFiles: .all(but: []))
        }
        return ControlReply(.members(["outcome": .text(result.outcome.name)]))
    }

    /// Makes a record that is not there yet.
    func make(_ path: RecordPath) throws(RecordError) -> ControlReply {
        let stem: Stem
        switch path.item {
        case .record(let given): stem = given
        case nil: stem = Stem(encoding: RecordName(bytes: UUIDText.random()))
        case .asset:
            throw RecordError(
                .invalidArgument,
                "is no name of a record; write @ in it as %40")
        }
        try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
            let type = try transaction.makeType(at: path)
            if let there = try transaction.records.record(type.id, stem), !there.isHidden {
                throw RecordError(
                    .alreadyExists,
                    "there is a record \(stem) already\(there.state == .draftOnly ? ", a draft" : "")"
                        + "; choose another name")
            }
            _ = try transaction.records.save(
                text: try transaction.schema(of: type.name).skeleton, type: type.id, stem: stem)
        }
        return ControlReply(.members(["name": .text(stem.bytes)]))
    }

    func putAsset(_ path: RecordPath, file: String) throws(RecordError) -> ControlReply {
        guard case .asset(let stem, let field, let index, let fileExtension) = path.item else {
            throw RecordError(
                .invalidArgument, "is not a large field. Write DATABASE/ZONE/TYPE/NAME@FIELD.EXT.")
        }
        let (hash, size) = try store.assets.importAsset(fromFile: file)
        try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
            let type = try transaction.makeType(at: path)
            guard let record = try transaction.records.record(type.id, stem),
                record.state != .waitingDelete
            else {
                let name = EntryName.assetFileName(
                    stem: stem, field: field, index: index, fileExtension: fileExtension)
                throw RecordError(
                    .notFound,
                    "there is no record \(stem). Put the record first. If the name of the record has "
                        + "an @, write \(Stem(encoding: RecordName(bytes: name))).")
            }
            // The same rule as beside a mount: the field's file has one name, and files with other
            // names do not belong to the field.
            if let file = try transaction.records.asset(record.id, field, index), file.hash != nil,
                !file.isLeaving, !fileExtension.isEmpty, file.fileExtension != fileExtension
            {
                throw RecordError(
                    .alreadyExists,
                    "the field has the file \(String(decoding: file.fileName, as: UTF8.self)). Put "
                        + "the bytes there, or remove it before.")
            }
            let current = try transaction.records.asset(record.id, field, index)
            _ = try transaction.assets.setAsset(
                record.id, field, index, hash, size: size,
                fileExtension: fileExtension.isEmpty
                    ? current?.fileExtension ?? [] : fileExtension)
        }
        return ControlReply(.members(["sha256": .text(hash.hex), "size": .integer(size)]))
    }

    /// Imports rows. The reply reports the rows that cannot be saved. They do not stop the others.
    func importBatch(_ batch: ImportBatch) throws(RecordError) -> ControlReply {
        guard batch.target.type != nil, batch.target.item == nil else {
            throw RecordError(
                .invalidArgument, "is not a record type. Write DATABASE/ZONE/TYPE.")
        }
        var counts: [SaveResult.Outcome: Int] = [:]
        var problems: [JSONValue] = []
        Failpoint.pass(.importBatchBegin)
        if batch.isRehearsal {
            (counts, problems) = try rehearse(batch)
        } else {
            (counts, problems) = try store.write(author: .import, by: author) {
                (transaction) throws(RecordError) in
                try Self.save(batch, in: transaction)
            }
        }
        Failpoint.pass(.importBatchCommitted)
        return ControlReply(
            .members([
                "created": .integer(counts[.created] ?? 0),
                "updated": .integer(counts[.updated] ?? 0),
                "unchanged": .integer(counts[.unchanged] ?? 0),
                "errors": .array(problems),
            ]))
    }

    /// Performs the whole import in a transaction that is then rolled back.
    private func rehearse(
        _ batch: ImportBatch
    ) throws(RecordError) -> ([SaveResult.Outcome: Int], [JSONValue]) {
        var outcome: ([SaveResult.Outcome: Int], [JSONValue])?
        do {
            try store.write(author: .import, by: author) { (transaction) throws(RecordError) in
                outcome = try Self.save(batch, in: transaction)
                throw RecordError(.interrupted, "The rehearsal is over.")
            }
        } catch {
            if let outcome { return outcome }
            throw error
        }
        return ([:], [])
    }

    private static func save(
        _ batch: ImportBatch, in transaction: Transaction
    ) throws(RecordError) -> ([SaveResult.Outcome: Int], [JSONValue]) {
        var counts: [SaveResult.Outcome: Int] = [:]
        var problems: [JSONValue] = []
        let type = try transaction.makeType(at: batch.target)
        try transaction.expect(batch.fields, of: type.name)
        let spoken = batch.spokenFields.map(Set.init)
        for (number, row) in batch.rows.enumerated() {
            do {
                var text = row.text
                if let spoken { text = try transaction.keeping(row, type.id, butFor: spoken) }
                let result = try transaction.records.save(
                    text: text, type: type.id, stem: row.stem, keptFiles: .all(but: []))
                counts[result.outcome, default: 0] += 1
            } catch {
                guard error.isAboutRow else { throw error }
                problems.append(
                    .members(["row": .integer(number), "error": error.json]))
                if batch.stopsAtError { break }
            }
        }
        return (counts, problems)
    }
}

extension Transaction {
    /// Returns the text of a row, with the fields of its record that the source does not mention.
    fileprivate func keeping(
        _ row: ImportBatch.Row, _ type: TypeID, butFor spoken: Set<Text>
    ) throws(RecordError) -> [UInt8] {
        guard let record = try records.record(type, row.stem), record.state == .saved,
            let old = try records.savedText(of: record.id),
            let kept = try JSONParser.parse(old).object?.filter({ !spoken.contains($0.key) }),
            !kept.isEmpty, let members = try JSONParser.parse(row.text).object
        else { return row.text }
        return JSONValue.object(members + kept).serialized(pretty: true) + [0x0A]
    }
}

extension RecordError {
    /// Indicates whether the error is about one row, so that the other rows can be saved: the save
    /// refused it before it wrote anything.
    fileprivate var isAboutRow: Bool {
        switch code {
        case .invalidName, .nameTooLong, .alreadyExists: true
        default: isAboutContent
        }
    }
}
