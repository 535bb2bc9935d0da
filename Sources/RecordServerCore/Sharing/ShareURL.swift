import RecordModel
import RecordWire

/// The address of a share: its page on this server.
///
/// The part after the `#` only shows people the title. It is not sent and opens nothing.
enum ShareURL {
    private static let maximumSuffix = 40

    static func text(_ share: ShareRow, title: Text?, baseURL: String) -> Text {
        let address = "\(baseURL)/share/\(share.shortGUID)"
        let suffix = title.map(suffix) ?? ""
        return Text(suffix.isEmpty ? address : "\(address)#\(suffix)")
    }

    /// Returns the address of a one-time link, which opens the same page.
    static func text(ofLink link: Text, baseURL: String) -> Text {
        Text("\(baseURL)/share/\(link)")
    }

    /// Returns the ASCII letters and digits of the title, with one `_` for everything between them.
    private static func suffix(_ title: Text) -> String {
        let words = title.utf8.split { byte in
            !(0x30...0x39).contains(byte) && !(0x41...0x5A).contains(byte)
                && !(0x61...0x7A).contains(byte)
        }
        let text = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "_")
        return String(text.prefix(maximumSuffix))
    }
}
