/// The open handles.
///
/// INVARIANTS: `handles[n]` has the number `n`, and numbers below `next` are never used again.
struct HandleTable: CheckedState {
    private(set) var handles: [HandleNumber: OpenHandle] = [:]
    private(set) var next: UInt64 = 1

    var size: Int { handles.count }

    var violations: [String] {
        var found: [String] = []
        if handles.contains(where: { $0.value.number != $0.key }) {
            found.append("a handle is under another number")
        }
        if handles.keys.contains(where: { $0.rawValue >= next }) {
            found.append("a handle has a number that is given again")
        }
        return found
    }

    var all: [OpenHandle] { Array(handles.values) }
    var count: Int { handles.count }

    func handle(_ number: HandleNumber) -> OpenHandle? { handles[number] }

    mutating func add(_ backing: OpenHandle.Backing, flags: Int32) -> HandleNumber {
        let number = HandleNumber(rawValue: next)
        next += 1
        handles[number] = OpenHandle(number, backing, flags: flags)
        return number
    }

    mutating func remove(_ number: HandleNumber) -> OpenHandle? {
        handles.removeValue(forKey: number)
    }
}
