import RecordModel

extension ControlFrame {
    /// Returns the frame of a request with the name that the program has given itself.
    func signed(by author: AuthorName?) -> ControlFrame {
        guard let author, case .object(let members) = header else { return self }
        let own = JSONMember(key: "author", value: .string(Text(author.text)))
        return ControlFrame(header: .object(members + [own]), body: body)
    }

    /// Returns the name that the program of a request has given itself. Errors: invalidArgument.
    func author() throws(RecordError) -> AuthorName? {
        guard let text = header.stringMember("author") else { return nil }
        return try AuthorName(text)
    }
}
