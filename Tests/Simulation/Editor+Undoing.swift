import RecordModel
package import RecordStore

/// The undo of what somebody has done on this machine.
extension Editor {
    /// Takes steps back, or does again what was taken back. Nothing happens when there is nothing.
    ///
    /// Whatever others have written stays: of the values that are gone afterwards, each is one that
    /// was written on this machine, or that an undo on this machine has put there.
    func takeBack(_ choice: GestureChoice, _ oracle: inout Oracle) throws {
        let undo = { (transaction: Transaction) throws(RecordError) -> [UndoneGesture] in
            try transaction.undoing.undo(choice)
        }
        guard let planned = try planned(undo) else { return }
        let keys = Set(planned.flatMap(\.records).map(Self.key))
        var before: [Step.Key: [String]] = [:]
        for key in keys { before[key] = try Record(replica, key).values }
        let kept = try keys.map(\.zone).reduce(into: Set<String>()) {
            try $0.formUnion(replica.valuesOfConflicts(zone: $1))
        }
        let done = try replica.store.write(author: .commandLine, undo)
        var after: [Step.Key: [String]] = [:]
        for key in keys { after[key] = try Record(replica, key).values }
        for record in done.flatMap(\.records) {
            let key = Self.key(record)
            let change = Oracle.TakenBack(
                key: key, step: step, device: device, was: before[key] ?? [],
                values: after[key] ?? [], moved: Set(after.values.joined()), kept: kept)
            switch record.effect {
            case .removed: oracle.takeBack(change, making: true)
            case .broughtBack: oracle.takeBack(change, removing: true)
            case .changed: oracle.takeBack(change)
            case .none: break
            }
        }
        let made = done.flatMap(\.records).filter { $0.effect == .removed }.map(Self.key)
        let gone = done.flatMap(\.records).filter { $0.effect == .broughtBack }.map(Self.key)
        // As a rename, the other way round.
        for new in made { for old in gone { oracle.rename(new, to: old) } }
    }

    /// Returns what an undo would do. Nil when there is nothing to take back.
    private func planned(
        _ undo: (Transaction) throws(RecordError) -> [UndoneGesture]
    ) throws(RecordError) -> [UndoneGesture]? {
        do throws(RecordError) {
            return try replica.store.rehearse(author: .commandLine, undo)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private static func key(_ record: UndoneRecord) -> Step.Key {
        Step.Key(
            zone: record.zone.name.description, type: record.type.description,
            name: record.stem.description)
    }
}

extension CallingProgram {
    /// The program that does a step, and that has ended after it.
    static func ofStep(_ step: Int, _ mark: String) -> CallingProgram {
        // What happens during a request is done by another one.
        let number = Int32(2 * step + (mark.hasSuffix("m") ? 2 : 1))
        let table = ProgramTable(program: { $0 }, isRunning: { _ in true }, session: { _ in nil })
        return CallingProgram(thread: number, table: table, name: { "step" })
    }
}
