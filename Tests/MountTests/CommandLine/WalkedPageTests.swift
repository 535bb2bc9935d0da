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

        @Test("in the first hour, each of thirty mistakes is undone, and each question answered")
        func firstHour() throws {
            let programs = URL(fileURLWithPath: try Executable.recordfs())
                .deletingLastPathComponent().path
            let hour = try run(Self.root + "/scripts/first-hour", programs, seconds: 900)
            #expect(hour.status == 0, "\(hour.output.suffix(2_000)) \(hour.errors)")
            #expect(hour.output.contains("30 mistakes undone"))
            #expect(hour.output.contains("20 questions answered"))
            #expect(hour.output.contains("files are the same after the restore"))
        }
    }
}
