"""Faults about the relationships of objects, for histories of graphs. See faults.py."""

MODELS = "Sources/RecordStore/Models/"
FOLLOWING = MODELS + "ObjectLinks+Following.swift"
SETTLING = MODELS + "ObjectLinks+Settling.swift"

# Name, file, what stands there, what stands there instead.
FAULTS = [
    (
        "the other side of a one-to-one relationship is not set",
        FOLLOWING,
        "        try setKey(back, of: record, to: list.owner, as: relation)\n    }",
        "        _ = record\n    }",
    ),
    (
        "the former partner of a one-to-one relationship keeps its key",
        FOLLOWING,
        "for former in try names(in: list, by: back) where former != target {",
        "for former in try names(in: list, by: back) where former == target {",
    ),
    (
        "a deletion leaves the links of many-to-many relationships",
        FOLLOWING,
        "        if let field = relation.listField {\n"
        "            for member in try names(in: list, by: field) {\n"
        "                try remove(member, from: list, of: relation)\n            }\n        } else if case",
        "        if let field = relation.listField {\n"
        "            for member in try names(in: list, by: field) where relation.form != .links {\n"
        "                try remove(member, from: list, of: relation)\n            }\n        } else if case",
    ),
    (
        "a deletion leaves the parts of an object",
        FOLLOWING,
        "if relation.deleteRule == .cascade {",
        "if relation.deleteRule == .cascade, relation.owner.isEmpty {",
    ),
    (
        "a rename leaves the keys to the former name",
        FOLLOWING,
        "try follow(copy, from: list, relation)",
        "touch(list)",
    ),
    (
        "of double links only one is removed",
        FOLLOWING,
        "for link in try links(in: list, to: member) {",
        "for link in try links(in: list, to: member).prefix(1) {",
    ),
    (
        "lists do not show the keys that arrive",
        MODELS + "ObjectLinks.swift",
        "    func touch(_ list: ObjectList) {",
        "    func touch(_ list: ObjectList) {\n        if transaction.author == .sync { return }\n       ",
    ),
    (
        "a link that waits does not see its object arrive",
        MODELS + "StoreModel.swift",
        "for name in arrived {",
        "for name in arrived where name.bytes.isEmpty {",
    ),
    (
        "a key to what was deleted elsewhere stays",
        MODELS + "ObjectLinks.swift",
        "            if stored == nil, transaction.author == .sync { try doubt(lists) }\n",
        "",
    ),
    (
        "a key stays when the other side has found another partner",
        SETTLING,
        "where relation.hasOneInverse && relation.isKey(row.field) {",
        "where relation.owner.isEmpty && relation.isKey(row.field) {",
    ),
    (
        "an object does not take the key that was waiting for it",
        SETTLING,
        "        if wasWaiting, !isTaken {",
        "        if wasWaiting, !isTaken, relation.owner.isEmpty {",
    ),
    (
        "of equal objects the one stays that came first",
        MODELS + "Duplicates.swift",
        "            left.order == right.order\n                ? left.name < right.name",
        "            left.order == right.order\n                ? left.record.id < right.record.id",
    ),
    (
        "a duplicate is removed with the relationships that came late",
        MODELS + "Duplicates.swift",
        "            if try giveRelationships(of: twin, to: first) {",
        "            if first.name == twin.name {",
    ),
    (
        "a duplicate is merged without its relationships",
        MODELS + "Duplicates.swift",
        "                _ = try giveRelationships(of: other, to: first)\n",
        "",
    ),
    (
        "doubts are settled before the download has ended",
        "Sources/RecordSync/Engine/Exchange+Download.swift",
        "            pages += 1\n",
        "            pages += 1\n"
        "            try read { (store) throws(RecordError) in\n"
        "                try store.model.settleLinks(in: zone.id)\n            }\n",
    ),
]
