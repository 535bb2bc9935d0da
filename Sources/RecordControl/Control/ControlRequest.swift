package import RecordModel
package import RecordStore

/// The rows of one transaction of an import.
package struct ImportBatch: Sendable {
    package struct Row: Sendable {
        package let stem: Stem
        package let text: [UInt8]
        package init(stem: Stem, text: [UInt8]) {
            self.stem = stem
            self.text = text
        }
    }

    /// The TYPE directory. Its zone and type are created when missing.
    package let target: RecordPath
    package var rows: [Row]
    /// Indicates whether the rows after a bad one are left out. The rows before it are kept.
    package let stopsAtError: Bool
    /// The fields that are new to the type, with the types that fit all rows of the import.
    package var fields: [(name: FieldName, type: FieldType)] = []
    /// Indicates whether the transaction is undone after it has computed its result.
    package var isRehearsal = false
    /// The names of all fields in the source. A record keeps its other fields. It is nil when rows
    /// replace whole records.
    package var spokenFields: [Text]?

    package init(target: RecordPath, rows: [Row], stopsAtError: Bool = false) {
        self.target = target
        self.rows = rows
        self.stopsAtError = stopsAtError
    }
}

/// A request of the command line to the process that has the store.
package enum ControlRequest: Sendable {
    /// Saves a record as if its file had been written, but keeps no draft of an invalid text.
    case put(RecordPath, text: [UInt8])
    /// Makes a record of a type, with the name of the path or with a new one, from the skeleton of
    /// its type. The reply has its name.
    case make(RecordPath)
    /// Copies a file of this machine into a large field.
    case putAsset(RecordPath, file: String)
    case remove(RecordPath, recursive: Bool)
    case move(RecordPath, to: RecordPath)
    /// Restores the last deleted record with this name, or the version with this token.
    case restore(RecordPath, version: Int64?)
    /// Restores everything that was deleted or changed at or below a path, in one transaction.
    case restoreAll(RecordPath, RestorePoint, isExact: Bool)
    /// Takes gestures back, or says what taking them back would do.
    case undo(GestureChoice, isRehearsal: Bool)
    /// Gives up the changes at or below a path that the server has refused.
    case revert(RecordPath)
    case discardDraft(RecordPath)
    /// Ends the conflict of a record that has this number.
    case settleConflict(RecordPath, Int64, Settlement)
    /// Keeps the large fields of a zone, type or record on this machine, or stops doing so.
    case pin(RecordPath, Bool)
    case applySchema([UInt8])
    case importBatch(ImportBatch)
    /// Finds the records of a zone that contain the words. The process that writes the store also
    /// keeps the index.
    /// The reply's body has a path on each line.
    case search(RecordPath, words: [UInt8])
    case sharing(SharingRequest)
    /// Edits records by their members, or asks about a text.
    case edit(EditRequest)
    /// Removes files of large fields to which nothing refers any more.
    case collectAssets
    /// Makes indexes for a query that had to scan all records of a type.
    case wantIndexes(RecordPath, expression: [UInt8])
    /// Removes everything whose retention time is over, or counts it.
    case collectGarbage(isRehearsal: Bool)
    /// Saves how far a reader of the history has read, if its saved token is the known one.
    case saveReader(HistoryReader.Name, token: Int64, known: Int64?)
    case removeReader(HistoryReader.Name)
    /// Gives a moment a name, the present one when there is no point.
    case nameMoment(MomentName, RestorePoint?)
    case removeMoment(MomentName)
    case status
    case verb(ControlVerb)
    /// Passes a change to the store as the sync engine would. It is for tests and debugging.
    case applyRemote([UInt8])
}

extension ControlRequest {
    /// Indicates whether the files of the mount may differ afterwards.
    package var mayChangeFiles: Bool {
        switch self {
        case .search, .pin, .collectAssets, .collectGarbage, .wantIndexes, .status, .saveReader,
            .removeReader, .nameMoment, .removeMoment:
            false
        case .verb(let verb): verb.traits.contains(.mayChangeFiles)
        case .edit(let request): request.mayChangeFiles
        case .put, .make, .putAsset, .remove, .move, .restore, .restoreAll, .undo, .revert,
            .discardDraft,
            .settleConflict, .applySchema, .importBatch, .sharing, .applyRemote:
            true
        }
    }

    /// The protocol's version. Both sides refuse another one.
    static let version = 1

