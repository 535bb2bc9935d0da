import Glibc
import TestSupport
import Testing

@testable import RecordStore

/// The space that a store keeps for a full disk.
@Suite struct SpaceReserveTests {
    /// When another process takes the space while it is set aside, a part of it is left in the
    /// file that nobody has counted: ext4 keeps what it had found until then.
    @Test("what was set aside in part is given all the same")
    func partlySetAside() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/reserve"
        let reserve = SpaceReserve(path: path, bytes: 20 << 20)
        #expect(!reserve.release(), "there is nothing to give yet")
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0 && ftruncate(file, 4096) == 0 && close(file) == 0)
        #expect(reserve.release())
        #expect(access(path, F_OK) != 0)
    }

    @Test("what is lent is set aside by nobody until the last user has given it back")
    func lent() throws {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/reserve"
        let reserve = SpaceReserve(path: path, bytes: 1 << 20)
        #expect(!reserve.lend(), "there is nothing to lend yet")
        #expect(reserve.refill() && reserve.isWhole)
        #expect(reserve.lend())
        #expect(reserve.lend(), "a second operation has the space of the first one")
        for _ in 0..<2 {
            #expect(!reserve.refill() && access(path, F_OK) != 0)
            reserve.takeBack()
        }
        #expect(reserve.refill() && reserve.isWhole)
    }
}
