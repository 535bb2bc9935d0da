import RecordModel
import RecordStore
import RecordStoreSync

/// Changes that the kernel hears of by notices alone: of the server, and of commands.
extension KernelWalk {
    private var zoneID: ZoneID { get throws { try fixture.box.id } }

    private func type(_ name: String) throws -> TypeID? {
        try fixture.store.type(try zoneID, RecordTypeName(name))?.id
    }

    private func record(_ place: KernelStep.Place) throws -> RecordEntry? {
        guard let type = try type(place.type) else { return nil }
        let record = try fixture.store.record(type, Stem(String(place.name.dropLast(5))))
        return record.flatMap { $0.isAwaited ? nil : $0 }
    }

    func change(_ step: KernelStep) throws {
        switch step {
        case .receive(let type, let record, let number):
            try receive(
                [RecordField(name: FieldName("n"), value: .int64(Int64(number)))], type, record)
        case .receiveField(let record, let size):
            let hash = ContentHash(hex: String(repeating: "\(10 + size)", count: 32))
            let value = AssetValue(
                fileName: Text("\(record)@photo.jpg"), size: Int64(size), sha256: hash)
            try receive(
                [RecordField(name: FieldName("photo"), value: .asset(value))], "Note", record)
        case .deleteThere(let record):
            try fixture.receive(.delete, name: record, in: try zoneID)
        case .share(let root):
            let (share, zone) = (share(of: root), try zoneID)
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.sharing.noteShare(share, of: zone)
            }
        case .endShare(let root):
            let (name, zone) = (share(of: root).name, try zoneID)
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.sharing.noteShareEnded(name, of: zone)
            }
        case .makeType, .removeType, .setPermission: try changePlaces(step)
        default: try changeRecord(step)
        }
    }

    private func share(of root: String) -> Share {
        Share(
            name: RecordName("share-\(root)"), root: RecordName(root), permission: .readWrite,
            text: "{}".b)
    }

    private func receive(_ fields: [RecordField], _ type: String, _ record: String) throws {
        let zone = try zoneID
        let change = RemoteChange(
            type: RecordTypeName(type), name: RecordName(record),
            operation: .upsert(fields, parent: nil), changeTag: "t")
        try fixture.send()
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            _ = try transaction.feed.applyRemote(change, in: zone)
        }
    }

    private func changeRecord(_ step: KernelStep) throws {
        switch step {
        case .save(let type, let stem, let text):
            guard let type = try self.type(type) else { return }
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.records.save(text: text.b, type: type, stem: Stem(stem))
            }
        case .refuse(let type, let stem):
            guard let type = try self.type(type) else { return }
            try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
                _ = try transaction.records.saveDraft(
                    text: "{".b, type: type, stem: Stem(stem),
                    error: RecordError(.invalidJSON, "no"))
            }
        case .beginDelete(let place), .finishDelete(let place), .discardDraft(let place),
            .renameStored(let place, _):
            guard let record = try record(place) else { return }
            try change(record, step)
        case .restore(let type):
            guard let type = try self.type(type),
                let trashed = try fixture.store.past.trash(in: type).first
            else { return }
            try fixture.store.write(author: .restore) { transaction throws(RecordError) in
                _ = try transaction.records.restore(trashed.id, replacing: true)
            }
        default: return
        }
    }

    private func change(_ record: RecordEntry, _ step: KernelStep) throws {
        try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
            switch step {
            case .beginDelete: try transaction.records.beginDelete(record.id)
            case .finishDelete: try transaction.records.finalizeDelete(record.id)
            case .discardDraft: _ = try transaction.records.discardDraft(record.id)
            case .renameStored(_, let stem):
                _ = try transaction.records.rename(
                    record.id, toType: record.type, stem: Stem(stem))
            default: return
            }
        }
    }

    private func changePlaces(_ step: KernelStep) throws {
        let zone = try zoneID
        switch step {
        case .makeType(let author):
            try fixture.store.write(author: author.stored) { transaction throws(RecordError) in
                _ = try transaction.makeType(zone, RecordTypeName("Task"))
            }
        case .removeType(let author):
            guard let type = try type("Task") else { return }
            try fixture.store.write(author: author.stored) { transaction throws(RecordError) in
                try transaction.removeType(type)
            }
        case .setPermission(let isReadOnly):
            // A file whose record was renamed a moment ago has its old mode for that moment.
            try perform(.pass(4))
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.setPermission(isReadOnly ? .readOnly : .readWrite, of: zone)
            }
        default: return
        }
    }
}

extension KernelStep.Author {
    fileprivate var stored: Author {
        switch self {
        case .server: .sync
        case .command: .commandLine
        }
    }
}
