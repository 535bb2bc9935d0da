#if canImport(Glibc)
import Glibc
#endif

/// Reads a password: from the terminal without showing it, twice, or from standard input. Never
/// from an argument, which other users of the machine could see.
enum PasswordInput {
    static func read(fromStandardInput: Bool) throws -> [UInt8] {
        if fromStandardInput {
            guard let line = line() else { throw CommandFailure("There is no password to read.") }
            return line
        }
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure("There is no terminal: use --password-stdin.")
        }
        let first = try prompt("Password: ")
        guard try prompt("Once more: ") == first else {
            throw CommandFailure("The two passwords are not the same.")
        }
        return first
    }

    private static func prompt(_ text: String) throws -> [UInt8] {
        show(text)
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw CommandFailure("The terminal does not answer.")
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            show("\n")
        }
        guard let line = line() else { throw CommandFailure("There is no password to read.") }
        return line
    }

    private static func show(_ text: String) {
        _ = write(STDERR_FILENO, text, text.utf8.count)
    }

    /// Reads up to the end of the line, byte by byte, as it was typed.
    private static func line() -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes.isEmpty ? nil : bytes }
            if byte == 0x0A { return bytes }
            bytes.append(byte)
        }
    }
}
