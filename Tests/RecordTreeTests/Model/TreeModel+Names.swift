import Glibc

/// Calls about names.
extension TreeModel {
    mutating func applyToNames(_ step: TreeStep) -> Outcome {
        switch step {
        case .rename(let from, let to): return rename(from, to)
        case .renameNoReplace(let from, let to):
            guard entries[from] != nil else { return .refused(ENOENT) }
            guard from != to else { return .left }
            return entries[to] == nil ? rename(from, to) : .refused(EEXIST)
        case .exchange(let from, let to): return exchange(from, to)
        case .remove(let path): return remove(path)
        case .link(let path, let to): return link(path, to)
        case .makeDirectory(let path):
            if entries[path] != nil || path.contains("/") { return .left }
            if Self.isRecord(path) { return .refused(EPERM) }
            entries[path] = .directory
            return .done
        case .removeDirectory(let path):
            guard let entry = entries[path] else { return .refused(ENOENT) }
            guard entry == .directory else { return .refused(ENOTDIR) }
            guard content(path).isEmpty else { return .refused(ENOTEMPTY) }
            entries[path] = nil
            return .done
        default: return .left
        }
    }

    private mutating func remove(_ path: String) -> Outcome {
        guard let entry = entries[path] else { return .refused(ENOENT) }
        if entry == .directory { return .refused(EISDIR) }
        forget(path)
        return .done
    }

    private mutating func link(_ path: String, _ to: String) -> Outcome {
        guard let entry = entries[path] else { return .left }
        if Self.isRecord(path) || Self.isRecord(to) { return .refused(EPERM) }
        if entries[to] != nil { return .refused(EEXIST) }
        if entry == .directory { return .refused(EPERM) }
        entries[to] = entry
        return .done
    }

    // MARK: Renames

    private mutating func rename(_ from: String, _ to: String) -> Outcome {
        guard let source = entries[from] else { return .refused(ENOENT) }
        if from == to { return .done }
        switch (Self.isRecord(from), Self.isRecord(to)) {
        case (false, false): return renameScratch(from, source, to)
        case (false, true): return saveScratch(from, source, as: to)
        case (true, false):
            if entries[to] == .directory { return .refused(EISDIR) }
            forget(from)
            entries[to] = source
            if case .file(let id) = source {
                files[id]?.isDirty = false
                files[id]?.isUntold = false
            }
            return .done
        case (true, true): return renameRecord(from, source, to)
        }
    }

    private mutating func renameScratch(_ from: String, _ source: Entry, _ to: String) -> Outcome {
        if to.hasPrefix(from + "/") { return .refused(EINVAL) }
        if from.hasPrefix(to + "/") { return .refused(ENOTEMPTY) }
        switch (source, entries[to]) {
        case (.file, .directory?): return .refused(EISDIR)
        case (.directory, .file?): return .refused(ENOTDIR)
        case (.directory, .directory?) where !content(to).isEmpty: return .refused(ENOTEMPTY)
        case (.directory, _) where to.contains("/"): return .left
        // Two names of one file both stay.
        case (.file, let target?) where source == target: return .done
        default: break
        }
        move(from, source, to)
        return .done
    }

    private mutating func move(_ from: String, _ source: Entry, _ to: String) {
        entries[from] = nil
        entries[to] = source
        guard source == .directory else { return }
        for path in content(from) {
            entries[to + path.dropFirst(from.count)] = entries.removeValue(forKey: path)
        }
    }

    private mutating func saveScratch(
        _ from: String, _ source: Entry, as to: String
    ) -> Outcome {
        // A writer of the file that is replaced merges with what replaces it: FileVersionTests.
        guard case .file(let id) = source, let text = files[id]?.text, !isOpen(to) else {
            return .left
        }
        if paths(of: id).count > 1 { return .refused(EXDEV) }
        guard note(text, as: to) == .done else {
            _ = add(text, at: to)
            return .refused(EPROTO)
        }
        entries[from] = nil
        entries[to] = source
        return .done
    }

    private mutating func renameRecord(_ from: String, _ source: Entry, _ to: String) -> Outcome {
        guard case .file(let id) = source, !isOpen(to) else { return .left }
        _ = save(id, isLast: true)
        let (isDraft, text) = (drafts.contains(from), saved[from])
        forget(from)
        entries[to] = source
        if drafts.remove(to) != nil || told.remove(to) != nil { undone.insert(to) }
        comeBack(to, with: text)
        if isDraft { drafts.insert(to) }
        saved[to] = isDraft ? nil : text
        return .done
    }

    private mutating func exchange(_ from: String, _ to: String) -> Outcome {
        guard let source = entries[from] else { return .refused(ENOENT) }
        if from == to { return .done }
        // The kernel answers before it asks.
        guard let target = entries[to] else { return .left }
        if Self.isRecord(from) || Self.isRecord(to) {
            return exchangeRecords((from, source), (to, target))
        }
        guard source != .directory, target != .directory else { return .left }
        (entries[from], entries[to]) = (target, source)
        return .done
    }

    /// An exchange that would make a bad text a record leaves both files as they were.
    private mutating func exchangeRecords(
        _ one: (path: String, entry: Entry), _ other: (path: String, entry: Entry)
    ) -> Outcome {
        guard case .file(let first) = one.entry, case .file(let second) = other.entry,
            !hasWriter(first), !hasWriter(second)
        else { return .left }
        let coming = [(one.path, second), (other.path, first)].filter { Self.isRecord($0.0) }
        for (_, id) in coming where paths(of: id).count > 1 { return .refused(EXDEV) }
        for (_, id) in coming where !Self.isValid(files[id]?.text ?? []) {
            return .refused(EPROTO)
        }
        for (path, id) in coming { _ = note(files[id]?.text ?? [], as: path) }
        (entries[one.path], entries[other.path]) = (other.entry, one.entry)
        return .done
    }
}
