import ArgumentParser
import Glibc
import RecordControl
import RecordModel

struct ShareCodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr", abstract: "Print the link of a share, on a terminal also as a QR code.",
        discussion: """
            recordfs share PATH does the same. The code is black on white, whatever the colours of \
            the terminal. It is left out, with a message, if the terminal has no colours \
            (NO_COLOR, TERM=dumb) or is too narrow. --qr prints it with colours also where the \
            terminal has none, and into a file or pipe.
            """)

    @OptionGroup var state: StateOptions
    @Flag(inversion: .prefixedNo, help: "Print the QR code; by default on a terminal.")
    var qr: Bool?
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let link = try place.ask(.show(place.path)).stringMember("url") ?? ""
        Terminal.print(link)
        if let qr {
            if qr { try LinkCode.show(link) }
        } else if Terminal.outputIsTerminal {
            try LinkCode.showIfPossible(link)
        }
    }
}

/// The QR code below a link.
enum LinkCode {
    /// Prints the code.
    ///
    /// Errors: the terminal is too narrow.
    static func show(_ link: String) throws(CommandFailure) {
        let code = try QRCode(link)
        if let hindrance = hindrance(to: code) { throw CommandFailure(nil, hindrance) }
        for line in code.lines { Terminal.print(line) }
    }

    /// Prints the code, or the reason why it is left out.
    static func showIfPossible(_ link: String) throws(CommandFailure) {
        if let name = ["NO_COLOR", "TERM"].first(where: isColourless) {
            Terminal.error(
                "recordfs: the QR code is left out: it needs colours (\(name)). --qr prints it with them."
            )
            return
        }
        let code = try QRCode(link)
        if let hindrance = hindrance(to: code) {
            Terminal.error("recordfs: \(hindrance)")
        } else {
            for line in code.lines { Terminal.print(line) }
        }
    }

    /// Returns the reason why the code cannot be shown: broken lines are no code.
    private static func hindrance(to code: QRCode) -> String? {
        guard let size = Terminal.outputSize, size.columns < code.columns else { return nil }
        return "the QR code is left out: it needs \(code.columns) columns, and the terminal has "
            + "\(size.columns)."
    }

    /// Returns whether the variable asks for no colours: NO_COLOR with any value, TERM for a
    /// terminal that has none.
    private static func isColourless(_ name: String) -> Bool {
        guard let value = getenv(name).map({ String(cString: $0) }) else { return false }
        return name == "TERM" ? value == "dumb" : !value.isEmpty
    }
}
