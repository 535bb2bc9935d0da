/// A number of bytes as people write it: `500M`, `10G`, in powers of 1024.
enum ByteCount {
    /// Reads a number of bytes. Returns nil when it is invalid, or more than a file system holds.
    static func parse(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        var digits = Substring(text)
        var factor: Int64 = 1
        if let unit = digits.last.flatMap({ units[Character($0.uppercased())] }) {
            factor = unit
            digits.removeLast()
        }
        guard !digits.isEmpty, digits.allSatisfy(\.isASCII), let count = Int64(digits), count >= 0
        else { return nil }
        let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: factor)
        return isTooLarge ? nil : bytes
    }

    static let rule = "a number of bytes, such as 500M or 10G"
}
