import Foundation
import Testing

extension MountTests {
    /// The pages that take a reader by the hand, as they are written.
    @Suite struct WalkedPageTests {
        private static let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path

        @Test(
            "a reader who follows a page of the mount gets what it says",
            arguments: [
                ("ModelTutorial", "recordfs new zone/Step"),
                ("ModelOfYourOwn", "recordfs query private/Library/Book shelf=corridor"),
                ("Undo", "recordfs undo 2"),
                ("EditAndAsk", "recordfs sql --csv"),
            ])
        func pages(name: String, step: String) throws {
            let page = Self.root + "/Sources/recordfs/Documentation.docc/\(name).md"
            let programs = URL(fileURLWithPath: try Executable.recordfs())
                .deletingLastPathComponent().path
            let walk = try run(Self.root + "/scripts/walk-page", page, programs, seconds: 120)
            #expect(walk.status == 0, "\(walk)")
            #expect(walk.output.contains(step), "\(walk)")
        }
    }
}
