/// The program for which the store changes something: a process group of this machine, so that the
/// parts of a pipe and the children of a script count as one program.
package struct CallingProgram: Sendable {
    /// The program whose request this thread serves now. Nil in the store's own work.
    @TaskLocal package static var current: CallingProgram?

    package let processGroup: Int32
    /// Returns the name of the process that made the call. Nil when it is no longer known.
    package let name: @Sendable () -> String?
    /// Returns the session of the process: the terminal, or the login, to which it belongs. Nil when
    /// it is not known.
    package let session: @Sendable () -> Int32?
    /// Returns whether a process of a group has not ended.
    package let isRunning: @Sendable (_ processGroup: Int32) -> Bool

    package init(
        processGroup: Int32, name: @escaping @Sendable () -> String?,
        session: @escaping @Sendable () -> Int32? = { nil },
        isRunning: @escaping @Sendable (Int32) -> Bool = { _ in true }
    ) {
        (self.processGroup, self.name) = (processGroup, name)
        (self.session, self.isRunning) = (session, isRunning)
    }
}
