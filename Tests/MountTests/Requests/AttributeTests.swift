import CTestSystem
import Glibc
import Testing

extension MountTests {
    /// Extended attributes are off unless asked for, and copies with attributes work either way.
    @Suite struct AttributeTests {
        private static let text = "{\n  \"n\": 1\n}\n"

        @Test("without -o xattr a file has no attributes, and meta has the values")
        func off() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let file = "\(folder)/a.json"
            try SystemCall.writeFile(file, Self.text)
            #expect(
                SystemCall.code { _ = try SystemCall.attribute(file, "user.recordfs.name") }
                    == EOPNOTSUPP)
            #expect(SystemCall.code { _ = try SystemCall.attributeNames(file) } == EOPNOTSUPP)
            #expect(
                SystemCall.code { try SystemCall.setAttribute(file, "user.x", [1]) } == EOPNOTSUPP)
            #expect(test_removexattr(file, "user.x") != 0 && errno == EOPNOTSUPP)
            let meta = try SystemCall.readText(
                "\(mounted.mountPoint)/.recordfs/meta/private/Kitchen/Recipe/a.json")
            for part in [
                "\"name\": \"a\"", "\"database\": \"private\"", "\"zone\": \"Kitchen\"",
                "\"type\": \"Recipe\"", "\"permission\": \"READ_WRITE\"", "\"state\": \"pending\"",
            ] {
                #expect(meta.contains(part), "\(part) in \(meta)")
            }
        }

        @Test("with -o xattr a file has what meta has, and scratch what it was given")
        func on() throws {
            let mounted = try MountedStore(options: ["-o", "xattr"])
            let folder = try mounted.makeType()
            let file = "\(folder)/a.json"
            try SystemCall.writeFile(file, Self.text)
            #expect(try SystemCall.attribute(file, "user.recordfs.state") == "pending")
            try SystemCall.writeFile("\(folder)/.a.swp", "x")
            try SystemCall.setAttribute("\(folder)/.a.swp", "user.x", Array("y".utf8))
            #expect(try SystemCall.attribute("\(folder)/.a.swp", "user.x") == "y")
        }

        @Test(
            "cp --preserve=xattr and rsync -aX copy records in, out and among themselves",
            arguments: [false, true])
        func copies(hasAttributes: Bool) throws {
            let mounted = try MountedStore(options: hasAttributes ? ["-o", "xattr"] : [])
            let folder = try mounted.makeType()
            let place = ToolPlace(folder: folder, outside: mounted.outside)
            try SystemCall.makeDirectory(place.home)
            let result = try place.shell(
                """
                set -e
                mkdir ../Copy ../Mirror "$1"/in "$1"/out "$1"/mirror
                echo '{"n": 1}' > "$1"/in/a.json; echo '{"n": 2}' > "$1"/in/b.json
                cp --preserve=xattr "$1"/in/a.json . && rsync -aX "$1"/in/ ./
                echo '{"n": 33}' > b.json
                cp --preserve=xattr a.json ../Copy/ && rsync -aX ./ ../Mirror/
                rsync -aX "$1"/in/ ../Mirror/
                cp --preserve=xattr b.json "$1"/out/ && rsync -aX ../Mirror/ "$1"/mirror/
                cat ../Copy/a.json ../Mirror/b.json "$1"/out/b.json "$1"/mirror/a.json
                """, mounted.outside)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(
                result.output == "{\"n\": 1}\n{\"n\": 2}\n{\"n\": 33}\n{\"n\": 1}\n", "\(result)")
            #expect(try mounted.store.drafts() == 0)
        }
    }
}
