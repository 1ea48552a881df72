/// A type that stands for a table.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns {
///         static let name = Column("name")
///         static let score = Column("score")
///     }
/// }
///
/// let count = try Player.filter { $0.score > 1000 }.fetchCount(db)
/// ```
public protocol TableRecord {
    /// The type whose static members are the columns of the table.
    associatedtype Columns = NoColumns

    /// What the closures of requests get, to name columns by.
    associatedtype DatabaseComponents = Columns.Type

    /// The name of the table. When it is not given, it is the name of the type
    /// with its first letter, or its first abbreviation, in lower case:
    /// `Place` is `place`, `HTTPRequest` is `httpRequest`, `TOEFL` is `toefl`.
    static var databaseTableName: String { get }

    /// What requests of the record select. When it is not given, all columns.
    static var databaseSelection: [any SQLSelectable] { get }

    /// What the closures of requests get, to name columns by.
    static var databaseComponents: DatabaseComponents { get }
}

/// The columns of a record type that names none.
public enum NoColumns {}

extension TableRecord where DatabaseComponents == Columns.Type {
    /// The `Columns` type of the record.
    public static var databaseComponents: DatabaseComponents { Columns.self }
}

extension TableRecord {
    /// All columns: `SELECT *`.
    public static var databaseSelection: [any SQLSelectable] { [AllColumns()] }

    /// The name of the type, with its first letter or abbreviation in lower case.
    public static var databaseTableName: String {
        TableNames.shared.name(of: Self.self)
    }
}

/// The names of tables that are derived from types.
private final class TableNames: Sendable {
    static let shared = TableNames()
    private let names = Lock<[ObjectIdentifier: String]>([:])

    func name(of type: Any.Type) -> String {
        names.withLock { names in
            let key = ObjectIdentifier(type)
            if let name = names[key] { return name }
            let name = Self.derivedName("\(type)")
            names[key] = name
            return name
        }
    }

    /// Puts the leading capitals of a type's name into lower case, but for the
    /// one that begins the next word.
    private static func derivedName(_ typeName: String) -> String {
        let name = typeName.prefix { $0 != "<" }
        let capitals = name.prefix { $0.isUppercase }
        let next = name.dropFirst(capitals.count)
        let startsWord = capitals.count > 1 && next.first?.isLowercase == true
        let lowered = startsWord ? capitals.dropLast() : capitals
        return lowered.lowercased() + name.dropFirst(lowered.count)
    }
}
