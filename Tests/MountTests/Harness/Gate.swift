import CTestSystem
import Dispatch
import Glibc
import TestSupport

/// Holds a program in the middle of its work: at one of its opens and reads of the files of some folders.
final class Gate: Sendable {
    private struct State {
        var calls = 0
        var hasHeld = false
        var isOver = false
    }

    private let descriptor: Int32
    private let state = Locked(State())
    private let end = DispatchSemaphore(value: 0)
    private let held = DispatchGroup()

    /// - Parameter number: the call to hold, counted from 0; nil only counts.
    /// - Parameter action: what happens meanwhile.
    init(_ folders: [String], holding number: Int?, _ action: @escaping @Sendable () -> Void) throws
    {
        descriptor = test_gate()
        guard descriptor >= 0 else { throw SystemCallError("fanotify_init") }
        for folder in folders where test_gate_watch(descriptor, folder) != 0 {
            let error = SystemCallError("fanotify_mark")
            close(descriptor)
            throw error
        }
        DispatchQueue(label: "gate").async { [self] in
            while !state.value.isOver { letPass(holding: number, action) }
            end.signal()
        }
    }

    /// The calls so far of others than a daemon and this process.
    var calls: Int { state.value.calls }
    var hasHeld: Bool { state.value.hasHeld }

    /// Lets everything pass from now on.
    func open() {
        state.update { $0.isOver = true }
        end.wait()
        held.wait()
        close(descriptor)
    }

    private func letPass(holding number: Int?, _ action: @escaping @Sendable () -> Void) {
        var (process, call) = (pid_t(0), Int32(-1))
        guard test_gate_next(descriptor, 20, &process, &call) == 1 else { return }
        guard isOfTool(process) else {
            test_gate_pass(descriptor, call)
            return
        }
        let isHeld = state.update { state in
            defer { state.calls += 1 }
            guard state.calls == number else { return false }
            state.hasHeld = true
            return true
        }
        guard isHeld else {
            test_gate_pass(descriptor, call)
            return
        }
        // What others do meanwhile passes.
        let (gate, waiting) = (descriptor, call)
        DispatchQueue.global().async(group: held) {
            action()
            test_gate_pass(gate, waiting)
        }
    }

    private func isOfTool(_ process: pid_t) -> Bool {
        guard process != getpid() else { return false }
        do {
            return try SystemCall.readText("/proc/\(process)/comm") != "recordfs\n"
        } catch {
            return true
        }
    }
}
