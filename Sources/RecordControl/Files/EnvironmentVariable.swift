import Glibc

/// Returns a variable of this process. Returns nil when it is missing or empty.
package func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
