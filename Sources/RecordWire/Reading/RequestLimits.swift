import RecordModel

/// What a request may ask for. The counts are checked before anything else is done with a request.
package struct RequestLimits: Sendable, Hashable {
    /// Operations of a modify, items of a lookup, zones of a fetch, tokens of an upload.
    package var maximumItems: Int
    /// Default and ceiling of `resultsLimit`.
    package var maximumResults: Int
    /// Ceiling of `resultsLimit` in change feeds, for clients that ask for more than the default.
    package var maximumFeedResults: Int
    /// Whether a request must keep to what Apple's text says where the server could guess:
    /// values with their type, timestamps in whole milliseconds, references with their action.
    package var isStrict: Bool

    package init(
        maximumItems: Int = ServerLimits.itemsPerRequest, maximumResults: Int = 200,
        maximumFeedResults: Int = 2_000,
        isStrict: Bool = false
    ) {
        self.maximumItems = maximumItems
        self.maximumResults = maximumResults
        self.maximumFeedResults = maximumFeedResults
        self.isStrict = isStrict
    }

    package static let standard = RequestLimits()
}
