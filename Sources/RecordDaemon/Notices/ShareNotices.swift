import Logging
import RecordControl
import RecordModel
import RecordStore

/// Tells people about actions of others with shares: with a line in the log, and with the command
/// that config.json names.
struct ShareNotices: Sendable {
    let runner: NoticeRunner?
    let logger: Logger

    func tell(_ changes: [StoreChange], of store: RecordStore) {
        for change in changes {
            for news in change.shareNews {
                let place = news.invitation == nil ? Self.place(of: news, change.zone, store) : nil
                let path = place?.path ?? ""
                let message = news.message(about: path)
                let logged = news.invitation?.announcement ?? news.message(about: place?.log ?? "")
                logger.notice("\(logged)", source: LogCategory.mount)
                runner?.run(
                    [
                        "RECORDFS_EVENT": news.kind.rawValue, "RECORDFS_PATH": path,
                        "RECORDFS_LINK": news.invitation?.link ?? "",
                        "RECORDFS_WHO": news.who, "RECORDFS_MESSAGE": message,
                    ])
            }
        }
    }

    /// Returns the path of the zone or record that the news is about, and what the log names: a log
    /// outlives a share, so it does not name the records of others.
    private static func place(
        of news: ShareNews, _ zone: ZoneID, _ store: RecordStore
    ) -> (path: String, log: String) {
        do throws(RecordError) {
            guard let info = try store.past.keptZone(zone) else { return ("a zone", "a zone") }
            let place = RecordPath(database: info.database, owner: info.owner, zone: info.name)
            let path = try news.root.map { (root) throws(RecordError) in
                try place.shown(root, in: zone, of: store)
            }
            let isOfOthers = info.database == .shared
            return (
                path ?? place.description,
                isOfOthers ? place.description : path ?? place.description
            )
        } catch {
            return ("a zone", "a zone")
        }
    }
}

extension ShareNews {
    fileprivate func message(about path: String) -> String {
        switch kind {
        case .accepted: "\(who) has accepted \(path)".onOneLine
        case .left: "\(who) no longer has \(path)".onOneLine
        case .declined:
            "\(who) has declined \(path), or is not invited any more".onOneLine
        case .requested:
            "\(who) asks for access to \(path): recordfs share requests \(path)".onOneLine
        case .ended: "\(path) is not shared with you any more".onOneLine
        case .unsent:
            """
            \(count == 1 ? "One record" : "\(count) records") of \(path) had edits of yours that were \
            not sent. They are in .recordfs/trash/\(path)
            """.onOneLine
        case .unshared:
            """
            The share of \(path) ended with its record. Its children stay with you, shared with \
            nobody: \(unshared?.list ?? "")
            """.onOneLine
        case .invited: invitation?.line ?? ""
        }
    }
}
