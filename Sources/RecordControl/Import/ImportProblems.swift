import Glibc
package import RecordModel

/// A row that was not imported.
package struct ImportProblem: Sendable {
    /// The line on which the row begins, from 1. It is nil when several rows share a line, so that
    /// its number does not identify the row.
    package let line: Int?
    /// The number of the row in its source, from 1.
    package let number: Int
    package let file: String?
    package let error: RecordError

    package init(line: Int?, number: Int, file: String?, error: RecordError) {
        self.line = line
        self.number = number
        self.file = file
        self.error = error
    }

    /// Returns `FILE:LINE:COLUMN`, the form that compilers use, or `FILE: row N`.
    ///
    /// - Parameter source: the name of the imported file or directory, as it is shown.
    package func place(in source: String) -> String {
        if let file { return "\(source)/\(file)" }
        if let position = error.position, line.map({ position.line >= $0 }) ?? true {
            return "\(source):\(position.line):\(position.column)"
        }
        return line.map { "\(source):\($0)" } ?? "\(source): row \(number)"
    }

    package func text(in source: String) -> String {
        "\(place(in: source)): \(file == nil ? error.message : error.description)"
    }
}

/// The refused rows of an import: the first ones, all of them grouped by reason, and all in a file
/// when there are more than fit on a screen.
package final class ImportProblems {
    package struct Group: Sendable {
        package let first: ImportProblem
        package var count = 1
    }

    /// The number of rows that are shown one by one.
    package static let shownRows = 10
    /// The largest number of reasons. All further reasons count as one.
    private static let reasonLimit = 500

    private let source: String
    private let directory: String
    private let path: String
    private var file: FileWriting?
    private var reasons: [String: Int] = [:]
    private var allGroups: [Group] = []
    package private(set) var first: [ImportProblem] = []
    package private(set) var count = 0

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - source: the name of the source, as it is shown.
    ///   - stateDirectory: the file is created in its `imports` directory, one for each target.
    package init(source: String, stateDirectory: String, target: RecordPath) {
        self.source = source
        let name = target.description.split(separator: "/").joined(separator: ".")
        directory = "\(stateDirectory)/imports"
        path = "\(directory)/\(name).refused.txt"
    }

    /// The groups, the most frequent first.
    package var groups: [Group] {
        allGroups.enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }.map(\.element)
    }

    /// Adds a row.
    ///
    /// Errors: `noSpace`, `accessDenied`, `ioFailure` of the file.
    package func add(_ problem: ImportProblem) throws(RecordError) {
        count += 1
        let reason = Self.reason(problem.error)
        if let known = reasons[reason] {
            allGroups[known].count += 1
        } else if allGroups.count < Self.reasonLimit {
            reasons[reason] = allGroups.count
            allGroups.append(Group(first: problem))
        } else {
            allGroups[Self.reasonLimit - 1].count += 1
        }
        if first.count < Self.shownRows { return first.append(problem) }
        if file == nil { try begin() }
        try file?.write("\(problem.text(in: source))\n".utf8)
    }

    private func begin() throws(RecordError) {
        mkdir(directory, 0o700)
        let file = try FileWriting(path: path, mode: 0o600)
        for problem in first { try file.write("\(problem.text(in: source))\n".utf8) }
        self.file = file
    }

    /// Moves the file to its place and returns its path. Returns nil when the first rows are all.
    ///
    /// Errors: as `add`.
    package func finish() throws(RecordError) -> String? {
        guard let file else {
            // The file of an earlier run would list rows that are corrected by now.
            unlink(path)
            return nil
        }
        try file.finish()
        return path
    }

    /// Returns the common reason of rows that are refused for the same cause: the message without
    /// its numbers. When the message names the row's own value, it is the code alone.
    private static func reason(_ error: RecordError) -> String {
        switch error.code {
        case .alreadyExists, .invalidName, .nameTooLong: return error.code.rawValue
        default: break
        }
        var reason: [UInt8] = Array(error.code.rawValue.utf8)
        for byte in error.message.utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isDigit, reason.last == UInt8(ascii: "0") { continue }
            reason.append(isDigit ? UInt8(ascii: "0") : byte)
        }
        return String(decoding: reason, as: UTF8.self)
    }
}
