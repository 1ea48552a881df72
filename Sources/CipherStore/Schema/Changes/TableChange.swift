/// A change of a table's definition.
package enum TableChange: Sendable, Equatable {
    /// A column was added.
    case addColumn(String?)
    /// A column has another name.
    case renameColumn(String, to: String)
    /// A column was dropped.
    case dropColumn(String)
    /// The table has another name.
    case rename(to: String)
    /// The table was dropped.
    case drop
    /// The table got a trigger.
    case addTrigger
}
