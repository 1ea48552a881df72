/// The digests of what a replica holds, by table and column, under all names that it knows for these.
///
/// Sums have no names in them, so that a table or a column that was renamed at one side only
/// still has the same sum.
public struct StateDigest: Hashable, Sendable {
    /// A column other than the key.
    public struct Column: Hashable, Sendable {
        /// Its name here, and its other names.
        public var names: [String]
        /// Whether the table here has it.
        public var isPresent: Bool
        /// The sum of the writes of this column after those of whole rows.
        public var cells: DigestSum

        /// Makes the digest of a column.
        public init(names: [String], isPresent: Bool, cells: DigestSum) {
            self.names = names
            self.isPresent = isPresent
            self.cells = cells
        }
    }

    /// A table.
    public struct Table: Hashable, Sendable {
        /// Its name here, and its other names.
        public var names: [String]
        /// The sum of the rows that exist, by their last writes as a whole.
        public var rows: DigestSum
        /// Its columns; those without a cell can be left out.
        public var columns: [Column]

        /// Makes the digest of a table.
        public init(names: [String], rows: DigestSum, columns: [Column]) {
            self.names = names
            self.rows = rows
            self.columns = columns
        }

        /// Whether the table has no row and no cell.
        public var isEmpty: Bool { rows.isZero && columns.allSatisfy(\.cells.isZero) }
    }

    /// The tables; those without a row can be left out.
    public var tables: [Table]

    /// Makes a digest.
    public init(tables: [Table] = []) { self.tables = tables }

    /// How many tables and columns there are.
    public var partCount: Int { tables.reduce(tables.count) { $0 + $1.columns.count } }
}

extension StateDigest {
    /// Writes the digest.
    func encode(to writer: inout WireWriter) {
        writer.unsigned(UInt64(tables.count))
        for table in tables {
            writer.names(table.names)
            writer.sum(table.rows)
            writer.unsigned(UInt64(table.columns.count))
            for column in table.columns {
                writer.names(column.names)
                writer.byte(column.isPresent ? 1 : 0)
                writer.sum(column.cells)
            }
        }
    }

    /// Reads a digest.
    init(from reader: inout WireReader, limits: WireLimits) throws(WireError) {
        self.init()
        var columnTotal = 0
        var nameTotal = 0
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "tables of a digest")) {
            let names = try reader.names(limits, total: &nameTotal)
            let rows = try reader.sum()
            let count = try reader.count(upTo: limits.columnCountMax, "columns of a digest")
            columnTotal += count
            guard columnTotal <= limits.columnTotalMax else {
                throw WireError(.tooLarge, "a digest has over \(limits.columnTotalMax) columns")
            }
            var columns: [Column] = []
            for _ in 0..<count {
                let names = try reader.names(limits, total: &nameTotal)
                let isPresent = try reader.flag()
                columns.append(Column(names: names, isPresent: isPresent, cells: try reader.sum()))
            }
            tables.append(Table(names: names, rows: rows, columns: columns))
        }
    }
}
