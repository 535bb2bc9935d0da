import RecordControl
import RecordModel
import RecordStore

/// The records of a move, and the relationships that it ends, as a command prints them.
struct MoveListing {
    let plan: TreeMovePlan
    /// The target zone, or a record in it.
    let target: RecordPath
    let json: Bool

    func show(_ spelling: PathSpelling) {
        for step in plan.steps {
            let old = source(step.type, step.stem)
            let new = RecordPath(
                database: target.database, owner: target.owner, zone: target.zone,
                type: step.type, item: .record(step.stem))
            if json {
                Showing.jsonLine(["path": .text(old.bytes), "to": .text(new.bytes)])
            } else {
                Terminal.print(
                    spelling.spell(old.bytes) + Array(" -> ".utf8) + spelling.spell(new.bytes)
                        + [UInt8(ascii: "\n")])
            }
        }
        var shown: Set<[RecordPath]> = []
        for torn in plan.torn {
            let object = source(torn.object.type, torn.object.stem)
            let staying = source(torn.staying.type, torn.staying.stem)
            // Both sides of a one-to-one relationship have a key.
            guard shown.insert([object, staying]).inserted else { continue }
            if json {
                Showing.jsonLine([
                    "path": .text(object.bytes), "relationship": .text(torn.relationship.bytes),
                    "stays": .text(staying.bytes),
                ])
            } else {
                Terminal.print(
                    spelling.spell(object.bytes)
                        + Array(" loses \(torn.relationship): ".utf8)
                        + spelling.spell(staying.bytes) + Array(" stays\n".utf8))
            }
        }
    }

    private func source(_ type: RecordTypeName, _ stem: Stem) -> RecordPath {
        RecordPath(
            database: plan.source.database, owner: plan.source.owner, zone: plan.source.name,
            type: type, item: .record(stem))
    }
}
