package import RecordModel
import RecordWire

extension Text {
    /// The text in the encoding for a query or a form.
    var percentEncoded: String { QueryEncoding.encode(utf8) }

    /// The value of a name in the query of an address. Nil when there is none.
    package init?(_ name: String, inQueryOf address: String) {
        guard let start = address.firstIndex(of: "?") else { return nil }
        for item in address[start...].dropFirst().prefix(while: { $0 != "#" }).split(separator: "&")
        {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == name else { continue }
            guard let bytes = QueryEncoding.decodeForm(parts[1].utf8) else { return nil }
            self.init(utf8: bytes)
            return
        }
        return nil
    }
}
