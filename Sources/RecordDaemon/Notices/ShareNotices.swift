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
                let isInvitation = news.invitation != nil
                let path = isInvitation ? "" : Self.path(of: news.root, change.zone, store)
                let message = news.message(about: path)
                // The log outlives a share, so it does not name what others share.
                let logged =
                    path.hasPrefix("\(Database.shared)/")
                    ? news.message(about: Self.path(of: nil, change.zone, store)) : message
                logger.notice(
                    "\(news.invitation?.announcement ?? logged)", source: LogCategory.mount)
                runner?.run(
                    [
                        "RECORDFS_EVENT": news.kind.rawValue, "RECORDFS_PATH": path,
                        "RECORDFS_LINK": news.invitation?.link ?? "",
                        "RECORDFS_WHO": news.who, "RECORDFS_MESSAGE": message,
                    ])
            }
        }
    }

    /// Returns the path of a zone, or of a record in it.
    private static func path(
        of root: RecordName?, _ zone: ZoneID, _ store: RecordStore
    ) -> String {
        do throws(RecordError) {
            guard let info = try store.past.keptZone(zone) else { return "a zone" }
            let place = RecordPath(database: info.database, owner: info.owner, zone: info.name)
            guard let root else { return place.description }
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
