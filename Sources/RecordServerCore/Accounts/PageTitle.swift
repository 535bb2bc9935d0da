/// The names that people read on a page of the server.
package enum PageTitle {
    /// Returns whether a text can be a name on a page: one short line without controls.
    package static func isWellFormed(_ text: some StringProtocol) -> Bool {
        let scalars = text.unicodeScalars
        return (1...100).contains(scalars.count)
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
                default: true
                }
            } && text.contains { !$0.isWhitespace }
    }
}
