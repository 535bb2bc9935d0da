import RecordModel

extension WireQuery {
    /// The number of filters, and of sort orders, that one query may have.
    static let maximumTerms = 64

    /// Reads a query dictionary. Field values keep the tag with which they were sent.
    package init(_ json: JSONReader, limits: RequestLimits = .standard) throws(ServerError) {
        self.init(recordType: try RecordTypeName(try json.required("recordType")))
        for filter in try json["filterBy"]?.terms() ?? [] {
            filters.append(try QueryFilter(filter, limits: limits))
        }
        for sort in try json["sortBy"]?.terms() ?? [] {
            sorts.append(try QuerySort(sort, limits: limits))
        }
    }
}

extension JSONReader {
    /// Returns an array, or the one element that Apple's clients also send without an array.
    fileprivate func terms() throws(ServerError) -> [JSONReader] {
        if case .object = value { return [self] }
        return Array(try array(maximum: WireQuery.maximumTerms))
    }

    /// Reads `fieldName` or `systemFieldName`. `fieldName` may also hold system names in the
    /// spelling of the schema language.
    fileprivate func queryField() throws(ServerError) -> QueryField {
        if let name = self["systemFieldName"] {
            guard self["fieldName"] == nil else {
                throw error("has both fieldName and systemFieldName; send one.")
            }
            return .system(try name.choice())
        }
        let name = try required("fieldName")
        let text = try name.string()
        if let system = SystemField.allCases.first(where: { text == Text($0.schemaName) }) {
            return .system(system)
        }
        return .field(try FieldName(name))
    }
}

extension QueryFilter {
    init(_ json: JSONReader, limits: RequestLimits) throws(ServerError) {
        let comparator: Comparator = try json.required("comparator").choice()
        let field = try json.queryField()
        let name =
            switch field {
            case .field(let name): name
            case .system(let system): FieldName(system.rawValue)
            }
        let value = try WireField(
            name: name, try json.required("fieldValue"), limits: limits, isInQuery: true)
        let distance = try json["distance"]?.double()
        if comparator == .near {
            guard let distance else { throw json.error("lacks distance, in metres.") }
            guard distance >= 0 else { throw json.error("has a negative distance.") }
        }
        self.init(comparator: comparator, field: field, value: value, distance: distance)
    }
}

extension QuerySort {
    init(_ json: JSONReader, limits: RequestLimits) throws(ServerError) {
        self.init(
            field: try json.queryField(), ascending: try json.bool("ascending", default: true),
            relativeLocation: try json["relativeLocation"].map { (json) throws(ServerError) in
                try json.bareOrWrappedLocation(limits)
            })
    }
}

extension JSONReader {
    /// Reads a location, bare or in a field dictionary.
    fileprivate func bareOrWrappedLocation(_ limits: RequestLimits) throws(ServerError) -> Location
    {
        try (self["value"] ?? self).location(isStrict: limits.isStrict)
    }
}
