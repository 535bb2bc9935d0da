import Testing

@testable import recordfs

/// Numbers with their nouns and verbs in lists.
@Suite struct ShownCountTests {
    @Test(
        "a share says how many people have it",
        arguments: [
            (0, 0, "0 have it, 0 are invited"), (1, 2, "1 has it, 2 are invited"),
            (3, 1, "3 have it, 1 is invited"),
        ])
    func shares(joined: Int, invited: Int, words: String) {
        #expect(SharesCommand.words(joined: joined, invited: invited) == words)
    }

    @Test(
        "a pin says how much of it is here",
        arguments: [
            (0, 0, 0, "all 0 files are here"), (1, 0, 0, "1 file is here"),
            (3, 0, 0, "all 3 files are here"), (1, 1, 512, "1 of 1 file is to come, 512 B"),
            (3, 2, 2048, "2 of 3 files are to come, 2.0 KiB"),
        ])
    func pins(files: Int64, missing: Int64, bytes: Int64, words: String) {
        #expect(
            PinCommand.words(files: files, missingFiles: missing, missingBytes: bytes) == words)
    }
}
