import CLinux
import Glibc
import RecordModel

extension RecordError {
    static let goneAsset = RecordError(.stale, "the asset is gone")
    static let noMoveWithin = RecordError(.notPermitted, "nothing is moved into .recordfs")

    static let otherDirectory = RecordError(
        .crossDevice, "records are not moved between types or zones; copy them")

    static var staleNode: RecordError {
        RecordError(.stale, "the file is gone; look its name up again")
    }
    static var noSuchFile: RecordError { RecordError(.notFound, "no such file") }

    static func textTooLarge(limit: Int) -> RecordError {
        RecordError(
            .tooLarge,
            "the text of a record is at most \(limit) bytes; put large values into asset files")
    }

    static func invalidStem(_ stem: Stem) -> RecordError {
        let hint = NameCodec.encode(stem.bytes)
        return RecordError(
            .invalidName,
            "a record's file name spells special characters as %XX: try "
                + "\(String(decoding: hint, as: UTF8.self)).json")
    }

    static func sharedNoLonger(kept: Bool) -> RecordError {
        RecordError(
            .accessDenied,
            "it is not shared with you any more"
                + (kept ? "; what you have changed is in .recordfs/trash" : ""))
    }

    /// Indicates whether no record can have the name of the file any more, because another record
    /// has it now.
    var isAboutName: Bool { code == .alreadyExists || code == .invalidName }
}
