import RecordModel

/// The limits of a request. The counts are checked before any other work on a request.
package struct RequestLimits: Sendable, Hashable {
    /// Operations of a modify, items of a lookup, zones of a fetch, tokens of an upload.
    package var maximumItems: Int
    /// The default and the highest `resultsLimit`.
    package var maximumResults: Int
    /// The highest `resultsLimit` in change feeds, for clients that ask for more than the default.
    package var maximumFeedResults: Int
    /// Indicates whether a request must follow Apple's text where the server could guess: values
    /// with their type, timestamps in whole milliseconds, references with their action.
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
