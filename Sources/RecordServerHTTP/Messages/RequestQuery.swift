import RecordModel

/// The query string of a request, decoded. `+` stands for itself.
struct RequestQuery {
    private var items: [Text: Text] = [:]

    /// Parses a query. The first value of a repeated name counts. Text that is no query item is
    /// ignored.
    init(_ query: Substring?) {
        for item in (query ?? "").split(separator: "&") {
            let parts = item.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0].utf8),
                let value = PercentEncoding.decode((parts.count > 1 ? parts[1] : "").utf8)
            else { continue }
            let key = Text(utf8: name)
            if items[key] == nil { items[key] = Text(utf8: value) }
        }
    }

    subscript(name: String) -> Text? { items[Text(name)] }

    /// Returns whether the value is `true`, in upper or lower case: Python's clients write `True`.
    func isTrue(_ name: String) -> Bool {
        guard let value = self[name] else { return false }
        return value.utf8.map { $0 | 0x20 }.elementsEqual("true".utf8)
    }
}
