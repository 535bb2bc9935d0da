import RecordModel

/// The records of a random walk over searches and queries, and what each of them has to find, from a
/// look at every record.
struct SearchModel {
    struct Values: Equatable {
        /// Words with blanks, hyphens or apostrophes between them.
        var title: String
        var tags: [String]
        var number: Int
        var when: String

        var text: String {
            let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
            return #"{"title":"\#(title)","tags":[\#(list)],"n":\#(number),"when":"\#(when)"}"#
        }

        init(title: String, tags: [String], number: Int, when: String) {
            (self.title, self.tags, self.number, self.when) = (title, tags, number, when)
        }

        /// The values of a text, however it is written.
        init(_ json: JSONValue) {
            title = json["title"]?.string?.string ?? ""
            tags = (json["tags"]?.array ?? []).compactMap { $0.string?.string }
            number = Int(json["n"]?.int64 ?? -1)
            when = (json["when"]?.string ?? json["when"]?["$timestamp"]?.string)?.string ?? ""
        }
    }

    static let words = ["tea", "Time", "crème", "o'neill", "x9", "tea-time", "straße"]
    static let days = ["2026-11-20T10:00:00.000Z", "2026-11-21T10:00:00.000Z"]

    /// The records that show, by TYPE/STEM.
    var shown: [String: Values] = [:]
    /// The types in which `when` is a text, and not a time.
    var typesOfText: Set<String> = ["Note", "Task"]

    /// Returns the records that have all of the words, each in one value, with its parts in a row.
    func found(_ search: String) -> [String] {
        let wanted = search.split(separator: " ").map { Self.tokens(String($0)) }
        return shown.filter { path, values in
            let texts = texts(values, in: path).map(Self.tokens)
            return wanted.allSatisfy { part in texts.contains { Self.has($0, part) } }
        }.keys.sorted()
    }

    private func texts(_ values: Values, in path: String) -> [String] {
        let type = String(path.prefix { $0 != "/" })
        return [values.title] + values.tags + (typesOfText.contains(type) ? [values.when] : [])
    }

    private static func has(_ tokens: [String], _ part: [String]) -> Bool {
        guard part.count <= tokens.count else { return false }
        return (0...(tokens.count - part.count)).contains {
            Array(tokens[$0..<($0 + part.count)]) == part
        }
    }

    /// The words of a text without case and accents.
    private static func tokens(_ text: String) -> [String] {
        text.lowercased().replacing("è", with: "e").split { !$0.isLetter && !$0.isNumber }
            .map(String.init)
    }

    func found(in type: String, _ isRight: (Values) -> Bool) -> [String] {
        shown.filter { $0.key.hasPrefix("\(type)/") && isRight($0.value) }.keys.sorted()
    }
}
