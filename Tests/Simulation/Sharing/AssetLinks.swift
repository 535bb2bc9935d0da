import RecordModel
import RecordWire

/// What the server has given to participants to fetch and send large fields with: whoever has it does not
/// need to say who he is.
struct AssetLinks {
    struct Place: Hashable {
        let user: Int
        let key: Step.Key
        /// What the server calls the bytes; nil where some are to be sent to.
        let checksum: String?
    }

    struct Link {
        fileprivate let place: Place
        let url: String
        let given: Timestamp

        var user: Int { place.user }
        var key: Step.Key { place.key }
        var checksum: String? { place.checksum }
    }

    /// The oldest of each place.
    private(set) var all: [Link] = []
    private var known: Set<Place> = []

    /// Those of an answer that somebody was given.
    mutating func note(
        _ answer: JSONValue, of request: JSONValue, _ user: Int, at time: Timestamp
    ) {
        for token in answer["tokens"]?.array ?? [] {
            note(token["url"], nil, token, Self.zone(of: request), user, time)
        }
        for part in answer["zones"]?.array ?? [answer] {
            let zone = Self.zone(of: part) ?? Self.zone(of: request)
            for record in part["records"]?.array ?? [] {
                let asset = record["fields"]?["photo"]?["value"]
                guard let checksum = asset?["fileChecksum"] else { continue }
                note(asset?["downloadURL"], checksum, record, zone, user, time)
            }
        }
    }

    /// - Parameter place: names the record.
    private mutating func note(
        _ url: JSONValue?, _ checksum: JSONValue?, _ place: JSONValue, _ zone: String?,
        _ user: Int, _ time: Timestamp
    ) {
        guard let zone, let name = place["recordName"]?.string?.string,
            let url = url?.string?.string
        else { return }
        let place = Place(
            user: user, key: Step.Key(zone: zone, name: name),
            checksum: checksum?.string?.string)
        guard known.insert(place).inserted else { return }
        all.append(Link(place: place, url: url, given: time))
    }

    private static func zone(of json: JSONValue) -> String? {
        json["zoneID"]?["zoneName"]?.string?.string
    }

    /// A restored server knows none of them.
    mutating func forget() { self = Self() }
}
