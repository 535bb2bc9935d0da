import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

extension RecordDictionary {
    /// Replaces long texts by changes of the server's texts.
    mutating func splice(since claim: OutboxClaim) {
        guard let base = claim.base, let document = claim.baseDocument else { return }
        for place in fields.indices {
            guard case .string(let new)? = fields[place].value,
                let old = document[fields[place].name]?.longText,
                !claim.longFieldsOfBase.contains(fields[place].name),
                let splice = TextSplice(from: old, to: new.utf8)
            else { continue }
            (fields[place].splice, fields[place].value) = (splice, nil)
        }
        if let new = fileText, let old = base.fileText,
            let splice = TextSplice(from: old, to: new.utf8)
        {
            (fileTextSplice, fileText) = (splice, nil)
        }
    }

    var hasSplices: Bool {
        fileTextSplice != nil || fields.contains { $0.splice != nil }
    }
}

extension FieldValue {
    /// The text on the wire of a long text or of nested JSON.
    var longText: [UInt8]? {
        switch self {
        case .string, .json: longBytes
        default: nil
        }
    }
}

extension RecordAnswer {
    var hasSplices: Bool { fileTextSplice != nil || fields.contains { $0.splice != nil } }

    /// Returns the record with whole texts in place of the changes of known texts. Returns nil
    /// where the changes belong to other texts.
    func whole(since document: RecordDocument, texts: [[UInt8]]) -> RecordAnswer? {
        var whole = self
        for place in fields.indices {
            guard let splice = fields[place].splice else { continue }
            guard let old = document[fields[place].name]?.longText,
                let text = splice.applied(to: old)
            else { return nil }
            whole.fields[place].value = .string(Text(utf8: text))
            whole.fields[place].splice = nil
        }
        if let splice = fileTextSplice {
            guard let text = texts.lazy.compactMap({ splice.applied(to: $0) }).first else {
                return nil
            }
            whole.fileText = Text(utf8: text)
            whole.fileTextSplice = nil
        }
        return whole
    }
}
