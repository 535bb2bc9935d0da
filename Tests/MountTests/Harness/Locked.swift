import Synchronization

/// A value that several threads of a test share.
final class Locked<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func set(_ value: Value) { state.withLock { $0 = value } }
    func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        state.withLock { body(&$0) }
    }
}