    package var frame: ControlFrame {
        switch self {
        case .put(let path, let text):
            Self.frame("put", ["path": .text(path.bytes)], body: text)
        case .make(let path): Self.frame("make", ["path": .text(path.bytes)])
        case .putAsset(let path, let file):
            Self.frame("putAsset", ["path": .text(path.bytes), "file": .text(file)])
        case .remove(let path, let recursive):
            Self.frame("remove", ["path": .text(path.bytes), "recursive": .bool(recursive)])
        case .move(let path, let target):
            Self.frame("move", ["path": .text(path.bytes), "to": .text(target.bytes)])
        case .restore(let path, let version):
            Self.frame(
                "restore",
                ["path": .text(path.bytes), "token": version.map { .integer($0) } ?? .null])
        case .restoreAll(let path, let point, let isExact):
            Self.frame(
                "restoreAll",
                [("path", .text(path.bytes)), ("exact", .bool(isExact))] + Self.members(of: point))
        case .undo(let choice, let isRehearsal): Self.frame(choice, isRehearsal)
        case .revert(let path): Self.frame("revert", ["path": .text(path.bytes)])
        case .discardDraft(let path):
            Self.frame("discardDraft", ["path": .text(path.bytes)])
        case .settleConflict(let path, let number, let settlement):
            Self.frame(path, number, settlement)
        case .pin(let path, let isPinned):
            Self.frame(isPinned ? "pin" : "unpin", ["path": .text(path.bytes)])
        case .applySchema(let text): Self.frame("applySchema", [:], body: text)
        case .importBatch(let batch): Self.frame(batch)
        case .search(let path, let words):
            Self.frame("search", ["path": .text(path.bytes)], body: words)
        case .sharing(let request): Self.frame(request.parts.name, request.parts.members)
        case .edit(let request):
            Self.frame(request.parts.name, request.parts.members, body: request.parts.body)
        case .collectAssets: Self.frame("collectAssets", [:])
        case .wantIndexes(let path, let expression):
            Self.frame("wantIndexes", ["path": .text(path.bytes)], body: expression)
        case .collectGarbage(let isRehearsal):
            Self.frame(isRehearsal ? "countGarbage" : "collectGarbage", [:])
        case .saveReader(let name, let token, let known):
            Self.frame(
                "saveReader",
                [
                    "reader": .text(name.text), "token": .integer(token),
                    "known": known.map { .integer($0) } ?? .null,
                ])
        case .removeReader(let name): Self.frame("removeReader", ["reader": .text(name.text)])
        case .nameMoment(let name, let point):
            Self.frame(
                "nameMoment",
                [("name", .text(name.text))] + (point.map { Self.members(of: $0) } ?? []))
        case .removeMoment(let name): Self.frame("removeMoment", ["name": .text(name.text)])
        case .status: Self.frame("status", [:])
        case .verb(let verb): Self.frame("verb", ["verb": .text(verb.rawValue)])
        case .applyRemote(let text): Self.frame("applyRemote", [:], body: text)
        }
    }

    /// Reads a request.
    ///
    /// Errors: `unsupported` for another version or an unknown request, `invalidArgument`,
    /// `invalidName`.
    package init(_ frame: ControlFrame) throws(RecordError) {
        let header = frame.header
        guard header.integerMember("version") == Int64(Self.version) else {
            throw RecordError(
                .unsupported,
                "the command line and the daemon are of different versions. Unmount and mount.")
        }
        func path(_ key: String = "path") throws(RecordError) -> RecordPath {
            try Self.path(key, in: header)
        }
        let name = header.stringMember("request") ?? ""
        switch name {
        case "put": self = .put(try path(), text: frame.body)
        case "make": self = .make(try path())
        case "putAsset":
            let file = try Self.string("file", in: header)
            self = .putAsset(try path(), file: String(decoding: file, as: UTF8.self))
        case "remove":
            self = .remove(try path(), recursive: header["recursive"]?.bool ?? false)
        case "move": self = .move(try path(), to: try path("to"))
        case "restore": self = .restore(try path(), version: header.integerMember("token"))
        case "restoreAll":
            self = .restoreAll(
                try path(), try Self.point(header) ?? .deletion,
                isExact: header["exact"]?.bool ?? false)
        case "undo":
            self = .undo(
                try Self.choice(header), isRehearsal: header["rehearsal"]?.bool ?? false)
        case "revert": self = .revert(try path())
        case "discardDraft": self = .discardDraft(try path())
        case "settleConflict":
            self = .settleConflict(
                try path(), header.integerMember("number") ?? 0, try Self.settlement(frame))
        case "pin", "unpin": self = .pin(try path(), name == "pin")
        case "applySchema": self = .applySchema(frame.body)
        case "importBatch", "rehearseBatch", "mergeBatch", "rehearseMergeBatch":
            var batch = try Self.batch(frame, target: try path())
            batch.isRehearsal = name.hasPrefix("rehearse")
            if name.hasSuffix("ergeBatch") {
                batch.spokenFields = (header["spoken"]?.array ?? []).compactMap(\.string)
            }
            self = .importBatch(batch)
        case "search": self = .search(try path(), words: frame.body)
        case "collectAssets": self = .collectAssets
        case "wantIndexes": self = .wantIndexes(try path(), expression: frame.body)
        case "collectGarbage", "countGarbage":
            self = .collectGarbage(isRehearsal: name == "countGarbage")
        case "saveReader":
            self = .saveReader(
                try Self.reader(header), token: header.integerMember("token") ?? 0,
                known: header.integerMember("known"))
        case "removeReader": self = .removeReader(try Self.reader(header))
        case "nameMoment":
            self = .nameMoment(try Self.momentName("name", header), try Self.point(header))
        case "removeMoment": self = .removeMoment(try Self.momentName("name", header))
        case "status": self = .status
        case "verb":
            guard let verb = header.stringMember("verb").flatMap(ControlVerb.init) else {
                throw RecordError(.unsupported, "the daemon does not know this verb.")
            }
            self = .verb(verb)
        case "applyRemote": self = .applyRemote(frame.body)
        default:
            self = try Self.ofOneKind(name, frame)
        }
    }

