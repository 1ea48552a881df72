import CipherStore

/// Something to fetch, in as many queries as it takes, all of which see one state of the database.
///
/// ```swift
/// struct Overview: FetchKeyRequest {
///     struct Value: Sendable {
///         var open = 0
///         var lists: [String] = []
///     }
///     func fetch(_ db: Database) throws -> Value {
///         try Value(
///             open: Int.fetchOne(db, sql: "SELECT count(*) FROM reminders WHERE NOT isCompleted") ?? 0,
///             lists: String.fetchAll(db, sql: "SELECT title FROM remindersLists"))
///     }
/// }
/// @Fetch(Overview()) var overview = Overview.Value()
/// ```
///
/// Equal requests to one database share one observation, so what makes a difference has to be a property.
public protocol FetchKeyRequest<Value>: Hashable, Sendable {
    /// What is fetched.
    associatedtype Value: Sendable

    /// Fetches it.
    ///
    /// - throws: What becomes the `loadError` of the property.
    func fetch(_ db: Database) throws -> Value
}
