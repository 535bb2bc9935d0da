import RecordModel
import RecordServerCore
import RecordWire

/// The text that a person reads before signing in to a client: which client asks, for which rights,
/// and for how long.
struct SignInPurpose {
    let client: SignInTarget.Client
    let delivery: SignInTarget.Delivery
    let settings: AccountSettings
    /// The user who is signed in already.
    let known: UserRow?
    /// The name of the device that stays signed in.
    var device: Text?

    /// The text above the form.
    var request: HTML {
        """
        <p><strong>\(client.token.name)</strong>\(receiver) wants to use your data in
        \(place). When you sign in, it can:</p>
        <ul class="what">
        <li>see your name, your e-mail address, and the people here who can be found</li>
        <li>see and change all your data there, and share it in your name</li>
        <li>see public data there and data shared with you, and change it where you may</li>
        \(administration)
        </ul>
        """
    }

    /// The text below the form.
    var limits: HTML {
        if let device {
            return """
                <p>It does not get your password. It can do this on <strong>\(device)</strong> until you end
                it on the page <a href="/sessions">Where you are signed in</a>.</p>
                """
        }
        return """
            <p>It does not get your password. It can do this until it has done nothing for
            \(Self.duration(settings.sessionSeconds))
            (\(Self.duration(settings.longSessionSeconds)) if you stay signed in), for at most
            \(Self.duration(settings.maximumSessionSeconds)), or until you end it on the page
            <a href="/sessions">Where you are signed in</a>.</p>
            """
    }

    private var receiver: HTML {
        switch delivery {
        case .callback(let url): " at <code>\(url.source)</code>"
        case .message: client.origin.map { " at <code>\($0)</code>" } ?? ""
        }
    }

    private var place: HTML {
        let container = client.token.container
        let isTest = container.environment == .development
        let environment: HTML = isTest ? " (development)" : ""
        guard let title = client.title else {
            return "<strong>\(container.container)</strong>\(environment)"
        }
        return "<strong>\(title)</strong>\(environment)"
    }

    /// The text for administrators, who give more rights than other users.
    private var administration: HTML {
        switch known?.isAdministrator {
        case false?: ""
        case true?:
            "<li>change its schema and erase its development data, as you administer it</li>"
        case nil:
            "<li>change its schema and erase its development data, if you administer it</li>"
        }
    }

    /// Returns a duration in the largest unit of which it is a whole number.
    static func duration(_ seconds: Int64) -> HTML {
        let units: [(Int64, String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute")]
        let (size, unit) = units.first { seconds >= $0.0 && seconds % $0.0 == 0 } ?? (1, "second")
        let count = seconds / size
        return "\(count) \(count == 1 ? unit : unit + "s")"
    }
}
