import FuseKit
import Glibc
import Synchronization

/// A file system mounted for one test, and unmounted after it whatever happened.
final class TestMount: Sendable {
    let path: String
    let session: Session
    let fileSystem: MemoryFileSystem
    private let ended = CallLog()

    init(_ fileSystem: MemoryFileSystem = MemoryFileSystem(), threads: Int = 2) throws {
        self.fileSystem = fileSystem
        path = try TestFolder.make()
        session = Session(
            fileSystem: fileSystem, mountpoint: path,
            options: MountOptions(source: "fusekit-test", subtype: "memory"))
        try session.mount()
        var thread = pthread_t()
        let run = Unmanaged.passRetained(Run(session, ended, threads))
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Run>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, run.toOpaque())
        pthread_detach(thread)
    }

    deinit {
        do { try session.unmount(lazy: true) } catch {}
        _ = runEnded()
        rmdir(path)
    }

    /// Waits until `run` has returned.
    func runEnded() -> Bool { ended.waits(for: "ended") }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func cat(_ name: String) throws -> ChildProcess.Output {
        try ChildProcess.run("cat", file(name))
    }

    /// Runs a script with the mount as working directory.
    func shell(_ script: String) throws -> ChildProcess.Output {
        try ChildProcess.run("sh", "-c", "cd \"$1\" && \(script)", "sh", path)
    }

    func python(_ script: String) throws -> ChildProcess.Output {
        try ChildProcess.run(
            "python3", "-c", "import os, sys\nos.chdir(sys.argv[1])\n" + script, path)
    }

    /// Waits until the notifier has sent everything queued so far.
    func drainNotifier() -> Bool {
        let done = CallLog()
        session.notifier.perform { done.add("done") }
        return done.waits(for: "done")
    }

    private final class Run: Sendable {
        private let session: Session
        private let ended: CallLog
        private let threads: Int

        init(_ session: Session, _ ended: CallLog, _ threads: Int) {
            self.session = session
            self.ended = ended
            self.threads = threads
        }

        func body() {
            do {
                try session.run(threads: threads)
                ended.add("ended")
            } catch {
                ended.add("\(error)")
            }
        }
    }
}

/// Empty folders outside /tmp, where some programs behave differently.
enum TestFolder {
    private static let number = Mutex(0)

    static func make() throws -> String {
        let home = getenv("HOME").map { String(cString: $0) } ?? "/var/tmp"
        let base = "\(home)/.cache/fusekit-tests"
        sweep.withLock { isDone in
            guard !isDone else { return }
            isDone = true
            removeLeftovers(base)
        }
        let path = "\(base)/\(getpid())-\(number.withLock { $0 += 1; return $0 })"
        for folder in ["\(home)/.cache", base, path] { mkdir(folder, 0o755) }
        guard access(path, W_OK) == 0 else {
            throw ChildProcess.Failure(description: "\(path) could not be made")
        }
        return path
    }

    private static let sweep = Mutex(false)

    /// A test run that was killed leaves mounts without a process behind.
    private static func removeLeftovers(_ base: String) {
        guard let directory = opendir(base) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let path = "\(base)/\(name)"
            guard !name.hasPrefix("."), MountPoint.isStale(path) else { continue }
            do { try MountPoint.unmount(path, lazy: true) } catch {}
            rmdir(path)
        }
    }
}
