import RecordModel

/// A record that is removed, and whose deletion is not final yet.
struct WaitingDeletion {
    let id: RecordID
    let place: RecordPlace
    let stem: Stem
    let since: Timestamp
    /// The gesture that has removed it.
    let gesture: GestureID?
}
