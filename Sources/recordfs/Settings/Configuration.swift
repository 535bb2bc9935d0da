import RecordControl
import RecordModel

/// config.json: the list of stores, and their settings.
struct Configuration: Sendable {
    /// The settings of the default store. Its grace, readOnly and cache also apply to all stores
    /// that do not set them.
    private(set) var settings = StoreSettings()
    /// The named stores, in the order of the file.
    private(set) var stores: [(name: String, settings: StoreSettings)] = []

    /// Reads the file. A missing file is one without settings.
    ///
    /// Errors: `invalidJSON`, `invalidArgument` for an unknown or wrong setting.
    static func read(_ path: String = HostPaths.configuration) throws(RecordError) -> Configuration
    {
        let text: [UInt8]
        do {
            text = try readWholeFile(path)
        } catch {
            if error.code == .notFound { return Configuration() }
            throw error
        }
        var result = Configuration()
        guard let members = try JSONParser.parse(text).object else {
            throw RecordError(.invalidArgument, "the settings must be one object.")
        }
        for member in members where member.key.string != "stores" {
            guard member.key.string != "state" else {
                throw RecordError(
                    .invalidArgument,
                    "\"state\" is for a named store; RECORDFS_STATE moves the default store.")
            }
            try result.settings.set(member)
        }
        for member in members where member.key.string == "stores" { try result.add(member.value) }
        return result
    }

    /// Returns the settings of the store in a state directory.
    func settings(ofState directory: String) -> StoreSettings {
        let named = stores.first { store in
            store.settings.state.map { HostDirectory.isSame($0, directory) } ?? false
        }
        if let named { return named.settings }
        return HostDirectory.isSame(directory, HostPaths.state) ? settings : common
    }

    /// Returns the state directory of a store with a name. Errors: notFound.
    func state(ofStore name: String) throws(RecordError) -> String {
        guard let state = stores.first(where: { $0.name == name })?.settings.state else {
            let names = stores.map(\.name).joined(separator: ", ")
            throw RecordError(
                .notFound,
                "\(HostPaths.configuration) has no store \(name). It has "
                    + (names.isEmpty ? "none." : "\(names)."))
        }
        return state
    }

    /// The settings that apply to every store.
    private var common: StoreSettings {
        var common = StoreSettings()
        common.grace = settings.grace
        common.isReadOnly = settings.isReadOnly
        common.cacheBytes = settings.cacheBytes
        return common
    }

    private mutating func add(_ stores: JSONValue) throws(RecordError) {
        guard let members = stores.object else {
            throw RecordError(
                .invalidArgument, "\"stores\" is an object of names and the settings of each.")
        }
        for member in members { try add(member.key.string, member.value) }
    }

    private mutating func add(_ name: String, _ value: JSONValue) throws(RecordError) {
        guard Self.isName(name), let members = value.object else {
            throw RecordError(
                .invalidArgument,
                "a store has a name of letters, digits, - and _, and an object of settings; "
                    + "\"\(name)\" has not.")
        }
        var settings = common
        for member in members {
            do throws(RecordError) {
                try settings.set(member)
            } catch {
                throw RecordError(error.code, "store \(name): \(error.message)")
            }
        }
        let state = settings.state ?? "\(HostPaths.defaultState)-\(name)"
        settings.state = state
        if let other = stores.first(where: { $0.settings.state == state }) {
            throw RecordError(
                .invalidArgument,
                "the stores \(other.name) and \(name) have the same state \(state).")
        }
        let mountpoint = settings.mountpoint ?? "\(HostPaths.defaultMountpoint)-\(name)"
        settings.mountpoint = mountpoint
        if let other = stores.first(where: { $0.settings.mountpoint == mountpoint }) {
            throw RecordError(
                .invalidArgument,
                "the stores \(other.name) and \(name) have the same mountpoint \(mountpoint).")
        }
        stores.append((name, settings))
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
