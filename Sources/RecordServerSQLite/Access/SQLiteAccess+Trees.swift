import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// A tree's number in its zone.
struct TreeKey: Hashable {
    let zone: Int64
    let number: TreeNumber
}

extension SQLiteAccess {
    func tree(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError) -> TreeRow? {
        try first(
            """
            SELECT number, top, outer_tree, share FROM trees WHERE zone = ? AND number = ?
            """, [.zone(zone), .tree(number)]
        ) { $0.tree() }
    }

    func trees(
        _ zone: ZoneHandle, inside number: TreeNumber
    ) throws(ServerError) -> [TreeRow] {
        try all(
            """
            SELECT number, top, outer_tree, share FROM trees WHERE zone = ? AND outer_tree = ?
            ORDER BY number
            """, [.zone(zone), .tree(number)]
        ) { $0.tree() }
    }

    func treeCount(
        _ zone: ZoneHandle, share: RecordName, limit: Int
    ) throws(ServerError) -> Int {
        try first(
            """
            SELECT count(*) FROM (SELECT 1 FROM trees WHERE zone = ? AND share = ? LIMIT ?)
            """, [.zone(zone), .name(share), .limit(limit)]
        ) { Int($0.int64(0)) } ?? 0
    }

    /// Returns the numbers of the trees of a share.
    func trees(_ zone: ZoneHandle, of share: RecordName) throws(ServerError) -> [TreeNumber] {
        try all(
            "SELECT number FROM trees WHERE zone = ? AND share = ? ORDER BY number",
            [.zone(zone), .name(share)]
        ) { TreeNumber($0.int64(0)) }
    }

    /// Returns the share that the records of a tree are members of. It is called for every record
    /// that is read.
    func share(
        inZone zone: Int64, of number: TreeNumber?
    ) throws(ServerError) -> RecordName? {
        guard let number else { return nil }
        let key = TreeKey(zone: zone, number: number)
        if let known = treeShares[key] { return known }
        let share: RecordName?? = try first(
            "SELECT share FROM trees WHERE zone = ? AND number = ?",
            [.integer(zone), .tree(number)]
        ) { $0.nameIfPresent(0) }
        treeShares[key] = .some(share ?? nil)
        return share ?? nil
    }

    private static let memberColumns = """
        r.name, r.id, r.tree, EXISTS (SELECT 1 FROM records c WHERE c.zone = r.zone AND c.parent = r.name)
        """

    func treeMember(
        _ zone: ZoneHandle, _ name: RecordName
    ) throws(ServerError) -> TreeMember? {
        try first(
            """
            SELECT \(Self.memberColumns) FROM records r
            WHERE r.zone = ? AND r.name = ? AND r.deleted = 0
            """, [.zone(zone), .name(name)]
        ) { $0.treeMember() }
    }

    func treeMembers(
        _ zone: ZoneHandle, below parent: RecordName, after age: Int64?, limit: Int
    ) throws(ServerError) -> [TreeMember] {
        try all(
            """
            SELECT \(Self.memberColumns) FROM records r
            WHERE r.zone = ? AND r.parent = ? AND r.id > ? ORDER BY r.id LIMIT ?
            """, [.zone(zone), .name(parent), .integer(age ?? 0), .limit(limit)]
        ) { $0.treeMember() }
    }

    func treeWork(
        _ zone: ZoneHandle, _ number: TreeNumber
    ) throws(ServerError) -> TreeWork? {
        try first(
            "SELECT parent, after FROM tree_work WHERE zone = ? AND tree = ? LIMIT 1",
            [.zone(zone), .tree(number)]
        ) { TreeWork(parent: $0.name(0), after: $0.isNull(1) ? nil : $0.int64(1)) }
    }

