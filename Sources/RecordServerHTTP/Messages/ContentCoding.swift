import RecordServerCore

/// The codings of an answer that a client accepts (RFC 9110, section 12.5.3).
enum ContentCoding {
    /// Returns whether Accept-Encoding names gzip, or everything, with a weight above 0.
    static func takesGzip(_ header: String?) -> Bool {
        var weights: [String: Double] = [:]
        for item in (header ?? "").split(separator: ",") {
            let coding = HeaderParameters(String(item))
            weights[coding.value] = coding["q"].map { Double($0) ?? 0 } ?? 1
        }
        return (weights["gzip"] ?? weights["x-gzip"] ?? weights["*"] ?? 0) > 0
    }
}
