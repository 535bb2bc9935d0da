import CFuse3

/// Makes a process that is to be started close all descriptors that it would inherit, from this one
/// on.
///
/// - Parameter actions: a `posix_spawn_file_actions_t` of the module that the caller uses.
package func closeInherited(from descriptor: Int32, in actions: UnsafeMutableRawPointer) {
    posix_spawn_file_actions_addclosefrom_np(
        actions.assumingMemoryBound(to: posix_spawn_file_actions_t.self), descriptor)
}
