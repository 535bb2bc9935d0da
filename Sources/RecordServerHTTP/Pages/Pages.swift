package import Logging
package import RecordServerCore
import RecordWire

/// The parts that all pages share: who has signed in, the look, the events of accounts. The pages are
/// plain HTML that needs no script.
package struct Pages: Sendable {
    let service: RecordService
    let authenticator: Authenticator
    let passwords: PasswordSignIn
    let throttles: any Throttles
    let site: Site
    let metrics: ServerMetrics
    let logger: Logger

    package init(
        service: RecordService, authenticator: Authenticator, throttles: any Throttles,
        site: Site = Site(), metrics: ServerMetrics = ServerMetrics(), logger: Logger
    ) {
        self.metrics = metrics
        self.logger = logger
        self.throttles = throttles
        self.service = service
        self.authenticator = authenticator
        self.site = site
        passwords = PasswordSignIn(
            storage: service.storage, throttles: throttles,
            cost: authenticator.settings.passwordCost)
    }

    /// Returns the page, or a page for its error.
    func answer(
        _ request: PageRequest,
        _ page: (PageRequest) async throws(ServerError) -> PageResponse
    ) async -> PageResponse {
        do throws(ServerError) {
            return try await page(request)
        } catch {
            return errorPage(error, request)
        }
    }

    /// Returns a page of this site.
    func page(
        _ title: String, status: Int = 200, formTargets: [String] = [], hasScript: Bool = false,
        hasImage: Bool = false, _ content: HTML
    ) -> PageResponse {
        .page(
            title, of: site, status: status, formTargets: formTargets, hasScript: hasScript,
            hasImage: hasImage, content)
    }

    func errorPage(_ error: ServerError, _ request: PageRequest) -> PageResponse {
        let text: HTML
        switch error.code {
        case .internalError:
            text = "<p>The server could not do this. It is not your fault.</p>"
        case .throttled, .tryAgainLater:
            text = "<p>\(error.reason) Please try again later.</p>"
        default: text = "<p>\(error.reason)</p>"
        }
        var response = page(
            "Something went wrong", status: error.code.httpStatus,
            "\(text)<p>Request <code>\(request.client.requestID)</code></p>")
        if let seconds = error.retryAfter { response.add("Retry-After", String(seconds)) }
        return response
    }

    static let foreignForm = ServerError(
        .accessDenied, "This form was sent by another site. Use the form of this one.")

    static let staleForm = ServerError(
        .accessDenied,
        "The form was too old, or your browser keeps no cookies. Go back, load the page again "
            + "and try once more.")

    /// Returns the text for a person who has to wait.
    static func words(of error: ServerError) -> HTML {
        "\(error.reason) Please wait \(Int64(error.retryAfter ?? 10)) seconds."
    }

    func waiting(_ error: ServerError, _ page: PageResponse) -> PageResponse {
        var response = page
        response.add("Retry-After", String(error.retryAfter ?? 10))
        return response
    }
}
