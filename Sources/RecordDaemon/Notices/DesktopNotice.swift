import Glibc
import Logging
import RecordControl

/// A notice of the desktop, by `notify-send` of the user's session.
struct DesktopNotice: Sendable {
    private let runner: NoticeRunner

    /// Prepares notices. Returns nil without a session, without the program, and when
    /// RECORDFS_DESKTOP is `off`.
    init?(_ logger: Logger) {
        let isSession =
            environmentVariable("DBUS_SESSION_BUS_ADDRESS") != nil
            && (environmentVariable("DISPLAY") != nil
                || environmentVariable("WAYLAND_DISPLAY") != nil)
        guard isSession, environmentVariable("RECORDFS_DESKTOP") != "off",
            (environmentVariable("PATH") ?? "/usr/bin").split(separator: ":")
                .contains(where: { access("\($0)/notify-send", X_OK) == 0 })
        else { return nil }
        runner = NoticeRunner(
            "exec notify-send --app-name=RecordFS \"$RECORDFS_TITLE\" \"$RECORDFS_TEXT\"", logger)
    }

    func show(_ path: String, _ reason: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        runner.run([
            "RECORDFS_TITLE": "Not saved: \(name.onOneLine)",
            // Some desktop services interpret tags in the text.
            "RECORDFS_TEXT": "\(path)\n\(reason)".replacing("&", with: "&amp;")
                .replacing("<", with: "&lt;"),
        ])
    }
}
