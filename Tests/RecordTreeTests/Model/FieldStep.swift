import TestSupport

/// One call, or one save of a program, about records with a large field `NAME@photo.jpg`.
enum FieldStep: Sendable, Equatable {
    case save(String, Int), saveNull(String, Int), copy(String, String)
    case write(String, String), append(String, String), truncate(String, Int)
    case removeField(String), fieldToScratch(String, String), scratchToField(String, String)
    case link(String, String), renameField(String, String), exchangeFields(String, String)
    case exchangeWithField(String, String)
    case removeRecord(String), renameRecord(String, String), exchangeRecords(String, String)
    case recordToScratch(String, String), scratchToRecord(String, String)
    case exchangeWithRecord(String, String)
    case writeScratch(String, String), removeScratch(String)
    case remount

    static let records = ["a", "b", "c"]
    static let scratch = ["s", "t"]
    private static let bytes = ["one", "two two", "", "three\n"]

    static func random(from random: inout SeededRandom) -> FieldStep {
        let (record, other) = (random.pick(records), random.pick(records))
        let (file, bytes, number) = (random.pick(scratch), random.pick(bytes), random.below(9))
        let steps: [FieldStep] = [
            .save(record, number), .save(record, number), .saveNull(record, number),
            .copy(record, other), .write(record, bytes), .write(record, bytes),
            .append(record, bytes), .truncate(record, number), .removeField(record),
            .fieldToScratch(record, file), .scratchToField(file, record), .link(file, record),
            .renameField(record, other), .exchangeFields(record, other),
            .exchangeWithField(file, record), .removeRecord(record),
            .renameRecord(record, other), .renameRecord(record, other),
            .exchangeRecords(record, other), .recordToScratch(record, file),
            .scratchToRecord(file, record), .exchangeWithRecord(file, record),
            .writeScratch(file, bytes), .removeScratch(file), .remount,
        ]
        return random.pick(steps)
    }
}
