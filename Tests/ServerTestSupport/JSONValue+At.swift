package import RecordModel

extension JSONValue {
    /// `a.b.0.c`
    package func at(_ path: String) -> JSONValue {
        var value = self
        for part in path.split(separator: ".") {
            if let index = Int(part) {
                let elements = value.array ?? []
                value = elements.indices.contains(index) ? elements[index] : .null
            } else {
                value = value[String(part)] ?? .null
            }
        }
        return value
    }
}
