import Foundation

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

    /// What the decoder of a `Decodable` record has in its `userInfo`.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The decoder for a property that is stored as JSON.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder

    /// How a `Decodable` record reads a `Data` property.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// How a `Decodable` record reads a `Date` property.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// How a `Decodable` record finds the column of a coding key.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
}
