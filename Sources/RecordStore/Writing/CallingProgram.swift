/// The program for which the store changes something.
package struct CallingProgram: Sendable {
    /// The program whose request this thread serves now. Nil in the store's own work.
    @TaskLocal package static var current: CallingProgram?

    /// The thread that made the call, in the numbering of the kernel. 0 when it is not known: such
    /// callers count as one program.
    package let thread: Int32
    package let table: ProgramTable
    /// Returns the name of the process that made the call. Nil when it is no longer known.
    package let name: @Sendable () -> String?

    package init(
        thread: Int32, table: ProgramTable = .system, name: @escaping @Sendable () -> String?
    ) {
        (self.thread, self.table, self.name) = (thread, table, name)
    }

    /// The program in the table. 0 when it is not known.
    var program: Int32 { table.program(thread) ?? 0 }
    var session: Int32? { table.session(thread) }
}
