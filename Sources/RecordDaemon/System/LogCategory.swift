/// The category of the daemon's own lines in the log, for `recordfs daemon-log --category`. Without it, a
/// line has the name of its module.
enum LogCategory {
    static let mount = "recordfs"
}
