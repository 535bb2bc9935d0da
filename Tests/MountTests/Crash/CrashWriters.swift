/// Processes that save records and write down, outside the mount, what was acknowledged.
enum CrashWriters {
    static let count = 4
    static let keys = 6

    /// Each turn saves one record in one of the ways of editors, then adds a line to the manifest.
    /// Writer 0 kills the daemon in the middle of its turn `last`.
    private static let script = """
        import os, random, signal, sys
        folder, manifest, writer, first, last, pid, seed, ways = sys.argv[1:]
        rng = random.Random(seed + writer)
        log = os.open(manifest, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        turn = int(first)
        deadly = rng.randrange(5)

        def die(step):
            if writer == '0' and turn == int(last) and step == deadly:
                os.kill(int(pid), signal.SIGKILL)

        try:
            while True:
                turn += 1
                key = rng.randrange(\(keys))
                way = rng.choice(ways.split(','))
                path = f'{folder}/w{writer}-{key}.json'
                pad = 'x' * rng.randrange(3000)
                text = f'{{"turn": {turn}, "pad": "{pad}", "end": {turn}}}'.encode()
                target = f'{folder}/tmp{writer}' if way == 'rename' else path
                if way in ('unlink', 'backup'):
                    os.write(log, f'{key} 0 removes\\n'.encode())
                if way == 'unlink' and os.path.exists(path):
                    os.unlink(path)
                if way == 'backup' and os.path.exists(path):
                    os.rename(path, path + '~')
                die(0)
                fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                die(1)
                os.write(fd, text[:len(text) // 2])
                die(2)
                os.write(fd, text[len(text) // 2:])
                if way == 'fsync':
                    os.fsync(fd)
                die(3)
                os.close(fd)
                if way == 'rename':
                    os.rename(target, path)
                os.write(log, f'{key} {turn} {way}\\n'.encode())
                die(4)
                if way == 'backup' and os.path.exists(path + '~'):
                    os.unlink(path + '~')
        except OSError as error:
            print(error.errno)
        """

    /// Runs all writers until the daemon is gone; `ways` are of plain, fsync, rename, unlink, backup.
    static func run(
        folder: String, outside: String, pid: Int32, cycle: Int, turns: Int, ways: String
    ) throws {
        let children = try (0..<count).map { writer in
            try Child([
                "python3", "-S", "-E", "-c", script, folder, manifest(outside, writer), "\(writer)",
                "\(cycle * 1_000_000)", "\(cycle * 1_000_000 + turns)", "\(pid)", "\(cycle)", ways,
            ])
        }
        for child in children { _ = try child.wait(seconds: 30) }
    }

    static func manifest(_ outside: String, _ writer: Int) -> String {
        "\(outside)/manifest-\(writer)"
    }

    /// The last acknowledged turn of each key of a writer. A key whose file the writer began to
    /// remove has none until its next save: the file may be gone.
    static func promises(_ outside: String, _ writer: Int) throws -> [Int: Int] {
        var turns: [Int: Int] = [:]
        guard SystemCall.exists(manifest(outside, writer)) else { return turns }
        for line in try SystemCall.readText(manifest(outside, writer)).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 3, let key = Int(parts[0]), let turn = Int(parts[1]) else {
                continue
            }
            turns[key] = parts[2] == "removes" ? nil : turn
        }
        return turns
    }
}
