import RecordModel
import RecordServerCore
import RecordWire

/// The page of a share: its owner, its content and the permissions. `SharePage+Actions` has the
/// actions on it.
struct SharePage: Sendable {
    let pages: Pages

    func showShare(_ shortGUID: Text, _ request: PageRequest) async throws(ServerError)
        -> PageResponse
    {
        let session = try await pages.browserSession(request)
        guard let share = try await pages.share(shortGUID, for: session?.user),
            share.relation != .unknown
        else {
            return noSharePage(shortGUID, session?.user, request)
        }
        return sharePage(share, shortGUID, session?.user, request)
    }

    /// Returns the page for a share that does not exist, was revoked, or is for somebody else. A
    /// signed-in user may ask for access there, whether there is a share or not.
    func noSharePage(
        _ shortGUID: Text, _ user: UserRow?, _ request: PageRequest
    ) -> PageResponse {
        guard user != nil || !Self.isShortGUID(shortGUID) else {
            return pageForStrangers(shortGUID, request)
        }
        let token = FormToken(request, seal: pages.authenticator.seal)
        let canAsk =
            user != nil && !pages.service.settings.isStrict && Self.isShortGUID(shortGUID)
        let form: HTML =
            canAsk
            ? """
            <p>If somebody gave you this address, you can ask its owner for access.
            The owner sees your name and your e-mail address.</p>
            \(self.form(.request, "Ask for access", shortGUID, token))
            """ : ""
        var response = pages.page(
            "There is nothing here for you", status: 404,
            """
            <p>Nothing is shared at this address, or it is shared with somebody else. If you have
            more than one account, check <a href="/sessions">the one you are signed in with</a>.
            </p>
            \(form)
            """)
        if canAsk { response.setCookie(of: token, isSecure: request.isSecure) }
        return response
    }

    /// Returns the page for a visitor who is not signed in. It reveals nothing, not even that there
    /// is a share.
    private func pageForStrangers(_ shortGUID: Text, _ request: PageRequest) -> PageResponse {
        let address = "\(request.client.baseURL)/share/\(shortGUID)"
        var response = pages.page(
            "A share",
            """
            <p>If something is shared with you at this address, you see it when you are signed in.</p>
            \(Self.signInLink(shortGUID))
            \(Self.acceptLines(address))
            """)
        response.setCookie(
            of: FormToken(request, seal: pages.authenticator.seal), isSecure: request.isSecure)
        return response
    }

    /// Returns the ways to accept on a machine with RecordFS. Its desktop entry opens addresses that
    /// begin with `recordfs:`.
    private static func acceptLines(_ address: String) -> HTML {
        """
        <p><a href="recordfs:\(address)">Open in RecordFS</a> on a machine that has it, or call
        <code>recordfs accept \(address)</code> there.</p>
        """
    }

    static func isShortGUID(_ text: Text) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(ShortGUIDRule.isByte)
    }

    private func sharePage(
        _ share: ShareOnPage, _ shortGUID: Text, _ user: UserRow?, _ request: PageRequest
    ) -> PageResponse {
        let token = FormToken(request, seal: pages.authenticator.seal)
        let address = "\(request.client.baseURL)/share/\(shortGUID)"
        let preview = Self.preview(share, shortGUID)
        let what: HTML = "\(Self.what(share))\(preview)"
        let report = reportForm(shortGUID, token)
        let content: HTML
        switch share.relation {
        case .owner:
            content = """
                <p>You share this. Send the address of this page to those you invited.</p>
                \(preview)\(Self.rights(share))\(Self.requests(share))
                """
        case .member:
            content = """
                \(what)<p>You have accepted.</p>
                \(Self.rights(share, asMember: true))
                \(report)
                """
        case .invited where user == nil, .unknown:
            content = "\(what)\(Self.rights(share))\(Self.signInLink(shortGUID))"
        case .invited:
            content = """
                \(what)
                \(Self.rights(share))
                \(form(.accept, "Accept", shortGUID, token))
                \(form(.decline, "Decline", shortGUID, token))
                \(report)
                """
        }
        var response = pages.page(
            "A share", hasImage: share.preview?.thumbnailFormat != nil,
            """
            \(content)
            \(Self.acceptLines(address))
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }

    /// Returns the description of the share. A visitor who may not know it gets nothing of it.
    private static func what(_ share: ShareOnPage) -> HTML {
        let kind: HTML =
            share.isZone ? "a whole zone" : "one record and its children"
        switch (share.preview?.title, share.ownerName) {
        case (let title?, let owner?):
            return "<p>\(owner) shares <strong>\(title)</strong> with you: \(kind).</p>"
        case (let title?, nil): return "<p>This is <strong>\(title)</strong>: \(kind).</p>"
        case (nil, let owner?): return "<p>\(owner) shares something with you: \(kind).</p>"
        case (nil, nil): return "<p>Somebody shares something at this address.</p>"
        }
    }

    /// Returns the thumbnail and the type. The picture is a file of its own, so that the page needs
    /// no source of images except the server, and a browser takes nothing in the picture for a part
    /// of the page.
    private static func preview(_ share: ShareOnPage, _ shortGUID: Text) -> HTML {
        guard let preview = share.preview else { return "" }
        let picture: HTML =
            preview.thumbnailFormat == nil
            ? ""
            : """
            <p><img class="thumbnail" src="/share/\(shortGUID)/thumbnail" alt=""></p>
            """
        let type: HTML = preview.type.map { "<p>Type: <code>\($0)</code></p>" } ?? ""
        return "\(picture)\(type)"
    }

    /// Returns the thumbnail of a share to visitors who see it on its page. For everybody else, and
    /// when the thumbnail is no picture, there is nothing.
    func shareThumbnail(_ shortGUID: Text, _ request: PageRequest) async throws(ServerError)
        -> PageResponse
    {
        let session = try await pages.browserSession(request)
        guard
            let preview = try await pages.share(shortGUID, for: session?.user)?.preview,
            let bytes = preview.thumbnail, let format = preview.thumbnailFormat
        else { return .noImage }
        return .image(bytes, format)
    }

    /// Returns the list of permissions.
    private static func rights(_ share: ShareOnPage, asMember: Bool = false) -> HTML {
        let own: HTML
        let rights: HTML = share.permission == .readWrite ? "see and change it" : "see it"
        switch share.relation {
        case .owner: own = "<li>You can do everything, and end it.</li>"
        case .member: own = "<li>You can \(rights).</li>"
        case .invited, .unknown: own = "<li>You can \(rights) once you accept.</li>"
        }
        let owner: HTML =
            share.relation == .owner
            ? "" : "<li>The owner can do everything, and end it.</li>"
        let others: HTML
        switch share.publicPermission {
        case .readOnly: others = "<li>Anybody with this address can see it.</li>"
        case .readWrite: others = "<li>Anybody with this address can see and change it.</li>"
        case .none, .unknown: others = "<li>Only invited people can join.</li>"
        }
        return "<ul class=\"what\">\(own)\(owner)\(others)</ul>"
    }

    private static func requests(_ share: ShareOnPage) -> HTML {
        guard let count = share.requesterCount, count > 0 else { return "" }
        let words: HTML = count == 1 ? "One person asks" : "\(Int64(count)) people ask"
        return """
            <p>\(words) for access: <code>recordfs share requests PATH</code> lists them.</p>
            """
    }

    private static func signInLink(_ shortGUID: Text) -> HTML {
        """
        <p><a href="/sign-in?next=/share/\(shortGUID)">Sign in</a> to accept.</p>
        """
    }
}
