import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import RecordStore
@testable import RecordTree

/// The memory of what programs have read, beside a list of it for each program.
@Suite("Readings beside a simple list")
struct ReadingsWalkTests {
    private typealias Name = Readings.Name

    private struct Known: Equatable {
        var texts: [[UInt8]] = []
        var files: Set<RecordFile> = []
        var gone: [[UInt8]] = []

        init() {}
        init(_ known: Readings.Known) {
            (texts, files) = (known.texts, Set(known.files))
            gone = known.gone.map(\.text)
        }

        mutating func add(_ text: [UInt8]) {
            texts.removeAll { $0 == text }
            texts = (texts + [text]).suffix(4)
        }
    }

    /// The knowledge of one program of a record. Nothing says that the text of `written` is what the
    /// file shows.
    private struct Reading {
        let name: Name
        var known = Known()
        var written: [RecordFile: [UInt8]] = [:]

        var bytes: Int {
            (known.texts + known.gone + written.values).reduce(0) { $0 + $1.count }
        }
    }

    /// The records of each program, the one that was read last at the end.
    private struct Model {
        var programs: [Int32: [Reading]] = [:]

        mutating func change(
            _ name: Name, of program: Int32, _ body: (inout Reading) -> Void
        ) {
            var readings = programs[program] ?? []
            let index = readings.firstIndex { $0.name == name }
            var reading = index.map { readings.remove(at: $0) } ?? Reading(name: name)
            body(&reading)
            programs[program] = (readings + [reading]).suffix(64)
        }

        mutating func note(_ file: RecordFile, _ name: Name, by program: Int32) {
            change(name, of: program) { $0.known.files.insert(file) }
        }

        mutating func replace(
            _ file: RecordFile, _ name: Name, _ text: [UInt8], isRemoved: Bool, isByServer: Bool
        ) {
            for (program, readings) in programs
            where readings.contains(where: { $0.known.files.contains(file) }) {
                change(name, of: program) { reading in
                    reading.known.files.remove(file)
                    let text = reading.written.removeValue(forKey: file) ?? text
                    if isRemoved {
                        reading.known.gone = [text]
                    } else if isByServer {
                        reading.known.add(text)
                    }
                }
            }
        }

        mutating func forget(_ name: Name, of program: Int32) {
            programs[program]?.removeAll { $0.name == name }
        }
    }

    private static func name(_ number: Int) -> Name {
        Name(type: TypeID(Int64(number % 2)), stem: Stem(bytes: "r\(number)".b))
    }

    private static func replaced(
        _ file: RecordFile, _ name: Name, _ text: [UInt8], by author: Author,
        _ effect: FileEffect, version: Int64?
    ) -> ReplacedFile {
        let moment = Timestamp(seconds: 1)
        let entry = RecordEntry(
            id: file.record, incarnation: file.incarnation, type: name.type, stem: name.stem,
            state: .saved, hasDraft: false, hasAssets: false, isAwaited: false,
            size: Int64(text.count), modified: moment, created: moment, statusChanged: moment)
        return ReplacedFile(
            entry: entry, text: text, author: author, effect: effect, version: version)
    }

    private var readings = Readings(table: .system)
    private var model = Model()
    private var incarnations: [Int: UInt32] = [:]
    private var random = SeededRandom(seed: 0)

    private mutating func step() -> String {
        // Most steps are about few records, and some about more than a program is known for.
        let number = random.below(3) == 0 ? random.below(90) : random.below(6)
        let (name, program) = (Self.name(number), Int32(random.below(2) + 1))
        let file = RecordFile(
            record: RecordID(Int64(number)), incarnation: incarnations[number, default: 0])
        let text = "text \(random.below(7))".b
        switch random.below(12) {
        case 0..<5:
            readings.note(file, name, by: program)
            model.note(file, name, by: program)
            return "\(program) reads \(file)"
        case 5:
            readings.note(text: text, name, by: program)
            model.change(name, of: program) { $0.known.add(text) }
            return "\(program) reads a past text of \(number)"
        case 6, 7, 8: return replace(file, name, text, number)
        case 9, 10:
            let (isMerged, isWhole) = (random.below(3) == 0, random.below(2) == 0)
            readings.saved(text, name, in: isMerged ? nil : file, isWhole: isWhole, by: program)
            model.forget(name, of: program)
            if isMerged {
                model.change(name, of: program) { $0.known.add(text) }
            } else {
                model.note(file, name, by: program)
                if !isWhole { model.change(name, of: program) { $0.written[file] = text } }
            }
            return "\(program) saves \(file), merged \(isMerged), whole \(isWhole)"
        default:
            guard random.below(8) == 0 else { return "nothing" }
            readings.forget(name)
            for program in model.programs.keys { model.forget(name, of: program) }
            return "\(number) is another record's name"
        }
    }

    private mutating func replace(
        _ file: RecordFile, _ name: Name, _ text: [UInt8], _ number: Int
    ) -> String {
        let (isByServer, isRemoved) = (random.below(2) == 0, random.below(3) == 0)
        // The removal of a draft without a record says nothing.
        let version: Int64? = random.below(4) == 0 ? nil : 7
        readings.replaced(
            Self.replaced(
                file, name, text, by: isByServer ? .sync : .mount,
                isRemoved ? .removed : .replaced, version: version), at: Timestamp(seconds: 1))
        if !isRemoved || version != nil {
            model.replace(file, name, text, isRemoved: isRemoved, isByServer: isByServer)
        }
        incarnations[number, default: 0] += 1
        return "\(file) is replaced, removed \(isRemoved), by the server \(isByServer)"
    }

