package import RecordModel

/// The number of a gesture. Larger for a later one.
package struct GestureID: Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: GestureID, right: GestureID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The changes of one program in one go: a save of an editor, one `cp -r`, one `sed -i` over many
/// files, one import. The unit of `recordfs log` and `recordfs undo`.
///
/// Changes belong to one gesture while they come from one process group and one author, each at most
/// `Gesture.pause` after the one before. A shell makes a process group of each command of a loop: a
/// group that follows one that has ended, in its session and after at most `Gesture.loopPause`, goes
/// on with its gesture. What the store does by itself is no gesture. What came from elsewhere belongs
/// to the gesture of the machine that made it, as far as that machine has told it.
package struct Gesture: Hashable, Sendable {
    /// The longest pause between two changes of one gesture.
    package static let pause = Duration.seconds(2)
    /// The longest pause between two commands of one gesture. Nobody types a command that fast.
    package static let loopPause = Duration.milliseconds(200)

    package let id: GestureID
    /// The name that it has on all machines. Nil for one from before there were names.
    package let name: GestureName?
    /// The time of its first change.
    package let at: Timestamp
    package let author: Author
    /// The name that the program has given itself.
    package let program: AuthorName?
    /// The name of the process that began it, as the kernel knows it: `vim`, `rm`.
    package let tool: String?
    /// The gesture whose effect this one has taken back.
    package let reverts: GestureID?

    /// The author on the machine that made it. Nil for a gesture of this machine.
    package let origin: Author?

    /// The author as commands show it, the same on all machines: the program, or the way in which
    /// the change came there.
    package var shownAuthor: String { program?.text ?? (origin ?? author).rawValue }
}
