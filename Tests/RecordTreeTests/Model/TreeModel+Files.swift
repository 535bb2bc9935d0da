import Glibc

/// Calls about the content of files.
extension TreeModel {
    mutating func apply(_ step: TreeStep) -> Outcome {
        if step.parents.contains(where: { entries[$0] != .directory }) { return .left }
        switch step {
        case .open(
            let slot, let path, let isWriting, let isTruncating, let isExclusive, let isBlind):
            let isAnew = isBlind && Self.isRecord(path)
            return open(slot, path, isWriting, isWriting && isTruncating, isExclusive, isAnew)
        case .write(let slot, let text, let offset): return write(slot, Array(text.utf8), offset)
        case .flush(let slot): return flush(slot)
        case .synchronize(let slot): return synchronize(slot)
        case .close(let slot): return close(slot)
        case .truncate(let path, let size): return truncate(path, size)
        case .truncateOpen(let slot, let size): return truncate(slot, size)
        case .rename, .renameNoReplace, .exchange, .remove, .link, .makeDirectory,
            .removeDirectory:
            return applyToNames(step)
        case .passGrace, .crash: return .done
        case .remount:
            for slot in handles.keys.sorted() { _ = close(slot) }
            return .done
        }
    }

    private mutating func open(
        _ slot: TreeStep.Slot, _ path: String, _ isWriting: Bool, _ isTruncating: Bool,
        _ isExclusive: Bool, _ isAnew: Bool
    ) -> Outcome {
        guard handles[slot] == nil else { return .left }
        switch entries[path] {
        case .directory: return .left
        case .file where isExclusive: return .refused(EEXIST)
        case .file(let id):
            // Who makes a record's file counts as a writer, also where it is there by now.
            handles[slot] = Handle(file: id, canWrite: isWriting || isAnew)
            if isTruncating { resize(id, 0) }
        case nil:
            let isRecord = Self.isRecord(path)
            let id = add(at: path, isDirty: isRecord)
            // Who makes a record's file ends its empty text, also who only reads.
            handles[slot] = Handle(file: id, canWrite: isWriting || isRecord)
        }
        return .done
    }

    private mutating func change(_ id: FileID, _ body: (inout [UInt8]) -> Void) {
        guard var file = files[id] else { return }
        body(&file.text)
        // What is written to a file without a name goes nowhere.
        file.isDirty = recordName(of: id) != nil
        files[id] = file
    }

    private mutating func resize(_ id: FileID, _ size: Int) {
        change(id) { text in
            text = Array(text.prefix(size))
            text += [UInt8](repeating: 0, count: size - text.count)
        }
    }

    private mutating func write(
        _ slot: TreeStep.Slot, _ bytes: [UInt8], _ offset: Int?
    ) -> Outcome {
        guard let handle = handles[slot] else { return .left }
        guard handle.canWrite else { return .refused(EBADF) }
        change(handle.file) { text in
            let start = offset ?? text.count
            let end = start + bytes.count
            text += [UInt8](repeating: 0, count: max(0, end - text.count))
            text.replaceSubrange(start..<end, with: bytes)
        }
        files[handle.file]?.isUntold = false
        return .done
    }

    private mutating func flush(_ slot: TreeStep.Slot) -> Outcome {
        guard let handle = handles[slot] else { return .left }
        guard handle.canWrite else { return .done }
        let outcome = save(handle.file, isLast: false)
        guard outcome == .done, files[handle.file]?.isUntold == true else { return outcome }
        files[handle.file]?.isUntold = false
        return .refused(EINVAL)
    }

    /// fsync does not fail because of what the text says: the close that follows tells it.
    private mutating func synchronize(_ slot: TreeStep.Slot) -> Outcome {
        guard let handle = handles[slot] else { return .left }
        if save(handle.file, isLast: false) != .done { files[handle.file]?.isUntold = true }
        return .done
    }

    private mutating func close(_ slot: TreeStep.Slot) -> Outcome {
        let outcome = flush(slot)
        guard let handle = handles.removeValue(forKey: slot) else { return .left }
        // The kernel tells nobody of what happens at the last close.
        if handle.canWrite, !hasWriter(handle.file) { _ = save(handle.file, isLast: true) }
        return outcome
    }

    private mutating func truncate(_ path: String, _ size: Int) -> Outcome {
        guard let id = file(at: path) else { return .left }
        resize(id, size)
        guard !hasWriter(id) else { return .done }
        let outcome = save(id, isLast: true)
        // The program will write: its empty text is no fault yet.
        return size == 0 ? .done : outcome
    }

    private mutating func truncate(_ slot: TreeStep.Slot, _ size: Int) -> Outcome {
        guard let handle = handles[slot], handle.canWrite else { return .left }
        resize(handle.file, size)
        return .done
    }
}

extension TreeStep {
    var paths: [String] {
        switch self {
        case .open(_, let path, _, _, _, _), .truncate(let path, _), .remove(let path),
            .makeDirectory(let path), .removeDirectory(let path):
            [path]
        case .rename(let from, let to), .renameNoReplace(let from, let to),
            .exchange(let from, let to), .link(let from, let to):
            [from, to]
        case .write, .flush, .synchronize, .close, .truncateOpen, .passGrace, .remount, .crash: []
        }
    }

    /// The directories of this machine that the paths need.
    fileprivate var parents: [String] {
        paths.filter { $0.contains("/") }.map { String($0.prefix { $0 != "/" }) }
    }
}