    /// Reads a request of one of the kinds that have a type of their own.
    private static func ofOneKind(
        _ name: String, _ frame: ControlFrame
    ) throws(RecordError) -> ControlRequest {
        if let request = try EditRequest(name: name, frame) { return .edit(request) }
        if let request = try SharingRequest(name: name, frame.header) { return .sharing(request) }
        throw RecordError(.unsupported, "the daemon does not know the request \"\(name)\".")
    }

    private static func frame(
        _ name: String, _ members: KeyValuePairs<String, JSONValue>, body: [UInt8] = []
    ) -> ControlFrame {
        frame(name, members.map { ($0.key, $0.value) }, body: body)
    }

    private static func frame(
        _ name: String, _ members: [(String, JSONValue)], body: [UInt8] = []
    ) -> ControlFrame {
        var all = [
            JSONMember(key: Text("version"), value: .integer(version)),
            JSONMember(key: Text("request"), value: .text(name)),
        ]
        all += members.map { JSONMember(key: Text($0.0), value: $0.1) }
        return ControlFrame(header: .object(all), body: body)
    }

    private static func frame(_ choice: GestureChoice, _ isRehearsal: Bool) -> ControlFrame {
        let (word, number): (String, Int64) =
            switch choice {
            case .latest(let count): ("latest", Int64(count))
            case .latestUndone(let count): ("latestUndone", Int64(count))
            case .ofToken(let token): ("token", token)
            }
        return frame(
            "undo",
            ["choice": .text(word), "number": .integer(number), "rehearsal": .bool(isRehearsal)])
    }

    private static func choice(_ header: JSONValue) throws(RecordError) -> GestureChoice {
        guard let number = header.integerMember("number"), number > 0 else {
            throw RecordError(.invalidArgument, "the request to undo has no number.")
        }
        switch header.stringMember("choice") {
        case "latest": return .latest(Int(clamping: number))
        case "latestUndone": return .latestUndone(Int(clamping: number))
        case "token": return .ofToken(number)
        default: throw RecordError(.unsupported, "the daemon does not know what to undo.")
        }
    }

    private static func frame(
        _ path: RecordPath, _ number: Int64, _ settlement: Settlement
    ) -> ControlFrame {
        let (keep, text, since): (String, [UInt8], [UInt8]?) =
            switch settlement {
            case .merged: ("merged", [], nil)
            case .side(let side): ("\(side)", [], nil)
            case .text(let text, let since): ("text", text, since)
            }
        // The body has the new text, then the text from which it was made.
        return frame(
            "settleConflict",
            [
                "path": .text(path.bytes), "number": .integer(number), "keep": .text(keep),
                "text": .integer(text.count), "hasBase": .bool(since != nil),
            ], body: text + (since ?? []))
    }

