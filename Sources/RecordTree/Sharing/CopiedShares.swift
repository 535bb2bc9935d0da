import RecordModel
import RecordStore

/// Texts of shares that were copied.
extension ShareSaving {
    /// Returns whether the text is a copy from another share, as `mv` and `cp -r` of a shared zone
    /// make it. A copy is not shared with anybody, and its file is not kept.
    ///
    /// - Parameter file: the share that the text would become. Nil where there is no such record,
    ///   for example when it is copied after the file of its share.
    func isCopyOfShare(
        _ text: [UInt8], for file: ShareFile?, at place: ScratchPlace
    ) throws(RecordError) -> Bool {
        guard let url = Self.address(of: text) else { return false }
        for zone in try store.zones(in: .private) + store.zones(in: .shared) {
            for share in try store.sharing.shares(in: zone.id)
            where Self.address(of: share.text) == url {
                let own = try self.file(of: share, in: zone.id)
                if own == file { continue }
                if file == nil, let own, try shareDrafts.place(of: own) == place { continue }
                options.report(
                    "The copy of a shared zone or record is not shared. recordfs share create "
                        + "shares it.")
                return true
            }
        }
        return false
    }

    private func file(of share: Share, in zone: ZoneID) throws(RecordError) -> ShareFile? {
        guard let root = share.root else { return .zone(zone) }
        return try store.record(named: root, in: zone).map { .record($0.id) }
    }

    /// Returns the address at which a share is opened. Returns nil for a text without one.
    private static func address(of text: [UInt8]) -> [UInt8]? {
        do throws(RecordError) {
            guard let url = try JSONParser.parse(text)["url"]?.string else { return nil }
            return url.utf8.isEmpty ? nil : url.utf8
        } catch {
            return nil
        }
    }
}
