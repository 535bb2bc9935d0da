/// The version of this program.
enum ProgramVersion {
    static let number = "0.1.0"
    static let text = "recordfs-server \(number)"
}
