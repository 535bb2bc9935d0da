import CTestSystem
import Glibc
import Testing

extension MountTests {
    /// Large fields as files beside their record.
    @Suite struct AssetTests {
        private static let photo = [UInt8](
            (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

        private func bench() throws -> (MountedStore, String) {
            let mounted = try MountedStore(options: ["-o", "xattr"])
            let folder = try mounted.makeType()
            try SystemCall.writeFile("\(folder)/a.json", "{\n  \"title\": \"Soup\"\n}\n")
            return (mounted, folder)
        }

        @Test("a file NAME@FIELD.EXT becomes the field, with its size and hash")
        func add() throws {
            let (mounted, folder) = try bench()
            let source = "\(mounted.outside)/photo.jpg"
            try SystemCall.writeFile(source, Self.photo)
            try succeed("cp", source, "\(folder)/a@photo.jpg")
            let hash = try succeed("sha256sum", source).prefix(64)
            let text = try SystemCall.readText("\(folder)/a.json")
            #expect(text.contains("\"$asset\": \"a@photo.jpg\""), "\(text)")
            #expect(text.contains("\"size\": 300000"), "\(text)")
            #expect(text.hasPrefix("{\n  \"title\": \"Soup\",\n"), "the layout stays: \(text)")
            let file = "\(folder)/a@photo.jpg"
            #expect(try SystemCall.attribute(file, "user.recordfs.sha256") == String(hash))
            #expect(try SystemCall.readFile(file) == Self.photo)
            #expect(!SystemCall.exists("\(folder)/a@photo"), "it answers to its name alone")
            #expect(try SystemCall.list(folder).sorted() == ["a.json", "a@photo.jpg"])
            try mounted.remount()
            #expect(try SystemCall.readFile(file) == Self.photo)
            try SystemCall.unlink(file)
            #expect(!(try SystemCall.readText("\(folder)/a.json")).contains("photo"))
        }

        @Test("what has an asset open keeps its bytes when it is replaced or removed")
        func keepsOpen() throws {
            let (_, folder) = try bench()
            let file = "\(folder)/a@photo.jpg"
            try SystemCall.writeFile(file, Self.photo)
            let reader = try SystemCall.open(file, O_RDONLY)
            defer { close(reader) }
            try SystemCall.writeFile("\(folder)/new.tmp", "small")
            try SystemCall.rename("\(folder)/new.tmp", file)
            #expect(try SystemCall.readText(file) == "small")
            #expect(
                try SystemCall.read(reader, count: 9, at: 299_991) == Array(Self.photo.suffix(9)))
            try SystemCall.unlink(file)
            #expect(try SystemCall.read(reader, count: 9, at: 0) == Array(Self.photo.prefix(9)))
        }

        @Test("cp -p, tar and rsync keep the time of an asset, also over a remount")
        func times() throws {
            let (mounted, folder) = try bench()
            let source = "\(mounted.outside)/a@photo.jpg"
            let file = "\(folder)/a@photo.jpg"
            let scripts = [
                "cp -p a@photo.jpg $1/", "tar c a@photo.jpg | tar x -C $1",
                "rsync -a a@photo.jpg $1/", "rsync -au a@photo.jpg $1/",
                "rsync -au --inplace a@photo.jpg $1/",
            ]
            for (number, script) in scripts.enumerated() {
                let time = 1_600_000_000 + number * 100
                try SystemCall.writeFile(source, "version \(number)")
                try SystemCall.setModified(source, seconds: time)
                try succeed("sh", "-c", script, "sh", folder, directory: mounted.outside)
                #expect(try SystemCall.readText(file) == "version \(number)", "\(script)")
                #expect(try SystemCall.status(file).modified == [time, 0], "\(script)")
                try mounted.remount()
                #expect(try SystemCall.status(file).modified == [time, 0], "\(script)")
            }
        }

        @Test("fsck --repair tells of files that the store has never known, and leaves them")
        func unknownFiles() throws {
            let (mounted, _) = try bench()
            let digits = String(repeating: "ab", count: 32)
            try SystemCall.makeDirectories("\(mounted.state)/assets/ab")
            try SystemCall.writeFile("\(mounted.state)/assets/ab/\(digits)", "of another store")
            let check = try mounted.recordfsResult(["fsck"])
            #expect(check.status == 0 && check.output.contains(digits), "\(check)")
            let repair = try mounted.recordfsResult(["fsck", "--repair"])
            #expect(repair.status == 1, "\(repair)")
            #expect(repair.output.contains("\(digits): not known to this store"), "\(repair)")
            #expect(
                try SystemCall.readText("\(mounted.state)/assets/ab/\(digits)")
                    == "of another store")
        }

