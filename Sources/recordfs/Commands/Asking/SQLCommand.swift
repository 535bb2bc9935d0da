import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordQuery
import RecordSQL

struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql", abstract: "Ask the records in SQL.",
        discussion: """
            Each record type is a table: a column for each member, beside _name, _zone, _database, \
            _owner, _created and _modified. Lists and nested JSON are JSON, for json_each and ->>. \
            _history has the accepted changes, _records what the server knows of each record, \
            _types the fields of all types. Nothing can be changed: recordfs set does that.

            recordfs sql 'SELECT continent, count(*), sum(population) FROM Country GROUP BY 1'
            recordfs sql 'SELECT * FROM _history ORDER BY token DESC LIMIT 5'

            Without a statement it reads statements from standard input, each up to its semicolon.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "The form of the answer; a table by default.")
    var form: AnswerForm = .table
    @Option(
        help: ArgumentHelp(
            "Stop a statement that takes longer; 0 waits for ever.", valueName: "seconds"))
    var timeout = 60
    @Argument(help: "The statement, in SQLite's SQL.")
    var statement: String?

    func validate() throws {
        if timeout < 0 { throw ValidationError("--timeout takes a number of seconds.") }
    }

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let display = ProgressDisplay(isQuiet: false, firstAfter: .seconds(1))
        let questions = try access.reporting { () throws(RecordError) in
            let mirror = try RecordMirror(of: store) { display.show(rows: $0) }
            return try RecordQuestions(try mirror.update(), of: store)
        }
        display.clear()
        if let statement { return try ask(statement, questions) }
        try prompt(questions)
    }

    private func ask(_ statement: String, _ questions: RecordQuestions) throws {
        var answer = Answer(form)
        do throws(RecordError) {
            try questions.ask(
                statement, limit: timeout == 0 ? nil : .seconds(timeout),
                begin: { (columns) throws(RecordError) in answer.begin(columns) },
                row: { (cells) throws(RecordError) in answer.add(cells) })
        } catch {
            answer.end()
            let problem = TextProblem("sql", Array(statement.utf8), error)
            if error.position != nil { Terminal.error(problem.excerpt) }
            throw CommandFailure(nil, RecordError(error.code, error.message))
        }
        answer.end()
    }

    /// Answers statements from standard input. After a wrong one a terminal goes on, and a script
    /// ends.
    private func prompt(_ questions: RecordQuestions) throws {
        let isTerminal = isatty(0) == 1
        var statement = ""
        func show(_ text: String) { if isTerminal { Terminal.write(Array(text.utf8), to: 2) } }
        show("Statements end with a semicolon; ^D ends.\nsql> ")
        while let line = readLine(strippingNewline: false) {
            statement += line
            guard SQLStatement.isComplete(statement) else {
                show(statement.allSatisfy(\.isWhitespace) ? "sql> " : "...> ")
                continue
            }
            do {
                try ask(statement, questions)
            } catch let failure as CommandFailure where isTerminal {
                failure.show()
            }
            statement = ""
            show("sql> ")
        }
        show("\n")
        if !statement.allSatisfy(\.isWhitespace) { try ask(statement, questions) }
    }

}

enum AnswerForm: String, EnumerableFlag {
    case table, csv, json

    static func help(for value: AnswerForm) -> ArgumentHelp? {
        switch value {
        case .table: "Columns for people."
        case .csv: "Comma-separated values with a line of names (RFC 4180)."
        case .json: "One JSON object for each row."
        }
    }
}

/// An answer on standard output. A table needs all rows to know its widths; the other forms print
/// each row at once.
private struct Answer {
    private let form: AnswerForm
    private var columns: [String] = []
    private var rows: [[String]] = []
    private var numbers: Set<Int> = []

    init(_ form: AnswerForm) { self.form = form }

    mutating func begin(_ columns: [String]) {
        self.columns = columns
        if form == .csv, !columns.isEmpty {
            Terminal.print(CSV.line(columns.map { Array($0.utf8) }))
        }
        numbers = Set(columns.indices)
    }

    mutating func add(_ cells: [SQLCell]) {
        switch form {
        case .csv: Terminal.print(CSV.line(cells.map { $0 == .null ? nil : $0.bytes }))
        case .json:
            let members = zip(columns, cells).map { JSONMember(key: Text($0), value: $1.json) }
            Showing.jsonLine(.object(members))
        case .table:
            for (index, cell) in cells.enumerated() where !cell.isNumber { numbers.remove(index) }
            rows.append(cells.map { String(decoding: $0.bytes, as: UTF8.self).onOneLine })
        }
    }

    mutating func end() {
        guard form == .table, !columns.isEmpty else { return }
        Terminal.printTable([columns] + rows, rightAligned: rows.isEmpty ? [] : numbers)
        rows = []
        columns = []
    }
}

extension SQLCell {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real, .null: true
        case .text, .blob: false
        }
    }

    /// The text of the value. No value is an empty text.
    fileprivate var bytes: [UInt8] {
        switch self {
        case .null: []
        case .integer(let number): Array("\(number)".utf8)
        case .real(let number): Array(number.description.utf8)
        case .text(let text): text
        case .blob(let bytes): Array(Self.hexadecimal(bytes).utf8)
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): JSONNumber(number).map { .number($0) } ?? .null
        case .text(let text): .text(String(decoding: text, as: UTF8.self))
        case .blob(let bytes): .text(Self.hexadecimal(bytes))
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}
