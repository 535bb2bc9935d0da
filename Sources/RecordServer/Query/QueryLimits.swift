/// How much one page of a query may cost.
package struct QueryLimits: Sendable, Hashable {
    /// A filter whose index has at most so many records is answered by fetching them all.
    package var candidates = 2_000
    /// Records that a page looks at; then it ends early, with what it has and a marker.
    package var examined = 20_000
    /// So many at least in each zone, however many zones a query is over.
    package var examinedInZone = 64
    /// Records that are looked at for an order that no index has. More are refused.
    package var unordered = 100_000
    /// Records with one value of the first sort key that are fetched together; of more, those
    /// in the order of the next key are read.
    package var group = 2_000
    /// Of the fields of all records of a page.
    package var pageBytes = 4 << 20

    package init() {}
}
