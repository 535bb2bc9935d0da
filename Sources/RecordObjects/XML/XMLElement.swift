/// An element of an XML text, without the text between its children.
package struct XMLElement: Hashable, Sendable {
    package var name: String
    /// The attributes in the order of the text.
    package var attributes: [XMLAttribute]
    package var children: [XMLElement]
    /// The characters of an element without children: the values in a property list.
    package var text: String

    package init(
        _ name: String, _ attributes: [XMLAttribute] = [], children: [XMLElement] = [],
        text: String = ""
    ) {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.text = text
    }

    /// The value of an attribute.
    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    package func children(named name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }
}

/// An attribute of an XML element.
package struct XMLAttribute: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
