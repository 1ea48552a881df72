// The kinds of associations.

/// An association from a table with a foreign key to the row it refers to.
///
/// ```swift
/// struct Book: TableRecord {
///     static let author = belongsTo(Author.self)
/// }
/// ```
public struct BelongsToAssociation<OriginRowDecoder, RowDecoder>: AssociationToOne {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}

/// An association to the one row whose foreign key refers here.
///
/// ```swift
/// struct Country: TableRecord {
///     static let demographics = hasOne(Demographics.self, key: "demographics")
/// }
/// ```
public struct HasOneAssociation<OriginRowDecoder, RowDecoder>: AssociationToOne {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}

/// An association to the rows whose foreign key refers here.
///
/// ```swift
/// struct Author: TableRecord {
///     static let books = hasMany(Book.self)
/// }
/// ```
public struct HasManyAssociation<OriginRowDecoder, RowDecoder>: AssociationToMany {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}

/// An association to one row, by way of another table.
///
/// ```swift
/// struct Book: TableRecord {
///     static let library = belongsTo(Library.self)
///     static let returnAddress = hasOne(Address.self, through: library, using: Library.address)
/// }
/// ```
public struct HasOneThroughAssociation<OriginRowDecoder, RowDecoder>: AssociationToOne {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}

/// An association to rows by way of another table.
///
/// ```swift
/// struct Country: TableRecord {
///     static let passports = hasMany(Passport.self)
///     static let citizens = hasMany(Citizen.self, through: passports, using: Passport.citizen)
/// }
/// ```
public struct HasManyThroughAssociation<OriginRowDecoder, RowDecoder>: AssociationToMany {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}

/// An association by any condition, mostly to a common table expression.
///
/// ```swift
/// let latestMessage = Chat.association(to: latestMessageCTE) { chat, message in
///     chat.id == message["chatID"]
/// }
/// ```
public struct JoinAssociation<OriginRowDecoder, RowDecoder>: AssociationToOne {
    /// The way from one table to the other.
    public let path: AssociationPath

    /// Makes the association of a way.
    public init(path: AssociationPath) { self.path = path }
}
