import RecordModel
import RecordWire

/// Keys that a request for changes may have beyond Apple's. Answers have the extra keys only for
/// who asks, because some clients refuse keys that they do not know.
struct FeedExtensions {
    /// `wantsTotal`: how many entries are left, this page included.
    let wantsTotal: Bool
    /// `wantsDeletionReason`: why a zone is gone.
    let wantsDeletionReason: Bool
    /// `extendedLimits`: a `resultsLimit` above 200 is meant.
    let hasExtendedLimits: Bool
    private let usualLimit: Int

    init(
        _ body: JSONReader, _ context: OperationContext, _ settings: ServiceSettings
    ) throws(ServerError) {
        let isKnown = context.dialect == .webServices
        wantsTotal = try body.bool("wantsTotal", default: false) && isKnown
        wantsDeletionReason = try body.bool("wantsDeletionReason", default: false) && isKnown
        hasExtendedLimits = try body.bool("extendedLimits", default: false)
        usualLimit = settings.maximumResults
    }

    func limit(_ asked: Int) -> Int {
        hasExtendedLimits ? asked : min(asked, usualLimit)
    }
}
