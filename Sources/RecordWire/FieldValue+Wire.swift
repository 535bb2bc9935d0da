package import RecordModel

extension WireValue {
    /// Creates the value of a local field on the wire.
    ///
    /// - Parameter asset: returns the asset as the server names it, for a local asset with its
    ///   place in a list. Returns nil when the server does not have it yet.
    /// - Returns: nil when the server does not have one of the assets yet.
    package init?(_ value: FieldValue, asset: (AssetValue, Int?) -> WireAsset?) {
        switch value {
        case .string(let text): self = .string(text)
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .timestamp(let milliseconds): self = .timestamp(milliseconds: milliseconds)
        case .bytes(let bytes): self = .bytes(bytes)
        case .location(let location): self = .location(location)
        case .reference(let reference): self = .reference(WireReference(reference))
        case .json(let json): self = .string(Text(utf8: json.serialized()))
        case .asset(let local):
            guard let known = asset(local, nil) else { return nil }
            self = .asset(known)
        case .list(let elements):
            var values: [WireValue] = []
            values.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                guard let value = WireValue(element, asset: { local, _ in asset(local, index) })
                else { return nil }
                values.append(value)
            }
            self = .list(values)
        }
    }
}

extension WireReference {
    package init(_ reference: Reference) {
        self.init(
            name: reference.name, zone: reference.zone.map { ZoneIdentifier(zone: $0) },
            action: reference.action)
    }
}

extension FieldValue {
    /// Creates a local value from a value of the wire.
    ///
    /// - Parameters:
    ///   - isJSON: whether the text is nested JSON.
    ///   - asset: returns the local name of an asset, with its place in a list.
    package init(
        _ value: WireValue, isJSON: Bool = false, asset: (WireAsset, Int?) -> AssetValue
    ) {
        switch value {
        case .string(let text):
            // A text that turns out not to be JSON stays a text.
            if isJSON, let json = try? JSONParser.parse(text.utf8) {
                self = .json(json)
            } else {
                self = .string(text)
            }
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .timestamp(let milliseconds): self = .timestamp(milliseconds: milliseconds)
        case .bytes(let bytes): self = .bytes(bytes)
        case .location(let location): self = .location(location)
        case .reference(let reference):
            self = .reference(
                Reference(
                    name: reference.name, zone: reference.zone?.zone, action: reference.action))
        case .asset(let known): self = .asset(asset(known, nil))
        case .list(let elements):
            self = .list(
                elements.enumerated().map { index, element in
                    FieldValue(element, asset: { known, _ in asset(known, index) })
                })
        }
    }
}
