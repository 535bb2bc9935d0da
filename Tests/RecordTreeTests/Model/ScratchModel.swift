import Glibc
import TestSupport

/// One call in a directory of this machine, where every name is free.
enum ScratchStep: Sendable, Equatable {
    typealias Path = [String]
    typealias Slot = Int

    case create(Path), write(Path, String), makeDirectory(Path), symlink(Path, String)
    case link(Path, Path), rename(Path, Path), renameNoReplace(Path, Path), exchange(Path, Path)
    case remove(Path), removeDirectory(Path)
    case open(Slot, Path), writeOpen(Slot, String), close(Slot)
    /// The kernel drops what it does not need; the mount ends and begins.
    case forget, remount

    static func random(from random: inout SeededRandom) -> ScratchStep {
        let (path, other) = (path(&random), path(&random))
        let (slot, text) = (random.below(3), random.pick(["", "x", "yy", "zzz"]))
        switch random.below(26) {
        case 0..<4: return .create(path)
        case 4, 5: return .write(path, text)
        case 6..<9: return .makeDirectory(path)
        case 9: return .symlink(path, random.pick(["a", "../b", "none"]))
        case 10, 11: return .link(path, other)
        case 12..<17: return .rename(path, other)
        case 17: return .renameNoReplace(path, other)
        case 18: return .exchange(path, other)
        case 19: return .remove(path)
        case 20: return .removeDirectory(path)
        case 21: return .open(slot, path)
        case 22: return .writeOpen(slot, text)
        case 23: return .close(slot)
        case 24: return .forget
        default: return random.below(3) == 0 ? .remount : .forget
        }
    }

    private static func path(_ random: inout SeededRandom) -> Path {
        (0...random.below(3)).map { _ in random.pick(["a", "b", "c.json"]) }
    }
}

/// A directory of ext4 with everything in it.
struct ScratchModel {
    typealias Path = ScratchStep.Path

    enum Inode: Equatable {
        case file(String), symlink(String), directory([String: Int])

        var children: [String: Int]? {
            if case .directory(let children) = self { children } else { nil }
        }
    }

    typealias Outcome = StepOutcome

    /// The directory itself is inode 0.
    var inodes: [Int: Inode] = [0: .directory([:])]
    var handles: [ScratchStep.Slot: Int] = [:]
    private var next = 1

    func inode(_ path: Path) -> Int? {
        path.reduce(0 as Int?) { at, name in at.flatMap { inodes[$0]?.children?[name] } }
    }

    func links(_ inode: Int) -> Int {
        inodes.values.reduce(0) { $0 + ($1.children?.values.filter { $0 == inode }.count ?? 0) }
    }

    private func isDirectory(_ inode: Int) -> Bool { inodes[inode]?.children != nil }

    private mutating func set(_ path: Path, _ inode: Int?) {
        guard let name = path.last, let parent = self.inode(path.dropLast()),
            var children = inodes[parent]?.children
        else { return }
        children[name] = inode
        inodes[parent] = .directory(children)
    }

    private mutating func add(_ path: Path, _ inode: Inode) -> Outcome {
        guard self.inode(path) == nil else { return .refused(EEXIST) }
        inodes[next] = inode
        set(path, next)
        next += 1
        return .done
    }

    mutating func apply(_ step: ScratchStep) -> Outcome {
        for path in step.paths where inode(path.dropLast()).map(isDirectory) != true {
            return .left
        }
        switch step {
        case .create(let path): return add(path, .file(""))
        case .makeDirectory(let path): return add(path, .directory([:]))
        case .symlink(let path, let target): return add(path, .symlink(target))
        case .write(let path, let text):
            guard let id = inode(path), case .file? = inodes[id] else { return .left }
            inodes[id] = .file(text)
        case .open(let slot, let path):
            guard handles[slot] == nil, let id = inode(path), case .file? = inodes[id] else {
                return .left
            }
            handles[slot] = id
        case .writeOpen(let slot, let text):
            guard let id = handles[slot], case .file(let old)? = inodes[id] else { return .left }
            inodes[id] = .file(text + old.dropFirst(text.count))
        case .close(let slot): return handles.removeValue(forKey: slot) == nil ? .left : .done
        case .forget: break
        case .remount: handles = [:]
        default: return applyToNames(step)
        }
        return .done
    }

    private mutating func applyToNames(_ step: ScratchStep) -> Outcome {
        switch step {
        case .link(let path, let other):
            guard let id = inode(path) else { return .left }
            if inode(other) != nil { return .refused(EEXIST) }
            if isDirectory(id) { return .refused(EPERM) }
            set(other, id)
        case .remove(let path):
            guard let id = inode(path) else { return .refused(ENOENT) }
            if isDirectory(id) { return .refused(EISDIR) }
            set(path, nil)
        case .removeDirectory(let path):
            guard let id = inode(path) else { return .refused(ENOENT) }
            guard let children = inodes[id]?.children else { return .refused(ENOTDIR) }
            guard children.isEmpty else { return .refused(ENOTEMPTY) }
            set(path, nil)
        case .rename(let path, let other): return rename(path, other)
        case .renameNoReplace(let path, let other):
            if path == other { return .left }
            if inode(path) != nil, inode(other) != nil { return .refused(EEXIST) }
            return rename(path, other)
        case .exchange(let path, let other):
            guard let one = inode(path) else { return .refused(ENOENT) }
            if path == other { return .done }
            guard let two = inode(other) else { return .refused(ENOENT) }
            if other.starts(with: path) || path.starts(with: other) { return .refused(EINVAL) }
            set(path, two)
            set(other, one)
        default: return .left
        }
        return .done
    }

    private mutating func rename(_ path: Path, _ other: Path) -> Outcome {
        guard let source = inode(path) else { return .refused(ENOENT) }
        if path == other { return .done }
        if other.starts(with: path) { return .refused(EINVAL) }
        if path.starts(with: other) { return .refused(ENOTEMPTY) }
        if let target = inode(other) {
            if source == target { return .done }
            if let children = inodes[target]?.children {
                guard isDirectory(source) else { return .refused(EISDIR) }
                guard children.isEmpty else { return .refused(ENOTEMPTY) }
            } else if isDirectory(source) {
                return .refused(ENOTDIR)
            }
        }
        set(path, nil)
        set(other, source)
        return .done
    }
}

extension ScratchStep {
    var paths: [Path] {
        switch self {
        case .create(let path), .write(let path, _), .makeDirectory(let path),
            .symlink(let path, _), .remove(let path), .removeDirectory(let path),
            .open(_, let path):
            [path]
        case .link(let path, let other), .rename(let path, let other),
            .renameNoReplace(let path, let other), .exchange(let path, let other):
            [path, other]
        case .writeOpen, .close, .forget, .remount: []
        }
    }
}
