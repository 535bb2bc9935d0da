import Glibc
import RecordControl
import RecordModel
import RecordObjects
import Testing

/// Models on the disk.
@Suite
struct ModelFileTests {
    private let directory: TemporaryDirectory
    private var folder: String { "\(directory.path)/Shop.xcdatamodeld" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a version of the model, with one entity.
    private func write(_ version: String, entity: String, named file: String = "contents") throws {
        try HostDirectory.make("\(folder)/\(version)")
        try writeWholeFile(
            bytes("<model><entity name=\"\(entity)\"/></model>"), to: "\(folder)/\(version)/\(file)"
        )
    }

    private func entities(version: String? = nil) throws -> [String] {
        try ModelFile(path: folder).model(version: version).entities.map(\.name)
    }

    private func message() -> String? {
        do throws(RecordError) {
            _ = try ModelFile(path: folder).model()
            return nil
        } catch {
            return error.description
        }
    }

    @Test("the version that the app uses is read, and any other by its name")
    func versions() throws {
        try write("Shop.xcdatamodel", entity: "Old")
        #expect(try entities() == ["Old"])
        try write("Shop 2.xcdatamodel", entity: "New")
        #expect(message()?.contains("it has 2 versions, and no .xccurrentversion") == true)
        try writeWholeFile(
            try ModelText.printCurrentVersion("Shop 2.xcdatamodel"),
            to: folder + "/.xccurrentversion")
        #expect(try entities() == ["New"])
        #expect(try entities(version: "Shop") == ["Old"])
        #expect(throws: RecordError.self) { try entities(version: "Shop 3") }
        #expect(try ModelFile(path: folder + "/").versions == ["Shop", "Shop 2"])
    }

    @Test("a marker that names no version, and one that names a version that is gone")
    func markers() throws {
        try write("Shop.xcdatamodel", entity: "Only")
        let marker = folder + "/.xccurrentversion"
        try writeWholeFile(bytes("<plist><dict/></plist>"), to: marker)
        #expect(try entities() == ["Only"])
        try writeWholeFile(try ModelText.printCurrentVersion("Gone.xcdatamodel"), to: marker)
        #expect(
            message()?.hasSuffix("it names \"Gone.xcdatamodel\", which is no version here.") == true
        )
    }

    @Test("a version that cannot be read does not hide the others")
    func binary() throws {
        try write("Shop.xcdatamodel", entity: "Old", named: "elements")
        #expect(message()?.contains("binary form of Xcode 3") == true)
        try write("Shop 2.xcdatamodel", entity: "New")
        #expect(try entities(version: "Shop 2") == ["New"])
    }

    @Test("a folder without a model, and no folder")
    func missing() throws {
        try HostDirectory.make(folder)
        #expect(message()?.contains("so it is no model") == true)
        #expect(throws: RecordError.self) { try ModelFile(path: "\(directory.path)/none").model() }
    }

    @Test("a folder with several versions is not written into; a single version is replaced")
    func writtenOver() throws {
        try write("Old.xcdatamodel", entity: "Old")
        let model = ObjectModel(entities: [Entity(name: "Post")])
        try ModelOutput.writeFolder(model, to: folder)
        #expect(try ModelFile(path: folder).versions == ["Old"])
        #expect(try entities() == ["Post"])
        try write("New.xcdatamodel", entity: "New")
        #expect(throws: RecordError.self) { try ModelOutput.writeFolder(model, to: folder) }
        #expect(try entities(version: "New") == ["New"])
        #expect(try entities() == ["Post"])
    }

    @Test("a model that was written as a folder is read again, with its version's name")
    func written() throws {
        let model = ObjectModel(entities: [Entity(name: "Post")])
        try ModelOutput.writeFolder(model, to: folder + "/")
        #expect(try entities() == ["Post"])
        #expect(try ModelFile(path: folder).versions == ["Shop"])
        let single = "\(directory.path)/One.xcdatamodel"
        try ModelOutput.writeFolder(model, to: single)
        #expect(try ModelFile(path: single).model().entities == model.entities)
        #expect(try ModelFile(path: single + "/contents").model().entities == model.entities)
    }
}
