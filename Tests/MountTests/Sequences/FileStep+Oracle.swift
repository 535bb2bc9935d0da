import Glibc

extension FileStep {
    /// The errno that the step must have, after which `oracle` shows what the directory must show.
    func apply(to oracle: inout Oracle) -> Int32 {
        switch self {
        case .write(let name, let text), .writeSynced(let name, let text),
            .rewriteInTwo(let name, let text):
            return write(name, text, &oracle)
        case .createExclusive(let name, let text):
            return oracle.names.contains(name) ? EEXIST : write(name, text, &oracle)
        case .append(let name, let text):
            return change(name, &oracle) { $0 + Array(text.utf8) }
        case .patch(let name, let offset, let text):
            return change(name, &oracle) { bytes in
                var bytes = bytes
                let new = Array(text.utf8)
                while bytes.count < offset + new.count { bytes.append(0) }
                bytes.replaceSubrange(offset..<offset + new.count, with: new)
                return bytes
            }
        case .truncate(let name, let size), .truncateOpen(let name, let size):
            return truncate(name, size, &oracle)
        case .openAndClose(let name), .changeMode(let name), .setModified(let name, _):
            return oracle.files[name] == nil ? ENOENT : 0
        case .atomic(let name, let text):
            let code = write("new.tmp", text, &oracle)
            return code != 0 ? code : oracle.rename("new.tmp", name)
        case .unlink(let name): return oracle.remove(name)
        case .unlinkAndCreate(let name, let text):
            let code = oracle.remove(name)
            return code != 0 ? code : write(name, text, &oracle)
        case .backupAndCreate(let name, let text):
            let code = oracle.rename(name, "old.bak")
            return code != 0 ? code : write(name, text, &oracle)
        case .undoByRename(let name, let text):
            let code = oracle.rename(name, "old.bak")
            if code != 0 { return code }
            _ = write(name, text, &oracle)
            _ = oracle.remove(name)
            return oracle.rename("old.bak", name)
        case .rename(let from, let to): return oracle.rename(from, to)
        case .renameNoReplace(let from, let to):
            return oracle.rename(from, to, noReplace: true)
        case .exchange(let first, let second): return oracle.exchange(first, second)
        case .link(let from, let to): return oracle.link(from, to)
        case .symlink(let name, let target): return oracle.symlink(name, to: target)
        case .makeAndRemoveDirectory: return 0
        case .openWriteUnlink(let name, _):
            if oracle.links[name] != nil { return ENOENT }
            _ = oracle.remove(name)
            return 0
        case .syncDirectory, .remount: return 0
        }
    }

    /// Whether the model says nothing of the step, so that it is left out.
    func isUndefined(_ oracle: Oracle) -> Bool {
        switch self {
        case .exchange(let first, let second):
            oracle.links[first] != nil || oracle.links[second] != nil
        case .openWriteUnlink(let name, _): oracle.isLinked(name)
        // truncate(2) has no close that could tell of a draft: CallTests say what holds for it.
        case .truncate(let name, let size):
            oracle.isRecord(name) && oracle.files[name] != nil && refuses(name, size, oracle)
        default: false
        }
    }

    private func refuses(_ name: String, _ size: Int, _ oracle: Oracle) -> Bool {
        var copy = oracle
        _ = truncate(name, size, &copy)
        return copy.drafts.contains(name)
    }

    private func write(_ name: String, _ text: String, _ oracle: inout Oracle) -> Int32 {
        oracle.links[name] != nil ? ENOENT : oracle.save(name, text)
    }

    private func change(
        _ name: String, _ oracle: inout Oracle, _ edit: ([UInt8]) -> [UInt8]
    ) -> Int32 {
        guard let text = oracle.files[name] else { return ENOENT }
        return oracle.save(name, String(decoding: edit(Array(text.utf8)), as: UTF8.self))
    }

    private func truncate(_ name: String, _ size: Int, _ oracle: inout Oracle) -> Int32 {
        change(name, &oracle) { bytes in
            Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
        }
    }
}
