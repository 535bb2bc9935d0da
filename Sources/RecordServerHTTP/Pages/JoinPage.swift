import RecordModel

/// The page that a join link opens in a browser.
struct JoinPage: Sendable {
    let pages: Pages

    /// Returns the page that explains a link of `recordfs-server join-link`. The server does not
    /// see the part after the `#`, so the page is the same for everybody.
    func join() -> PageResponse {
        pages.page(
            "Join with a mount",
            """
            <p>This link is for RecordFS on your own machine. Copy the whole address of this page, with
            everything after the <code>#</code>, and run there:</p>
            <p><code>recordfs login 'THE ADDRESS'</code></p>
            <p>Put the address between two apostrophes. Then sign in with your e-mail address and your
            password. If you have none, ask the person who sent you the link.</p>
            """)
    }
}
