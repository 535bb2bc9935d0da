package import RecordModel

/// The forms in which a model is read and written.
package enum ModelText {
    /// The largest text, in bytes. The largest public model has about 0.3 MB.
    package static let bytesMax = 16 << 20

    static let tooLarge = RecordError(
        .tooLarge, "the text is larger than \(bytesMax >> 20) MiB, which is more than a model has.")

    /// Reads a text in the form that it begins with: `<` for the XML of an `.xcdatamodel`, anything
    /// else for our JSON form.
    ///
    /// Errors: `invalidArgument`, `invalidJSON`, `tooLarge`.
    package static func parse(_ text: [UInt8]) throws(RecordError) -> ObjectModel {
        guard text.count <= bytesMax else { throw tooLarge }
        return isXML(text) ? try XMLModelReader.read(text) : try JSONModelReader.read(text)
    }

    private static func isXML(_ text: [UInt8]) -> Bool {
        // JSON is never UTF-16 here.
        let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
        if marks.contains(where: text.starts(with:)) { return true }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: mark) ? text.dropFirst(mark.count) : text[...]
        return start.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// Checks that a text which was made here can be read again.
    ///
    /// Errors: `tooLarge`.
    package static func readable(_ text: [UInt8]) throws(RecordError) -> [UInt8] {
        guard text.count <= bytesMax else { throw tooLarge }
        return text
    }

    /// Reads the name of the version that an app uses from the `.xccurrentversion` of an
    /// `.xcdatamodeld`. Returns nil when the property list names none.
    ///
    /// Errors: `invalidArgument`.
    package static func currentVersion(_ text: [UInt8]) throws(RecordError) -> String? {
        let entries = try XMLReader.parse(text).children(named: "dict").first?.children ?? []
        for (key, value) in zip(entries, entries.dropFirst())
        where key.name == "key" && key.text == "_XCCurrentVersionName" {
            return value.text
        }
        return nil
    }

    /// Returns an `.xccurrentversion`.
    /// - Parameter name: the name of the version's folder, with `.xcdatamodel`.
    ///
    /// Errors: `invalidArgument` for a name that XML cannot hold.
    package static func printCurrentVersion(_ name: String) throws(RecordError) -> [UInt8] {
        let entries = [
            XMLElement("key", text: "_XCCurrentVersionName"), XMLElement("string", text: name),
        ]
        return try XMLWriter.print(
            XMLElement(
                "plist", [XMLAttribute("version", "1.0")],
                children: [XMLElement("dict", children: entries)]))
            + [UInt8(ascii: "\n")]
    }
}
