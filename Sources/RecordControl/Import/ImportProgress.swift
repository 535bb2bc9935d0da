/// The progress of an import.
package struct ImportProgress: Sendable, Hashable {
    /// Rows taken from the source, good or bad, also those skipped by a resume.
    package var rows = 0
    package var created = 0
    package var updated = 0
    package var unchanged = 0
    package var failed = 0
    /// The bytes of the source (files for a directory) up to the last committed row, and in total.
    package var consumed = 0
    package var total: Int?

    package init() {}

    package var saved: Int { created + updated + unchanged }
}
