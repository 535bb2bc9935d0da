import RecordModel

/// Names that tools make for a moment beside a file and leave behind when they are killed.
///
/// Only names that no person would choose are here: every other file in scratch belongs to
/// somebody. A random suffix of a tool must look random, so `.config.json.backup` is not a
/// temporary file.
package enum TemporaryName {
    /// - Parameter size: the size of a regular file, in bytes.
    package static func isTemporary(_ name: [UInt8], isDirectory: Bool, size: Int64) -> Bool {
        if isDirectory { return name == Array(".~tmp~".utf8) }  // rsync --delay-updates
        return isSwapFile(name) || isBackupOrLock(name) || isProbe(name, size)
            || isDrawnBesideData(name) || isLibreOffice(name) || isOfASafeWrite(name)
    }

    /// Returns whether a name that could belong to a large field shows that it is a tool's file
    /// beside it: a part of a download, a backup, a journal, a lock, or the checksum or signature
    /// of another file.
    package static func isBesideField(_ name: [UInt8]) -> Bool {
        let name = name.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        let field = name.drop { $0 != UInt8(ascii: "@") }
        let parts = field.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let ending = parts.last, parts.count > 1 else { return false }
        let text = String(decoding: ending, as: UTF8.self)
        if temporaryEndings.contains(text) { return true }
        if tails.contains(where: { text.hasSuffix($0) }) { return true }
        if ending.starts(with: "~".utf8) || ending.last == UInt8(ascii: "#") { return true }
        guard parts.count > 2 else { return false }
        return sums.contains(text)
    }

    private static let temporaryEndings: Set<String> = [
        "part", "partial", "filepart", "crdownload", "download", "opdownload", "tmp", "temp",
        "bak", "backup", "old", "orig", "rej", "new", "lock", "lck", "aria2", "st", "!ut", "swp",
    ]
    /// Endings of SQLite, exiftool, JetBrains and editors.
    private static let tails = [
        "-journal", "-wal", "-shm", "_original", "_exiftool_tmp", "___jb_tmp___", "___jb_old___",
        "~",
    ]
    private static let sums: Set<String> = [
        "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "b2", "b3", "asc", "sig", "minisig",
    ]

    /// Returns true when the ending, without its dot, belongs to a packer that packs one file.
    static func isPacked(_ ending: [UInt8]) -> Bool {
        packed.contains(String(decoding: ending, as: UTF8.self))
    }

    private static let packed: Set<String> = ["gz", "xz", "bz2", "zst", "lz4", "lzma", "lz", "br"]

    /// Returns whether it is a swap file of vim or nano (`.NAME.swp`, `.swo` and so on) or of kate
    /// (`.NAME.kate-swp`).
    private static func isSwapFile(_ name: [UInt8]) -> Bool {
        guard name.first == UInt8(ascii: "."), name.count > 5 else { return false }
        if name.ends(with: ".kate-swp") { return true }
        // vim counts down from .swp to .swa, then from .svz on.
        guard name.suffix(4).starts(with: ".s".utf8), let last = name.last else { return false }
        let letter = name[name.count - 2]
        let isLetter = last >= UInt8(ascii: "a") && last <= UInt8(ascii: "z")
        return isLetter && (letter == UInt8(ascii: "w") || letter == UInt8(ascii: "v"))
    }

    /// Returns whether it is a backup or a lock: `NAME~` of all editors; `#NAME#` and `.#NAME` of
    /// emacs; `.~lock.NAME#` of LibreOffice.
    private static func isBackupOrLock(_ name: [UInt8]) -> Bool {
        guard name.count > 1 else { return false }
        if name.last == UInt8(ascii: "~") { return true }
        if name.starts(with: ".#".utf8), name.count > 2 { return true }
        guard name.last == UInt8(ascii: "#") else { return false }
        return name.first == UInt8(ascii: "#") && name.count > 2
            || name.starts(with: ".~lock.".utf8)
    }

    /// Returns whether it is a probe of vim, which tests with an empty file whether it may make
    /// files: 4913, and 123 more while that name exists.
    private static func isProbe(_ name: [UInt8], _ size: Int64) -> Bool {
        guard size == 0, name.count <= 5, let number = Int(String(decoding: name, as: UTF8.self))
        else { return false }
        return number >= 4913 && (number - 4913) % 123 == 0
    }

    /// Returns whether it is a random name beside a record's or an asset's file. sed -i:
    /// `sedXXXXXX`; perl -i: `XXXXXXXX`, the first two of which are literal. Beside a file NAME,
    /// rsync: `.NAME.XXXXXX`, Qt's programs: `NAME.XXXXXX`, patch: `NAME.oXXXXXX`.
    private static func isDrawnBesideData(_ name: [UInt8]) -> Bool {
        guard isDrawn(name.suffix(6)) else { return false }
        if name.count == 9, name.starts(with: "sed".utf8) { return true }
        if name.count == 8, name.starts(with: "XX".utf8) { return true }
        var rest = name.dropLast(6)
        if rest.last == UInt8(ascii: "o") { rest.removeLast() }
        guard rest.popLast() == UInt8(ascii: ".") else { return false }
        let inner = Array(rest.drop { $0 == UInt8(ascii: ".") })
        if case .scratch = EntryName(classifying: inner) { return false }
        return true
    }

    /// Returns whether the text looks like a random part from mkstemp: letters and digits, and not
    /// a word.
    private static func isDrawn(_ text: ArraySlice<UInt8>) -> Bool {
        let isPlain = text.allSatisfy {
            switch $0 {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
        let hasCapital = text.contains { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        let hasOther = text.contains { $0 < UInt8(ascii: "A") || $0 > UInt8(ascii: "Z") }
        return text.count == 6 && isPlain && hasCapital && hasOther
    }

    /// Returns whether it is a name of LibreOffice: `luNNN....tmp`.
    private static func isLibreOffice(_ name: [UInt8]) -> Bool {
        guard name.count > 7, name.starts(with: "lu".utf8), name.ends(with: ".tmp") else {
            return false
        }
        return name.dropFirst(2).prefix(3).allSatisfy {
            $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
        }
    }

    /// Returns whether it is a name of a safe write: `.goutputstream-XXXXXX` of gedit and all of
    /// GLib; `NAME___jb_tmp___` of JetBrains.
    private static func isOfASafeWrite(_ name: [UInt8]) -> Bool {
        name.count == 21 && name.starts(with: ".goutputstream-".utf8)
            || name.ends(with: "___jb_tmp___") || name.ends(with: "___jb_old___")
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool {
        let end = Array(text.utf8)
        return count > end.count && suffix(end.count).elementsEqual(end)
    }
}
