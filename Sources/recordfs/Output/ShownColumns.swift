extension String {
    /// The text with spaces after it, up to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension [String] {
    /// The first names, and how many more there are.
    var firstFew: String {
        let names = prefix(5).joined(separator: ", ")
        return count > 5 ? "\(names) and \(count - 5) more" : names
    }
}
