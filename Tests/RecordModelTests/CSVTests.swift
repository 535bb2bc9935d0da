import RecordModel
import TestSupport
import Testing

@Suite("Comma-separated values")
struct CSVTests {
    private func rows(_ input: [UInt8], pieces: Int = 1 << 20) throws -> [CSV.Row] {
        var reader = CSV.Reader()
        var rows: [CSV.Row] = []
        var at = 0
        while at < input.count {
            reader.append(input[at..<min(at + pieces, input.count)])
            at += pieces
            while let row = try reader.next() { rows.append(row) }
        }
        reader.finish()
        while let row = try reader.next() { rows.append(row) }
        return rows
    }

    @Test("quotes, commas, line breaks and both line ends, in pieces of any size")
    func reading() throws {
        let input = bytes(
            "name,text\r\na,\"x, \"\"y\"\"\r\nz\"\n\n\r\n,\"\"\nlast,é")
        for pieces in [1, 2, 3, 7, 1000] {
            let rows = try rows(input, pieces: pieces)
            #expect(
                rows.map { $0.cells.map { text($0.bytes) } } == [
                    ["name", "text"], ["a", "x, \"y\"\r\nz"], ["", ""], ["last", "é"],
                ])
            #expect(rows.map(\.line) == [1, 2, 6, 7])
            #expect(rows[2].cells.map(\.isQuoted) == [false, true])
            #expect(rows.last?.end == input.count)
        }
    }

    @Test("a byte order mark is no part of the first name")
    func byteOrderMark() throws {
        let rows = try rows([0xEF, 0xBB, 0xBF] + bytes("a,b\n"), pieces: 1)
        #expect(rows.first?.cells.first?.bytes == bytes("a"))
    }

    @Test(
        "a malformed row is reported with its place and the next one is read",
        arguments: [
            ("ok,1\nbad,x\"y\nok,2\n", 2, 6), ("ok,1\nbad,\"x\"y\nok,2\n", 2, 8),
            ("ok,1\nbad,x\ry\nok,2\n", 2, 6), ("ok,1\nok,2\nbad,\"open\n", 3, 5),
            ("ok,1\n\"bad\nmore\"x\nok,2\n", 3, 6),
        ] as [(String, Int, Int)])
    func malformed(_ input: String, _ line: Int, _ column: Int) {
        var reader = CSV.Reader()
        reader.append(bytes(input))
        reader.finish()
        var good: [String] = []
        var errors: [TextPosition?] = []
        var isDone = false
        while !isDone {
            do throws(RecordError) {
                if let row = try reader.next() {
                    good.append(text(row.cells[0].bytes))
                } else {
                    isDone = true
                }
            } catch {
                errors.append(error.position)
                #expect(error.code == .invalidArgument)
            }
        }
        #expect(good == ["ok", "ok"])
        #expect(errors.map { $0?.line } == [line])
        #expect(errors.map { $0?.column } == [column])
    }

    @Test("what is written is read back", arguments: 0..<4)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let alphabet = bytes("ab,\"\r\n é")
        for _ in 0..<300 {
            let cells: [[UInt8]] = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                }
            }
            let rows = try rows(CSV.line(cells) + CSV.line([bytes("end")]), pieces: 3)
            #expect(rows.map { $0.cells.map(\.bytes) } == [cells, [bytes("end")]])
        }
    }

    @Test("no value and an empty text are told apart")
    func missing() throws {
        let line = CSV.line([bytes("a"), nil, []])
        #expect(text(line) == "a,,\"\"\n")
        #expect(try rows(line)[0].cells.map(\.isQuoted) == [false, false, true])
        #expect(text(CSV.line([nil] as [[UInt8]?])) == "\"\"\n")
    }
}
