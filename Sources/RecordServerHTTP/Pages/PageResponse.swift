import RecordModel

/// The answer of a page, without HTTP types.
struct PageResponse: Hashable, Sendable {
    var status: Int
    var headers: [Header]
    var body: [UInt8]

    struct Header: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// Returns a whole document. `formTargets` are further sources that a form of it may end at,
    /// because a browser checks the target of a redirect after a form.
    static func page(
        _ title: String, of site: Site, status: Int = 200, formTargets: [String] = [],
        hasScript: Bool = false, hasImage: Bool = false, _ content: HTML
    ) -> PageResponse {
        let script: HTML = hasScript ? "<script>\(PageAssets.script)</script>" : ""
        let document: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(site.title(title))</title>
            <style>\(PageAssets.style)</style>
            </head>
            <body>
            \(site.header)
            <main>
            <h1>\(title)</h1>
            \(content)
            </main>
            \(site.footer)
            \(script)
            </body>
            </html>

            """
        let forms = (["'self'"] + formTargets).joined(separator: " ")
        let scripts = hasScript ? "script-src '\(PageAssets.scriptHash)'; " : ""
        let images = site.logo != nil || hasImage ? "img-src 'self'; " : ""
        let policy =
            "default-src 'none'; style-src '\(PageAssets.styleHash)'; \(scripts)\(images)"
            + "form-action \(forms); base-uri 'none'; frame-ancestors 'none'"
        return PageResponse(
            status: status,
            headers: [
                Header(name: "Content-Type", value: "text/html; charset=utf-8"),
                Header(name: "Content-Security-Policy", value: policy),
            ] + commonHeaders, body: Array(document.text.utf8))
    }

    /// Returns a redirect that the browser follows with GET.
    static func redirect(to location: String) -> PageResponse {
        PageResponse(
            status: 303, headers: [Header(name: "Location", value: location)] + commonHeaders,
            body: [])
    }

    /// Returns a picture that only viewers of the page around it get, and that nobody stores.
    static func image(_ bytes: [UInt8], _ format: ImageFormat) -> PageResponse {
        PageResponse(status: 200, headers: imageHeaders(format, caching: "no-store"), body: bytes)
    }

    static let noImage = PageResponse(
        status: 404,
        headers: [Header(name: "Content-Type", value: "text/plain; charset=utf-8")]
            + commonHeaders, body: [])

    /// Returns the headers of an image that is nothing else, also when it is opened by itself.
    static func imageHeaders(_ format: ImageFormat, caching: String) -> [Header] {
        [
            Header(name: "Content-Type", value: format.rawValue),
            Header(name: "Content-Security-Policy", value: "default-src 'none'; sandbox"),
            Header(name: "X-Content-Type-Options", value: "nosniff"),
            Header(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            Header(name: "Cache-Control", value: caching),
        ]
    }

    private static let commonHeaders = [
        Header(name: "Cache-Control", value: "no-store"),
        Header(name: "Referrer-Policy", value: "no-referrer"),
        Header(name: "X-Content-Type-Options", value: "nosniff"),
        Header(name: "X-Frame-Options", value: "DENY"),
    ]

    mutating func add(_ name: String, _ value: String) {
        headers.append(Header(name: name, value: value))
    }

    subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The style and the script that pages contain, and their hashes for the content security policy.
enum PageAssets {
    static let style: HTML = """

        :root { color-scheme: light dark; }
        * { box-sizing: border-box; }
        body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
        header, main, footer { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem; }
        header { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center;
          padding-bottom: 0; font-weight: 600; }
        header p { margin: 0; flex: 1 1 8rem; min-width: 0; }
        header + main { padding-top: .5rem; }
        .logo { max-width: 100%; max-height: 3rem; object-fit: contain; }
        .thumbnail { max-width: 100%; max-height: 12rem; object-fit: contain; }
        footer { padding-top: 0; font-size: .875rem; }
        h1 { font-size: 1.5rem; line-height: 1.25; }
        label { display: block; margin: 1rem 0; }
        input[type=email], input[type=password], textarea {
          display: block; width: 100%; padding: .5rem; font: inherit; margin-top: .25rem; }
        textarea, code { font-family: ui-monospace, monospace; font-size: .875rem; }
        button { font: inherit; padding: .5rem 1.25rem; min-height: 2.75rem; }
        ul { padding: 0; list-style: none; }
        li { border-top: 1px solid; padding: .75rem 0; }
        .what { padding-left: 1.25rem; list-style: disc; }
        .what li { border: 0; padding: .125rem 0; }
        .error { border-left: .25rem solid #c00; padding-left: .75rem; }

        """

    /// The script that sends the token to the page that opened the window, if that page has an
    /// allowed origin.
    static let script: HTML = """

        (function () {
          var data = document.getElementById("token").dataset;
          var message = { ckWebAuthToken: data.token, ckSession: data.token };
          if (!window.opener) { return; }
          data.origins.split(" ").forEach(function (origin) {
            if (origin) { window.opener.postMessage(message, origin); }
          });
        })();

        """

    static let styleHash = hash(of: style)
    static let scriptHash = hash(of: script)

    private static func hash(of content: HTML) -> String {
        let digest = SHA256.digest(of: Array(content.text.utf8))
        return "sha256-" + String(decoding: Base64.encode(digest), as: UTF8.self)
    }
}
