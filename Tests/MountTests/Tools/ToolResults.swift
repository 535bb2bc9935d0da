import Foundation

/// One line of the compatibility table, as `scripts/compatibility-table` reads it.
struct ToolResult: Codable {
    let tool: String
    let content: String
    let status: Int32
    let message: String
    let bytesAsExpected: Bool
    let sameRecord: Bool
    let historyRows: Int
    let outboxRows: Int
    let draft: Bool
    /// Whether the tool itself put the old text back.
    let undone: Bool
}

/// The file to which the suite appends its results: `RECORDFS_TOOL_RESULTS`, or
/// `tool-results.ndjson` in the folder of the test runs.
enum ToolResults {
    static let path: String =
        ProcessInfo.processInfo.environment["RECORDFS_TOOL_RESULTS"]
        ?? "\(TestRoot.base)/tool-results.ndjson"

    private static let started = Locked(false)

    static func append(_ result: ToolResult) throws {
        let isFirst = started.update { flag in
            defer { flag = true }
            return !flag
        }
        if isFirst { try SystemCall.writeFile(path, "") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(result) + Data("\n".utf8)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: line)
        try file.close()
    }
}
