import CQREncode

/// A text as a square of dark and light modules, which a camera reads.
struct QRCode {
    /// Modules of light around it, without which it is not found.
    private static let quietZone = 4
    /// Black on white by their places in the fixed part of the palette: what a terminal's colours are called
    /// may be any colour, and a code in the wrong ones is the negative of one.
    private static let colours = "\u{1B}[38;5;16;48;5;231m"
    private static let end = "\u{1B}[0m"

    private let width: Int
    /// Row by row.
    private let isDark: [Bool]

    /// Of the lowest version that holds it, with the correction of level M.
    ///
    /// Errors: a text of more than 2331 bytes.
    init(_ text: String) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        guard
            let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M)
        else { throw CommandFailure(nil, "the link is too long for a QR code.") }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of each module; the others say what it is for.
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
            .map { $0 & 1 == 1 }
    }

    /// How many columns of a terminal it takes.
    var columns: Int { width + 2 * Self.quietZone }

    /// Lines for a terminal, each of two rows of modules, which are as high as wide then.
    var lines: [String] {
        let range = -Self.quietZone..<width + Self.quietZone
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let blocks = range.map { block(row, $0) }
            return Self.colours + blocks.joined() + Self.end
        }
    }

    private func block(_ row: Int, _ column: Int) -> String {
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
    }

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return isDark[row * width + column]
    }
}
