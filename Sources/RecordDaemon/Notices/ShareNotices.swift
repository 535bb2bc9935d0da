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
                let path = news.invitation == nil ? Self.path(of: news, change.zone, store) : ""
                let message = news.message(about: path)
                logger.notice(
                    "\(news.invitation?.announcement ?? message)", source: LogCategory.mount)
                runner?.run(
                    [
                        "RECORDFS_EVENT": news.kind.rawValue, "RECORDFS_PATH": path,
                        "RECORDFS_LINK": news.invitation?.link ?? "",
                        "RECORDFS_WHO": news.who, "RECORDFS_MESSAGE": message,
                    ])
            }
        }
    }

    /// Returns the path of the zone or record that the news is about.
    private static func path(
        of news: ShareNews, _ zone: ZoneID, _ store: RecordStore
    ) -> String {
        do throws(RecordError) {
            guard let info = try store.past.keptZone(zone) else { return "a zone" }
            let place = RecordPath(database: info.database, owner: info.owner, zone: info.name)
            guard let root = news.root else { return place.description }
            return try place.shown(root, in: zone, of: store)
        } catch {
            return "a zone"
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
