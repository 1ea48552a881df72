/// The position of a column in a row.
///
/// It is a type of its own, because an integer index gives a value alone.
public struct RowIndex: Comparable, Strideable, Sendable {
    let index: Int

    /// Returns whether one position comes before another.
    public static func < (left: RowIndex, right: RowIndex) -> Bool { left.index < right.index }

    /// Returns the number of columns between two positions.
    public func distance(to other: RowIndex) -> Int { other.index - index }

    /// Returns the position that is some columns further.
    public func advanced(by count: Int) -> RowIndex { RowIndex(index: index + count) }
}

extension Row: RandomAccessCollection {
    /// The index of the first column.
    public var startIndex: RowIndex { RowIndex(index: 0) }
    /// The index after the last column.
    public var endIndex: RowIndex { RowIndex(index: count) }
    /// The name and the value of a column.
    public subscript(position: RowIndex) -> (String, DatabaseValue) {
        (columnNames[position.index], databaseValue(atIndex: position.index))
    }
}

extension Row: Hashable {
    /// Returns whether two rows have the same names and values in the same
    /// order, the same scopes, and the same prefetched rows.
    public static func == (left: Row, right: Row) -> Bool {
        if left === right { return true }
        guard left.columnNames == right.columnNames, left.databaseValues == right.databaseValues,
            left.scopes.names == right.scopes.names, left.prefetches == right.prefetches
        else { return false }
        return zip(left.scopes, right.scopes).allSatisfy { $0.row == $1.row }
    }

    /// Feeds the names and the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(columnNames)
        hasher.combine(databaseValues)
    }
}

extension Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// The row as `[name:"Arthur" score:100]`.
    public var description: String {
        "[" + map { name, value in "\(name):\(value)" }.joined(separator: " ") + "]"
    }

    /// The row with its scopes and the numbers of its prefetched rows.
    public var debugDescription: String {
        let below = tree(indentation: "  ")
        guard !below.isEmpty else { return description }
        let all = adapted == nil ? [] : ["  unadapted: \(unadapted.description)"]
        return (["▿ \(description)"] + all + below).joined(separator: "\n")
    }

    /// A line for each scope and each list of prefetched rows.
    private func tree(indentation: String) -> [String] {
        var lines: [String] = []
        for (name, row) in scopes {
            lines.append("\(indentation)- \(name): \(row.description)")
            lines += row.tree(indentation: indentation + "  ")
        }
        for name in prefetches.names.sorted() {
            let count = prefetches.rows(named: name)?.count ?? 0
            lines.append("\(indentation)+ \(name): \(count) \(count > 1 ? "rows" : "row")")
        }
        return lines
    }
}
