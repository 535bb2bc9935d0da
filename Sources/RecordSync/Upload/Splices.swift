import RecordModel
import RecordStore
import RecordWire

extension RecordDictionary {
    /// Tells long texts as changes of what the server has.
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
    /// What a text, or nested JSON, is on the wire.
    var longText: [UInt8]? {
        switch self {
        case .string, .json: longBytes
        default: nil
        }
    }
}

extension RecordAnswer {
    var hasSplices: Bool { fileTextSplice != nil || fields.contains { $0.splice != nil } }

    /// With the texts that are told as changes of what is known here; nil where they are changes of
    /// something else.
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
