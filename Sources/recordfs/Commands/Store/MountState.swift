import RecordControl
import RecordDaemon
import RecordModel

/// The state of a store's mount: the answer of its daemon, compared with the kernel's table.
enum MountState: CustomStringConvertible {
    case served(mountpoint: String, pid: Int64)
    /// The daemon has no mount that is visible here: it is about to end, or has its own table.
    case detached(mountpoint: String, pid: Int64)
    /// The mount exists, but its daemon does not run.
    case stale(mountpoint: String)
    case none(isDefaultStore: Bool, directory: String)

    init(of store: StoreAccess, _ daemon: JSONValue?) {
        let mounts = MountTable.mounts(ofStore: store.directory)
        if let daemon {
            let place = daemon.stringMember("mountpoint") ?? "nowhere"
            let pid = daemon.integerMember("pid") ?? 0
            self =
                mounts.isEmpty
                ? .detached(mountpoint: place, pid: pid) : .served(mountpoint: place, pid: pid)
        } else if let stale = mounts.first(where: { MountTable.isStale($0.mountpoint) }) {
            self = .stale(mountpoint: stale.mountpoint)
        } else {
            self = .none(isDefaultStore: store.isDefault, directory: store.directory)
        }
    }

    var isServed: Bool {
        if case .served = self { true } else { false }
    }

    var description: String {
        switch self {
        case .served(let place, let pid): "Mounted at \(place) by process \(pid)"
        case .detached(let place, let pid):
            "Not mounted: process \(pid) still has the store, but not \(place) any more. kill "
                + "\(pid) ends it."
        case .stale(let place):
            "The mount at \(place) has lost its process. recordfs mount \(place) repairs it."
        case .none(true, _): "Not mounted. recordfs mount does it."
        case .none(false, let directory):
            "Not mounted. recordfs mount --state \(directory) DIR does it."
        }
    }
}