        @Test("LibreOffice's save sequence works on an asset")
        func office() throws {
            let (mounted, folder) = try bench()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            try SystemCall.writeFile("\(folder)/a@letter.odt", "first")
            let result = try place.python(
                """
                import os
                name = 'a@letter.odt'
                os.close(os.open(name, os.O_RDWR))
                lock = os.open('.~lock.' + name + '#', os.O_CREAT | os.O_EXCL | os.O_RDWR)
                os.pwrite(lock, b'me', 0)
                temporary = os.open('lu1.tmp', os.O_CREAT | os.O_EXCL | os.O_RDWR)
                for block in range(5):
                    os.pwrite(temporary, bytes([65 + block]) * 4096, block * 4096)
                os.fsync(temporary)
                os.close(temporary)
                try:
                    os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                    raise SystemExit('O_EXCL took an existing asset')
                except FileExistsError:
                    pass
                os.rename('lu1.tmp', name)
                os.chmod(name, 0o644)
                again = os.open(name, os.O_RDWR)
                os.fsync(again)
                os.close(again)
                os.unlink('.~lock.' + name + '#')
                """)
            #expect(result.status == 0, "\(result)")
            #expect(try SystemCall.status("\(folder)/a@letter.odt").size == 20_480)
            #expect(try SystemCall.list(folder).sorted() == ["a.json", "a@letter.odt"])
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.drafts() == 0)
        }

        @Test("a record and its asset are copied in either order", arguments: [false, true])
        func order(assetFirst: Bool) throws {
            let (mounted, folder) = try bench()
            try SystemCall.writeFile("\(folder)/a@photo.jpg", Self.photo)
            let other = try mounted.makeType("private/Kitchen/Copy")
            let names = ["a.json", "a@photo.jpg"]
            for name in assetFirst ? names.reversed() : names {
                try succeed("cp", "\(folder)/\(name)", "\(other)/b\(name.dropFirst())")
            }
            #expect(try SystemCall.readFile("\(other)/b@photo.jpg") == Self.photo)
            #expect(try SystemCall.list(other).sorted() == ["b.json", "b@photo.jpg"])
            #expect(try mounted.store.drafts() == 0)
            #expect(try mounted.store.stems() == ["a", "b"])
        }

        @Test(
            "a stored file that is missing, emptied or changed is EIO, and .error says why",
            arguments: ["is missing", "has 0 bytes", "was changed"])
        func damaged(how: String) throws {
            let (mounted, folder) = try bench()
            let file = "\(folder)/a@photo.jpg"
            try SystemCall.writeFile(file, Self.photo)
            #expect(try SystemCall.readFile(file) == Self.photo)
            let row = try mounted.store.rows("SELECT hash FROM asset").first
            let hash = try #require(row?["hash"] as? String)
            let stored = "\(mounted.state)/assets/\(hash.prefix(2))/\(hash)"
            switch how {
            case "is missing": try SystemCall.unlink(stored)
            case "has 0 bytes": try SystemCall.truncate(stored, 0)
            default: try SystemCall.writeFile(stored, [1] + Self.photo.dropFirst())
            }
            for flags in [O_RDONLY, O_WRONLY | O_APPEND] {
                let code = SystemCall.code {
                    try SystemCall.close(try SystemCall.open(file, flags))
                }
                #expect(code == EIO)
            }
            #expect(try SystemCall.list(folder).contains("a@photo.jpg"))
            let reason = try SystemCall.readText("\(folder)/.error")
            #expect(reason.contains("a@photo could not be read"), "\(reason)")
            #expect(reason.contains("\(stored), \(how)"), "\(reason)")
            try SystemCall.writeFile(file, Self.photo)
            #expect(try SystemCall.readFile(file) == Self.photo)
            try mounted.recordfs("fsck", "--deep")
        }

        @Test("an empty asset is one, and a pipe, link or device is not")
        func kinds() throws {
            let (_, folder) = try bench()
            try SystemCall.writeFile("\(folder)/a@empty.bin", [UInt8]())
            #expect(try SystemCall.status("\(folder)/a@empty.bin").size == 0)
            for kind in [S_IFIFO, S_IFSOCK, S_IFCHR] {
                #expect(
                    SystemCall.code {
                        try SystemCall.makeNode("\(folder)/a@node.bin", kind | 0o600)
                    } == EPERM)
            }
            #expect(
                SystemCall.code {
                    try SystemCall.symlink(to: "/etc/passwd", at: "\(folder)/a@link.bin")
                } == EPERM)
            #expect(
                SystemCall.code { try SystemCall.link("\(folder)/a@empty.bin", "\(folder)/x") }
                    == EPERM)
        }

        @Test("a shared mapping of an asset is read and written")
        func mapping() throws {
            let (mounted, folder) = try bench()
            try SystemCall.writeFile("\(folder)/a@photo.jpg", Self.photo)
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            let result = try place.python(
                """
                import mmap
                with open('a@photo.jpg', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
                    m[100:105] = b'hello'
                    m.flush()
                print(open('a@photo.jpg', 'rb').read()[100:105])
                """)
            #expect(result.output == "b'hello'\n", "\(result)")
        }
    }
}
