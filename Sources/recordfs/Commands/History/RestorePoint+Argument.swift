import ArgumentParser
import RecordModel
import RecordStore

extension RestorePoint: ExpressibleByArgument {
    /// Reads an argument: a moment.
    public init?(argument: String) { self.init(argument, now: SystemClock().now) }
}
