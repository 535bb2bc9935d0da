import RecordModel
import RecordWire

/// A zone as anybody would write it down: who hangs below whom, and which records are roots.
struct TreeModel {
    var parents: [String: String?] = [:]
    /// The roots of shares.
    var roots: Set<String> = []
    /// Deleted roots: what hung on them goes on naming them, and is in no share.
    var released: Set<String> = []
    /// Whose shares each viewer has, by root.
    var accepted: [TreeScene.Viewer: Set<String>] = [.bob: [], .carol: []]

    var names: [String] { parents.keys.sorted() }

    /// The root at or above a record.
    func root(of name: String) -> String? {
        var next: String? = name
        for _ in 0...parents.count {
            guard let at = next else { return nil }
            if roots.contains(at) { return at }
            next = parents[at] ?? nil
        }
        return nil
    }

    /// What each record is a member of.
    var memberships: [String: String] {
        var found: [String: String] = [:]
        for name in parents.keys { found[name] = root(of: name).map { "share-\($0)" } }
        for root in roots { found["share-\(root)"] = "share-\(root)" }
        return found
    }

    func seen(by viewer: TreeScene.Viewer) -> Set<String> {
        let shares = Set((accepted[viewer] ?? []).map { "share-\($0)" })
        return Set(memberships.filter { shares.contains($0.value) }.keys)
    }

    /// Whether it ends above, and no root is below another.
    var isSound: Bool {
        for (name, parent) in parents {
            var next = parent
            var depth = 0
            while let at = next {
                depth += 1
                guard depth <= parents.count else { return false }
                if parents[at] == nil, released.contains(at) { break }
                guard let above = parents[at] else { return false }
                next = above
            }
            if roots.contains(name), let parent, root(of: parent) != nil { return false }
        }
        return true
    }
}

/// One operation as the model has it.
enum TreeStep {
    case save(String, below: String?)
    case delete(String)
    case share(String)
    case unshare(String)

    var operations: [JSONValue] {
        switch self {
        case .save(let name, let parent): [TreeOperation.save(name, below: parent)]
        case .delete(let name): [TreeOperation.delete(name)]
        case .share(let root): [TreeOperation.share(root), TreeOperation.touch(root)]
        case .unshare(let root): [TreeOperation.delete("share-\(root)")]
        }
    }

    /// The record that only one operation of a batch may be about.
    var name: String {
        switch self {
        case .save(let name, _), .delete(let name), .share(let name): name
        case .unshare(let root): "share-\(root)"
        }
    }
}

extension TreeModel {
    /// The zone after a batch; nil where it must be refused.
    func after(_ steps: [TreeStep]) -> TreeModel? {
        var model = self
        var ended: Set<String> = []
        for step in steps {
            switch step {
            case .save(let name, let parent): model.parents[name] = .some(parent)
            // What is not there is as good as deleted.
            case .delete(let name):
                model.parents[name] = nil
                model.forget(name)
            case .unshare(let root):
                ended.insert(root)
                model.forget(root)
            case .share: break
            }
        }
        for case .share(let root) in steps {
            // A record that is in a share as the batch comes is not shared, unless the batch ends
            // that share.
            if let above = self.root(of: root), !ended.contains(above) || above == root {
                return nil
            }
            if model.parents[root] == nil { model.parents[root] = .some(nil) }
            model.roots.insert(root)
        }
        for case .delete(let name) in steps where model.parents.values.contains(name) {
            guard roots.contains(name) else { return nil }
            model.released.insert(name)
        }
        for case .save(let name, let parent?) in steps {
            // Nothing new hangs on what is not there.
            if model.parents[parent] == nil, parents[name] != .some(parent) { return nil }
        }
        return model.isSound ? model : nil
    }

    private mutating func forget(_ root: String) {
        roots.remove(root)
        for viewer in TreeScene.Viewer.allCases { accepted[viewer]?.remove(root) }
    }
}
