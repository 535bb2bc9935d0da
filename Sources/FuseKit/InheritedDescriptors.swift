import CFuse3

/// Closes in a process that is to be started all that it would inherit from this descriptor on.
///
/// - Parameter actions: a `posix_spawn_file_actions_t`, of whichever module its user has it.
package func closeInherited(from descriptor: Int32, in actions: UnsafeMutableRawPointer) {
    posix_spawn_file_actions_addclosefrom_np(
        actions.assumingMemoryBound(to: posix_spawn_file_actions_t.self), descriptor)
}
