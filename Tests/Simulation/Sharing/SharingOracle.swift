import RecordWire

/// What has to be true of a history of several users, worked out apart from the product. Each edit writes
/// a word that no other writes.
///
/// What is checked, and where:
///
/// 1. Nobody holds what he may not see: `SharingWorld.lookAtMachines` after each round, of records that
///    are shown; `SharingWorld.foreignWords`, of all bytes of the store's files and of large fields, also
///    unfinished ones, after each round in which a machine has only heard, and at rest. What the server
///    has given somebody to fetch or send large fields with is good as long as he may: `judgeLinks`.
/// 2. Nothing is changed on the server but by whom it permits, as `ShareModel` has it: `judge`, after
///    each request. Who may only read cannot write here: `SharingWorld.write`. Who may write is not
///    refused: `SharingWorld.judge(refusals:)`.
/// 3. At rest, all machines show what the server has, and participants what of it is shared with them:
///    `SharingWorld.differences`.
/// 4. No edit is lost: `lost`, at rest. What was not sent when a share ended is never sent: `judge`.
/// 5. Shares and permissions are those of the model: on the server after each request, on machines at
///    rest (`SharingWorld.differencesOfShares`), with all who are in them. Who manages a share and may not
///    is refused, and who may is not: `SharingWorld.manage`.
/// 6. After a restore of the server, all of this is so again, with the shares of the backup; what the
///    server has had, and its writer may still write, is there again: `lostByServer`.
/// 7. A history is the same when it runs again: `SharingCheck`.
struct SharingOracle {
    private(set) var edits = Oracle()
    /// Who has written a word.
    private(set) var writers: [String: Int] = [:]
    /// What participants may know of a record since they have it: all that it had while they saw it.
    private var told: [Int: [Step.Key: Set<String>]] = [:]
    /// Earlier names by the new one, whoever has renamed: edits of others follow, with what was there before.
    private var renamed: [Step.Key: Set<Step.Key>] = [:]
    /// The same of records that they have deleted themselves, of which the trash has it.
    private var keptByDeletion: [Int: [Step.Key: Set<String>]] = [:]
    /// Those of them whose deletion the server has taken, with permission: that stays in the trash, also
    /// when the owner makes another record of the name.
    private var deletedThere: [Int: Set<Step.Key>] = [:]
    private(set) var onServer: Set<String> = []
    /// What was not sent when a share ended.
    private var withdrawn: Set<String> = []
    /// What conflicts have kept, for as long as they were there.
    private var kept: Set<String> = []
    /// What a restored server has lost and did not get again, with its record.
    private var missing: [String: Step.Key] = [:]
    /// Records that somebody has deleted there since the server was restored.
    private var deletedSinceRestore: Set<Step.Key> = []
    /// The server before it was restored.
    private var lostServer = SharedServer()
    /// What it has lost and its writer may not send again, or might not for a while.
    private var beyondRights: Set<String> = []
    /// What its writer has given up.
    private var givenUp: Set<String> = []

    // MARK: What is done

    mutating func edit(
        _ key: Step.Key, step: Int, machine: Int, user: Int, word: String, over: [String],
        visible: [String]
    ) {
        writers[word] = user
        edits.edit(
            key, step: step, device: machine, values: [word], over: over, visible: visible)
    }

    mutating func delete(
        _ key: Step.Key, step: Int, machine: Int, user: Int, visible: [String], kept: Set<String>
    ) {
        edits.delete(key, step: step, device: machine, visible: visible, kept: kept)
        keptByDeletion[user, default: [:]][key, default: []]
            .formUnion(told[user]?[key] ?? [])
    }

    /// What stood in a record stands in another one, for those who had it.
    mutating func rename(
        _ key: Step.Key, to new: Step.Key, step: Int, machine: Int, user: Int, visible: [String],
        kept: Set<String>
    ) {
        delete(key, step: step, machine: machine, user: user, visible: visible, kept: kept)
        for user in told.keys { tell(user, key, asIn: new) }
        renamed[new, default: []].insert(key)
    }

    /// What somebody has written, and could not put into a record.
    mutating func own(_ word: String, _ user: Int) { writers[word] = user }

    mutating func giveUp(_ words: Set<String>) { givenUp.formUnion(words) }
    mutating func keep(_ words: Set<String>) { kept.formUnion(words) }

    // MARK: What the server has

    /// What participants see of the server now.
    mutating func tell(_ user: Int, _ visible: [Step.Key: SharedServer.Version]) {
        for (key, version) in visible {
            told[user, default: [:]][key, default: []].formUnion(version.words)
        }
    }

