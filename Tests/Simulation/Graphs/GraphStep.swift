/// One thing that happens in a history of graphs.
package struct GraphStep: HistoryStep, CustomStringConvertible {
    package enum Action: Sendable {
        /// Sets the title of an object, or makes the object.
        case title(String)
        /// Sets the kind of a tag, or makes the tag. Tags of a kind are the same tag.
        case kind(String, String)
        /// Puts objects into a relationship of an object, or takes them out; makes the object.
        case link(String, relationship: String, adding: [String], removing: [String])
        case delete(String)
        /// `mv` to another name of the same type, if that is free.
        case rename(String, to: String)
        case round([Fault])
        /// The machine's process is killed and starts again.
        case restart
    }

    /// What becomes of a request.
    package enum Fault: Sendable {
        case none, requestLost, answerLost, duplicated, cutShort, crashBefore, crashAfter
        /// The server refuses every second change of a request for a while.
        case partly
        /// Something is done on the machine while its request is on the way.
        indirect case meanwhile(Action)
        /// Another machine does its round first.
        case otherRound(Int)
    }

    let number: Int
    let device: Int
    /// Milliseconds that pass before it.
    let pause: Int
    let action: Action

    package var description: String { "\(number). device \(device) +\(pause) ms: \(action)" }
}
