/// A connection between two record types, tables, or common table expressions.
///
/// ```swift
/// struct Author: TableRecord {
///     static let books = hasMany(Book.self)
/// }
///
/// struct Book: TableRecord {
///     static let author = belongsTo(Author.self)
/// }
///
/// let request = Book.including(required: Book.author)
/// ```
///
/// An association can be refined like a request:
///
/// ```swift
/// let request = Author.including(all: Author.books.filter { $0.year > 2000 }.order(\.title))
/// ```
public protocol Association<OriginRowDecoder, RowDecoder>: DerivableRequest, Sendable {
    /// The type that has the association: its `belongsTo`, `hasMany`…
    associatedtype OriginRowDecoder

    /// The way from one table to the other.
    var path: AssociationPath { get }

    /// Makes the association of a way.
    init(path: AssociationPath)

    /// Returns an association whose rows have another name.
    ///
    /// ```swift
    /// static let novels = books.filter { $0.kind == "novel" }.forKey("novels")
    /// ```
    func forKey(_ key: String) -> Self
}

/// An association to one row at most.
public protocol AssociationToOne<OriginRowDecoder, RowDecoder>: Association {}

/// An association to any number of rows.
public protocol AssociationToMany<OriginRowDecoder, RowDecoder>: Association {}

/// The way from one table to an associated one. Apps get it from associations,
/// and have no use for it.
public struct AssociationPath: Sendable {
    /// The ways to the tables in between, and to the last table; never empty.
    var steps: [AssociationStep]

    /// The way to the last table.
    var destination: AssociationStep {
        get { steps[steps.count - 1] }
        set { steps[steps.count - 1] = newValue }
    }
}

/// The way from one table to the next.
struct AssociationStep: Sendable {
    var key: AssociationKey
    var condition: RelationCondition
    var relation: Relation

    /// Whether it leads to one row at most.
    var isToOne: Bool
}

extension Association {
    init(_ step: AssociationStep) {
        self.init(path: AssociationPath(steps: [step]))
    }

    func withKey(_ key: AssociationKey) -> Self {
        var path = path
        path.destination.key = key
        return Self(path: path)
    }

    /// Returns an association whose rows have another name.
    public func forKey(_ key: some CodingKey) -> Self {
        forKey(key.stringValue)
    }

    /// The name of the table, or of the common table expression, that the
    /// association leads to.
    public var databaseTableName: String { path.destination.relation.source.name }

    /// Returns an association to other rows.
    public func changing(_ change: RelationChange) -> Self {
        var path = path
        change.apply(&path.destination.relation)
        return Self(path: path)
    }
}

extension AssociationToOne {
    /// Returns an association whose row has another name.
    public func forKey(_ key: String) -> Self { withKey(.fixedSingular(key)) }
}

extension AssociationToMany {
    /// Returns an association whose rows have another name: a plural one.
    public func forKey(_ key: String) -> Self { withKey(.fixedPlural(key)) }
}
