/// The limits for the cost of one page of a query.
package struct QueryLimits: Sendable, Hashable {
    /// The most records in the index of a filter for which the query reads them all.
    package var candidates = 2_000
    /// The most records that a page looks at. It then ends early, with the records it has and a
    /// marker.
    package var examined = 20_000
    /// The least number of records to look at in each zone, however many zones a query covers.
    package var examinedInZone = 64
    /// The most records that are looked at for an order that no index has. Queries over more
    /// records are refused.
    package var unordered = 100_000
    /// The most records with one value of the first sort key that are fetched together. When there
    /// are more, they are read in the order of the next key.
    package var group = 2_000
    /// The most bytes in the fields of all records of a page.
    package var pageBytes = 4 << 20

    package init() {}
}
