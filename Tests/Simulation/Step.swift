/// One thing that happens in a history: on one machine, or on the wire.
package struct Step: HistoryStep, CustomStringConvertible {
    /// The place of a record: ZONE/TYPE/NAME.
    package struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
        package let zone: String
        package var type = Step.type
        package let name: String
        package var description: String {
            type == Step.type ? "\(zone)/\(name)" : "\(zone)/\(type)/\(name)"
        }
        /// A key without the endings that tell several records of a name apart.
        var short: Self {
            let end = name.firstIndex(of: ":") ?? name.endIndex
            return Self(zone: zone, type: type, name: String(name[..<end]))
        }
        package static func < (left: Self, right: Self) -> Bool {
            (left.zone, left.type, left.name) < (right.zone, right.type, right.name)
        }

        package init(zone: String, type: String = Step.type, name: String) {
            self.zone = zone
            self.type = type
            self.name = name
        }

        /// - Parameter recordName: of a record of the type on the server.
        init(zone: String, type: String, recordName: String) {
            let suffix = ":" + type
            self.init(
                zone: zone, type: type,
                name: recordName.hasSuffix(suffix)
                    ? String(recordName.dropLast(suffix.count)) : recordName)
        }
    }

    /// That of most histories.
    package static let type = "Note"

    package enum Action: Sendable {
        /// Sets fields of a record, and leaves the others; makes the record.
        case edit(Key, [String])
        /// Writes the whole file, with these fields alone.
        case replace(Key, [String])
        /// Changes one line of the field `t`, which has `lineCount` lines.
        case editLine(Key, Int)
        /// Writes the same values in another way: one of `styleCount`.
        case format(Key, Int)
        /// Writes the file `photo` beside a record that is there; another one each time.
        case attach(Key)
        case delete(Key)
        /// `rm` and a new file of the same name, between two rounds.
        case deleteAndMake(Key, [String])
        case rename(Key, to: String)
        /// `mv` into another zone.
        case move(Key, to: String)
        /// `mv` into the folder of another type.
        case retype(Key, to: String)
        /// Opens the file beside a record, whose bytes come then.
        case read(Key)
        /// The machine gives back the room of all bytes that the server has, too.
        case evict
        case removeZone(String)
        /// Takes the last steps of the machine back, so many.
        case undo(Int)
        case redo
        /// Fetches and sends; what becomes of its requests, one after the other.
        case round([Fault])
        /// The machine's process is killed and starts again.
        case restart
        /// Somebody sets the machine's clock by so many seconds.
        case jump(Int)
        /// The operator of the server makes a backup.
        case backUp
        /// The server goes back to its last backup.
        case restoreServer
    }

    package enum Fault: Sendable {
        case none, requestLost, answerLost, duplicated, tokenExpired, crashBefore, crashAfter
        /// The server refuses the request for a while, for one of four reasons.
        case refused
        /// It does what it is asked for, and the answer is cut short.
        case cutShort
        /// It refuses every second change of a request.
        case partly
        /// Something is done on the machine while its request is on the way.
        indirect case meanwhile(Action)
        /// Another machine does its round first.
        case otherRound(Int)
        /// The bytes of the next asset, or the answer to them, do not arrive.
        case asset(isAnswered: Bool)
        /// Of the next upload, wherever it stands among the requests.
        indirect case upload(Fault)

        var expiresToken: Bool {
            switch self {
            case .tokenExpired: true
            case .upload(let fault): fault.expiresToken
            default: false
            }
        }
    }

    package static let lineCount = 5
    package static let styleCount = 4

    /// Makes the values of the step's edits its own.
    package let number: Int
    package let device: Int
    /// Milliseconds that pass before it.
    package let pause: Int
    package let action: Action

    package var description: String { "\(number). device \(device) +\(pause) ms: \(action)" }
}
