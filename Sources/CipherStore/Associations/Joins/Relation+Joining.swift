// How associations become parts of a relation.
//
// An association that is joined twice by the same name is joined once: rows that
// are required stay required, selected ones stay selected, all filters apply, and
// of two orders, selections or conditions the last one counts.

extension Relation {
    /// Joins the tables of an association.
    ///
    /// - parameter isSelected: Whether the last table's columns are selected.
    mutating func join(
        _ path: AssociationPath, _ kind: RelationChild.Kind, isSelected: Bool = true
    ) {
        merge(RelationChild(path.steps[...], kind, isSelected: isSelected))
    }

    /// Fetches the rows of an association afterwards.
    mutating func prefetch(_ path: AssociationPath) {
        merge(RelationChild(path.steps[...], .prefetched, isSelected: true))
    }

    mutating func merge(_ child: RelationChild) {
        let index = children.firstIndex {
            // Prefetched rows don't restrict those that are joined by that name.
            $0.key == child.key && ($0.kind == .prefetched) == (child.kind == .prefetched)
        }
        guard let index else { return children.append(child) }
        children[index].merge(child)
    }

    fileprivate mutating func merge(_ other: Relation) {
        aliases += other.aliases.filter { alias in !aliases.contains { $0 === alias } }
        isDistinct = isDistinct || other.isDistinct
        if !other.selection.isEmpty { selection = other.selection }
        filters += other.filters
        if !other.ordering.terms.isEmpty {
            ordering = other.ordering
        } else if other.ordering.isReversed {
            ordering.isReversed = true
        }
        if !other.grouping.isEmpty { grouping = other.grouping }
        groupFilters += other.groupFilters
        limit = other.limit ?? limit
        for commonTable in other.commonTables { add(commonTable) }
        for child in other.children { merge(child) }
    }
}

extension RelationChild {
    /// The child that leads to the last table of some steps.
    fileprivate init(_ steps: ArraySlice<AssociationStep>, _ kind: Kind, isSelected: Bool) {
        let step = steps[steps.startIndex]
        let rest = steps.dropFirst()
        let isLast = rest.isEmpty
        let isPlural = kind == .prefetched && (isLast || !step.isToOne)
        self.init(
            key: isPlural ? step.key.plural : step.key.singular,
            kind: kind == .prefetched && !isLast ? .bridge : kind, isToOne: step.isToOne,
            condition: step.condition, relation: step.relation)
        if !isLast || !isSelected { relation.selection = [] }
        if !isLast { relation.merge(RelationChild(rest, kind, isSelected: isSelected)) }
    }

    fileprivate mutating func merge(_ other: RelationChild) {
        switch (kind, other.kind) {
        case (.required, _), (_, .required): kind = .required
        case (.optional, _), (_, .optional): kind = .optional
        default: break
        }
        condition = other.condition
        relation.merge(other.relation)
    }
}

extension Relation {
    /// The relation without selected and prefetched rows.
    var joinedOnly: Relation {
        var relation = self
        relation.selection = []
        relation.children = children.filter(\.isJoined)
        for index in relation.children.indices {
            relation.children[index].relation = relation.children[index].relation.joinedOnly
        }
        return relation
    }

    /// The relation without what it selects, and the joins that could only
    /// repeat its rows.
    var restrictingOnly: Relation {
        var relation = joinedOnly
        relation.children.removeAll { $0.kind == .optional && !$0.relation.isReferredTo }
        return relation
    }

    /// Whether other parts of a request can depend on the rows.
    private var isReferredTo: Bool {
        !aliases.isEmpty || !ordering.terms.isEmpty || !groupFilters.isEmpty
            || children.contains { $0.relation.isReferredTo }
    }
}
