import RecordModel

/// A record as a step finds it on a machine, and leaves it: texts by field.
struct Record {
    let key: Step.Key
    var members: [String: String]

    init(_ replica: Replica, _ key: Step.Key) throws {
        self.key = key
        members = [:]
        guard let text = try replica.text(key.name, zone: key.zone) else { return }
        for member in try JSONParser.parse(Array(text.utf8)).object ?? [] {
            members[member.key.string] = member.value.string?.string
        }
    }

    func save(on replica: Replica) throws {
        let value = JSONValue.object(
            members.sorted { $0.key < $1.key }.map {
                JSONMember(key: Text($0.key), value: .string(Text($0.value)))
            })
        let text = String(decoding: value.serialized(), as: UTF8.self)
        try replica.save(key.name, text, zone: key.zone)
    }

    /// The values of edits, each of which says by whom it is.
    var values: [String] { members.values.flatMap(Self.values(in:)) }

    func values(of field: String) -> [String] { members[field].map(Self.values(in:)) ?? [] }

    /// All that stands between angle brackets.
    static func values(in text: String) -> [String] {
        text.split(separator: "<", omittingEmptySubsequences: false).dropFirst().compactMap {
            part in
            part.firstIndex(of: ">").map { "<" + part[..<$0] + ">" }
        }
    }
}
