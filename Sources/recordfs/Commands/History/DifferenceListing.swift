import RecordControl
import RecordModel
import RecordStore

/// The form in which differences between versions are shown.
enum DifferenceForm {
    /// The members that differ.
    case members
    /// The lines that differ, as diff -u has them.
    case lines
    /// A line for each record.
    case summary
    /// A JSON object for each record, with a JSON Patch.
    case json
}

/// Shows how two versions of a record differ.
struct DifferenceListing {
    let store: RecordStore
    let form: DifferenceForm

    /// Shows one record.
    ///
    /// - Parameters:
    ///   - path: the record, as it is spelled for the user.
    ///   - old: the token of the earlier version. Nil for none.
    func show(_ path: String, from old: Int64?, to new: Int64?) throws(RecordError) {
        let (before, after) = (try text(old), try text(new))
        switch form {
        case .members:
            header(path, old, new)
            for member in MemberDifference.between(before, after) { show(member) }
        case .lines:
            header(path, old, new)
            for hunk in LineHunk.all(in: LineDifference.between(before ?? [], after ?? [])) {
                show(hunk)
            }
        case .summary:
            let names = MemberDifference.between(before, after).map(\.name.description.onOneLine)
            let word = old == nil ? "made" : new == nil ? "removed" : "changed"
            let fields = word == "changed" ? ": " + names.firstFew : ""
            Terminal.print("\(word.padded(to: 7))  \(path)\(fields)")
        case .json:
            Showing.jsonLine(
                .members([
                    "path": .text(path), "from": old.map { .integer($0) } ?? .null,
                    "to": new.map { .integer($0) } ?? .null,
                    "patch": .array(MemberDifference.between(before, after).map(\.patch)),
                ]))
        }
    }

    private func text(_ token: Int64?) throws(RecordError) -> [UInt8]? {
        guard let token else { return nil }
        return try store.past.version(token)?.text
    }

    private func header(_ path: String, _ old: Int64?, _ new: Int64?) {
        func name(_ token: Int64?) -> String { token.map { "\(path) @\($0)" } ?? "/dev/null" }
        Terminal.print(Colour.header.of("--- \(name(old))"))
        Terminal.print(Colour.header.of("+++ \(name(new))"))
    }

    private func show(_ member: MemberDifference) {
        if case .string(let old)? = member.old, case .string(let new)? = member.new,
            old.utf8.contains(0x0A) || new.utf8.contains(0x0A)
        {
            // Long texts differ in a few lines.
            Terminal.print("  \(Self.key(member.name))")
            let lines = LineDifference.between(Array(old.utf8), Array(new.utf8))
            for hunk in LineHunk.all(in: lines) { show(hunk, indentation: "    ") }
            return
        }
        if let old = member.old { line("-", "  \(Self.key(member.name)) \(Self.json(old))") }
        if let new = member.new { line("+", "  \(Self.key(member.name)) \(Self.json(new))") }
    }

    private func show(_ hunk: LineHunk, indentation: String = "") {
        Terminal.print(
            indentation
                + Colour.place.of(
                    "@@ -\(hunk.old.start),\(hunk.old.count) +\(hunk.new.start),\(hunk.new.count) @@"
                ))
        for difference in hunk.lines {
            switch difference {
            case .same(let bytes): line(" ", Self.shown(bytes), indentation)
            case .removed(let bytes): line("-", Self.shown(bytes), indentation)
            case .added(let bytes): line("+", Self.shown(bytes), indentation)
            }
        }
    }

    private func line(_ mark: String, _ text: String, _ indentation: String = "") {
        let line = indentation + mark + text
        switch mark {
        case "-": Terminal.print(Colour.removed.of(line))
        case "+": Terminal.print(Colour.added.of(line))
        default: Terminal.print(line)
        }
    }

    private static func key(_ name: Text) -> String {
        json(.string(name)) + ":"
    }

    private static func json(_ value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self).onOneLine
    }

    /// Returns a line without its newline.
    private static func shown(_ line: [UInt8]) -> String {
        String(decoding: line.last == 0x0A ? line.dropLast() : line[...], as: UTF8.self).onOneLine
    }
}
