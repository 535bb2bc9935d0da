package import RecordWire

/// What is or can be shared: a zone, or a record of it with what hangs on it.
package struct SharedSpot: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let zone: String
    /// Nil for the whole zone.
    package let root: String?

    /// That of its `cloudkit.share` record.
    var shareName: String { root.map { "share-\($0)" } ?? "cloudkit.zoneshare" }
    package var description: String { root.map { "\(zone)/\($0)" } ?? zone }
    package static func < (left: Self, right: Self) -> Bool {
        (left.zone, left.root ?? "") < (right.zone, right.root ?? "")
    }
}

/// One thing that happens in a history of several users.
package struct SharingStep: HistoryStep, CustomStringConvertible {
    package enum Action: Sendable {
        // On a machine, whoever's it is.

        /// Sets a field of a record that is there.
        case edit(Step.Key, String)
        /// Makes a record, or sets a field and the parent of one that is there.
        case hang(Step.Key, below: String?)
        /// Writes the file `photo` beside a record that is there; another one each time.
        case attach(Step.Key)
        /// Reads that file, where only the server has it. When half of it has come, something else may
        /// be done, and the machine does a round, or is killed.
        indirect case read(Step.Key, Interruption?)
        case delete(Step.Key)
        /// `mv`: another name in the zone, which no other step gives to a record.
        case rename(Step.Key, to: String)
        /// `rm -r ZONE`; of others nobody can.
        case removeZone(String)
        case round([Fault])
        case restart
        case jump(Int)

        // What the owner asks of the server.

        case share(SharedSpot)
        case manage(Management)
        case stop(SharedSpot)

        // What the operator of the server does.

        case backUp
        /// The server goes back to its last backup, with the shares that there were.
        case restoreServer

        // What the user of the step's machine asks of it.

        case accept(SharedSpot)
        case leave(SharedSpot)
        /// Whether he may or not.
        case manageAsUser(Management)

        /// Whether it changes who may see what, and who may change it.
        var isOfShares: Bool {
            switch self {
            case .manage, .manageAsUser, .stop, .leave, .restoreServer: true
            default: false
            }
        }
    }

    package struct Invitation: Sendable {
        let user: Int
        let permission: SharePermission
        let isAdministrator: Bool
    }

    /// A change of a share that there is.
    package enum Management: Sendable {
        /// Invites somebody, or permits him something else.
        case invite(SharedSpot, Invitation)
        case remove(SharedSpot, Int)
        /// What anybody with the link may do.
        case open(SharedSpot, SharePermission)
    }

    package enum Interruption: Sendable {
        case meanwhile(machine: Int, Action)
        case crash
    }

    package enum Fault: Sendable {
        case none, requestLost, answerLost, duplicated, tokenExpired, crashBefore, crashAfter
        case cutShort
        /// Something is done while the request is on the way.
        indirect case meanwhile(machine: Int, Action)
        /// Another machine does its round first.
        case otherRound(Int)
        /// The bytes of the next asset, or the answer to them, do not arrive.
        case asset(isAnswered: Bool)
        /// Of the next upload, wherever it stands among the requests.
        indirect case upload(Fault)
    }

    /// Makes the values of the step's edits its own.
    package let number: Int
    package let machine: Int
    /// Milliseconds that pass before it.
    package let pause: Int
    package let action: Action

    package var description: String { "\(number). machine \(machine) +\(pause) ms: \(action)" }
}
