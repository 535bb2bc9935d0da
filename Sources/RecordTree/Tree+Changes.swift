import Glibc
package import RecordModel
package import RecordStore

extension Tree {
    /// Handles every commit. The kernel knows the changes of the mount itself, and is notified of
    /// all others here. Returns the touches that make inotify report the changes.
    package func storeChanged(_ changes: [StoreChange]) -> [Touch] {
        rooms.change.remoteChanges.storeChanged(changes)
    }

    package func setTouchingThread(_ thread: Int32) {
        rooms.change.touches.setTouchingThread(thread)
    }

    package func isOwn(_ caller: Requester) -> Bool {
        rooms.change.touches.isOwn(caller)
    }

    /// Prepares a touch: sets the state that the daemon's own calls find. Returns false when the
    /// touch has become pointless, because the name has changed again.
    package func prepare(_ touch: Touch) -> Bool {
        rooms.change.touches.prepare(touch)
    }

    package func finish(_ touch: Touch) {
        rooms.change.touches.finish(touch)
    }

    /// Sets the receivers of changes that the kernel cannot know. Called once, before the mount.
    ///
    /// - Parameter deliver: returns when the kernel has received the notices, or after a moment
    ///   without it.
    package func setNotifier(
        _ notify: @escaping @Sendable (KernelNotice) -> Void,
        deliver: @escaping @Sendable ([KernelNotice]) -> Void
    ) {
        rooms.ground.kernel.set(notify, deliver: deliver)
    }

    /// Tries to save all texts that a full disk or another temporary fault has kept in memory.
    /// Returns whether all are saved now.
    package func retryUnsaved() -> Bool {
        rooms.record.saving.retryUnsaved()
    }

    /// Returns the paths of the unsaved records, in order, after one more attempt to save them.
    package func unsavedPaths() -> [String] {
        rooms.record.saving.unsavedPaths()
    }

    /// The number of records whose text only this process has.
    package var unsavedCount: Int { rooms.record.saving.unsavedCount }

    /// Does the work that depends on time. The daemon's maintenance thread calls it. Returns the
    /// time when the next work is due.
    package func maintain() throws(RecordError) -> Timestamp? {
        try rooms.request.maintenance.maintain()
    }

    /// Removes expired data when that is due. In a large store this takes a while, so it has its
    /// own thread.
    package func clean() throws(RecordError) {
        try rooms.request.maintenance.clean()
    }

    /// Returns when records that were removed before are deleted for good. Until then their names
    /// may return as the same records. That takes the grace time at most.
    package func outlastGrace() throws(RecordError) {
        try rooms.request.maintenance.outlastGrace()
    }

    /// Ends all waits for events and for bytes that are not on this machine, because the mount
    /// ends.
    package func answerWaiting() {
        rooms.request.maintenance.answerWaiting()
    }

    /// Does the last work before the store closes: nothing stays waiting after an unmount.
    package func finish() throws(RecordError) {
        try rooms.request.maintenance.finish()
    }
}
