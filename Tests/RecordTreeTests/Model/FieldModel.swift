/// The expected files of records with a large field, when each step has had its grace time (MountContract,
/// "Assets" and "Renaming and moving a record").
struct FieldModel {
    struct Record: Equatable {
        var number: Int
        var photo: String?
        /// Indicates whether the text says that there is none.
        var isNull = false
    }

    /// A file of this machine: bytes, or the text of a record that it was or is a copy of.
    enum Scratch: Equatable { case bytes(String), record(Record) }

    var records: [String: Record] = [:]
    var scratch: [String: Scratch] = [:]

    /// - Returns: whether the contract says what the step does.
    mutating func apply(_ step: FieldStep) -> Bool {
        switch step {
        case .save(let name, let number):
            // A large field that is a file is not removed by a text without it.
            records[name, default: Record(number: 0)].number = number
            records[name]?.isNull = false
        case .saveNull(let name, let number):
            records[name] = Record(number: number, isNull: true)
        case .copy(let name, let other):
            guard name != other, let record = records[name] else { return false }
            // A reference with a hash means those bytes, under the copy's own name.
            records[other] = take(record, as: other)
        case .removeRecord(let name): return records.removeValue(forKey: name) != nil
        case .renameRecord(let name, let other):
            guard name != other, let record = records.removeValue(forKey: name) else {
                return false
            }
            records[other] = record
        case .exchangeRecords(let name, let other):
            guard name != other, let one = records[name], let two = records[other] else {
                return false
            }
            (records[name], records[other]) = (two, one)
        case .recordToScratch(let name, let file):
            guard let record = records.removeValue(forKey: name) else { return false }
            scratch[file] = .record(record)
        case .scratchToRecord(let file, let name):
            guard case .record(let record)? = scratch.removeValue(forKey: file) else {
                return false
            }
            records[name] = take(record, as: name)
        case .exchangeWithRecord(let file, let name):
            guard case .record(let record)? = scratch[file], let old = records[name] else {
                return false
            }
            records[name] = take(record, as: name)
            scratch[file] = .record(old)
        case .writeScratch(let file, let bytes): scratch[file] = .bytes(bytes)
        case .removeScratch(let file): return scratch.removeValue(forKey: file) != nil
        case .remount: break
        default: return applyToField(step)
        }
        return true
    }

    private func take(_ record: Record, as name: String) -> Record {
        var taken = record
        if !record.isNull, record.photo == nil { taken.photo = records[name]?.photo }
        return taken
    }

    private mutating func applyToField(_ step: FieldStep) -> Bool {
        switch step {
        case .write(let name, let bytes):
            guard records[name] != nil else { return false }
            records[name]?.photo = bytes
        case .append(let name, let bytes):
            guard let photo = records[name]?.photo else { return false }
            records[name]?.photo = photo + bytes
        case .truncate(let name, let size):
            guard let photo = records[name]?.photo, size <= photo.utf8.count else { return false }
            records[name]?.photo = String(photo.prefix(size))
        case .removeField(let name):
            guard records[name]?.photo != nil else { return false }
            records[name]?.photo = nil
        case .fieldToScratch(let name, let file):
            guard let photo = records[name]?.photo else { return false }
            records[name]?.photo = nil
            scratch[file] = .bytes(photo)
        case .scratchToField(let file, let name):
            guard records[name] != nil, case .bytes(let bytes)? = scratch[file] else {
                return false
            }
            records[name]?.photo = bytes
            scratch[file] = nil
        case .link(let file, let name):
            guard let record = records[name], record.photo == nil,
                case .bytes(let bytes)? = scratch[file]
            else { return false }
            records[name]?.photo = bytes
        case .renameField(let name, let other):
            guard name != other, let photo = records[name]?.photo, records[other] != nil else {
                return false
            }
            records[name]?.photo = nil
            records[other]?.photo = photo
        case .exchangeFields(let name, let other):
            guard name != other, let one = records[name]?.photo, let two = records[other]?.photo
            else { return false }
            records[name]?.photo = two
            records[other]?.photo = one
        case .exchangeWithField(let file, let name):
            guard let photo = records[name]?.photo, case .bytes(let bytes)? = scratch[file] else {
                return false
            }
            records[name]?.photo = bytes
            scratch[file] = .bytes(photo)
        default: return false
        }
        for name in records.keys where records[name]?.photo != nil {
            records[name]?.isNull = false
        }
        return true
    }
}
