import CTestSystem
import Glibc
import Testing

extension MountTests {
    /// Calls that a record cannot follow, and what they answer instead.
    @Suite struct CallTests {
        private static let text = "{\n  \"n\": 1\n}\n"

        private func bench(_ options: String...) throws -> (MountedStore, String, String) {
            let mounted = try MountedStore(options: options)
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", Self.text)
            try SystemCall.syncDirectory(folder)
            return (mounted, folder, "\(folder)/a.json")
        }

        @Test("links, nodes and foreign owners are EPERM on records")
        func notPermitted() throws {
            let (mounted, folder, file) = try bench()
            #expect(SystemCall.code { try SystemCall.link(file, "\(folder)/b.json") } == EPERM)
            #expect(SystemCall.code { try SystemCall.link(file, "\(folder)/b") } == EPERM)
            #expect(
                SystemCall.code { try SystemCall.symlink(to: "a.json", at: "\(folder)/c.json") }
                    == EPERM)
            for kind in [S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK] {
                #expect(
                    SystemCall.code { try SystemCall.makeNode("\(folder)/n.json", kind | 0o600) }
                        == EPERM)
            }
            #expect(SystemCall.code { try SystemCall.changeOwner(file, 12_345, 12_345) } == EPERM)
            #expect(SystemCall.code { try SystemCall.changeMode(file, 0o4755) } == EPERM)
            #expect(try SystemCall.list(folder) == ["a.json"])
            #expect(try mounted.store.history("a").count == 1)
        }

        @Test("what holds already may be set again, without a version")
        func sameValues() throws {
            let (mounted, folder, file) = try bench()
            let mode = mode_t(try SystemCall.status(file).mode)
            try SystemCall.changeMode(file, mode)
            try SystemCall.changeOwner(file, getuid(), getgid())
            try SystemCall.setModified(file, seconds: 1_000_000_000, nanoseconds: 5)
            #expect(try SystemCall.status(file).modified == [1_000_000_000, 5])
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.history("a").count == 1)
            try mounted.remount()
            #expect(try SystemCall.status(file).modified == [1_000_000_000, 5])
        }

        @Test("access control lists and foreign attributes are not supported")
        func attributes() throws {
            let (_, _, file) = try bench("-o", "xattr")
            let set = { (name: String, size: Int) in
                SystemCall.code {
                    try SystemCall.setAttribute(file, name, [UInt8](repeating: 65, count: size))
                }
            }
            #expect(set("system.posix_acl_access", 44) == EOPNOTSUPP)
            #expect(set("user.recordfs.name", 3) == 0, "copies carry them along")
            #expect(set("user.other", 65_536) != 0)
            let names = try SystemCall.attributeNames(file)
            for name in ["name", "type", "zone", "database", "created", "modified", "state"] {
                #expect(names.contains("user.recordfs.\(name)"), "\(names)")
            }
            #expect(try SystemCall.attribute(file, "user.recordfs.name") == "a")
            #expect(try SystemCall.attribute(file, "user.recordfs.type") == "Recipe")
            #expect(try SystemCall.attribute(file, "user.none") == nil)
        }

        @Test("rename with NOREPLACE and EXCHANGE works on records, WHITEOUT does not")
        func renameFlags() throws {
            let (mounted, folder, file) = try bench()
            let other = "\(folder)/b.json"
            try SystemCall.writeFile(other, "{\"n\": 2}")
            #expect(SystemCall.code { try SystemCall.rename(file, other, flags: 1) } == EEXIST)
            try SystemCall.rename(file, other, flags: 2)
            #expect(try SystemCall.readText(file) == "{\"n\": 2}")
            #expect(try SystemCall.readText(other) == Self.text)
            #expect(SystemCall.code { try SystemCall.rename(file, other, flags: 4) } == EINVAL)
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.stems() == ["a", "b"])
            #expect(try mounted.store.history("a").count == 2)
        }

        @Test(
            "a record is moved over the borders of type and zone; over that of a database it is EXDEV, as for zones and types"
        )
        func borders() throws {
            let (mounted, folder, file) = try bench()
            let local = try mounted.makeType("local/Mine/Recipe")
            #expect(SystemCall.code { try SystemCall.rename(file, "\(local)/a.json") } == EXDEV)
            for path in ["private/Kitchen/Other", "private/Garden/Recipe"] {
                let other = try mounted.makeType(path)
                try SystemCall.rename(file, "\(other)/a.json")
                #expect(try SystemCall.readText("\(other)/a.json") == Self.text)
                #expect(!SystemCall.exists(file))
                try SystemCall.rename("\(other)/a.json", file)
                #expect(try SystemCall.readText(file) == Self.text)
            }
            let zone = "\(mounted.mountPoint)/private/Kitchen"
            #expect(
                SystemCall.code {
                    try SystemCall.rename(zone, "\(mounted.mountPoint)/private/Cook")
                } == EXDEV)
            #expect(
                SystemCall.code { try SystemCall.rename(folder, "\(zone)/Dish") } == EXDEV)
            let garden = "\(mounted.mountPoint)/private/Garden/Recipe"
            try succeed("mv", file, garden)
            #expect(try SystemCall.readText("\(garden)/a.json") == Self.text)
            #expect(!SystemCall.exists(file))
        }

        @Test("a zone or type that holds something cannot be removed")
        func notEmpty() throws {
            let (mounted, folder, _) = try bench()
            let zone = "\(mounted.mountPoint)/private/Kitchen"
            #expect(SystemCall.code { try SystemCall.removeDirectory(folder) } == ENOTEMPTY)
            #expect(SystemCall.code { try SystemCall.removeDirectory(zone) } == ENOTEMPTY)
            try succeed("rm", "-r", zone)
            #expect(try SystemCall.list("\(mounted.mountPoint)/private") == [])
        }

        @Test("O_EXCL, O_DIRECT, O_PATH and holes behave as on a disk")
        func flags() throws {
            let (_, folder, file) = try bench()
            #expect(
                SystemCall.code { _ = try SystemCall.open(file, O_WRONLY | O_CREAT | O_EXCL) }
                    == EEXIST)
            let path = try SystemCall.open(file, test_o_path)
            try SystemCall.close(path)
            let reader = try SystemCall.open(file, O_RDONLY)
            defer { close(reader) }
            #expect(test_seek(reader, 0, test_seek_data) == 0)
            #expect(test_seek(reader, 0, test_seek_hole) == Int64(Self.text.utf8.count))
            #expect(
                SystemCall.code { _ = try SystemCall.open(folder, test_o_tmpfile | O_RDWR) }
                    == EOPNOTSUPP)
        }

        @Test("copy_file_range and FICLONE leave tools their fallback")
        func copies() throws {
            let (mounted, folder, file) = try bench()
            let from = try SystemCall.open(file, O_RDONLY)
            let to = try SystemCall.open("\(folder)/copy.json", O_WRONLY | O_CREAT)
            #expect(test_clone(from, to) != 0)
            #expect([EOPNOTSUPP, EXDEV, ENOTTY].contains(errno), "FICLONE answers \(errno)")
            #expect(test_copy_range(from, to, 100) == Self.text.utf8.count)
            try SystemCall.close(to)
            close(from)
            #expect(try mounted.store.savedText("copy") == Self.text)
        }

        @Test("two handles that append to one record lose no byte")
        func append() throws {
            let (mounted, _, file) = try bench()
            let first = try SystemCall.open(file, O_WRONLY | O_APPEND)
            let second = try SystemCall.open(file, O_WRONLY | O_APPEND)
            for _ in 0..<20 {
                try SystemCall.write(first, [0x20])
                try SystemCall.write(second, [0x0a])
            }
            try SystemCall.close(first)
            try SystemCall.close(second)
            #expect(try SystemCall.readFile(file).count == Self.text.utf8.count + 40)
            #expect(try mounted.store.history("a").count == 1, "white space is no new value")
        }

        @Test("what is written to a record that was removed while open is gone with it")
        func unlinkedOpen() throws {
            let (mounted, folder, file) = try bench()
            let handle = try SystemCall.open(file, O_RDWR)
            try SystemCall.unlink(file)
            try SystemCall.write(handle, Array("{\"n\": 9}".utf8), at: 0)
            _ = SystemCall.code { try SystemCall.close(handle) }
            try SystemCall.syncDirectory(folder)
            #expect(!SystemCall.exists(file))
            #expect(try mounted.store.stems() == [])
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("truncate(2) that leaves no JSON is EINVAL, and size and bytes still agree")
        func truncatePath() throws {
            let (mounted, _, file) = try bench()
            _ = try SystemCall.readFile(file)
            #expect(SystemCall.code { try SystemCall.truncate(file, 5) } == EINVAL)
            let size = try SystemCall.status(file).size
            #expect(Int64(try SystemCall.readFile(file).count) == size)
            #expect(try mounted.store.savedText("a") == Self.text)
            try SystemCall.writeFile(file, "{\"n\": 2}")
            #expect(try SystemCall.status(file).size == 8)
        }

        @Test("locks hold between two handles")
        func locks() throws {
            let (_, _, file) = try bench()
            let first = try SystemCall.open(file, O_RDWR)
            let second = try SystemCall.open(file, O_RDWR)
            defer {
                close(first)
                close(second)
            }
            #expect(flock(first, LOCK_EX | LOCK_NB) == 0)
            #expect(flock(second, LOCK_EX | LOCK_NB) == -1)
            #expect(flock(first, LOCK_UN) == 0)
            #expect(flock(second, LOCK_EX | LOCK_NB) == 0)
        }

        @Test("statfs shows room, and .recordfs is not listed")
        func statistics() throws {
            let (mounted, _, _) = try bench()
            var value = statvfs()
            #expect(statvfs(mounted.mountPoint, &value) == 0)
            #expect(value.f_blocks > 0)
            #expect(value.f_bavail > 0)
            #expect(!(try SystemCall.list(mounted.mountPoint)).contains(".recordfs"))
            #expect(SystemCall.exists("\(mounted.mountPoint)/.recordfs/status.json"))
        }

        @Test("signals during calls do not break a save")
        func signals() throws {
            let (mounted, folder, _) = try bench()
            let result = try run(
                "python3", "-c",
                """
                import os, signal, sys
                signal.signal(signal.SIGALRM, lambda *_: None)
                signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
                for turn in range(300):
                    with open(f'{sys.argv[1]}/s{turn % 7}.json', 'w') as f:
                        f.write('{"turn": %d}' % turn)
                        f.flush()
                        os.fsync(f.fileno())
                signal.setitimer(signal.ITIMER_REAL, 0)
                """, folder)
            #expect(result.status == 0, "\(result)")
            #expect(try SystemCall.readText("\(folder)/s5.json") == "{\"turn\": 299}")
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("a listing is whole while thousands of entries come and go")
        func listing() throws {
            let (_, folder, _) = try bench()
            for number in 0..<600 {
                try SystemCall.writeFile("\(folder)/stays-\(number).json", "{\"n\": \(number)}")
            }
            let churn = try Child([
                "python3", "-c",
                """
                import os, sys
                turn = 0
                while True:
                    path = f'{sys.argv[1]}/goes-{turn % 500}.json'
                    open(path, 'w').write('{"t": 1}')
                    if turn % 3:
                        os.unlink(path)
                    turn += 1
                """, folder,
            ])
            for _ in 0..<30 {
                let names = try SystemCall.list(folder)
                #expect(names.count { $0.hasPrefix("stays-") } == 600)
                #expect(Set(names).count == names.count, "an entry is listed twice")
            }
            churn.signal(SIGKILL)
            _ = try churn.wait()
        }

        @Test("thousands of open files are served or refused, and the daemon goes on")
        func manyOpen() throws {
            let (mounted, folder, file) = try bench()
            let result = try run(
                "python3", "-c",
                """
                import resource, sys
                soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 6000), hard))
                files = []
                try:
                    for n in range(5000):
                        files.append(open(f'{sys.argv[1]}/o{n % 50}.json', 'a+'))
                except OSError as error:
                    print(error.errno)
                """, folder)
            #expect(result.status == 0, "\(result)")
            #expect(["", "24", "23"].contains(result.output.split(separator: "\n").first ?? ""))
            #expect(mounted.isAlive)
            #expect(try SystemCall.readText(file) == Self.text)
        }
    }
}
