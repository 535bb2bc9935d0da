import Glibc
import RecordModel

/// Work on records in the course of which the daemon dies.
///
/// `perform` works on the record `rec-N`, which `prepare` has saved as `CrashOperation.old(N)`
/// where the work needs one; it throws when the daemon goes away. `states` lists what a later
/// mount may show: after an acknowledged end only `done`, else also `before`.
struct CrashOperation: Sendable {
    enum Shown: Hashable {
        case absent
        case text(String)
    }

    let name: String
    var needsRecord = true
    let perform: @Sendable (String, Int) throws -> Void
    /// What the file may show when the work was not acknowledged.
    let before: @Sendable (Int) -> [Shown]
    let done: @Sendable (Int) -> Shown
    /// What the store must have of the record when the work was acknowledged, if not what is shown.
    var savedIsOld = false

    static func old(_ number: Int) -> String { "{\n  \"n\": \(number),\n  \"v\": 1\n}\n" }
    static func new(_ number: Int) -> String { "{\n  \"n\": \(number),\n  \"v\": 2\n}\n" }
    static func bad(_ number: Int) -> String { "{\n  \"n\": \(number),\n  \"v\": \n}\n" }
    static func file(_ folder: String, _ number: Int) -> String { "\(folder)/rec-\(number).json" }

    static let create = CrashOperation(
        name: "create", needsRecord: false,
        perform: { try SystemCall.writeFile(file($0, $1), new($1)) },
        before: { [.absent, .text(new($0))] }, done: { .text(new($0)) })

    static let update = CrashOperation(
        name: "update",
        perform: { try SystemCall.writeFile(file($0, $1), new($1)) },
        before: { [.text(old($0)), .text(new($0))] }, done: { .text(new($0)) })

    static let synced = CrashOperation(
        name: "update and fsync",
        perform: { try SystemCall.writeFile(file($0, $1), new($1), sync: true) },
        before: { [.text(old($0)), .text(new($0))] }, done: { .text(new($0)) })

    static let draft = CrashOperation(
        name: "bad save",
        perform: { folder, number in
            do {
                try SystemCall.writeFile(file(folder, number), bad(number))
            } catch let error as SystemCallError where error.code == EINVAL {
                return
            }
            throw ChildFailure(description: "a bad text was accepted")
        },
        before: { [.text(old($0)), .text(bad($0))] }, done: { .text(bad($0)) }, savedIsOld: true)

    static let delete = CrashOperation(
        name: "unlink",
        perform: { try SystemCall.unlink(file($0, $1)) },
        before: { [.text(old($0)), .absent] }, done: { _ in .absent })

    static let finalDelete = CrashOperation(
        name: "unlink and fsync of the directory",
        perform: {
            try SystemCall.unlink(file($0, $1))
            try SystemCall.syncDirectory($0)
        },
        before: { [.text(old($0)), .absent] }, done: { _ in .absent })

    static let replace = CrashOperation(
        name: "unlink and create",
        perform: {
            try SystemCall.unlink(file($0, $1))
            try SystemCall.writeFile(file($0, $1), new($1))
        },
        before: { [.text(old($0)), .absent, .text(new($0))] }, done: { .text(new($0)) })

    static let renameOver = CrashOperation(
        name: "temporary file and rename",
        perform: {
            try SystemCall.writeFile("\($0)/tmp\($1)", new($1))
            try SystemCall.rename("\($0)/tmp\($1)", file($0, $1))
        },
        before: { [.text(old($0)), .text(new($0))] }, done: { .text(new($0)) })

    static let backup = CrashOperation(
        name: "rename to a backup, create, remove the backup",
        perform: {
            try SystemCall.rename(file($0, $1), file($0, $1) + "~")
            try SystemCall.writeFile(file($0, $1), new($1))
            try SystemCall.unlink(file($0, $1) + "~")
        },
        before: { [.text(old($0)), .absent, .text(new($0))] }, done: { .text(new($0)) })
}

extension Failpoint {
    /// Work that passes this point in the daemon; nil for points that have a test of their own.
    var operation: CrashOperation? {
        switch self {
        case .saveBegin, .saveRecordWritten, .saveCommitted: .create
        case .saveHistoryWritten, .saveOutboxWritten: .update
        case .draftBegin, .draftCommitted: .draft
        case .waitingDeleteBegin, .waitingDeleteCommitted: .delete
        case .finalDeleteBegin, .finalDeleteTrashed, .finalDeleteCommitted: .finalDelete
        case .cancelDeleteBegin, .cancelDeleteCommitted: .replace
        case .renameSaved, .renameScratchRemoved: .renameOver
        case .backupWritten: .backup
        case .syncBegin, .syncDone: .synced
        case .assetWritten, .assetMoved, .assetReferenced, .assetCollected: nil
        case .importBatchBegin, .importBatchCommitted, .serverAssetStored, .serverAssetKnown: nil
        case .serverCommitted, .serverZoneDelete, .schemaSamplesUploaded, .zoneShared: nil
        }
    }
}
