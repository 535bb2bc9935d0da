import Glibc
import Testing

extension MountTests {
    /// `recordfs backup` beside a mount that is used.
    @Suite struct BackupTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(
                20, "for i in {1..5}; do head -c 70000 /dev/urandom > Recipe/r$i@photo.jpg; done")
        }

        private func shell(_ script: String) throws -> ChildResult { try home.shell(script) }

        @Test(
            "a backup has all that is there: records, large fields, history, trash, drafts, scratch"
        )
        func everything() throws {
            let result = try shell(
                """
                cd RecordFS/private/Kitchen; echo '{"n": 100}' > Recipe/r1.json; rm Recipe/r2.json
                echo '{' > Recipe/r3.json; echo note > Recipe/note.txt; mkdir Recipe/.d; echo x > Recipe/.d/y
                sync -f .; cd ~; recordfs backup Copy; recordfs backup --verify Copy
                recordfs unmount; mkdir There; recordfs mount --state Copy There > /dev/null
                cd There/private/Kitchen; jq .n Recipe/r1.json; cat Recipe/r3.json Recipe/note.txt Recipe/.d/y
                ls Recipe | wc -l; recordfs history Recipe/r1.json | wc -l
                recordfs restore Recipe/r2.json; recordfs draft list | wc -l; jq .n Recipe/r2.json
                recordfs fsck --deep --state ~/Copy | tail -n 1; cd; recordfs unmount There
                find Copy -path Copy/scratch -prune -o -type f -perm /077 -print | wc -l
                """)
            let lines = result.output.split(separator: "\n")
            try #require(lines.count == 12, "\(result)")
            #expect(lines[0].contains("KiB written, 5 new large fields of 5"), "\(result)")
            #expect(lines[1].contains("0 new large fields of 5; it can be read, and every byte"))
            #expect(
                lines[2...] == [
                    "100", "{", "note", "x", "24", "4", "1", "2",
                    "\(home.folder)/Copy: clean", "0",
                ], "\(result)")
        }

        @Test("a backup in one file is the same store when tar has unpacked it")
        func archive() throws {
            let result = try shell(
                """
                recordfs backup --verify copy.tar | sed 's/.*; //'; ls -d copy.tar*
                stat -c %a copy.tar
                recordfs backup copy.tar 2>&1 | grep -c 'is there already'
                mkdir Copy There; tar -xf copy.tar -C Copy
                recordfs mount --state Copy There > /dev/null
                diff -r RecordFS/private There/private && echo same
                recordfs unmount There; recordfs fsck --deep --state Copy | tail -n 1
                PATH=$(dirname $(command -v recordfs)) recordfs backup no.tar 2>&1 | grep -c 'tar could not'
                ls -d no.tar*; recordfs backup no.tar | sed 's/.*, //; s/.*; //'; ls -d no.tar*
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "it can be read, and every byte is as it was.", "copy.tar", "600", "1", "same",
                    "\(home.folder)/Copy: clean", "1", "no.tar-new", "it can be read.", "no.tar",
                ], "\(result)")
        }

        @Test("a backup of a store that is written to is a state that it had, again and again")
        func beside() throws {
            let result = try shell(
                """
                (i=0; while [ ! -e stop ]; do i=$((i + 1))
                    echo "{\\"n\\": $i}" > RecordFS/private/Kitchen/Recipe/a.json
                    echo "{\\"n\\": $i}" > RecordFS/private/Kitchen/Recipe/b.json
                    head -c 66000 /dev/urandom > RecordFS/private/Kitchen/Recipe/b@photo.jpg
                    rm RecordFS/private/Kitchen/Recipe/b@photo.jpg
                done) & for round in {1..6}; do
                    recordfs backup Copy > /dev/null || echo failed
                    recordfs get --state Copy private/Kitchen/Recipe/a > a 2> /dev/null || echo '{"n": 0}' > a
                    recordfs get --state Copy private/Kitchen/Recipe/b > b 2> /dev/null || echo '{"n": 0}' > b
                    jq -s '.[0].n - .[1].n' a b; recordfs fsck --deep --state Copy | tail -n 1
                done; touch stop; wait
                """)
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 12, "\(result)")
            for (index, line) in lines.enumerated() {
                // One of the two was saved before the other.
                let expected = index % 2 == 0 ? ["0", "1"] : ["\(home.folder)/Copy: clean"]
                #expect(expected.contains(String(line)), "\(result)")
            }
        }

        @Test("large fields that are gone leave the backup; a killed backup leaves the earlier one")
        func again() throws {
            let result = try shell(
                """
                recordfs backup Copy > /dev/null; rm RecordFS/private/Kitchen/Recipe/*@photo.jpg
                head -c 3000000 /dev/urandom > RecordFS/private/Kitchen/Recipe/r9@photo.jpg
                for i in 1 2 3 4 5 6 7 8; do
                    (ulimit -c 0; exec timeout -s KILL 0.0$i recordfs backup Copy > /dev/null 2>&1)
                    recordfs fsck --state Copy | head -n 1
                done
                recordfs rm -r private/Kitchen; recordfs debug purge > /dev/null 2>&1
                recordfs backup Copy | sed 's/.*written, //'
                """)
            let lines = result.output.split(separator: "\n")
            #expect(
                lines.dropLast() == .init(repeating: "\(home.folder)/Copy: clean", count: 8),
                "\(result)")
        }

        @Test("a backup goes into no other directory, no other store's backup, and not into itself")
        func refusals() throws {
            let result = try shell(
                """
                mkdir Full; echo x > Full/x; recordfs backup Full; echo $?
                recordfs backup .local/share/recordfs; echo $?
                echo '{}' | recordfs put --state Other private/A/B/c; recordfs backup --state Other Copy > /dev/null
                recordfs backup Copy; echo $?; ls Full
                recordfs unmount; recordfs backup .local/share/recordfs; echo $?
                """)
            #expect(result.output == "1\n1\n1\nx\n1\n", "\(result)")
            let errors = result.errors.split(separator: "\n")
            try #require(errors.count == 4, "\(result)")
            #expect(errors[0].contains("has other files and is no backup"))
            #expect(
                errors[1].contains("is the store itself")
                    && errors[3].contains("is the store itself"))
            #expect(errors[2].contains("has the backup of another store"))
        }

        @Test("a file that is damaged in the store is told, and the earlier backup stays")
        func damaged() throws {
            let result = try shell(
                """
                recordfs backup Copy > /dev/null; cp /bin/ls RecordFS/private/Kitchen/Recipe/r7@photo.jpg
                sync -f RecordFS; recordfs unmount
                file=$(find .local/share/recordfs/assets -size -200k -size +100k -type f | head -n 1)
                printf X | dd of=$file bs=1 seek=100 conv=notrunc 2> /dev/null
                recordfs backup Copy; echo $?; recordfs fsck --deep --state Copy | tail -n 1
                """)
            #expect(result.output == "1\n\(home.folder)/Copy: clean\n", "\(result)")
            #expect(result.errors.contains("was changed"), "\(result)")
        }
    }
}
