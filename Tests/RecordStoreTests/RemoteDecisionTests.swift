import RecordModel
import Testing

@testable import RecordStore
@testable import RecordStoreSync

/// The table of what the server's news of a record do to the store: news beside what is here, and the
/// effects in their order.
@Suite("Decision about the server's news") struct RemoteDecisionTests {
    typealias Effect = RemoteDecision.Effect

    /// A record as it is here, as the server reports it, and as they were merged.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var local = #"{"a":1}"#
        var remote = #"{"a":1}"#
        var merged: String?
        /// The server's file, or none: it was written by a program that knows values alone.
        var file: String?
        var state: State = []
        var conflicts: [FieldName] = []
        var lost: [FieldName] = []
        var known: TextOnServer? = .printed
        let effects: [Effect]
    }

    struct State: OptionSet, Sendable {
        let rawValue: Int
        static let waitingDelete = State(rawValue: 1)
        static let pending = State(rawValue: 2)
        static let editPending: State = [State(rawValue: 4), .pending]
        static let acknowledged = State(rawValue: 8)
        static let earlier = State(rawValue: 16)
        static let sent: State = [State(rawValue: 32), .pending]
        static let ofOthers = State(rawValue: 64)
        static let layout = State(rawValue: 128)
    }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func write(_ text: String, theirs: Bool = true, edit: Bool = true) -> Effect {
        .write(text: Self.text(text), hasTheirAssets: theirs, isTheirEdit: edit)
    }

    static let a = FieldName("a")
    /// The ways of the same values: as the server prints them, and as somebody wrote them.
    static let printed = "{\n  \"a\": 1\n}\n"
    static let written = #"{ "a": 1 }"#
    static let edited = #"{"a":2}"#
    static let editedPrinted = "{\n  \"a\": 2\n}\n"

    static let cases: [Case] = [
        Case(
            testDescription: "a save of this machine, told back, changes nothing",
            local: written, remote: printed, file: written, state: .acknowledged,
            effects: [.noteLossesElsewhere, .keepStamps, .putBase(.ownVersion, .sent)]),
        Case(
            testDescription: "a save of somebody else is written as they wrote it",
            local: written, remote: editedPrinted, merged: edited, file: edited,
            effects: [
                .noteLossesElsewhere, .keepStamps, write(edited), .putBase(.ownVersion, .sent),
            ]),
        Case(
            testDescription: "a save by a program that knows values alone is printed",
            local: written, remote: editedPrinted, merged: edited,
            effects: [
                .noteLossesElsewhere, .keepStamps, write(editedPrinted),
                .putBase(.ownVersion, .printed),
            ]),
        Case(
            testDescription: "a text that the server lacks of an own save is sent",
            local: written, remote: printed, state: .acknowledged,
            effects: [
                .noteLossesElsewhere, .keepStamps, .putBase(.ownVersion, .sent), .send,
            ]),
        Case(
            testDescription: "a text that does not get through is not sent again",
            local: written, remote: printed, state: .acknowledged, known: .withheld,
            effects: [.noteLossesElsewhere, .keepStamps, .putBase(.ownVersion, .withheld)]),
        Case(
            testDescription: "a text that the server shows to others only is not sent again",
            local: written, remote: printed, state: [.acknowledged, .ofOthers], known: .sent,
            effects: [.noteLossesElsewhere, .keepStamps, .putBase(.ownVersion, .withheld)]),
        Case(
            testDescription: "an edit that the server lacks stays pending",
            local: edited, remote: printed, merged: edited, state: .editPending,
            effects: [
                .noteLossesElsewhere, .keepStamps, .putBase(.reported, .printed),
                .turnCreateIntoUpdate,
            ]),
        Case(
            testDescription: "edits of two fields are merged, and the merged record stays pending",
            local: #"{"a":2,"b":1}"#, remote: #"{"a":1,"b":2}"#, merged: #"{"a":2,"b":2}"#,
            state: .editPending,
            effects: [
                .noteLossesElsewhere, .keepStamps, write(#"{"a":2,"b":2}"#, theirs: false),
                .putBase(.reported, .printed), .turnCreateIntoUpdate,
            ]),
        Case(
            testDescription: "an edit that has lost is a conflict, and nothing is left to send",
            local: edited, remote: printed, merged: #"{"a":1}"#, state: .editPending,
            conflicts: [a], lost: [a],
            effects: [
                .noteConflict(fields: [a], lost: [a]), .noteLossesElsewhere, .keepStamps,
                write(printed), .putBase(.ownVersion, .printed), .forgetPending,
                .turnCreateIntoUpdate,
            ]),
        Case(
            testDescription: "an edit of the layout alone is sent",
            local: written, remote: printed, state: [.editPending, .layout],
            effects: [
                .noteLossesElsewhere, .keepStamps, .putBase(.ownVersion, .printed),
                .turnCreateIntoUpdate,
            ]),
        Case(
            testDescription:
                "an earlier state of a restored server is no news, and what it lost is sent",
            local: edited, remote: printed, merged: edited, state: .earlier,
            effects: [
                .noteLossesElsewhere, .keepStamps, .putBase(.reported, .printed), .send,
            ]),
        Case(
            testDescription:
                "a record that waits for its deletion waits on, when nothing else is there",
            local: written, remote: printed, merged: written, state: [.waitingDelete, .sent],
            effects: [
                .keepStamps, .putBase(.reported, .printed), .forgetPending,
                .turnCreateIntoUpdate,
            ]),
        Case(
            testDescription: "an edit wins against a deletion that waits, and the user is told",
            local: written, remote: editedPrinted, merged: edited, state: .waitingDelete,
            effects: [
                .noteConflictOfDeletion, .keepStamps, write(editedPrinted),
                .putBase(.ownVersion, .printed),
            ]),
        Case(
            testDescription: "an edit wins against a deletion that waits, also where it has lost",
            local: edited, remote: printed, merged: edited, state: [.waitingDelete, .editPending],
            conflicts: [a],
            effects: [
                .noteConflictOfDeletion, .keepStamps, write(edited, theirs: false),
                .putBase(.reported, .printed), .turnCreateIntoUpdate,
            ]),
    ]

    @Test("is made from values alone", arguments: cases)
    func decide(_ expected: Case) throws {
        func document(_ text: String) throws -> RecordDocument {
            try RecordDocument(parsing: Self.text(text), schema: .empty)
        }
        let remote = try document(expected.remote)
        let merged = expected.merged ?? expected.local
        let state = expected.state
        let news = RemoteNews(
            text: Self.text(expected.local), local: try document(expected.local),
            remote: remote, fileText: Self.text(expected.file ?? expected.remote),
            sentText: expected.file.map { .text(Self.text($0)) } ?? .none,
            isWaitingDelete: state.contains(.waitingDelete),
            isPending: state.contains(.pending), isEditPending: state.contains(.editPending),
            isAcknowledged: state.contains(.acknowledged), isEarlier: state.contains(.earlier),
            sent: state.contains(.sent) ? 7 : nil, base: nil, knownText: expected.known,
            isOfOthers: state.contains(.ofOthers), isEditOfLayout: state.contains(.layout))
        let effects = RemoteDecision.decide(
            news,
            MergedRecord(
                text: Self.text(merged), document: try document(merged),
                conflicts: expected.conflicts, lost: expected.lost))
        #expect(effects == expected.effects)
    }
}
