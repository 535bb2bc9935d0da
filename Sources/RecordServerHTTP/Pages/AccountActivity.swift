import RecordModel
import RecordServerCore
import RecordWire

/// The events of an account, on the page of the user's sign-ins.
struct AccountActivity {
    /// The time for which a sign-in from a new place stays at the top of the page.
    static let noticeMilliseconds: Int64 = 14 * 24 * 3600 * 1000
    private static let shownCount = 20

    /// The events, the newest first.
    let events: [AccountEvent]
    let milliseconds: Int64

    /// The notice at the top: sign-ins from places that were not known.
    var notice: HTML {
        let new = events.filter {
            $0.isNewPlace && $0.milliseconds > milliseconds - Self.noticeMilliseconds
        }
        guard !new.isEmpty else { return "" }
        return """
            <div class="error" role="alert">
            <p>Somebody signed in to your account from a new place:</p>
            <ul class="what">\(new.prefix(5).map { "<li>\(Self.line($0))</li>" as HTML })</ul>
            <p>If that was not you, <a href="/password">change your password</a> and sign out
            everywhere.</p>
            </div>
            """
    }

    var list: HTML {
        guard !events.isEmpty else { return "" }
        let items = events.prefix(Self.shownCount).map { event in
            "<li><strong>\(Self.words(event))</strong><br>\(Self.line(event))</li>" as HTML
        }
        return "<h2>What happened to your account</h2><ul>\(items)</ul>"
    }

    private static func words(_ event: AccountEvent) -> String {
        switch event.kind {
        case .signedIn: event.isNewPlace ? "Signed in, from a new place" : "Signed in"
        case .passwordChanged: "Password changed"
        case .passwordReset: "Password set by a link or by the operator of the server"
        case .sessionsEnded: "Signed out everywhere"
        case .emailChanged: "E-mail address changed"
        }
    }

    private static func line(_ event: AccountEvent) -> HTML {
        let time = PageTime.text(milliseconds: event.milliseconds)
        guard !event.address.isEmpty else { return "\(time), by the operator of the server" }
        return "\(time), from <code>\(event.address)</code>, \(event.agent)"
    }
}
