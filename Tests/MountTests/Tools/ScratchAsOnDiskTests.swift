import Testing

extension MountTests {
    /// Scratch against what ext4 does. Each script ends at its first command that fails.
    @Suite struct ScratchAsOnDiskTests {
        private static let prelude = """
            set -eEu
            refused() { if "$@"; then return 1; fi; }
            trap 'echo line $LINENO: $BASH_COMMAND' ERR

            """

        private func check(
            _ script: String, options: [String] = [], launcher: [String] = [],
            line: SourceLocation = #_sourceLocation
        ) throws {
            let mounted = try MountedStore(options: options, launcher: launcher)
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            try SystemCall.makeDirectory(place.home)
            let result = try place.shell(Self.prelude + script)
            #expect(result.status == 0, "\(result)\n\(mounted.log)", sourceLocation: line)
            #expect(mounted.isAlive, sourceLocation: line)
        }

        @Test("new files have the mode that the caller's umask leaves")
        func modes() throws {
            try check(
                """
                mode() { test "$(stat -c %a "$1")" = "$2"; }
                umask 022; touch s; mkdir d; mkfifo p; mode s 644; mode d 755; mode p 644
                python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("k")'
                mode k 755; test -S k
                umask 002; touch s2; mkdir d2; mode s2 664; mode d2 775
                umask 077; touch s3; mkdir d3; mode s3 600; mode d3 700
                umask 0; touch s4; mkdir d4; mode s4 666; mode d4 777
                install -m 755 /bin/true run; ./run; mode run 755
                mkdir -m 1777 t; mode t 1777
                chmod 4711 run; mode run 4711
                chmod 2755 d; mkdir d/e; mode d/e 2777
                """)
        }

        @Test("what other users make is theirs, as the directory allows them")
        func users() throws {
            try check(
                """
                as() { setpriv --reuid $1 --regid $2 --clear-groups "${@:3}"; }
                own() { test "$(stat -c %u:%g "$1")" = "$2"; }
                mkdir -m 777 open; mkdir -m 755 closed; mkdir -m 1777 sticky; mkdir -m 2777 group
                chgrp 4242 group
                cd open
                as 1234 1235 bash -c 'umask 022; touch f; mkdir d; mkfifo p; ln -s f l; echo x > d/x'
                for n in f d p l d/x; do own $n 1234:1235; done
                test $(stat -c %a f) = 644
                refused as 1236 1236 bash -c 'echo y >> f'
                refused as 1236 1236 rm d/x
                as 1236 1236 cat d/x
                cd ..
                refused as 1234 1235 touch closed/f
                as 1234 1235 touch sticky/f; refused as 1236 1236 rm -f sticky/f; as 1234 1235 rm sticky/f
                as 1234 1235 touch group/f; own group/f 1234:4242
                as 1234 1235 mkdir group/d; own group/d 1234:4242; test -g group/d
                refused as 1234 1235 mknod open/null c 1 3
                refused as 1234 1235 chown 1236 open/f
                as 1234 1235 chmod 600 open/f; refused as 1236 1236 cat open/f
                """, options: ["--allow-other"])
        }

        @Test("hard links share inode, size and content, and last as long as one name")
        func links() throws {
            try check(
                """
                echo one > a; ln a b; mkdir d; ln b d/c
                test $(stat -c %h a) = 3; test $(stat -c %i a) = $(stat -c %i d/c)
                echo two >> d/c; test $(stat -c %s a) = 8; grep -q two a
                chmod 600 b; test $(stat -c %a a) = 600
                exec 5<>b; rm a b; test $(stat -c %h d/c) = 1
                echo three >&5; grep -q three d/c; mv d/c e; test $(stat -c %h e) = 1
                refused ln e e.json; echo '{}' > r.json; refused ln r.json f; refused ln r.json s.json
                test ! -e e.json -a ! -e f -a ! -e s.json
                echo '{"n": 1}' > n; ln n o; mv n n.json; echo '{"n": 2}' > n.json; grep -q 1 o
                test $(stat -c %h o) = 1
                cp -al d d2; mkdir -p w/x; echo 1 > w/x/y; cp -al w w2; test w/x/y -ef w2/x/y
                """)
        }