    private var problem: String? {
        if let violation = readings.violations.first { return violation }
        let bytes = model.programs.values.joined().reduce(0) { $0 + $1.bytes }
        guard readings.bytes == bytes else { return "counts \(readings.bytes), not \(bytes)" }
        for program: Int32 in 1...2 {
            for number in 0..<90 {
                let name = Self.name(number)
                let reading = model.programs[program]?.first { $0.name == name }
                let (known, expected) = (
                    Known(readings.known(name, by: [program])), reading?.known ?? Known()
                )
                guard known == expected else {
                    return "\(program) knows \(known) of \(number), not \(expected)"
                }
                let isOld = !expected.texts.isEmpty || !expected.gone.isEmpty
                guard readings.haveOld(name, [program]) == isOld else {
                    return "\(program) has something old of \(number): \(!isOld)"
                }
            }
        }
        return nil
    }

    @Test("a program is known for the texts of the records that it read last", arguments: 1...20)
    func walk(seed: Int) {
        var walk = ReadingsWalkTests()
        walk.random = SeededRandom(seed: UInt64(seed))
        var steps: [String] = []
        for number in 0..<500 {
            steps.append(walk.step())
            guard number % 5 == 0, let problem = walk.problem else { continue }
            Issue.record("\(problem) after\n\(steps.suffix(20).joined(separator: "\n"))")
            return
        }
        for number in 0..<90 { walk.readings.forget(Self.name(number)) }
        #expect(walk.readings.bytes == 0 && walk.readings.programs.isEmpty)
    }

    // MARK: Bounds

    @Test("large texts have 8 MiB, and the program that reads goes on", arguments: 1...10)
    func texts(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var readings = Readings(table: .system)
        for number in 0..<60 {
            let (program, name) = (Int32(random.below(5)), Self.name(random.below(4)))
            let size = random.pick([10, 1 << 20, 3 << 20, 9 << 20])
            let text = [UInt8](repeating: UInt8(number), count: size)
            readings.note(text: text, name, by: program)
            #expect(readings.bytes <= 8 << 20)
            #expect(readings.violations == [])
            let known = readings.known(name, by: [program]).texts
            #expect(known.last == text || known.isEmpty && readings.readers[program] == nil)
            #expect(known.last == text || size > 2 << 20)
        }
    }

    @Test("of very many programs those that have ended go first, then those that began first")
    func programs() {
        let name = Self.name(1)
        var readings = Readings(
            table: ProgramTable(program: { $0 }, isRunning: { $0 % 2 == 0 || $0 > 2000 }))
        func isKnown(_ program: Int32) -> Bool {
            !readings.known(name, by: [program]).texts.isEmpty
        }
        for program: Int32 in 1...1024 { readings.note(text: "x".b, name, by: program) }
        #expect(readings.readers.count == 1024)
        readings.note(text: "x".b, name, by: 2001)
        #expect(readings.readers.count == 513 && isKnown(2) && !isKnown(1) && isKnown(2001))
        for program: Int32 in 2002...2512 { readings.note(text: "x".b, name, by: program) }
        #expect(readings.readers.count == 1024)
        // Who reads again is no newcomer.
        readings.note(text: "y".b, name, by: 2)
        #expect(readings.readers.count == 1024)
        readings.note(text: "x".b, name, by: 2513)
        #expect(readings.readers.count == 513 && !isKnown(1024) && isKnown(2001) && isKnown(2513))
        #expect(readings.violations == [] && readings.bytes == 513)
    }
}

/// The versions that programs had of large fields, beside a list of them for each program.
@Suite("Readings of fields beside a simple list")
struct FieldReadingsWalkTests {
    private static func file(_ number: Int) -> AssetKey {
        AssetKey(
            record: RecordID(Int64(number / 2)), field: FieldName("photo"),
            index: number % 2 == 0 ? nil : 1)
    }

    @Test("a program is known for the 64 files that it read last", arguments: 1...20)
    func walk(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var readings = FieldReadings()
        var expected: [Int32: [(file: AssetKey, version: Int64)]] = [:]
        for _ in 0..<400 {
            let number = random.below(2) == 0 ? random.below(100) : random.below(8)
            let (file, version) = (Self.file(number), Int64(random.below(50)))
            let program = Int32(random.below(3))
            readings.note(version, of: file, by: program, in: .system)
            let others = (expected[program] ?? []).filter { $0.file != file }
            expected[program] = (others + [(file, version)]).suffix(64)
            #expect(readings.violations == [])
            let (asked, programs) = (
                Self.file(random.below(100)), Set((0..<2).map { _ in Int32(random.below(3)) })
            )
            let versions = programs.compactMap { program in
                expected[program]?.first { $0.file == asked }?.version
            }
            #expect(readings.version(of: asked, by: programs) == versions.max())
        }
    }

    @Test("of very many programs those that have ended go first")
    func programs() {
        let table = ProgramTable(program: { $0 }, isRunning: { $0 % 2 == 0 })
        var readings = FieldReadings()
        for program: Int32 in 1...1025 {
            readings.note(1, of: Self.file(0), by: program, in: table)
        }
        #expect(readings.readers.count == 513)
        #expect(readings.version(of: Self.file(0), by: [1]) == nil)
        #expect(readings.version(of: Self.file(0), by: [2, 1025]) == 1)
    }
}
