package import HTTPTypes
package import HummingbirdCore

/// Finds the handler of a request by its method and the components of its path.
///
/// A pattern is a path such as `/share/{shortGUID}`: a component in braces stands for any one, and
/// the context gets its text under that name. A component that is written out goes before one in
/// braces.
package struct RouteTable: Sendable {
    package typealias Handler = @Sendable (Request, HTTPContext) async throws -> Response

    /// The routes whose paths begin with the same components.
    private struct Branch: Sendable {
        var literal: [Substring: Branch] = [:]
        var parameters: [(name: Substring, next: Branch)] = []
        var handlers: [HTTPRequest.Method: Handler] = [:]
    }

    private var root = Branch()

    package init() {}

    /// Adds a route. A route for GET answers HEAD too, unless it says otherwise; the caller removes
    /// the body.
    package mutating func on(
        _ path: String, _ method: HTTPRequest.Method, answersHead: Bool = true,
        _ handler: @escaping Handler
    ) {
        let components = path.split(separator: "/")
        Self.add(components[...], to: &root) { branch in
            branch.handlers[method] = handler
            if method == .get, answersHead { branch.handlers[.head] = handler }
        }
    }

    /// Returns the answer of the route of a request. Errors: those of its handler;
    /// `HTTPRefusal.notFound` for an unknown path; `methodNotAllowed` with the methods that it has.
    func respond(
        to request: Request, _ components: [Substring], _ context: HTTPContext
    ) async throws -> Response {
        var context = context
        var allowed: Set<String> = []
        let handler = Self.find(components[...], in: root, &context.parameters) { branch in
            allowed.formUnion(branch.handlers.keys.map(\.rawValue))
            return branch.handlers[request.method]
        }
        if let handler { return try await handler(request, context) }
        throw allowed.isEmpty
            ? HTTPRefusal.notFound : .methodNotAllowed((allowed.union(["OPTIONS"])).sorted())
    }

    private static func add(
        _ components: ArraySlice<Substring>, to branch: inout Branch,
        _ change: (inout Branch) -> Void
    ) {
        guard let first = components.first else { return change(&branch) }
        let rest = components.dropFirst()
        guard first.hasPrefix("{"), first.hasSuffix("}") else {
            return add(rest, to: &branch.literal[first, default: Branch()], change)
        }
        let name = first.dropFirst().dropLast()
        let known = branch.parameters.firstIndex { $0.name == name }
        if known == nil { branch.parameters.append((name, Branch())) }
        add(rest, to: &branch.parameters[known ?? branch.parameters.count - 1].next, change)
    }

    /// Returns the first handler that `choose` accepts, with the texts of the components in braces
    /// in `parameters`.
    private static func find(
        _ components: ArraySlice<Substring>, in branch: Branch,
        _ parameters: inout [Substring: Substring], _ choose: (Branch) -> Handler?
    ) -> Handler? {
        guard let first = components.first else { return choose(branch) }
        let rest = components.dropFirst()
        if let next = branch.literal[first],
            let handler = find(rest, in: next, &parameters, choose)
        {
            return handler
        }
        for (name, next) in branch.parameters {
            guard let handler = find(rest, in: next, &parameters, choose) else { continue }
            parameters[name] = first
            return handler
        }
        return nil
    }
}
