"""Faults about sharing, for histories of several users. See faults.py."""

STORE = "Sources/RecordStore/"
STORE_SYNC = "Sources/RecordStoreSync/"
SYNC = "Sources/RecordSync/"
SERVER = "Sources/RecordServerCore/"

# Name, file, what stands there, what stands there instead.
FAULTS = [
    (
        "what an ended share has brought is not erased",
        STORE_SYNC + "Applying/FeedApplying+SyncedZones.swift",
        "            try transaction.sharing.eraseTraces(of: zone)\n            transaction.sharing.note([ShareNews(.ended)], of: zone)",
        "            if token == [] { try transaction.sharing.eraseTraces(of: zone) }",
    ),
    (
        "what a record has brought that is shared no longer is not erased",
        STORE_SYNC + "Applying/RemoteApplication+Sharing.swift",
        "        try transaction.sharing.eraseTraces(\n"
        "            of: change.name, in: zone, stem: existing.entry.stem, type: type)",
        "        _ = type",
    ),
    (
        "what is erased stays in free pages and in the log",
        SYNC + "Sharing/ShareExchange+Shares.swift",
        "    func scrub() throws(SyncProblem) {\n        guard exchange.database == .shared else",
        "    func scrub() throws(SyncProblem) {\n        guard exchange.database == .public else",
    ),
    (
        "the end of a share erases what its user has not sent",
        STORE + "Sharing/SharedContent+Erasing.swift",
        "WHERE \\(condition) AND is_own = 0",
        "WHERE \\(condition) AND is_own >= 0",
    ),
    (
        "what its user has not sent of an ended share is kept nowhere",
        STORE + "Sharing/SharedContent+Erasing.swift",
        "guard row.operation != .delete,",
        "guard row.operation == .delete,",
    ),
    (
        "the trash has the fields of others beside one's own",
        STORE + "Sharing/SharedContent+Erasing.swift",
        "let fields = local.fields.filter { field in\n            own.contains(field.name)",
        "let fields = local.fields.filter { field in\n            !own.isEmpty",
    ),
    (
        "edits of an ended share are sent after the next invitation",
        STORE_SYNC + "Applying/FeedApplying+SyncedZones.swift",
        'try transaction.connection.run(\n'
        '            "DELETE FROM outbox WHERE zone_id = ?", [.integer(zone.rawValue)])\n'
        "        try transaction.outbox.forgetRequest(in: zone)",
        "",
    ),
    (
        "a change of a permission is not heard",
        STORE + "Sharing/SharedContent+Shares.swift",
        "if allowed != info.permission { try",
        "if allowed != info.permission, allowed == .readOnly { try",
    ),
    (
        "who may only read may write",
        STORE + "Sharing/SharedContent+Shares.swift",
        "            }\n        if allowed",
        "            }\n        if allowed == .readOnly { return }\n        if allowed",
    ),
    (
        "the zone of somebody who is out stays",
        SYNC + "Engine/Exchange+Download.swift",
        "} else if wasKnown {\n                try transaction.feed.removeZoneOfServer(zone.id)",
        "} else if wasKnown, !isOfOthers {\n                try transaction.feed.removeZoneOfServer(zone.id)",
    ),
    (
        "a new record of a shared hierarchy hangs on nothing",
        SYNC + "Engine/Exchange+Requests.swift",
        "if let root, claim.base == nil, claim",
        "if let root, zone.isRemoved, claim",
    ),
    (
        "an edit wins against the end of its share",
        STORE_SYNC + "Applying/RemoteApplication+Sharing.swift",
        "SELECT 1 FROM share WHERE zone_id = ? AND root IS NULL\n                AND",
        "SELECT 1 FROM share WHERE zone_id = ?\n                AND",
    ),
    (
        "shares that have ended are still there when a feed begins anew",
        STORE_SYNC + "Applying/FeedApplying+ServerRestore.swift",
        "        try transaction.sharing.forgetSharesUntilTold(of: zone)\n        try abandonFeedPass",
        "        try abandonFeedPass",
    ),
    (
        "the server takes what somebody may only read",
        SERVER + "Permissions/Permissions+Records.swift",
        "case .readWrite: .allowed\n"
        '        case .readOnly: .denied("This share is read-only for this user.")',
        "case .readWrite, .readOnly: .allowed",
    ),
    (
        "the feed of a hierarchy shows the whole zone",
        SERVER + "Feeds/FeedPage.swift",
        "access.zone.handle, after: position, shares: access.visibleShares,\n            descending: descending",
        "access.zone.handle, after: position, shares: nil,\n            descending: descending",
    ),
    (
        "a link lets anybody in",
        SERVER + "Sharing/ShareRules+Join.swift",
        "} else if share.publicPermission.orNone != .none {",
        "} else if share.root != nil || share.publicPermission.orNone != .none {",
    ),
    (
        "whom the owner has taken out comes back by the link",
        SERVER + "Sharing/ShareRules+Join.swift",
        "$0.status == .removed && $0.means(user) }) {",
        "$0.status == .removed && $0.user == nil && $0.means(user) }) {",
    ),
    (
        "who was taken out keeps reading",
        SERVER + "Permissions/ShareRow+Rights.swift",
        "        row.status = .removed\n",
        "",
    ),
    (
        "a token of what one sees outlives what one sees",
        SERVER + "Sharing/ShareRules+Apply.swift",
        "incarnation: ids.incarnation(),",
        "incarnation: 1,",
    ),
    (
        "what moves out of a hierarchy is not told there",
        SERVER + "Batches/ModifyPlan+Trees.swift",
        "if let share = move.leaving {",
        "if let share = move.leaving, share.bytes.isEmpty {",
    ),
    (
        "a participant deletes the root of what is shared with him",
        SERVER + "Batches/ModifyPlan+Operations.swift",
        "if isParticipant, let name = stored.share,",
        "if !isParticipant, let name = stored.share,",
    ),
    (
        "bytes of large fields stay when their share ends",
        "Sources/RecordStore/Maintenance/StoreUpkeep+Scrub.swift",
        "        _ = try store.assets.collectAssets()\n",
        "",
    ),
    (
        "the link to a large field outlives what one sees",
        SERVER + "Permissions/RecordVisibility.swift",
        "[name])[name], shows(stored)\n",
        "[name])[name], !stored.isDeleted\n",
    ),
    (
        "a link shows a large field that its record has no more",
        SERVER + "Assets/AssetRequest.swift",
        "            try reader.refers(access.zone.handle, record.name, to: ticket.fileChecksum)\n",
        "            record.name == ticket.place.record\n",
    ),
    (
        "who may only read sends bytes of large fields",
        SERVER + "Permissions/Permissions+Records.swift",
        "?? createSomewhere(rights)",
        "?? .allowed",
    ),
    (
        "an administrator makes others administrators",
        SERVER + "Permissions/Permissions+Shares.swift",
        "old.type == new.type && ",
        "new.type != .owner && ",
    ),
    (
        "a restore of the server is not heard in zones of others",
        STORE_SYNC + "Applying/FeedApplying+ServerRestore.swift",
        "guard known != nil else { return false }",
        "guard known != nil, try transaction.requireZone(zone).database != .shared else { return false }",
    ),
    (
        "a renamed record keeps the words of others when its share ends",
        STORE + "Sharing/SharedContent+Erasing.swift",
        " && others[field.name]?.contains(field.checksum) != true",
        "",
    ),
]
