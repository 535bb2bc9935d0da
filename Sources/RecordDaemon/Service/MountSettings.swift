package import Logging
package import RecordMount
package import RecordSync

/// The settings of a daemon: its mount, the exchange with a record server, and its messages.
package struct MountSettings: Sendable {
    package var mount: MountConfiguration
    /// The account to which the store must belong.
    package var account: ConfiguredAccount
    /// The parts of the account that are kept on this machine.
    package var policy = SyncPolicy()
    /// A command line for `/bin/sh`, run when others do something with a share.
    package var notify: String?
    /// The file to which refused saves are written for shells.
    package var refusalLog: String
    package var logLevel = Logger.Level.info

    package init(mount: MountConfiguration, account: ConfiguredAccount, refusalLog: String) {
        self.mount = mount
        self.account = account
        self.refusalLog = refusalLog
    }

    package var mountpoint: String { mount.mountpoint }
    /// The state directory of the store.
    package var directory: String { mount.stateDirectory }
}
