import CQREncode

/// A text as a square of dark and light modules, which a camera reads.
struct QRCode {
    /// The number of light modules around the code. Without them a camera does not find it.
    private static let quietZone = 4
    /// Black on white, by their places in the fixed part of the palette. The named colours of a
    /// terminal may be any colours, and a code in the wrong ones is a negative.
    private static let colours = "\u{1B}[38;5;16;48;5;231m"
    private static let end = "\u{1B}[0m"

    private let width: Int
    /// The modules, row by row.
    private let isDark: [Bool]

    /// Creates the code in the lowest version that holds the text, with correction level M.
    ///
    /// Errors: a text of more than 2331 bytes.
    init(_ text: String) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        guard
            let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M)
        else { throw CommandFailure(nil, "the link is too long for a QR code.") }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of each module is its colour. The other bits tell its purpose.
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
            .map { $0 & 1 == 1 }
    }

    /// The number of columns that it takes on a terminal.
    var columns: Int { width + 2 * Self.quietZone }

    /// The lines for a terminal. Each has two rows of modules, so that a module is as high as wide.
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
