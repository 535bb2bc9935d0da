import RecordModel

/// A list as commands print it: in columns for people, or as a JSON array for programs.
struct Table {
    let columns: [String]
    private(set) var rows: [[Cell]] = []

    enum Cell {
        case text(Text)
        case number(Int64?)
        case flag(Bool)
        case list([Text])

        var json: JSONValue {
            switch self {
            case .text(let text): .string(text)
            case .number(let number): number.map { JSONValue($0) } ?? .null
            case .flag(let flag): .bool(flag)
            case .list(let items): .array(items.map { .string($0) })
            }
        }

        /// The text without controls, which a terminal would obey.
        var shown: String {
            let text =
                switch self {
                case .text(let text): text.string
                case .number(let number): number.map { String($0) } ?? "-"
                case .flag(let flag): flag ? "yes" : "no"
                case .list(let items): items.map(\.string).joined(separator: ",")
                }
            let clean = text.unicodeScalars.map {
                $0.properties.generalCategory == .control ? "?" : $0
            }
            return clean.isEmpty ? "-" : String(String.UnicodeScalarView(clean))
        }
    }

    init(_ columns: [String]) { self.columns = columns }

    mutating func add(_ cells: Cell...) { rows.append(cells) }

    func print(asJSON: Bool) {
        Swift.print(asJSON ? json : text)
    }

    private var json: String {
        let items = rows.map { cells in
            JSONValue.object(
                zip(columns, cells).map { JSONMember(key: Text($0), value: $1.json) })
        }
        return String(
            decoding: JSONValue.array(items).serialized(pretty: true), as: UTF8.self)
    }

    private var text: String {
        let lines = [columns] + rows.map { $0.map(\.shown) }
        let widths = columns.indices.map { column in
            lines.map { $0[column].count }.max() ?? 0
        }
        return lines.map { line in
            let padded = zip(line, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            var joined = padded.joined(separator: "  ")
            while joined.last == " " { joined.removeLast() }
            return joined
        }.joined(separator: "\n")
    }
}

extension Table.Cell {
    /// Returns a time such as `2026-11-20T10:00:00.000Z`.
    static func time(_ milliseconds: Int64) -> Table.Cell {
        .text(Text(ISO8601.print(milliseconds: milliseconds)))
    }
}
