import TypedQueries

/// Rows that follow each other and have a value in common.
public struct ResultsSection<Element: Sendable>: Sendable, Identifiable, RandomAccessCollection {
    /// What tells a section from the others of a list.
    public struct ID: Hashable, Sendable {
        /// The value that the rows have in common, as text.
        public let name: String
        /// How many sections of that name come before.
        let number: Int
    }

    /// The section's own, among those of its list.
    public let id: ID

    /// The rows.
    public let elements: ArraySlice<Element>

    /// The value that the rows have in common, as text.
    public var name: String { id.name }

    /// The first position: sections are counted from 0.
    public var startIndex: Int { 0 }

    /// The position after the last one.
    public var endIndex: Int { elements.count }

    /// The row at a position.
    public subscript(position: Int) -> Element { elements[elements.startIndex + position] }
}

/// The sections of a list of rows, in the order of the rows.
///
/// ```swift
/// @FetchAll(Reminder.order(by: \.priority), sectionBy: { $0.priority }) var reminders
///
/// for section in $reminders.sections {
///     print(section.name)
///     for reminder in section { print("  \(reminder.title)") }
/// }
/// ```
///
/// Rows of one value that do not follow each other make several sections, so the query should be ordered by it.
public struct ResultsSectionCollection<Element: Sendable>: RandomAccessCollection, Sendable {
    private var sections: [ResultsSection<Element>] = []

    /// Divides rows.
    ///
    /// - parameters:
    ///     - rows: The rows.
    ///     - value: What the rows of a section have in common.
    public init<Value: Equatable>(_ rows: [Element], by value: (Element) -> Value) {
        var counts: [String: Int] = [:]
        var start = 0
        while start < rows.count {
            let common = value(rows[start])
            let end = rows[start...].firstIndex { value($0) != common } ?? rows.count
            let name = "\(common)"
            sections.append(
                ResultsSection(
                    id: .init(name: name, number: counts[name, default: 0]), elements: rows[start..<end]))
            counts[name, default: 0] += 1
            start = end
        }
    }

    /// The first position.
    public var startIndex: Int { 0 }

    /// The position after the last one.
    public var endIndex: Int { sections.count }

    /// The section at a position.
    public subscript(position: Int) -> ResultsSection<Element> { sections[position] }
}

extension FetchAll {
    /// Makes a property of a request whose rows have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - request: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<Value: Equatable>(
        wrappedValue: [Element] = [], _ request: some FetchKeyRequest<[Element]>,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) {
        self.init(wrappedValue: wrappedValue, request, database: database)
        divide = { ResultsSectionCollection($0, by: value) }
    }

    /// Makes a property of a statement whose rows have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: Statement, Value: Equatable>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) where S.QueryValue: QueryRepresentable, S.QueryValue.QueryOutput == Element {
        self.init(
            wrappedValue: wrappedValue, AllRows(statement: statement), sectionBy: value, database: database)
    }

    /// Makes a property of a SELECT of whole rows, which have sections.
    ///
    /// - parameters:
    ///     - wrappedValue: The rows until there are others.
    ///     - statement: What to fetch.
    ///     - value: What the rows of a section have in common.
    ///     - database: Where; by default, in ``DependencyValues/defaultDatabase``.
    public init<S: SelectStatement, Value: Equatable>(
        wrappedValue: [Element] = [], _ statement: S,
        sectionBy value: @escaping @Sendable (Element) -> Value, database: (any DatabaseReader)? = nil
    ) where S.QueryValue == (), S.Joins == Joined<>, S.From.QueryOutput == Element {
        self.init(
            wrappedValue: wrappedValue, AllRecords(statement: statement), sectionBy: value, database: database
        )
    }

    /// The rows in sections: in one, unless `sectionBy:` says otherwise.
    public var sections: ResultsSectionCollection<Element> {
        divide?(wrappedValue) ?? ResultsSectionCollection(wrappedValue) { _ in "" }
    }
}
