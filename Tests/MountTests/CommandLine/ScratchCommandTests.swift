import Glibc
import Testing

extension MountTests {
    /// What is beside the records is told, and what may be a mistake.
    @Suite struct ScratchCommandTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome()
            try home.ok("recordfs mount; mkdir -p RecordFS/local/Box/Note")
        }

        @Test("scratch lists what is on this machine only, with what it may have been meant to be")
        func list() throws {
            try home.ok(
                """
                cd RecordFS/local/Box/Note
                echo '{}' > soup.json; echo jpg > soup@photo.jpg
                for i in soup.jpg tea.jsn Tea.JSON mint.json.txt soup@photo.png soup@photo.jpg.sha256 \
                    notes.md .x.json.swp; do echo bytes > $i; done
                mkdir sub; echo '{}' > sub/x.json
                """)
            let all = try home.ok("recordfs scratch")
            for name in [
                "Tea.JSON", "mint.json.txt", "notes.md", "soup.jpg", "soup@photo.jpg.sha256",
                "soup@photo.png", "sub", "tea.jsn", ".x.json.swp",
            ] {
                #expect(all.contains("local/Box/Note/\(name) ("), "\(all)")
            }
            let problems = try home.ok(
                "recordfs scratch --problems --json | jq -r '.path + \": \" + .guess'")
            #expect(
                problems == """
                    local/Box/Note/Tea.JSON: did you mean Tea.json?
                    local/Box/Note/mint.json.txt: did you mean mint.json?
                    local/Box/Note/soup.jpg: a large field of soup is soup@FIELD.jpg
                    local/Box/Note/soup@photo.png: the field photo has the file soup@photo.jpg; \
                    to replace it, use that name
                    local/Box/Note/sub: records are DATABASE/ZONE/TYPE/NAME.json; a directory in a \
                    TYPE holds none
                    local/Box/Note/tea.jsn: did you mean tea.json?
                    """)
            #expect(try home.ok("recordfs status").contains("6 of their names look like a mistake"))
            try home.ok("recordfs unmount")
        }

        @Test("mkdir that is refused leaves its reason in .error, until a name is taken")
        func mkdir() throws {
            let refused = try home.shell("mkdir RecordFS/local/Box/my-type")
            #expect(refused.status == 1, "\(refused)")
            #expect(try home.ok("cat RecordFS/local/Box/.error").contains("try my_type"))
            #expect(try home.shell("mkdir 'RecordFS/local/a%zz'").status == 1)
            #expect(try home.ok("cat RecordFS/local/.error").contains("try a%25zz"))
            #expect(try home.shell("echo '{}' > RecordFS/local/Box/x.json").status == 1)
            #expect(try home.ok("cat RecordFS/local/Box/.error").contains("DATABASE/ZONE/TYPE"))
            try home.ok("mkdir RecordFS/local/Box/my_type 'RecordFS/local/a%25zz'")
            #expect(try home.ok("ls -A RecordFS/local/Box") == "Note\nmy_type")
            #expect(try home.shell("mkdir 'RecordFS/local/a%25zz/my-type'").status == 1)
            try home.ok("rmdir 'RecordFS/local/a%25zz'; recordfs unmount")
        }

        @Test("a trash directory of the desktop can be made, and what goes there is deleted")
        func trash() throws {
            try home.ok(
                """
                cd RecordFS; echo '{"n": 1}' > local/Box/Note/a.json
                mkdir -p -m 700 .Trash-0/files .Trash-0/info; echo info > .Trash-0/info/a.json.trashinfo
                mv local/Box/Note/a.json .Trash-0/files/
                cat .Trash-0/files/a.json; ls -A | grep Trash
                """)
            #expect(try home.shell("mkdir RecordFS/.Trash-x").status == 1)
            #expect(try home.shell("ls RecordFS/local/Box/Note/a.json").status != 0)
            try home.ok("recordfs unmount; recordfs mount")
            #expect(try home.ok("cat RecordFS/.Trash-0/files/a.json") == "{\"n\": 1}")
            try home.ok("mv RecordFS/.Trash-0/files/a.json RecordFS/local/Box/Note/")
            #expect(try home.ok("cat RecordFS/local/Box/Note/a.json") == "{\"n\": 1}")
            try home.ok("recordfs unmount")
        }

        @Test(
            "a name with an @ whose record is not there is told with the name that it should have")
        func sign() throws {
            try home.ok("echo '{}' > RecordFS/local/Box/Note/john.doe@example.com.json")
            let reason = try home.ok("cat RecordFS/local/Box/Note/.error")
            #expect(reason.contains("john.doe%40example.com.json"), "\(reason)")
            #expect(try home.ok("recordfs status").contains("john.doe%40example.com.json"))
            try home.ok(
                """
                cd RecordFS/local/Box/Note; mv john.doe@example.com.json john.doe%40example.com.json
                [ "$(ls -A)" = john.doe%40example.com.json ]
                """)
            try home.ok("recordfs unmount")
        }
    }
}
