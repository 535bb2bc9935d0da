import RecordControl
import RecordModel
import Testing

@Suite("Control requests")
struct ControlRequestTests {
    private static let path = RecordPath(
        database: .private, zone: ZoneName("Z"), type: RecordTypeName("T"),
        item: .record(Stem("a")))

    static let all: [ControlRequest] = [
        .put(path, text: bytes("{}")),
        .putAsset(path, file: "/tmp/ä b"),
        .remove(path, recursive: true),
        .remove(path, recursive: false),
        .move(path, to: path.directory),
        .restore(path, version: nil),
        .restore(path, version: 1 << 60),
        .discardDraft(path),
        .pin(path, true),
        .pin(path.directory, false),
        .applySchema(bytes("DEFINE SCHEMA")),
        .importBatch(
            ImportBatch(
                target: path.directory,
                rows: [
                    .init(stem: Stem("a"), text: bytes("{\"a\":1}")),
                    .init(stem: Stem("b"), text: []),
                    .init(stem: Stem("c%2F"), text: bytes("{}")),
                ], stopsAtError: true)),
        .importBatch(rehearsal),
        .search(path.directory, words: bytes("thai soup")),
        .collectAssets,
        .edit(
            .patch(
                [path, path.directory.appending(Stem("b"))], ["n": 1, "t": nil],
                condition: ["n": [2]], isRehearsal: true)),
        .edit(.patch([path], ["n": 1], condition: nil, isRehearsal: false)),
        .edit(.amend(path, text: bytes("{}"), since: bytes("{ }"))),
        .edit(.check(path, text: bytes("{"))),
        .status,
        .verb(.sync), .verb(.pause), .verb(.resume), .verb(.retry), .verb(.shutdown),
        .applyRemote(bytes("{}")),
    ]

    private static var rehearsal: ImportBatch {
        var batch = ImportBatch(
            target: path.directory, rows: [.init(stem: Stem("a"), text: bytes("{}"))])
        batch.fields = [(FieldName("n"), .double), (FieldName("l"), .list(.string))]
        batch.isRehearsal = true
        return batch
    }

    @Test("every request reads back as it was written", arguments: all)
    func roundTrip(request: ControlRequest) throws {
        let frame = request.frame
        let again = try ControlRequest(
            ControlFrame(
                header: try JSONParser.parse(frame.header.serialized()), body: frame.body))
        #expect("\(again)" == "\(request)")
        #expect(again.frame.header == frame.header && again.frame.body == frame.body)
    }
}