    /// Whether a change of the server may be, which somebody has made.
    ///
    /// - Parameters:
    ///   - before: the server as it was; `after`: as it is.
    ///   - model: as it was.
    mutating func judge(
        _ change: SharedServer.Change, by user: Int, _ before: SharedServer, _ after: SharedServer,
        _ model: ShareModel
    ) -> [String] {
        var problems: [String] = []
        if change.new == nil {
            deletedThere[user, default: []].insert(change.key)
            deletedSinceRestore.insert(change.key)
        }
        if change.old != nil, before.permission(of: user, change.key, model) != .readWrite {
            problems.append("User \(user) has changed \(change.key), which he may not.")
        } else if change.new != nil, after.permission(of: user, change.key, model) != .readWrite {
            problems.append("User \(user) has put \(change.key) where he may not.")
        }
        for word in (change.new?.words ?? []).subtracting(change.old?.words ?? []).sorted() {
            if !edits.isKnown(word) {
                problems.append("The server has \(word) in \(change.key), which nobody wrote.")
            }
            if withdrawn.contains(word) {
                problems.append("\(word) was sent to \(change.key) after its share had ended.")
            }
            onServer.insert(word)
        }
        return problems
    }

    // MARK: Restored servers

    mutating func restore(_ before: SharedServer, _ after: SharedServer) {
        let there = after.words
        missing.merge(before.words) { $1 }
        missing = missing.filter { there[$0.key] == nil }
        deletedSinceRestore = []
        lostServer = before
    }

    /// Who may send again what a restored server has lost.
    mutating func noteRights(_ server: SharedServer, _ model: ShareModel) {
        for (word, key) in missing {
            if server.version(of: key)?.words.contains(word) == true {
                missing[word] = nil
            } else if let user = writers[word],
                server.permission(of: user, key, lostFrom: lostServer, model) != .readWrite
            {
                beyondRights.insert(word)
            }
        }
    }

    // MARK: What machines have

    private mutating func tell(_ user: Int, _ key: Step.Key, asIn new: Step.Key) {
        told[user, default: [:]][new, default: []].formUnion(told[user]?[key] ?? [])
    }

    /// A machine of a participant does not have a record: what it knew of it is to be gone, but where that
    /// has another name now.
    mutating func forget(_ user: Int, _ key: Step.Key, visible: Set<String>?) {
        for (new, old) in renamed where old.contains(key) { tell(user, key, asIn: new) }
        told[user, default: [:]][key] = visible
    }

    /// A machine of a participant does not have a zone.
    mutating func forget(_ user: Int, zone: String) {
        keptByDeletion[user] = keptByDeletion[user]?.filter { $0.key.zone != zone }
        deletedThere[user] = deletedThere[user]?.filter { $0.zone != zone }
    }

    /// A share has ended on a machine: what stood in its record there, and was written by its user.
    mutating func withdraw(_ words: Set<String>, of user: Int) {
        withdrawn.formUnion(words.filter { writers[$0] == user && !onServer.contains($0) })
    }

    func knows(_ user: Int, _ word: String, of key: Step.Key) -> Bool {
        writers[word] == user || told[user]?[key]?.contains(word) == true
            || renamed[key]?.contains { told[user]?[$0]?.contains(word) == true } == true
    }

    /// All that a participant may have at rest.
    ///
    /// - Parameters:
    ///   - visible: the records that he sees.
    ///   - there: those that the server has.
    func allowed(
        _ user: Int, _ visible: Set<Step.Key>, there: Set<Step.Key>
    ) -> Set<String> {
        var allowed = Set(writers.filter { $0.value == user }.keys)
        for (key, words) in told[user] ?? [:] where visible.contains(key) {
            allowed.formUnion(words)
        }
        for (key, words) in keptByDeletion[user] ?? [:]
        where visible.contains(key) || !there.contains(key)
            || deletedThere[user]?.contains(key) == true
        {
            allowed.formUnion(words)
        }
        return allowed
    }

    /// Edits that are nowhere: `there` is all that machines have.
    func lost(but there: Set<String>) -> [String] {
        edits.lost(but: there.union(kept).union(givenUp), except: [])
    }

    /// What the server has had, that is not with the owner now, and that nobody has written over,
    /// deleted or met in a conflict.
    ///
    /// What a restored server had lost, and whose record somebody has deleted before it was sent again,
    /// is with who wrote it.
    ///
    /// - Parameters:
    ///   - owned: all that the owner's machines show.
    ///   - trash: what is in the trash of machines.
    func lostByServer(but owned: Set<String>, trash: Set<String>) -> [String] {
        let returned = trash.filter { word in
            missing[word].map(deletedSinceRestore.contains) ?? false
        }
        let there = owned.union(kept).union(givenUp).union(returned)
        let lost = edits.lost(but: there, except: [])
        let due = onServer.subtracting(beyondRights)
        return lost.filter { problem in due.contains { problem.contains($0) } }
            .map { "The server has had it: \($0)" }
    }
}
