import ArgumentParser
import RecordControl
import RecordModel
import RecordStore
import RecordSync

struct CanCommand: ParsableCommand {
    enum What: String, ExpressibleByArgument, CaseIterable {
        case edit, delete, create
    }

    static let configuration = CommandConfiguration(
        commandName: "can", abstract: "Check whether you may edit, delete or create something.",
        discussion: """
            The answer comes from what this machine knows, also without a network; the server \
            decides. When it is not allowed, the command prints the reason and exits with 1. What \
            is not there yet may be edited and deleted where it may be created.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "edit, delete or create.")
    var what: What
    @Argument(
        help: "The record; for create also the database, zone or type to create something in.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let store = try place.store.reader()
        let hindrance = try place.reporting { () throws(RecordError) in
            try Self.hindrance(to: what, at: place.path, store)
        }
        if json {
            Showing.json(
                .members([
                    "can": .bool(hindrance == nil), "reason": hindrance.map { .text($0) },
                ]))
        } else {
            Terminal.print(hindrance.map { "no: \($0)" } ?? "yes")
        }
        if hindrance != nil {
            throw CommandFailure(nil, "", status: ExitStatus.failure)
        }
    }

    /// Returns the reason why it is not allowed. Returns nil when it is.
    private static func hindrance(
        to what: What, at path: RecordPath, _ store: RecordStore
    ) throws(RecordError) -> String? {
        if what == .create { return try hindranceToCreate(at: path, store) }
        let (zone, record): (ZoneInfo, RecordEntry)
        do throws(RecordError) {
            (zone, record) = (try store.zone(at: path), try store.record(at: path))
        } catch  where error.code == .notFound {
            return try hindranceToCreate(at: path, store)
        }
        if try store.sharing.permission(of: record.id, in: zone) == .readOnly {
            return Self.readOnly
        }
        guard zone.database == .public, let meta = try store.meta(of: record.id),
            !meta.changeTag.isEmpty
        else { return nil }
        // The server has reported no creator for a record that was made on this machine.
        guard !meta.createdBy.isEmpty else { return nil }
        let account = try AccountFile(stateDirectory: store.directory).read()
        guard account?.user.description != meta.createdBy else { return nil }
        return
            "the record belongs to \(meta.createdBy), and only its creator may \(what.rawValue) it, unless the "
            + "schema allows it to others."
    }

    private static func hindranceToCreate(
        at path: RecordPath, _ store: RecordStore
    ) throws(RecordError) -> String? {
        guard path.zone != nil else {
            // Zones of the other databases are made by whoever needs them, and the public one is there.
            return path.database == .shared ? try hindranceToShared(path.owner, store) : nil
        }
        let zone: ZoneInfo
        do throws(RecordError) {
            zone = try store.zone(at: path)
        } catch  where error.code == .notFound {
            switch path.database {
            case .shared: return Self.zonesOfOthers + "."
            case .public: return "the public database has one zone, \(ZoneName.publicZone)."
            case .private, .local, nil: return nil
            }
        }
        return zone.permission == .readOnly ? Self.readOnly : nil
    }

    /// Returns the reason why nothing may be created in the zones of others, or of one of them.
    private static func hindranceToShared(
        _ owner: OwnerName, _ store: RecordStore
    ) throws(RecordError) -> String? {
        let zones = try store.zones(in: .shared).filter { owner == .me || $0.owner == owner }
        guard zones.allSatisfy({ $0.permission == .readOnly }) else { return nil }
        return Self.zonesOfOthers + ", and none is shared with you for writing."
    }

    private static let zonesOfOthers = "zones of others come from their owners"
    private static let readOnly = "it is shared with you for reading only. Ask its owner."
}
