import RecordModel
import RecordSQL
import RecordStore

extension RemoteApplication {
    /// Returns the text of a record that the server has told, in the names and forms of the type.
    func printed(
        _ fields: [RecordField], _ parent: RecordName?, _ type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        RecordDocument.print(
            fields, parent: parent, mapping: try transaction.schema(of: type).mapping)
    }

    /// Returns a file of the record that holds everything that the server has of it. The file is
    /// printed when the text lacks the hash of a large field.
    func whole(
        _ fileText: [UInt8]?, _ document: RecordDocument, _ type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        let printed = document.text
        guard let fileText, fileText != printed else { return printed }
        let assets = KeptAsset.all(in: document.fields).count
        guard assets > 0 else { return fileText }
        let written = try transaction.records.parse(fileText, of: type)
        return KeptAsset.all(in: written.fields).count == assets ? fileText : printed
    }

    /// Returns the file of the record as every machine has it: the text as it was written, or a
    /// printed text when the written one does not have the values.
    ///
    /// Its large fields have their present names. The author of the text may have had the record
    /// under another name, beside a record that no longer exists. Returns nil when the server keeps
    /// no texts.
    ///
    /// - Parameters:
    ///   - stem: the stem under which the record shows.
    ///   - record: the record on this machine.
    func fileText(
        of change: RemoteChange, printed: [UInt8], as stem: Stem, of record: RecordID? = nil
    ) throws(RecordError) -> [UInt8]? {
        switch change.fileText {
        case .unknown: return nil
        case .none: return printed
        case .text(let text):
            // A value that is written without its type has the type of the schema.
            let told = try transaction.records.parse(printed, of: change.type)
            try transaction.adopt(told, change.type, replacing: record)
            do throws(RecordError) {
                let written = try transaction.records.parse(text, of: change.type)
                guard written.saysTheSame(as: told) else { return printed }
                // `6.0` for a whole number makes the field one of fractions, if its type may
                // change.
                try transaction.adopt(written, change.type, replacing: record)
                return try translated(written, change.type).renamingAssets(to: stem)
            } catch  where error.isAboutContent {
                return printed
            }
        }
    }

    /// Returns a text of a machine without the model in the names and forms of the model.
    private func translated(
        _ document: RecordDocument, _ type: RecordTypeName
    ) throws(RecordError) -> RecordDocument {
        guard document.hasFieldNames else { return document }
        let text = try document.translated(
            to: try transaction.schema(of: type), limits: .received)
        return try transaction.records.parse(text, of: type)
    }
}

extension RemoteChange {
    var textOnServer: TextOnServer { fileText == .none ? .printed : .sent }
}
