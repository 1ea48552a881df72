// Names that SQLiteData has for types of this library, where an app declares something of them.

/// A statement that creates a trigger of one connection.
public typealias TemporaryTrigger<On: Table> = Trigger<On>

/// A statement that creates a view of one connection.
public typealias TemporaryView<Rows: Table> = DatabaseView<Rows>

/// Where NULL stands in an order.
public typealias NullOrdering = NullsOrdering

/// Changes of a date.
public typealias DateTimeModifier = DateModifiers

/// A SELECT of whole rows of a table with those that are joined to them.
public typealias SelectOf<From: Table, each Other: Table> = Select<(), From, Joined<repeat each Other>>

/// Collects rows of any tables.
public typealias Seeds = SeedsBuilder
