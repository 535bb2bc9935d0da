import CExpat
package import RecordModel

/// Reads an XML text with libexpat, within bounds: a text that declares entities is refused, so
/// that nothing expands, and nothing outside of the text is ever read.
package enum XMLReader {
    /// The largest number of elements. A model of 10 000 entities has some hundred thousand.
    package static let elementsMax = 500_000
    /// The largest depth of elements. A model has 6.
    package static let depthMax = 32

    /// Parses a text.
    /// - Returns: the root element.
    ///
    /// Errors: `invalidArgument` with position.
    package static func parse(_ text: [UInt8]) throws(RecordError) -> XMLElement {
        guard text.count <= ModelText.bytesMax else { throw ModelText.tooLarge }
        // In the encoding that the text declares: UTF-8, UTF-16, ISO-8859-1 or US-ASCII.
        guard let parser = XML_ParserCreate(nil) else {
            throw RecordError(.ioFailure, "there is no memory for an XML parser.")
        }
        defer { XML_ParserFree(parser) }
        var state = XMLReading(parser: parser)
        let status = withUnsafeMutablePointer(to: &state) { state in
            XML_SetUserData(parser, state)
            setHandlers(of: parser)
            return text.withUnsafeBytes { bytes in
                XML_Parse(
                    parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 1)
            }
        }
        let position = TextPosition(
            line: Int(XML_GetCurrentLineNumber(parser)),
            column: Int(XML_GetCurrentColumnNumber(parser)) + 1,
            offset: max(0, Int(XML_GetCurrentByteIndex(parser))))
        if let refusal = state.refusal {
            throw RecordError(.invalidArgument, refusal, at: position)
        }
        guard status == XML_STATUS_OK, let root = state.root else {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
            throw RecordError(
                .invalidArgument, "this is not well-formed XML: \(reason ?? "it has no element").",
                at: position)
        }
        return root
    }

    private static func setHandlers(of parser: XML_Parser) {
        XML_SetElementHandler(
            parser,
            { state, name, attributes in
                XMLReading.of(state)?.pointee.begin(name, attributes)
            },
            { state, _ in XMLReading.of(state)?.pointee.end() })
        XML_SetCharacterDataHandler(
            parser, { state, bytes, count in XMLReading.of(state)?.pointee.add(bytes, count) })
        XML_SetEntityDeclHandler(
            parser,
            { state, _, _, _, _, _, _, _, _ in
                XMLReading.of(state)?.pointee.refuse(
                    "the text declares entities. A model needs none: write what they stand for.")
            })
    }
}

/// The state of a parse, for the handlers.
private struct XMLReading {
    let parser: XML_Parser
    /// The open elements, from the root on.
    var open: [XMLElement] = []
    var count = 0
    var root: XMLElement?
    /// The reason for which this reader has stopped the parser.
    var refusal: String?

    static func of(_ state: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLReading>? {
        state?.assumingMemoryBound(to: XMLReading.self)
    }

    mutating func begin(
        _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        count += 1
        guard count <= XMLReader.elementsMax else {
            return refuse("the text has more than \(XMLReader.elementsMax) elements.")
        }
        guard open.count < XMLReader.depthMax else {
            return refuse("the elements are more than \(XMLReader.depthMax) deep.")
        }
        guard let name else { return }
        var element = XMLElement(String(cString: name))
        var at = 0
        while let key = attributes?[at], let value = attributes?[at + 1] {
            element.attributes.append(XMLAttribute(String(cString: key), String(cString: value)))
            at += 2
        }
        open.append(element)
    }

    mutating func end() {
        guard refusal == nil, var element = open.popLast() else { return }
        // White space between elements is for the eye.
        if !element.children.isEmpty { element.text = "" }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    mutating func add(_ bytes: UnsafePointer<CChar>?, _ count: Int32) {
        guard !open.isEmpty, let bytes else { return }
        let part = UnsafeRawBufferPointer(start: bytes, count: Int(count))
        open[open.count - 1].text += String(decoding: part, as: UTF8.self)
    }

    mutating func refuse(_ reason: String) {
        guard refusal == nil else { return }
        refusal = reason
        XML_StopParser(parser, XML_Bool(XML_FALSE))
    }
}
