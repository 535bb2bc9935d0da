import Logging
import RecordModel
import RecordServerCore
import RecordWire

/// The page of a user's invitations in all containers, before any of them is opened. There the user
/// declines them, or blocks further invitations of a person.
struct InvitationsPage: Sendable {
    let pages: Pages

    private static let declineAction = "decline"
    private static let blockAction = "block"
    private static let unblockAction = "unblock"

    /// An invitation with its container.
    private struct Item {
        let container: ContainerKey
        let answer: InvitationAnswer

        var owner: Text { answer.ownerIdentity["userRecordName"]?.string ?? "" }
        var ownerName: Text { answer.ownerName ?? owner }
    }

    func showInvitations(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in?next=/invitations")
        }
        let number = max(0, Int(request.query["page"]?.string ?? "") ?? 0)
        let (items, hasMore) = try await invitations(
            of: session.user, page: min(number, 10_000), request)
        let blocked = try await blockedOwners(of: session.user)
        let token = FormToken(request, seal: pages.authenticator.seal)
        let list = items.map { item($0, token) }
        let none: HTML = items.isEmpty ? "<p>Nobody waits for an answer of yours.</p>" : ""
        let more: HTML =
            hasMore ? "<p><a href=\"/invitations?page=\(Int64(number + 1))\">More</a></p>" : ""
        var response = pages.page(
            "Invitations",
            """
            \(none)
            <ul>\(list)</ul>
            \(more)
            \(blockedList(blocked, token))
            <p><a href="/sessions">Your account</a></p>
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }

    /// Returns one page of each container. The newest invitations of each person come first.
    private func invitations(
        of user: UserRow, page: Int, _ request: PageRequest
    ) async throws(ServerError) -> (items: [Item], hasMore: Bool) {
        try await pages.service.storage.read { (reader) throws(ServerError) in
            var items: [Item] = []
            var hasMore = false
            for container in try ContainerKey.all(reader) {
                let context = OperationContext(
                    endpoint: .changesDatabase, container: container, scope: .shared,
                    caller: .user(user), requestID: request.client.requestID,
                    now: request.client.now, baseURL: request.client.baseURL)
                let (answers, next) = try DatabasePage.invitations(
                    of: user, from: page * DatabasePage.maximumInvitations, context, reader)
                items += answers.map { Item(container: container, answer: $0) }
                hasMore = hasMore || next != nil
            }
            return (items, hasMore)
        }
    }

    private func blockedOwners(of user: UserRow) async throws(ServerError) -> [UserRow] {
        try await pages.service.storage.read { (reader) throws(ServerError) in
            var owners: [UserRow] = []
            for name in try reader.blockedOwners(user.name) {
                if let owner = try reader.user(name) { owners.append(owner) }
            }
            return owners
        }
    }

    private func item(_ item: Item, _ token: FormToken) -> HTML {
        let answer = item.answer
        let title: HTML = answer.title.map { "<strong>\($0)</strong>" } ?? "Something"
        let time: HTML =
            answer.invitedMilliseconds.map { ", \(PageTime.text(milliseconds: $0))" } ?? ""
        let right: HTML = answer.permission == .readWrite ? "see and change it" : "see it"
        return """
            <li><a href="/share/\(answer.shortGUID)">\(title)</a><br>
            from \(item.ownerName), in \(item.container.container)\(time). You could \(right).
            \(form(Self.declineAction, "share", answer.shortGUID, "Decline", token))
            \(form(Self.blockAction, "owner", item.owner, "Block \(item.ownerName)", token))
            </li>
            """
    }

    private func blockedList(_ owners: [UserRow], _ token: FormToken) -> HTML {
        guard !owners.isEmpty else { return "" }
        let items = owners.map { owner in
            """
            <li>\(owner.displayName ?? owner.emailAddress)
            \(form(Self.unblockAction, "owner", owner.name.text, "Unblock", token))</li>
            """ as HTML
        }
        return """
            <h2>Blocked</h2>
            <p>You do not see their invitations, and they get no message about this.</p>
            <ul>\(items)</ul>
            """
    }

    private func form(
        _ action: String, _ name: String, _ value: Text, _ words: String, _ token: FormToken
    ) -> HTML {
        """
        <form method="post" action="/invitations">
        \(token.field("invitations \(action) \(value)"))
        <input type="hidden" name="do" value="\(action)">
        <input type="hidden" name="\(name)" value="\(value)">
        <button type="submit">\(words)</button>
        </form>
        """
    }

    /// Declines an invitation, or blocks or unblocks an owner. Errors: badRequest for an unknown
    /// action, accessDenied for a form that is not from this page.
    func actOnInvitation(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in?next=/invitations")
        }
        let action = request.form?["do"]?.string ?? ""
        let value = request.form?[action == Self.declineAction ? "share" : "owner"] ?? ""
        guard [Self.declineAction, Self.blockAction, Self.unblockAction].contains(action) else {
            throw ServerError(.badRequest, "An invitation is declined, or its sender blocked.")
        }
        guard
            FormToken(request, seal: pages.authenticator.seal)
                .isGood(request, "invitations \(action) \(value)")
        else { throw Pages.staleForm }
        if action == Self.declineAction {
            try await decline(value, session.user, request)
        } else {
            let blocks = action == Self.blockAction
            try await pages.service.storage.write { (transaction) throws(ServerError) in
                try transaction.setBlocksInvitations(
                    session.user.name, of: UserName(bytes: value.utf8), blocks,
                    milliseconds: request.milliseconds)
            }
        }
        return .redirect(to: "/invitations")
    }

    private func decline(
        _ shortGUID: Text, _ user: UserRow, _ request: PageRequest
    ) async throws(ServerError) {
        guard let share = try await pages.share(shortGUID, for: user) else { return }
        try await pages.service.shareRequests.declineShare(
            shortGUID, user, milliseconds: request.milliseconds, in: share.container)
    }
}
