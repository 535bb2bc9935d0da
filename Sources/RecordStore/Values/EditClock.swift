import RecordModel

/// The hybrid logical clock of a store, with the number that identifies it in stamps.
struct EditClock {
    var clock: HybridClock
    let device: UInt64
}
