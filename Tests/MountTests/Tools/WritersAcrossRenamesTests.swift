import Testing

extension MountTests {
    /// Who has a file open goes on with it whatever name it gets: as on the disk, which runs the same script.
    @Suite struct WritersAcrossRenamesTests {
        private static let prelude = """
            import ctypes, os, sys, tempfile
            os.chdir(sys.argv[1])
            APPEND = os.O_CREAT | os.O_WRONLY | os.O_APPEND
            def put(name, data):
                with open(name, 'wb') as file: file.write(data)
            def writer(name): return os.open(name, APPEND, 0o644)
            put('r.json', b'{"n": 1}')

            """

        private static let epilogue = """

            def content(name):
                with open(name, 'rb') as file: return file.read()
            names = sorted(name for name in os.listdir('.') if not name.endswith('.json'))
            print({name: content(name) for name in names if name != '.error'})
            """

        static let scripts = [
            "a new field": """
            with tempfile.NamedTemporaryFile('wb', dir='.', delete=False) as file:
                file.write(b'weights ' * 100)
                os.replace(file.name, 'r@model.bin')
                file.flush()
                os.fsync(file.fileno())
                print(os.fstat(file.fileno()).st_size)
            """,
            "an old field": """
            put('r@log.txt', b'old')
            file = writer('part'); os.write(file, b'one ')
            os.rename('part', 'r@log.txt'); os.write(file, b'two'); os.close(file)
            """,
            "a backup": """
            put('r@log.txt', b'one ')
            file = writer('r@log.txt'); os.write(file, b'two ')
            os.rename('r@log.txt', 'backup'); print(os.stat('backup').st_size)
            os.write(file, b'three'); print(os.fstat(file).st_size); os.close(file)
            """,
            "a rotation": """
            put('r@log.txt', b'one ')
            file = writer('r@log.txt'); os.write(file, b'two ')
            os.rename('r@log.txt', 'r@log.txt.1')
            new = writer('r@log.txt'); os.write(file, b'three'); os.write(new, b'new')
            os.close(file); os.close(new)
            """,
            "there and back": """
            put('r@log.txt', b'one ')
            file = writer('r@log.txt'); os.write(file, b'two ')
            os.rename('r@log.txt', 'x'); os.write(file, b'three ')
            os.rename('x', 'r@log.txt'); os.write(file, b'four'); os.close(file)
            """,
            "an exchange": """
            put('r@log.txt', b'field '); put('x', b'scratch ')
            field, scratch = writer('r@log.txt'), writer('x')
            os.write(field, b'1 '); os.write(scratch, b'2 ')
            libc = ctypes.CDLL(None)
            assert libc.renameat2(-100, b'r@log.txt', -100, b'x', 2) == 0
            os.write(field, b'3'); os.write(scratch, b'4')
            os.close(field); os.close(scratch)
            """,
            "a reader": """
            put('r@log.txt', b'field')
            file = os.open('r@log.txt', os.O_RDONLY); os.rename('r@log.txt', 'x')
            print(os.pread(file, 10, 0)); os.close(file)
            """,
        ]

        @Test(
            "a file that is written while it is renamed has all of it",
            arguments: scripts.keys.sorted())
        func written(name: String) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            try SystemCall.makeDirectory(place.home)
            let script = Self.prelude + (Self.scripts[name] ?? "") + Self.epilogue
            let onDisk = try place.python(script, place.home)
            #expect(onDisk.status == 0, "\(onDisk)")
            let onMount = try place.python(script, folder)
            #expect(
                onMount.status == 0 && onMount.output == onDisk.output, "\(onMount), not \(onDisk)")
            #expect(mounted.isAlive)
        }
    }
}
