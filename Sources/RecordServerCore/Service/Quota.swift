import RecordModel
package import RecordWire
import Synchronization

/// The holder of a quota. The private databases of a user share one quota; each public database has
/// its own.
package enum QuotaHolder: Hashable, Sendable {
    case user(UserName)
    case publicDatabase(DatabaseKey)

    package init(_ database: DatabaseKey) {
        self = database.isPublic ? .publicDatabase(database) : .user(database.owner)
    }
}

extension StorageReader {
    /// Returns how many bytes the holder may store.
    func quotaBytes(
        _ holder: QuotaHolder, _ settings: ServiceSettings
    ) throws(ServerError) -> Int64 {
        switch holder {
        case .user(let name): try user(name)?.quotaBytes ?? settings.quotaBytes
        case .publicDatabase: settings.publicQuotaBytes
        }
    }
}

/// The bytes of the uploads that this process is receiving now, by quota holder. Each upload alone
/// may fit where all of them together do not.
final class IncomingBytes: Sendable {
    private let held = Mutex<[QuotaHolder: Int64]>([:])

    /// Adds `bytes` to the bytes of the holder when the sum fits into `room`. Returns whether it
    /// fits.
    fileprivate func take(_ bytes: Int64, _ holder: QuotaHolder, room: Int64) -> Bool {
        held.withLock { held in
            let sum = (held[holder] ?? 0) + bytes
            guard sum <= room else { return false }
            held[holder] = sum
            return true
        }
    }

    fileprivate func giveBack(_ bytes: Int64, _ holder: QuotaHolder) {
        held.withLock { held in
            let rest = (held[holder] ?? 0) - bytes
            held[holder] = rest > 0 ? rest : nil
        }
    }
}

/// The room of one upload while the server receives it. It is given back when nothing refers to
/// this object any more.
package final class IncomingRoom: Sendable {
    private let all: IncomingBytes
    private let holder: QuotaHolder
    /// The room for all incoming uploads of the holder together, in bytes.
    private let room: Int64
    private let taken = Mutex<Int64>(0)

    init(_ all: IncomingBytes, _ holder: QuotaHolder, room: Int64) {
        self.all = all
        self.holder = holder
        self.room = room
    }

    deinit { all.giveBack(taken.withLock { $0 }, holder) }

    /// Takes room up to `bytes` for this upload. Returns false when there is not enough room.
    func grow(to bytes: Int64) -> Bool {
        taken.withLock { taken in
            guard bytes > taken else { return true }
            guard all.take(bytes - taken, holder, room: room) else { return false }
            taken = bytes
            return true
        }
    }
}