        @Test("names work at any depth, though their path is longer than one call can take")
        func depth() throws {
            try check(
                """
                python3 - <<'END'
                import os
                name = 'd' * 200
                for n in range(60):
                    os.mkdir(name); os.chdir(name)
                open('f', 'w').write('deep'); os.link('f', 'g'); os.rename('g', 'h')
                os.symlink('f', 'l'); os.mkfifo('p'); os.chmod('f', 0o600); os.utime('f', (1, 1))
                assert open('l').read() == 'deep' and os.stat('h').st_nlink == 2
                assert sorted(os.listdir('.')) == ['f', 'h', 'l', 'p']
                for n in 'fhlp': os.unlink(n)
                for n in range(60):
                    os.chdir('..'); os.rmdir(name)
                END
                # The longest path that a call takes is one of the mount, not of the store.
                python3 - <<'END'
                import os
                here = os.getcwd()
                path = here
                while len(path) + 101 < 4090:
                    path += '/' + 'e' * 100
                    os.mkdir(path)
                path += '/' + 'f' * (4095 - len(path) - 1)
                open(path, 'w').close(); os.stat(path); os.unlink(path)
                END
                rm -r eee*
                """)
        }

        @Test("an open file without a name takes new modes, owners, times and sizes")
        func unlinked() throws {
            try check(
                """
                python3 - <<'END'
                import os
                def check(fd):
                    os.ftruncate(fd, 3)
                    os.fchmod(fd, 0o640); os.fchown(fd, 0, 0); os.utime(fd, (1, 2))
                    s = os.fstat(fd)
                    assert (s.st_mode & 0o7777, s.st_mtime, s.st_size, s.st_nlink) == (0o640, 2, 3, 0), s
                    assert os.pread(fd, 10, 0) == b'con'
                for way in 'unlink', 'rename', 'directory':
                    os.mkdir('d')
                    fd = os.open('d/f', os.O_RDWR | os.O_CREAT, 0o644)
                    os.write(fd, b'content')
                    if way == 'unlink':
                        os.unlink('d/f')
                    elif way == 'rename':
                        open('d/g', 'w').close(); os.rename('d/g', 'd/f'); os.unlink('d/f')
                    else:
                        os.rename('d', 'e'); os.unlink('e/f'); os.rmdir('e'); os.mkdir('d')
                    check(fd)
                    os.rmdir('d'); os.close(fd)
                END
                """)
        }

        @Test("a name that others replace all the time opens with one of its versions, always")
        func replaced() throws {
            try check(
                """
                python3 - <<'END'
                import os
                open('x', 'w').write('0' * 5000)
                def write(me):
                    for n in range(1500):
                        with open(f'new{me}', 'w') as f: f.write(str(n % 10) * (1000 + n))
                        os.rename(f'new{me}', 'x')
                children = []
                for me in range(2):
                    pid = os.fork()
                    if pid == 0:
                        write(me); os._exit(0)
                    children.append(pid)
                reads = 0
                while children:
                    for n in range(200):
                        with open('x') as f: text = f.read()
                        assert len(set(text)) == 1, 'two versions in one'
                        reads += 1
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if pid:
                        assert status == 0, status
                        children.remove(pid)
                END
                """)
        }

        @Test("two thousand scratch files are open at a time, half of them without a name")
        func manyOpen() throws {
            try check(
                """
                python3 - <<'END'
                import os, resource
                resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4096))
                files = [open(f'f{n}', 'w+') for n in range(2000)]
                for n in range(1000): os.unlink(f'f{n}')
                for n, file in enumerate(files):
                    file.write(str(n)); file.flush(); file.seek(0); assert file.read() == str(n)
                END
                """,
                // The limit with which a daemon usually begins.
                launcher: ["prlimit", "--nofile=1024:"])
        }

        @Test("a record comes out of a scratch directory and goes into one")
        func directories() throws {
            try check(
                """
                mkdir work; echo '{"n": 1}' > work/a.json; mv work/a.json a.json
                echo '{"n": 2}' > work/new; mv work/new a.json; grep -q 2 a.json
                mkdir src; for n in 1 2 3; do echo "{\\"n\\": $n$n}" > src/r$n.json; done
                rsync -a --delay-updates src/ ./; grep -q 33 r3.json
                echo '{"n": 44}' > src/r1.json
                rsync -a --ignore-times --partial-dir=.part --backup --backup-dir=old src/ ./
                grep -q 44 r1.json; grep -q 11 old/r1.json
                mv a.json work/a.json; test ! -e a.json; grep -q 2 work/a.json
                """)
        }

        @Test("sockets and pipes carry what is sent through them")
        func sockets() throws {
            try check(
                """
                mkfifo p; echo through > p & grep -q through p
                python3 - <<'END'
                import socket
                a, b = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
                a.bind('k'); a.listen(); b.connect('k'); c, _ = a.accept()
                b.send(b'x'); assert c.recv(1) == b'x'
                END
                rm k p
                """)
        }
    }
}
