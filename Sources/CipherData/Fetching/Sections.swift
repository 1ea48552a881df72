import TypedQueries

/// Rows of a list that have a value in common.
public struct ResultsSection<Element: Sendable>: Sendable, Identifiable, RandomAccessCollection {
    /// What tells a section from the others of a list.
    public struct ID: Hashable, Sendable {
        /// The value that the rows have in common, as text; nil where it is nil, or NULL.
        public let name: String?
        /// How many sections of that name come before.
        let number: Int
    }

    /// The section's own, among those of its list.
    public let id: ID

    /// The rows.
    public let elements: ArraySlice<Element>

    /// The value that the rows have in common, as text; nil where it is nil, or NULL.
    public var name: String? { id.name }

    /// The first position: sections are counted from 0.
    public var startIndex: Int { 0 }

    /// The position after the last one.
    public var endIndex: Int { elements.count }

    /// The row at a position.
    public subscript(position: Int) -> Element { elements[elements.startIndex + position] }
}

/// The sections of a list of rows, in the order of their first rows.
///
/// ```swift
/// @FetchAll(Reminder.order(by: \.title), sectionBy: \.category) var reminders
///
/// for section in $reminders.sections {
///     print(section.name ?? "other")
///     for reminder in section { print("  \(reminder.title)") }
/// }
/// ```
///
/// By an expression of the columns, each value has one section: SQLite orders the rows first, and those of one name are collected. By a
/// function of the rows, those of one value that do not follow each other make several, so the query should be ordered by it.
public struct ResultsSectionCollection<Element: Sendable>: RandomAccessCollection, Sendable {
    private var sections: [ResultsSection<Element>] = []

    /// Divides rows.
    ///
    /// - parameters:
    ///     - rows: The rows.
    ///     - value: What the rows of a section have in common.
    public init<Value: Equatable>(_ rows: [Element], by value: (Element) -> Value) {
        var counts: [String?: Int] = [:]
        var start = 0
        while start < rows.count {
            let common = value(rows[start])
            let end = rows[start...].firstIndex { value($0) != common } ?? rows.count
            append(rows[start..<end], Self.text(of: common), &counts)
            start = end
        }
    }

    /// Collects rows by the names of their sections, of which there is one for each row.
    ///
    /// Rows of one name do not always follow each other: values of several types have one text, and a limit leaves the rows in the order of
    /// the query.
    init(collecting rows: [Element], names: [String?]) {
        var positions: [String?: Int] = [:]
        var groups: [(name: String?, rows: [Element])] = []
        for (row, name) in zip(rows, names) {
            if let position = positions[name] {
                groups[position].rows.append(row)
            } else {
                positions[name] = groups.count
                groups.append((name, [row]))
            }
        }
        sections = groups.map { ResultsSection(id: .init(name: $0.name, number: 0), elements: $0.rows[...]) }
    }

    private mutating func append(
        _ rows: ArraySlice<Element>, _ name: String?, _ counts: inout [String?: Int]
    ) {
        let number = counts[name, default: 0]
        sections.append(ResultsSection(id: .init(name: name, number: number), elements: rows))
        counts[name] = number + 1
    }

    /// A value as text, nil if it is nil.
    private static func text(of value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return "\(value)" }
        return mirror.children.first.flatMap { text(of: $0.value) }
    }

    /// The first position.
    public var startIndex: Int { 0 }

    /// The position after the last one.
    public var endIndex: Int { sections.count }

    /// The section at a position.
    public subscript(position: Int) -> ResultsSection<Element> { sections[position] }
}
