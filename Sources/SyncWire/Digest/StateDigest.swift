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
    /// The most names of a table or column.
    private static let nameCountMax = 1000

    /// Writes the digest.
    func encode(to writer: inout WireWriter) {
        writer.unsigned(UInt64(tables.count))
        for table in tables {
            Self.encode(table.names, &writer)
            Self.encode(table.rows, &writer)
            writer.unsigned(UInt64(table.columns.count))
            for column in table.columns {
                Self.encode(column.names, &writer)
                writer.byte(column.isPresent ? 1 : 0)
                Self.encode(column.cells, &writer)
            }
        }
    }

    private static func encode(_ names: [String], _ writer: inout WireWriter) {
        writer.unsigned(UInt64(names.count))
        for name in names { writer.string(name) }
    }

    private static func encode(_ sum: DigestSum, _ writer: inout WireWriter) {
        writer.unsigned(UInt64(max(0, sum.count)))
        writer.fixed64(sum.first)
        writer.fixed64(sum.second)
    }

    /// Reads a digest.
    init(from reader: inout WireReader, limits: WireLimits) throws(WireError) {
        self.init()
        var columnTotal = 0
        for _ in 0..<(try reader.count(upTo: limits.tableCountMax, "tables of a digest")) {
            let names = try Self.names(&reader, limits)
            let rows = try Self.sum(&reader)
            let count = try reader.count(upTo: limits.columnCountMax, "columns of a digest")
            columnTotal += count
            guard columnTotal <= limits.columnTotalMax else {
                throw WireError(.tooLarge, "a digest has over \(limits.columnTotalMax) columns")
            }
            var columns: [Column] = []
            for _ in 0..<count {
                let names = try Self.names(&reader, limits)
                let flags = try reader.byte()
                guard flags <= 1 else { throw WireError(.unsupported, "a column has the flags \(flags)") }
                columns.append(Column(names: names, isPresent: flags == 1, cells: try Self.sum(&reader)))
            }
            tables.append(Table(names: names, rows: rows, columns: columns))
        }
    }

    private static func names(_ reader: inout WireReader, _ limits: WireLimits) throws(WireError) -> [String]
    {
        var names: [String] = []
        for _ in 0..<(try reader.count(upTo: nameCountMax, "names")) {
            names.append(try reader.string(upTo: limits.nameByteCountMax))
        }
        guard !names.isEmpty else { throw WireError(.malformed, "a table or column has no name") }
        return names
    }

    private static func sum(_ reader: inout WireReader) throws(WireError) -> DigestSum {
        let count = try reader.unsigned()
        guard count <= UInt64(Int64.max) else {
            throw WireError(.malformed, "a digest counts \(count) members")
        }
        return DigestSum(count: Int64(count), first: try reader.fixed64(), second: try reader.fixed64())
    }
}
