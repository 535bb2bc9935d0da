import RecordWire

/// The one place where the server decides who may do what. It reads nothing: the question has
/// everything that the decision depends on.
enum Permissions {
    static func decide(_ question: PermissionQuestion) -> Decision {
        switch question {
        case .call(let endpoint, let scope, let caller):
            decide(endpoint, in: scope, by: caller)
        case .records(let action, let rights): decide(action, rights)
        case .share(let edit, let editor): decide(edit, by: editor)
        }
    }
}
