/// A set of statements that holds with each one all that came before it, and what of it does not count.
///
/// Along a line of statements all but the first row are shared.
struct Past: Sendable {
    /// The statements, by their numbers.
    var statements = BitRow()
    /// Those that were allowed where they were made, and do not count because of others in this set.
    var void = BitRow()
    /// The removals that count, by their numbers among all removals that do.
    var removals = BitRow()
    /// The last recovery that counts.
    var recovery: Int?
}