    func unfinishedTree(
        _ zone: ZoneHandle, in number: TreeNumber
    ) throws(ServerError) -> TreeNumber? {
        if try treeWork(zone, number) != nil { return number }
        return try first(
            """
            WITH RECURSIVE inner_trees (number) AS (
                SELECT number FROM trees WHERE zone = ?1 AND outer_tree = ?2
                UNION
                SELECT t.number FROM inner_trees i
                    CROSS JOIN trees t ON t.zone = ?1 AND t.outer_tree = i.number)
            SELECT number FROM inner_trees i WHERE EXISTS (
                SELECT 1 FROM tree_work w WHERE w.zone = ?1 AND w.tree = i.number) LIMIT 1
            """, [.zone(zone), .tree(number)]
        ) { TreeNumber($0.int64(0)) }
    }

    func putTree(_ zone: ZoneHandle, _ tree: TreeRow) throws(ServerError) {
        try run(
            """
            INSERT OR REPLACE INTO trees (zone, number, top, outer_tree, share)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .zone(zone), .tree(tree.number), .name(tree.top), .optional(tree.outer),
                .optional(tree.share),
            ])
        treeShares[TreeKey(zone: zone.number, number: tree.number)] = .some(tree.share)
    }

    func deleteTree(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError) {
        let key: [SQLValue] = [.zone(zone), .tree(number)]
        try run("DELETE FROM trees WHERE zone = ? AND number = ?", key)
        try run("DELETE FROM tree_work WHERE zone = ? AND tree = ?", key)
        treeShares[TreeKey(zone: zone.number, number: number)] = .some(nil)
    }

    func move(
        _ zone: ZoneHandle, _ record: RecordName, to tree: TreeNumber?, position: Int64?,
        entering share: RecordName?
    ) throws(ServerError) {
        let key = RecordKey(zone: zone, name: record)
        if let position {
            try run(
                "UPDATE records SET tree = ?, position = ? WHERE zone = ? AND name = ?",
                [.optional(tree), .integer(position), .zone(zone), .name(record)])
        } else {
            try run(
                "UPDATE records SET tree = ? WHERE zone = ? AND name = ?",
                [.optional(tree), .zone(zone), .name(record)])
        }
        if var place = places[key] ?? nil {
            place.tree = tree
            places[key] = place
        }
        if let share { try removeExit(zone, record, share) }
    }

    func removeExit(
        _ zone: ZoneHandle, _ record: RecordName, _ share: RecordName
    ) throws(ServerError) {
        try run(
            "DELETE FROM exits WHERE zone = ? AND name = ? AND share = ?",
            [.zone(zone), .name(record), .name(share)])
    }

    func putTreeWork(
        _ zone: ZoneHandle, _ number: TreeNumber, _ work: TreeWork
    ) throws(ServerError) {
        try run(
            "INSERT OR REPLACE INTO tree_work (zone, tree, parent, after) VALUES (?, ?, ?, ?)",
            [
                .zone(zone), .tree(number), .name(work.parent),
                work.after.map { .integer($0) } ?? .null,
            ])
    }

    func removeTreeWork(
        _ zone: ZoneHandle, _ number: TreeNumber, _ parent: RecordName
    ) throws(ServerError) {
        try run(
            "DELETE FROM tree_work WHERE zone = ? AND tree = ? AND parent = ?",
            [.zone(zone), .tree(number), .name(parent)])
    }
}

extension SQLValue {
    static func tree(_ number: TreeNumber) -> SQLValue { .integer(number.rawValue) }
    static func optional(_ number: TreeNumber?) -> SQLValue {
        number.map { .integer($0.rawValue) } ?? .null
    }
}

extension SQLStatement {
    func treeNumber(_ column: Int32) -> TreeNumber? {
        isNull(column) ? nil : TreeNumber(int64(column))
    }

    fileprivate func tree() -> TreeRow {
        TreeRow(
            number: TreeNumber(int64(0)), top: name(1), outer: treeNumber(2),
            share: nameIfPresent(3))
    }

    fileprivate func treeMember() -> TreeMember {
        TreeMember(name: name(0), age: int64(1), tree: treeNumber(2), hasChildren: bool(3))
    }
}
