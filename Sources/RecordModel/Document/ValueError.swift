/// A value that was refused, with the path to it from the value of its field.
///
/// Values carry no positions, so that good records need not pay for them. The place is looked up in
/// the text after an error occurs.
struct ValueError: Error {
    enum Step {
        case element(Int)
        case member(Int)
        case key(Int)
    }

    let code: RecordError.Code
    let message: String
    private(set) var path: [Step] = []

    init(_ code: RecordError.Code, _ message: String, at step: Step? = nil) {
        self.code = code
        self.message = message
        if let step { path = [step] }
    }

    func inside(_ step: Step) -> ValueError {
        var error = self
        error.path.insert(step, at: 0)
        return error
    }
}

extension JSONScanner {
    /// Returns the offset of the value to which `path` leads from the value at `start`.
    static func offset(of path: [ValueError.Step], from start: Int, in bytes: [UInt8]) -> Int {
        var scanner = JSONScanner(bytes)
        scanner.at = start
        do throws(RecordError) {
            for step in path { try scanner.enter(step) }
        } catch {
            // Only a text that is not JSON can fail, and values come from texts that are.
            return start
        }
        return scanner.at
    }

    private mutating func enter(_ step: ValueError.Step) throws(RecordError) {
        at += 1
        skipWhitespace()
        switch step {
        case .element(let index):
            for _ in 0..<index { try skipElement() }
        case .member(let index), .key(let index):
            for _ in 0..<index {
                _ = try string()
                try colon()
                try skipElement()
            }
            if case .member = step {
                _ = try string()
                try colon()
            }
        }
    }

    private mutating func skipElement() throws(RecordError) {
        _ = try value(depth: 1)
        skipWhitespace()
        at += 1
        skipWhitespace()
    }
}
