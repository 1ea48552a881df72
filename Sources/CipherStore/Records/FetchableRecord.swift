/// A type that decodes itself from a row.
///
/// ```swift
/// struct Player: FetchableRecord {
///     var name: String
///     var score: Int
///
///     init(row: Row) throws {
///         name = try row.decode(forColumn: "name")
///         score = try row.decode(forColumn: "score")
///     }
/// }
///
/// let players = try Player.fetchAll(db, sql: "SELECT * FROM player")
/// ```
public protocol FetchableRecord {
    /// Makes a record of a row.
    ///
    /// A cursor hands out one row that it moves on: take values out of it, or
    /// ``Row/copy()`` it, but don't keep it.
    ///
    /// - throws: What decoding throws.
    init(row: Row) throws
}
