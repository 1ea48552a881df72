/// The name of an association's rows: in the row of a joined request, and of the
/// property that they decode into.
///
/// A row is named in the singular, several rows in the plural.
enum AssociationKey: Sendable, Equatable {
    /// The name of a table, whatever its number.
    case inflected(String)
    /// A name that is given for one row.
    case fixedSingular(String)
    /// A name that is given for several rows.
    case fixedPlural(String)
    /// A name for one or several rows.
    case fixed(String)

    /// The name for one row.
    var singular: String {
        switch self {
        case .inflected(let name), .fixedPlural(let name): name.singularized
        case .fixedSingular(let name), .fixed(let name): name
        }
    }

    /// The name for several rows.
    var plural: String {
        switch self {
        case .inflected(let name), .fixedSingular(let name): name.pluralized
        case .fixedPlural(let name), .fixed(let name): name
        }
    }
}
