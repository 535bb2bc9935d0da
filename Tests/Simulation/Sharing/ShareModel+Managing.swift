import RecordWire

/// Who may manage a share: its owner all of it, and an administrator who may come and go, as far as
/// he himself goes.
extension ShareModel {
    /// Whether somebody may make another share of the one that is there.
    func mayManage(_ spot: SharedSpot, _ user: Int, into new: Sharing) -> Bool {
        guard user != 0 else { return true }
        guard let old = shares[spot], let editor = old.members[user],
            old.permission(of: user) != .none
        else { return false }
        let own = old.permission(of: user)
        guard editor.isAdministrator else {
            // But to take himself out.
            return new.members[user] == nil && new.others(than: user) == old.others(than: user)
        }
        // Who changes nothing changes the share's tag, and has to be one who writes.
        if new.told == old.told { return own == .readWrite }
        return new.everyone == old.everyone && old.mayBecome(new, by: own)
    }
}

extension ShareModel.Sharing {
    fileprivate func others(than user: Int) -> Self {
        var share = told
        share.members[user] = nil
        return share
    }

    /// An administrator gives no more than he has, makes no administrators and leaves those that there
    /// are; he takes anybody out.
    fileprivate func mayBecome(_ new: Self, by own: SharePermission) -> Bool {
        new.members.allSatisfy { user, member in
            guard let old = members[user] else {
                return !member.isAdministrator && member.permission.isWithin(own)
            }
            if old == member { return true }
            return old.isAdministrator == member.isAdministrator
                && (member.permission.isWithin(own) || member.permission.isWithin(old.permission))
        }
    }
}

extension SharePermission {
    fileprivate func isWithin(_ other: Self) -> Bool {
        switch self {
        case .none, .unknown: true
        case .readOnly: other == .readOnly || other == .readWrite
        case .readWrite: other == .readWrite
        }
    }
}
