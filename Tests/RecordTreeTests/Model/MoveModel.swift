import Glibc

/// The expected files of several directories, when each step has had its grace time: as ext4 has
/// them, where a record keeps its large field and its open files in a move (MountContract, "Renaming
/// and moving a record" and "One version at a time").
struct MoveModel {
    struct File: Equatable {
        let id: Int
        var number: Int
        var photo: String?
    }

    struct Handle {
        /// The file, while a name shows it as the handle does.
        var file: Int?
        /// The number that the handle reads of a file that lost its name, or that another version has
        /// replaced.
        var number: Int
        /// The file, once it has no name: what is written is read by those who have it open.
        var lost: Int?
        let canWrite: Bool
        var isDirty = false
    }

    typealias Outcome = StepOutcome

    var files: [MovePath: File] = [:]
    var handles: [MoveStep.Slot: Handle] = [:]
    private var next = 1

    mutating func apply(_ step: MoveStep) -> Outcome {
        switch step {
        case .save(let path, let number): return save(path, number)
        case .open(let slot, let path, let isWriting):
            guard handles[slot] == nil, let file = files[path] else { return .left }
            handles[slot] = Handle(file: file.id, number: file.number, canWrite: isWriting)
        case .write(let slot, let number): return write(slot, number)
        case .flush(let slot):
            guard handles[slot] != nil else { return .left }
            handles[slot]?.isDirty = false
        case .close(let slot):
            guard handles.removeValue(forKey: slot) != nil else { return .left }
        case .rename(let path, let other): return rename(path, other)
        case .exchange(let path, let other): return exchange(path, other)
        case .remove(let path):
            guard let file = files.removeValue(forKey: path) else { return .refused(ENOENT) }
            lose(file.id)
        case .writePhoto(let path, let bytes):
            guard path.isRecord, let file = files[path], !isWritten(file.id) else { return .left }
            files[path]?.photo = bytes
            replace(file.id)
        case .removePhoto(let path):
            guard path.isRecord, let file = files[path], file.photo != nil, !isWritten(file.id)
            else { return .left }
            files[path]?.photo = nil
            replace(file.id)
        case .remount: handles = [:]
        }
        return .done
    }

    private func path(of id: Int) -> MovePath? { files.first { $0.value.id == id }?.key }

    private func isWritten(_ id: Int) -> Bool {
        handles.values.contains { $0.file == id && $0.canWrite }
    }

    /// Returns the number that a handle reads.
    func number(_ slot: MoveStep.Slot) -> Int? {
        guard let handle = handles[slot] else { return nil }
        guard let id = handle.file, let path = path(of: id) else { return handle.number }
        return files[path]?.number
    }

    // MARK: Content

    private mutating func save(_ path: MovePath, _ number: Int) -> Outcome {
        if let file = files[path] {
            // A text that does not speak of the field gets the reference again, which makes it
            // another file.
            if file.photo != nil, handles.values.contains(where: { $0.file == file.id }) {
                return .left
            }
            files[path]?.number = number
            if !path.isRecord { files[path]?.photo = nil }
        } else {
            files[path] = File(id: next, number: number)
            next += 1
        }
        return .done
    }

    private mutating func write(_ slot: MoveStep.Slot, _ number: Int) -> Outcome {
        guard let handle = handles[slot], handle.canWrite else { return .left }
        guard let id = handle.file, let path = path(of: id) else {
            // Its save would be merged with the file that has the name now.
            guard let lost = handle.lost else { return .left }
            for (other, handle) in handles where handle.lost == lost {
                handles[other]?.number = number
            }
            return .done
        }
        if files[path]?.photo != nil { return .left }
        files[path]?.number = number
        handles[slot]?.isDirty = true
        return .done
    }

    /// The name is gone, and who has the file open keeps it.
    private mutating func lose(_ id: Int) {
        for (slot, handle) in handles where handle.file == id {
            handles[slot]?.file = nil
            handles[slot]?.lost = id
        }
    }

    /// Another version has the name, and who has the file open keeps the earlier one.
    private mutating func replace(_ id: Int) {
        for (slot, handle) in handles where handle.file == id { handles[slot]?.file = nil }
    }

    /// Keeps in the handles what they read, for the time after their file has lost its name.
    mutating func noteRead() {
        for slot in handles.keys {
            let number = number(slot) ?? 0
            handles[slot]?.number = number
        }
    }

    // MARK: Names

    private mutating func rename(_ path: MovePath, _ other: MovePath) -> Outcome {
        guard let file = files[path] else { return .refused(ENOENT) }
        if path == other { return .done }
        if path.isRecord, other.isRecord, !path.reaches(other) { return .refused(EXDEV) }
        let target = files[other]
        if let target, isWritten(target.id) { return .left }
        var moved = file
        switch (path.isRecord, other.isRecord) {
        case (false, true):
            // A reference to bytes with their hash brings them, and a text without one leaves the
            // large field that is there.
            if moved.photo == nil { moved.photo = target?.photo }
            if moved.photo != nil, isWritten(file.id) { return .left }
        case (true, true):
            // The text names its large field by the new name then.
            if moved.photo != nil, path.stem != other.stem {
                if isWritten(file.id) { return .left }
                replace(file.id)
            }
        case (true, false), (false, false): break
        }
        if let target { replace(target.id) }
        files[path] = nil
        files[other] = moved
        return .done
    }

    private mutating func exchange(_ path: MovePath, _ other: MovePath) -> Outcome {
        guard path != other, let one = files[path], let two = files[other] else { return .left }
        if path.isRecord, other.isRecord, path.directory != other.directory {
            return .refused(EXDEV)
        }
        if isWritten(one.id) || isWritten(two.id) { return .left }
        var (first, second) = (two, one)
        if path.isRecord != other.isRecord {
            // Only the record has a large field, by what its new text says.
            if path.isRecord, first.photo == nil { first.photo = one.photo }
            if other.isRecord, second.photo == nil { second.photo = two.photo }
        }
        for file in [first, second] where file.photo != nil { replace(file.id) }
        (files[path], files[other]) = (first, second)
        return .done
    }
}
