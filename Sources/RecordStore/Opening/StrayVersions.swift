import FoundationEssentials
import RecordModel

/// Versions of history in the pages of a database file, wherever these are. Where the upper pages
/// of the table are damaged, SQLite cannot find the lower pages, which are whole.
///
/// The format is that of <https://www.sqlite.org/fileformat2.html>. Nothing in a page is trusted: a
/// row is taken only if it has the columns of a version, and a text only if its checksum is right.
struct StrayVersions {
    struct Version {
        let token: Int64
        let record: Int64
        let text: [UInt8]
    }

    private let file: Data
    private let pageSize: Int
    /// The part of a page that cells may take.
    private let usable: Int

    /// Opens a database file. Returns nil if the file is no database.
    init?(path: String) throws {
        file = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        guard file.count >= 512, file.starts(with: "SQLite format 3\0".utf8) else { return nil }
        let size = Int(file[16]) << 8 | Int(file[17])
        pageSize = size == 1 ? 65_536 : size
        usable = pageSize - Int(file[20])
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1, usable >= 480 else { return nil }
    }

    /// Returns the versions in the order of their pages.
    func all() -> [Version] {
        var found: [Version] = []
        for page in 0..<file.count / pageSize { found += versions(on: page) }
        return found
    }

    private func versions(on page: Int) -> [Version] {
        let start = page * pageSize
        let header = page == 0 ? start + 100 : start
        // A leaf of a table.
        guard file[header] == 13, let count = file.integer(at: header + 3, 2) else { return [] }
        return (0..<Int(count)).compactMap { index in
            guard 8 + 2 * index + 2 <= usable,
                let offset = file.integer(at: header + 8 + 2 * index, 2),
                (8..<Int64(usable)).contains(offset)
            else { return nil }
            return version(at: start + Int(offset), on: page)
        }
    }

    private func version(at cell: Int, on page: Int) -> Version? {
        var place = cell
        guard let size = file.variable(at: &place), let token = file.variable(at: &place),
            (1...(1 << 28)).contains(size),
            let row = payload(Int(size), at: place, on: page)
        else { return nil }
        return Row(row)?.version(token)
    }

    /// Collects a row. The part that does not fit into the page continues on other pages, each with
    /// the number of the next.
    private func payload(_ size: Int, at place: Int, on page: Int) -> Data? {
        let most = usable - 35
        let least = (usable - 12) * 32 / 255 - 23
        let kept = least + (size - least) % (usable - 4)
        let local = size <= most ? size : kept <= most ? kept : least
        let end = (page + 1) * pageSize
        guard place + local <= end else { return nil }
        var row = file[place..<place + local]
        var next = local < size ? file.integer(at: place + local, 4) : nil
        while row.count < size {
            guard let number = next, number > 0, number <= file.count / pageSize else { return nil }
            let start = (Int(number) - 1) * pageSize
            next = file.integer(at: start, 4)
            row += file[start + 4..<start + 4 + min(usable - 4, size - row.count)]
        }
        return Data(row)
    }
}

/// The columns of one row.
private struct Row {
    private enum Value {
        case null
        case integer(Int64)
        case bytes(Data)
        /// A number with a fraction. A version has none.
        case other
    }

    private var values: [Value] = []

    init?(_ row: Data) {
        var place = 0
        guard let end = row.variable(at: &place), end <= row.count else { return nil }
        var start = Int(end)
        while place < end {
            guard let type = row.variable(at: &place) else { return nil }
            let width = Self.width(type)
            guard width >= 0, start + width <= row.count else { return nil }
            switch type {
            case 0: values.append(.null)
            case 8, 9: values.append(.integer(type - 8))
            case 1...6:
                guard let number = row.integer(at: start, width) else { return nil }
                let unused = 64 - 8 * width
                values.append(.integer((number << unused) >> unused))
            case 12...: values.append(.bytes(Data(row[start..<start + width])))
            default: values.append(.other)
            }
            start += width
        }
    }

    private static func width(_ type: Int64) -> Int {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 12...: Int(type - 12) / 2
        default: -1
        }
    }

    /// Reads a version. Returns nil for a row of another table, and for a text that differs from
    /// the stored one.
    func version(_ token: Int64) -> StrayVersions.Version? {
        guard values.count >= 12, case .bytes(let kind) = values[3],
            ChangeKind(rawValue: String(decoding: kind, as: UTF8.self)) != nil,
            case .integer(let record) = values[7], case .bytes(let data) = values[10],
            case .integer(let checksum) = values[11]
        else { return nil }
        let text = Array(data)
        guard !text.isEmpty, TextChecksum.of(text) == checksum else { return nil }
        return StrayVersions.Version(token: token, record: record, text: text)
    }
}

extension Data {
    /// Reads a big-endian number without a sign. Returns nil beyond the end.
    fileprivate func integer(at place: Int, _ bytes: Int) -> Int64? {
        let start = startIndex + place
        guard place >= 0, start + bytes <= endIndex else { return nil }
        return self[start..<start + bytes].reduce(0) { ($0 << 8) | Int64($1) }
    }

    /// Reads a number of one to nine bytes, seven bits in each except the ninth.
    fileprivate func variable(at place: inout Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard place >= 0, startIndex + place < endIndex else { return nil }
            let byte = self[startIndex + place]
            place += 1
            if index == 8 { return Int64(bitPattern: (value << 8) | UInt64(byte)) }
            value = (value << 7) | UInt64(byte & 0x7F)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
