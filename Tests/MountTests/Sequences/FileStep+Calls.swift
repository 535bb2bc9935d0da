import Glibc

extension FileStep {
    /// The errno of the step on a real directory; 0 when all of it succeeded.
    func run(in folder: String) -> Int32 {
        do {
            try perform(folder)
            return 0
        } catch let error as SystemCallError {
            return error.code
        } catch {
            return -1
        }
    }

    private func perform(_ folder: String) throws {
        func path(_ name: String) -> String { "\(folder)/\(name)" }
        switch self {
        case .write(let name, let text): try SystemCall.writeFile(path(name), text)
        case .writeSynced(let name, let text):
            try SystemCall.writeFile(path(name), text, sync: true)
        case .createExclusive(let name, let text):
            try edit(path(name), O_WRONLY | O_CREAT | O_EXCL) {
                try SystemCall.write($0, Array(text.utf8))
            }
        case .append(let name, let text):
            try edit(path(name), O_WRONLY | O_APPEND) {
                try SystemCall.write($0, Array(text.utf8))
            }
        case .patch(let name, let offset, let text):
            try edit(path(name), O_RDWR) {
                try SystemCall.write($0, Array(text.utf8), at: offset)
            }
        case .truncate(let name, let size): try SystemCall.truncate(path(name), size)
        case .truncateOpen(let name, let size):
            try edit(path(name), O_WRONLY) { try SystemCall.truncate($0, size) }
        case .openAndClose(let name): try edit(path(name), O_WRONLY) { _ in }
        case .rewriteInTwo(let name, let text):
            let bytes = Array(text.utf8)
            try edit(path(name), O_WRONLY | O_CREAT | O_TRUNC) {
                try SystemCall.write($0, Array(bytes.prefix(bytes.count / 2)))
                try SystemCall.write($0, Array(bytes.dropFirst(bytes.count / 2)))
            }
        case .atomic(let name, let text):
            try SystemCall.writeFile(path("new.tmp"), text)
            try SystemCall.rename(path("new.tmp"), path(name))
        case .unlink(let name): try SystemCall.unlink(path(name))
        case .unlinkAndCreate(let name, let text):
            try SystemCall.unlink(path(name))
            try SystemCall.writeFile(path(name), text)
        case .backupAndCreate(let name, let text):
            try SystemCall.rename(path(name), path("old.bak"))
            try SystemCall.writeFile(path(name), text)
        case .undoByRename(let name, let text):
            try SystemCall.rename(path(name), path("old.bak"))
            try? SystemCall.writeFile(path(name), text)
            try SystemCall.unlink(path(name))
            try SystemCall.rename(path("old.bak"), path(name))
        case .rename(let from, let to): try SystemCall.rename(path(from), path(to))
        case .renameNoReplace(let from, let to):
            try SystemCall.rename(path(from), path(to), flags: 1)
        case .exchange(let first, let second):
            try SystemCall.rename(path(first), path(second), flags: 2)
        case .link(let from, let to): try SystemCall.link(path(from), path(to))
        case .symlink(let name, let target): try SystemCall.symlink(to: target, at: path(name))
        case .changeMode(let name): try SystemCall.changeMode(path(name), 0o644)
        case .setModified(let name, let seconds):
            try SystemCall.setModified(path(name), seconds: seconds)
        case .makeAndRemoveDirectory(let name):
            try SystemCall.makeDirectory(path(name))
            try SystemCall.removeDirectory(path(name))
        case .openWriteUnlink(let name, let text):
            let descriptor = try SystemCall.open(path(name), O_RDWR | O_CREAT)
            do {
                try SystemCall.write(descriptor, Array(text.utf8), at: 0)
                try SystemCall.unlink(path(name))
            } catch {
                close(descriptor)
                throw error
            }
            // What a file without a name holds cannot be saved, and is not missed.
            close(descriptor)
        case .syncDirectory: try SystemCall.syncDirectory(folder)
        case .remount: break
        }
    }

    private func edit(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let descriptor = try SystemCall.open(path, flags)
        do {
            try body(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        try SystemCall.close(descriptor)
    }
}