    private static func settlement(_ frame: ControlFrame) throws(RecordError) -> Settlement {
        let keep = frame.header.stringMember("keep")
        if keep == "merged" { return .merged }
        if keep == "text" {
            guard let count = frame.header.integerMember("text").flatMap({ Int(exactly: $0) }),
                count >= 0, count <= frame.body.count
            else { throw RecordError(.invalidArgument, "the settlement has no text.") }
            let hasBase = frame.header["hasBase"]?.bool == true
            return .text(
                Array(frame.body[..<count]), since: hasBase ? Array(frame.body[count...]) : nil)
        }
        guard let side = Conflict.Side.allCases.first(where: { "\($0)" == keep }) else {
            throw RecordError(.unsupported, "the daemon does not know how to keep that.")
        }
        return .side(side)
    }

    private static func members(of point: RestorePoint) -> [(String, JSONValue)] {
        switch point {
        case .deletion: []
        case .token(let token): [("token", .integer(token))]
        case .time(let time): [("time", .integer(time.nanoseconds))]
        case .named(let name): [("moment", .text(name.text))]
        case .gesture(let name): [("gesture", .text(name.text))]
        }
    }

    /// Returns the point that a header has. Nil for none.
    private static func point(_ header: JSONValue) throws(RecordError) -> RestorePoint? {
        if let token = header.integerMember("token") { return .token(token) }
        if let time = header.integerMember("time") { return .time(Timestamp(nanoseconds: time)) }
        if let name = header.stringMember("gesture").flatMap({ GestureName($0) }) {
            return .gesture(name)
        }
        return header["moment"] == nil ? nil : .named(try momentName("moment", header))
    }

    private static func momentName(
        _ key: String, _ header: JSONValue
    ) throws(RecordError) -> MomentName {
        guard let name = header.stringMember(key).flatMap({ MomentName($0) }) else {
            throw RecordError(.invalidArgument, "that is no name of a moment.")
        }
        return name
    }

    private static func frame(_ batch: ImportBatch) -> ControlFrame {
        let rows = batch.rows.map { row in
            JSONValue.array([.text(row.stem.bytes), .integer(row.text.count)])
        }
        // Each form has its own name, so that a daemon that does not support it refuses it and
        // stores nothing.
        let merges = batch.spokenFields != nil
        let name =
            batch.isRehearsal
            ? merges ? "rehearseMergeBatch" : "rehearseBatch"
            : merges ? "mergeBatch" : "importBatch"
        return frame(
            name,
            [
                "spoken": .array((batch.spokenFields ?? []).map { .string($0) }),
                "path": .text(batch.target.bytes), "strict": .bool(batch.stopsAtError),
                "rows": .array(rows),
                "fields": .array(
                    batch.fields.map { .array([.text($0.name.bytes), .text($0.type.name)]) }),
            ],
            body: batch.rows.flatMap(\.text))
    }

    private static func batch(
        _ frame: ControlFrame, target: RecordPath
    ) throws(RecordError) -> ImportBatch {
        var batch = ImportBatch(
            target: target, rows: [], stopsAtError: frame.header["strict"]?.bool ?? false)
        for field in frame.header["fields"]?.array ?? [] {
            guard let parts = field.array, parts.count == 2, let name = parts[0].string?.utf8,
                let type = parts[1].string.flatMap({ FieldType(name: $0.string) }),
                FieldName(bytes: name).isValid
            else {
                throw RecordError(.invalidArgument, "the batch has a field of no known type.")
            }
            batch.fields.append((FieldName(bytes: name), type))
        }
        var start = 0
        for row in frame.header["rows"]?.array ?? [] {
            guard let parts = row.array, parts.count == 2, let stem = parts[0].string?.utf8,
                let length = parts[1].int64, length >= 0, length <= frame.body.count - start
            else {
                throw RecordError(.invalidArgument, "the rows of the batch do not fit its body.")
            }
            let end = start + Int(length)
            batch.rows.append(.init(stem: Stem(bytes: stem), text: Array(frame.body[start..<end])))
            start = end
        }
        return batch
    }

    static func path(
        _ key: String = "path", in header: JSONValue
    ) throws(RecordError) -> RecordPath {
        try RecordPath(parsing: try string(key, in: header))
    }

    private static func reader(_ header: JSONValue) throws(RecordError) -> HistoryReader.Name {
        try HistoryReader.Name(String(decoding: try string("reader", in: header), as: UTF8.self))
    }

    private static func string(
        _ key: String, in header: JSONValue
    ) throws(RecordError) -> [UInt8] {
        guard let text = header[key]?.string else {
            throw RecordError(.invalidArgument, "the request has no \"\(key)\".")
        }
        return text.utf8
    }
}
