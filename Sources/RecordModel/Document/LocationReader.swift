/// Reads `{"latitude": ..., "longitude": ..., ...}`.
struct LocationReader {
    /// The name of the field, for messages.
    let field: FieldName

    func read(_ value: JSONValue) throws(ValueError) -> Location {
        guard case .object(let members) = value else {
            throw ValueError(
                .invalidRecord,
                "the location in field \"\(field)\" takes an object with latitude and longitude, "
                    + "and this is \(value.kind)", at: .member(0))
        }
        do throws(ValueError) {
            return try read(members)
        } catch {
            throw error.inside(.member(0))
        }
    }

    func read(_ members: [JSONMember]) throws(ValueError) -> Location {
        let latitude = try coordinate("latitude", members, -90...90)
        let longitude = try coordinate("longitude", members, -180...180)
        guard var location = Location(latitude: latitude, longitude: longitude) else {
            throw ValueError(.invalidRecord, "a coordinate is out of its range")
        }
        for (index, member) in members.enumerated() where !member.value.isNull {
            do throws(ValueError) {
                try set(member, in: &location, at: index)
            } catch {
                throw error.path.isEmpty ? error.inside(.member(index)) : error
            }
        }
        return location
    }

    private func set(_ member: JSONMember, in location: inout Location, at index: Int)
        throws(ValueError)
    {
        switch member.key {
        case "latitude", "longitude": break
        case "altitude": location.altitude = try number(member)
        case "horizontalAccuracy": location.horizontalAccuracy = try number(member)
        case "verticalAccuracy": location.verticalAccuracy = try number(member)
        case "course": location.course = try number(member)
        case "speed": location.speed = try number(member)
        case "timestamp":
            guard let text = member.value.string, let time = ISO8601.parse(text.utf8) else {
                throw TagReader.noDate(field, member.value.kind)
            }
            location.timestampMilliseconds = time
        default:
            throw ValueError(
                .invalidRecord,
                "unknown key \"\(member.key)\" in the location of field \"\(field)\"; remove it",
                at: .key(index))
        }
    }

    private func number(_ member: JSONMember) throws(ValueError) -> Double {
        guard let value = member.value.double else {
            throw ValueError(
                .invalidRecord,
                "\"\(member.key)\" in field \"\(field)\" takes a number, and this is "
                    + member.value.kind)
        }
        return value
    }

    private func coordinate(
        _ key: Text, _ members: [JSONMember], _ range: ClosedRange<Double>
    ) throws(ValueError) -> Double {
        guard let index = members.firstIndex(where: { $0.key == key }) else {
            throw ValueError(
                .invalidRecord, "the location in field \"\(field)\" lacks \"\(key)\"")
        }
        guard let value = members[index].value.double, range.contains(value) else {
            throw ValueError(
                .invalidRecord,
                "the \(key) in field \"\(field)\" takes a number from \(Int(range.lowerBound)) to "
                    + "\(Int(range.upperBound))", at: .member(index))
        }
        return value
    }
}
