/// The version of both programs. The manual pages name it too; scripts/package refuses pages of another one.
package enum ProgramVersion {
    package static let number = "0.1.0"
}
