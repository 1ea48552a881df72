/// A change of what a request fetches.
///
/// The methods of ``JoinableRequest`` and ``DerivableRequest`` make such changes,
/// so that requests and associations are refined in the same way. Apps don't.
public struct RelationChange: Sendable {
    let apply: @Sendable (inout Relation) -> Void

    init(_ apply: @escaping @Sendable (inout Relation) -> Void) {
        self.apply = apply
    }
}
