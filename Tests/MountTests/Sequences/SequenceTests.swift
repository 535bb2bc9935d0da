import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Random sequences of file operations, against a model in memory.
    @Suite struct SequenceTests {
        private static let steps = 300

        @Test("the model and its driver agree on an ordinary directory", arguments: 1...3)
        func control(seed: Int) throws {
            let folder = try TestRoot.makeDirectory("sequence")
            defer { TestRoot.removeTree(folder) }
            var run = SequenceRun(folder: folder, seed: seed, hasRecords: false)
            try run.run(steps: Self.steps) {}
        }

        @Test(
            "a TYPE directory does what the model says, step by step and after a remount",
            arguments: LongForm.seeds(8, of: 20))
        func sequence(seed: Int) throws {
            let mounted = try MountedStore(options: ["-o", "xattr"])
            let folder = try mounted.makeType()
            var run = SequenceRun(folder: folder, seed: seed)
            // Half of the seeds end the daemon by SIGKILL: what a call answered must be there too.
            try run.run(steps: Self.steps) {
                if seed.isMultiple(of: 2) {
                    try mounted.kill()
                    try mounted.mount()
                } else {
                    try mounted.remount()
                }
            }
            try mounted.unmount()
            #expect(try mounted.store.integrity() == "ok")
            let check = try mounted.recordfsResult(["fsck"])
            #expect(check.status == 0, "\(check)")
        }
    }
}

/// One seed: the steps so far, what they were meant to show, and what the directory shows.
private struct SequenceRun {
    let folder: String
    let seed: Int
    private var random: SeededRandom
    private var oracle: Oracle
    private var trace: [String] = []

    init(folder: String, seed: Int, hasRecords: Bool = true) {
        oracle = Oracle(hasRecords: hasRecords)
        self.folder = folder
        self.seed = seed
        random = SeededRandom(seed: UInt64(seed))
    }

    mutating func run(steps: Int, remount: () throws -> Void) throws {
        while trace.count < steps {
            let step = FileStep.random(&random)
            if step.isUndefined(oracle) { continue }
            // An empty text becomes a draft at release, which nobody waits for.
            if case .remount = step, oracle.hasEmptyDraft { continue }
            trace.append("\(step)")
            if case .remount = step { try remount() }
            let expected = step.apply(to: &oracle)
            let code = step.run(in: folder)
            try require(code == expected, "errno \(code), expected \(expected)")
            // A rename that is refused makes a draft under a name that the kernel does not know of:
            // it hears of it from the notifier's thread, soon.
            let deadline = Deadline(seconds: expected == EPROTO ? 2 : 0)
            while (try? compare()) == nil, !deadline.isOver { poll(nil, 0, 2) }
            try compare()
            if case .setModified(let name, let seconds) = step, code == 0 {
                let modified = try SystemCall.status("\(folder)/\(name)").modified
                try require(modified == [seconds, 0], "mtime \(modified), set to \(seconds)")
            }
        }
        if oracle.hasEmptyDraft { return }
        trace.append("remount at the end")
        try remount()
        try compare()
    }

    /// Listing, kinds, sizes and bytes are those of the model.
    private func compare() throws {
        let names = try SystemCall.list(folder).filter { $0 != ".error" }.sorted()
        try require(names == oracle.names, "lists \(names), expected \(oracle.names)")
        for (name, text) in oracle.files {
            let status = try SystemCall.status("\(folder)/\(name)")
            try require(status.kind == .file, "\(name) is \(status.kind)")
            try require(
                status.size == text.utf8.count,
                "\(name) has size \(status.size), expected \(text.utf8.count)")
            let shown = try SystemCall.readFile("\(folder)/\(name)")
            try require(
                shown == Array(text.utf8),
                "\(name) shows \(String(decoding: shown.prefix(200), as: UTF8.self)), "
                    + "expected \(text.prefix(200))")
            if oracle.isRecord(name) {
                let state = try SystemCall.attribute("\(folder)/\(name)", "user.recordfs.state")
                try require(
                    (state == "draft") == oracle.drafts.contains(name),
                    "\(name) has state \(state ?? "none")")
            }
        }
        for (name, target) in oracle.links {
            let shown = try SystemCall.readLink("\(folder)/\(name)")
            try require(shown == target, "\(name) leads to \(shown), expected \(target)")
        }
    }

    private func require(_ condition: Bool, _ message: String) throws {
        guard !condition else { return }
        let list = trace.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n")
        throw ChildFailure(description: "seed \(seed), step \(trace.count): \(message)\n\(list)")
    }
}
