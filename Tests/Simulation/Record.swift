import RecordModel

/// A record as a step finds it on a machine, and leaves it: texts by field.
struct Record {
    let key: Step.Key
    var members: [String: String]
    /// What is no text: files beside it, and a number.
    private(set) var others: [JSONMember] = []

    init(_ replica: Replica, _ key: Step.Key) throws {
        self.key = key
        members = [:]
        guard let text = try replica.text(key.name, zone: key.zone, type: key.type) else { return }
        for member in try JSONParser.parse(Array(text.utf8)).object ?? [] {
            if let value = member.value.string {
                members[member.key.string] = value.string
            } else {
                others.append(member)
            }
        }
    }

    /// - Parameter style: how the file is written, of `Step.styleCount`.
    func save(on replica: Replica, style: Int = 0) throws {
        let members =
            members.sorted { $0.key < $1.key }.map {
                JSONMember(key: Text($0.key), value: .string(Text($0.value)))
            } + others
        let bytes =
            switch style {
            case 0: JSONValue.object(members).serialized()
            case 1: JSONValue.object(members).serialized(pretty: true) + [0x0A]
            case 2: JSONValue.object(members.reversed()).serialized()
            default: [0x0A] + JSONValue.object(members).serialized() + [0x20, 0x0A, 0x0A]
            }
        try replica.save(
            key.name, String(decoding: bytes, as: UTF8.self), zone: key.zone, type: key.type)
    }

    /// Nothing is left of it.
    mutating func empty() {
        members = [:]
        others = []
    }

    /// A whole number, one with a fraction, or one that could be either.
    mutating func setNumber(_ step: Int) {
        others.removeAll { $0.key == "n" }
        let number: JSONNumber? =
            switch step % 3 {
            case 0: JSONNumber(Int64(step))
            case 1: JSONNumber(Double(step))
            default: JSONNumber(Double(step) + 0.5)
            }
        if let number { others.append(JSONMember(key: "n", value: .number(number))) }
    }

    /// The values of edits, each of which says by whom it is.
    var values: [String] { members.values.flatMap(Self.values(in:)) + hashes }

    /// A file is known by the hash of its bytes.
    var hashes: [String] {
        others.compactMap { $0.value["sha256"]?.string?.string }
    }

    func values(of field: String) -> [String] { members[field].map(Self.values(in:)) ?? [] }

    /// All that stands between angle brackets, and all hashes.
    static func values(in text: String) -> [String] { marks(in: text) + hashes(in: text) }

    static func marks(in text: String) -> [String] {
        text.split(separator: "<", omittingEmptySubsequences: false).dropFirst()
            .compactMap { part in part.firstIndex(of: ">").map { "<" + part[..<$0] + ">" } }
    }

    static func hashes(in text: String) -> [String] {
        text.split(separator: "\"").filter { word in
            word.utf8.count == 64 && word.allSatisfy(\.isHexDigit)
        }.map(String.init)
    }
}
