package import RecordModel

/// The forms in which a model is read and written.
package enum ModelText {
    /// Reads a text in the form that it begins with: `<` for the XML of an `.xcdatamodel`, anything
    /// else for our JSON form.
    ///
    /// Errors: `invalidArgument`, `invalidJSON`.
    package static func parse(_ text: [UInt8]) throws(RecordError) -> ObjectModel {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: byteOrderMark) ? text.dropFirst(3) : text[...]
        let isXML = start.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
        return isXML ? try XMLModelReader.read(text) : try JSONModelReader.read(text)
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
