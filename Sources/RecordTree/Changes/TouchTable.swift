import RecordModel

/// The names whose touches are under way.
///
/// INVARIANT: each TYPE directory here has a name.
struct TouchTable: CheckedState {
    /// Records deleted on other machines. Only the daemon sees them: it unlinks them to create
    /// inotify events.
    private(set) var ghosts: [TypeID: [[UInt8]: NodeNumber]] = [:]
    /// Records created on other machines. They are hidden only from the daemon, which creates them
    /// to make inotify events.
    private(set) var arrivals: [TypeID: Set<[UInt8]>] = [:]

    var size: Int { ghosts.count + arrivals.count }

    var violations: [String] {
        ghosts.values.contains(where: \.isEmpty) || arrivals.values.contains(where: \.isEmpty)
            ? ["a directory without touched names is kept"] : []
    }

    func isArrival(_ name: [UInt8], in type: TypeID) -> Bool {
        arrivals[type]?.contains(name) == true
    }

    func ghost(_ name: [UInt8], in type: TypeID) -> NodeNumber? { ghosts[type]?[name] }

    mutating func addArrival(_ name: [UInt8], in type: TypeID) {
        arrivals[type, default: []].insert(name)
    }

    mutating func addGhost(_ name: [UInt8], in type: TypeID, _ number: NodeNumber) {
        ghosts[type, default: [:]][name] = number
    }

    mutating func finish(_ name: [UInt8], in type: TypeID) {
        arrivals[type]?.remove(name)
        if arrivals[type]?.isEmpty == true { arrivals[type] = nil }
        ghosts[type]?[name] = nil
        if ghosts[type]?.isEmpty == true { ghosts[type] = nil }
    }
}
