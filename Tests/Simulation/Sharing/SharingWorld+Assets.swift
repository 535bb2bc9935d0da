import Foundation
import HTTPTypes
import RecordModel
import RecordServer
import RecordServerCore
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import TestSupport

/// Large fields in histories of several users.
extension SharingWorld {
    func attach(_ key: Step.Key, _ machine: Int, _ step: Int, _ mark: String) throws {
        let (replica, user) = (machines[machine].replica, machines[machine].user)
        guard try replica.text(key.name, zone: key.zone) != nil else { return }
        let record = try Record(replica, key)
        let word = "<\(Words.prefix)\(mark)y>"
        let name = photos.add(word)
        let isDone = try write(key.zone, machine) {
            try replica.attach(Photos.bytes(word), to: key.name, zone: key.zone)
        }
        // His all the same: the bytes came before it was refused to name them.
        guard isDone else {
            oracle.own(name, user)
            return
        }
        oracle.edit(
            key, step: step, machine: machine, user: user, word: name, over: record.hashes,
            visible: record.values)
    }

    // MARK: Reading

    /// - Parameter interruption: what comes in between.
    func read(
        _ key: Step.Key, _ machine: Int, _ interruption: SharingStep.Interruption?, _ step: Int,
        _ mark: String
    ) async throws {
        let replica = machines[machine].replica
        guard let asset = try replica.photo(of: key), !asset.isDownloaded else { return }
        requests = 0
        switch interruption {
        case .crash: replica.wire.planDownload(.crash(isAnswered: true))
        case .meanwhile(let other, let action):
            replica.wire.planDownload(
                .meanwhile { [unowned self] in
                    try await act(action, other, step, "\(mark)m")
                    try await roundWhileReading(machine)
                })
        case nil: break
        }
        let outcome = try await bring(asset, machine)
        replica.wire.forgetPlan()
        let isRestarted = try replica.restartAfterCrash()
        trace.append("\(step) reads \(key): \(outcome)\(isRestarted ? ", restarted" : "")")
        changed.insert(machine)
    }

    private func roundWhileReading(_ machine: Int) async throws {
        let replica = machines[machine].replica
        let before = try files(replica)
        try await replica.exchange.round()
        changed.insert(machine)
        try noteEnded(machine, before)
    }

    /// - Returns: what has become of it.
    private func bring(_ asset: AssetEntry, _ machine: Int) async throws -> String {
        let downloads = AssetDownloads(machines[machine].replica.exchange)
        var outcome = "done"
        do throws(RecordError) {
            try await downloads.bring(asset)
        } catch {
            guard error.code == .unavailable else { throw error }
            outcome = "\(error)"
        }
        await downloads.stop()
        return outcome
    }

    // MARK: What has to be true

    /// All that a participant's machine has anywhere, of others and not for it: texts, bytes of large
    /// fields, and what these are called.
    func foreignWords(on number: Int) throws -> [String] {
        guard !machines[number].isOfOwner else { return [] }
        let user = machines[number].user
        let visible = Set(shared.visible(to: user, model).keys)
        let there = Set(
            shared.zones.flatMap { zone, content in
                content.records.keys.map { Step.Key(zone: zone, name: $0) }
            })
        let held = try held(by: machines[number].replica)
            .subtracting(oracle.allowed(user, visible, there: there))
        guard !held.isEmpty else { return [] }
        return ["Machine \(number) still has \(held.sorted()), which is not for it."]
    }

    private func held(by replica: Replica) throws -> Set<String> {
        var held: Set<String> = []
        for data in try replica.databaseFilesOnDisk() + replica.assetFilesOnDisk() {
            let words = Words.all(in: data)
            held.formUnion(words.subtracting(photos.words))
            held.formUnion(photos.held(in: data, words))
        }
        return held
    }

    /// Links that show or take what their users may not see or change, and those that do not where
    /// they may.
    ///
    /// - Parameter sends: whether those to send by are tried, too, which leaves bytes on the server.
    func judgeLinks(sends: Bool) async throws {
        let settings = server.service.settings
        for link in links.all where sends || link.checksum != nil {
            let isToSend = link.checksum == nil
            let lifetime = isToSend ? settings.uploadURLSeconds : settings.downloadURLSeconds
            guard server.clock.now < link.given + .seconds(lifetime) else { continue }
            let isGood = try await isGood(link)
            let isRight = isGood == may(link)
            if !isRight {
                problems.append(
                    "A link of \(link.key) to \(link.checksum ?? "send to") is "
                        + "\(isGood ? "good" : "not good") for user \(link.user).")
            }
        }
    }

    private func may(_ link: AssetLinks.Link) -> Bool {
        let permission = shared.permission(of: link.user, link.key, model)
        guard let checksum = link.checksum else {
            let spots = model.spots(of: link.user, in: link.key.zone)
            let isSeen = shared.version(of: link.key) != nil && permission != .none
            return isSeen ? permission == .readWrite : spots.values.contains(.readWrite)
        }
        guard permission != .none, let name = photos.name(ofChecksum: checksum) else {
            return false
        }
        return shared.version(of: link.key)?.words.contains(name) ?? false
    }

    private func isGood(_ link: AssetLinks.Link) async throws -> Bool {
        guard let path = link.url.range(of: "/assets/") else { return false }
        let target = String(link.url[path.lowerBound...])
        let answer =
            link.checksum == nil
            ? try await server.request(.post, target, body: [0])
            : try await server.request(.get, target)
        return answer.status == 200
    }

    /// Files that their users see and cannot read, or that have other bytes.
    func unreadableAssets() async throws -> [String] {
        var problems: [String] = []
        for number in machines.indices {
            let replica = machines[number].replica
            for key in try files(replica).keys.sorted() {
                guard let asset = try replica.photo(of: key), let hash = asset.hash else {
                    continue
                }
                let outcome = asset.isDownloaded ? "" : try await bring(asset, number)
                let path = replica.store.assets.assetPath(hash)
                let bytes = FileManager.default.contents(atPath: path).map { Array($0) }
                if bytes != photos.bytes(of: hash.hex) {
                    problems.append("Machine \(number) cannot read the file of \(key): \(outcome)")
                }
            }
        }
        return problems
    }
}

extension Replica {
    /// The file `photo` beside a record.
    fileprivate func photo(of key: Step.Key) throws -> AssetEntry? {
        guard let entry = try entry(key.name, key.zone) else { return nil }
        return try store.assets.assets(of: entry.id).first { $0.kind == .file && $0.hash != nil }
    }
}
