import RecordControl
import RecordModel

/// The messages of `recordfs import` about its source and its result.
struct ImportReport {
    private static let shownLines = 10

    let source: String
    let plan: ImportPlan
    let result: ImportProgress
    let delimiter: UInt8?
    var skipped: [SkippedFile] = []
    /// The first rows in the form in which they would be stored, for a dry run.
    var sample: [String] = []

    /// The rule that names the records, when neither the user nor the source names them.
    var names: String? {
        guard plan.names.isUsed, !plan.names.isExplicit else { return nil }
        return switch plan.names.rule {
        case .member(let key): "named by \"\(key)\""
        case .content: "named row-HASH, from the content of a row"
        }
    }

    /// Prints the refused rows one by one when they are few, otherwise grouped by reason.
    func printProblems(_ problems: ImportProblems, file: String?) {
        guard let file else {
            for problem in problems.first { Terminal.error(problem.text(in: source)) }
            return
        }
        Terminal.error("\(source): \(Showing.count(problems.count, "row")) refused:")
        let groups = problems.groups
        for group in groups.prefix(Self.shownLines) {
            let place = group.first.place(in: source)
            let rows = Showing.count(group.count, "row")
            Terminal.error("  \(rows), first \(place): \(group.first.error.message)")
        }
        if groups.count > Self.shownLines {
            let rest = groups.dropFirst(Self.shownLines)
            let rows = rest.reduce(0) { $0 + $1.count }
            Terminal.error(
                "  \(Showing.count(rows, "row")) for \(Showing.count(rest.count, "other reason"))")
        }
        Terminal.error("All of them: \(file)")
    }

    /// Prints the decisions that a user may not expect.
    func printNotes() {
        for note in notes { Terminal.error("note: \(note)") }
    }

    private var notes: [String] {
        var notes = limited(
            plan.naming.mended.map { "\"\($0.key)\" becomes the field \($0.name)" }, "such key")
        notes += limited(
            plan.mixedFields.map {
                "\($0) has values of different kinds, so that its type is JSON"
            }, "such field")
        notes += limited(skipped.map { "\($0.name) is left out: \($0.words)" }, "such file")
        if plan.shortRowCount > 0 {
            notes.append(
                "\(Showing.count(plan.shortRowCount, "row")) with fewer cells than the header: the "
                    + "missing cells have no value")
        }
        let commas = plan.fields.filter(\.hasDecimalComma).map { "\($0.name)" }
        if !commas.isEmpty {
            notes.append("read as numbers with a decimal comma: \(commas.joined(separator: ", "))")
        }
        let times = plan.fields.filter(\.isFoundTime).map { "\($0.name)" }
        if !times.isEmpty { notes.append("read as TIMESTAMP: \(times.joined(separator: ", "))") }
        if let line = plan.endLine {
            notes.append("nothing after line \(line) is imported, because its quotes do not match")
        }
        if plan.names.isUsed, let (key, reason) = plan.names.unsuitable {
            notes.append(
                "records are named row-HASH, because \"\(key)\" does not distinguish the rows (\(reason)); "
                    + "--name-field names them by another field")
        }
        return notes
    }

    private func limited(_ lines: [String], _ noun: String) -> [String] {
        guard lines.count > Self.shownLines else { return lines }
        let rest = lines.count - Self.shownLines + 1
        return lines.prefix(Self.shownLines - 1) + ["and \(Showing.count(rest, "more " + noun))"]
    }

    /// Prints the result of a dry run on standard output.
    func printRehearsal() {
        let table = delimiter.map { ", separated by \(Self.name(of: $0))" } ?? ""
        Terminal.print("\(source): \(Showing.count(plan.rowCount, "row"))\(table)")
        let source = plan.names.isExplicit ? "named as asked for" : "named by the source"
        if let header = plan.header {
            Terminal.print("header: \(header.map(\.string).joined(separator: " | "))")
        }
        Terminal.print("records would be \(names ?? source)")
        Terminal.print("fields:")
        Terminal.printTable(
            plan.fields.map { field in
                [
                    "  \(field.name)", field.type?.name ?? "-",
                    field.isKnown ? "known" : field.type == nil ? "no values" : "new",
                ]
            })
        if !sample.isEmpty { Terminal.print("first rows:") }
        for row in sample { Terminal.print("  \(row)") }
        for note in notes { Terminal.print("note: \(note)") }
        Terminal.print(
            "would create \(Showing.grouped(result.created)), "
                + "update \(Showing.grouped(result.updated)), "
                + "leave \(Showing.grouped(result.unchanged)) as they are, "
                + "refuse \(Showing.grouped(result.failed))")
    }

    private static func name(of delimiter: UInt8) -> String {
        switch delimiter {
        case UInt8(ascii: ","): "commas"
        case UInt8(ascii: ";"): "semicolons"
        case UInt8(ascii: "\t"): "tabs"
        default: "\"\(Unicode.Scalar(delimiter))\""
        }
    }
}

extension SkippedFile {
    var words: String {
        switch reason {
        case .directory: "it is a directory"
        case .largeField: "it is the file of a large field, which recordfs put takes"
        case .hidden: "its name begins with a dot"
        case .otherEnding: "its name does not end in .json"
        }
    }
}
