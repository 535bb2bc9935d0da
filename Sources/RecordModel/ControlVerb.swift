/// A verb for the running daemon. It takes no path. Commands send it over the control socket, and
/// some verbs are also a line in `.recordfs/ctl`.
package enum ControlVerb: String, Sendable, CaseIterable {
    /// Writes everything that was saved to stable storage.
    case flush
    /// Downloads and uploads now.
    case sync
    /// Stops the exchange with the record server until `resume`.
    case pause
    case resume
    /// Sends the changes again that the server has refused.
    case retry
    /// Reads the account again, after a user has signed in or out.
    case account
    /// Unmounts. The daemon then ends.
    case shutdown

    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The verb is also a line in `.recordfs/ctl`.
        package static let isLine = Traits(rawValue: 1)
        /// The files of the mount may differ afterwards.
        package static let mayChangeFiles = Traits(rawValue: 2)
    }

    package var traits: Traits {
        switch self {
        case .sync, .pause, .resume, .retry: [.isLine, .mayChangeFiles]
        case .account: .mayChangeFiles
        case .flush, .shutdown: []
        }
    }
}
