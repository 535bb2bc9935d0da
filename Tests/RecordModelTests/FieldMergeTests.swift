import RecordModel
import Testing

@Suite("Merging by field")
struct FieldMergeTests {
    private func fields(_ values: [Int64?]) -> [RecordField] {
        values.enumerated().compactMap { index, value in
            value.map { RecordField(name: FieldName("f\(index)"), value: .int64($0)) }
        }
    }

    /// What a field must become, written out apart from the code.
    private func outcome(_ base: Int64?, _ local: Int64?, _ remote: Int64?) -> (Int64?, Bool) {
        if local == remote { return (local, false) }
        if local == base { return (remote, false) }
        if remote == base { return (local, false) }
        return (local, true)
    }

    @Test("each combination of absent, old and new on three sides has its winner")
    func combinations() {
        let values: [Int64?] = [nil, 1, 2, 3]
        for base in values {
            for local in values {
                for remote in values {
                    let result = FieldMerge.merge(
                        base: fields([base]), local: fields([local]), remote: fields([remote]))
                    let (winner, isConflict) = outcome(base, local, remote)
                    #expect(result.merged == fields([winner]))
                    #expect(
                        result.conflicts == (isConflict ? ["f0"] : []),
                        "\(base as Any) \(local as Any) \(remote as Any)")
                }
            }
        }
    }

    @Test("without a base, what only one side has stays, and differences are conflicts")
    func noBase() {
        let result = FieldMerge.merge(
            base: nil, local: fields([1, nil, 3, 4]), remote: fields([1, 2, nil, 5]))
        #expect(result.conflicts == ["f3"])
        #expect(Set(result.merged) == Set(fields([1, 2, 3, 4])))
    }

    @Test("the local order stays and remote fields follow")
    func order() {
        let field = { (name: String) in RecordField(name: FieldName(name), value: .int64(1)) }
        let result = FieldMerge.merge(
            base: [], local: [field("c"), field("a")], remote: [field("d"), field("a"), field("b")])
        #expect(result.merged.map(\.name) == ["c", "a", "d", "b"])
    }

    @Test("changed fields are those with another value, wherever they stand")
    func changedFields() {
        let orders: [[Int]] = [
            [], [0], [1], [2], [0, 1], [1, 0], [0, 2], [1, 2], [0, 1, 2], [2, 1, 0], [1, 2, 0],
        ]
        let texts = orders.flatMap { order in
            [[1, 1, 1], [1, 2, 1], [2, 1, 1], [1, 1, 2]].map { (values: [Int64]) in
                order.map { RecordField(name: FieldName("f\($0)"), value: .int64(values[$0])) }
            }
        }
        for old in texts {
            for new in texts {
                let expected =
                    new.filter { !old.contains($0) }.map(\.name)
                    + old.map(\.name).filter { name in !new.contains { $0.name == name } }
                #expect(FieldMerge.changedFields(from: old, to: new) == expected)
            }
        }
    }
}

extension FieldMerge {
    /// Where both have changed a field, the local value stands.
    fileprivate static func merge(
        base: [RecordField]?, local: [RecordField], remote: [RecordField]
    ) -> (merged: [RecordField], conflicts: [FieldName]) {
        merge(
            base: base, local: local, remote: remote, isLater: { _ in false },
            resolve: { _ in .local })
    }
}
