import CipherStore
import Testing

/// A comparison keeps its collation in whatever it is part of.
@Suite struct CollatedComparisonTests {
    private let name = Column("name").collating(.nocase)

    /// Expects the names, of `b` and `C`, for which a condition holds.
    private func expect(
        _ condition: SQLExpression, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = try DatabaseQueue().write { (db: Database) throws -> [String] in
            try db.execute(sql: "CREATE TABLE word (name TEXT); INSERT INTO word VALUES ('b'), ('C')")
            let request = Table("word").filter(condition).select(Column("name"), as: String.self)
            return try request.fetchAll(db)
        }
        #expect(names == expected, sourceLocation: sourceLocation)
    }

    @Test func negatedComparisons() throws {
        try expect(!(name < "c"), ["C"])
        try expect(!(name <= "b"), ["C"])
        try expect(!(name > "b"), ["b"])
        try expect(!(name >= "c"), ["b"])
        try expect(!(name == "c"), ["b"])
        try expect(!(name != "c"), ["C"])
    }

    @Test func negatedRanges() throws {
        let before: SQLExpression = (..<"c").contains(name)
        let from: SQLExpression = ("c"...).contains(name)
        try expect(!before, ["C"])
        try expect(!from, ["b"])
    }

    @Test func comparisonsThatAreCompared() throws {
        let isBefore: SQLExpression = name < "c"
        let isEqual: SQLExpression = name == "c"
        let one = 1.databaseValue.sqlExpression
        try expect(isBefore == true, ["b"])
        try expect(isBefore == false, ["C"])
        try expect(isBefore != true, ["C"])
        try expect(isBefore === one, ["b"])
        try expect(one == isBefore, ["b"])
        try expect(isEqual == true, ["C"])
    }

    @Test func comparisonsThatAreCollatedAfterwards() throws {
        let isBefore: SQLExpression = Column("name") < "c"
        try expect((!isBefore).collating(.nocase), ["C"])
        try expect(!isBefore.collating(.nocase), ["C"])
    }

    @Test func textsThatAreMadeOfOthersAreComparedByTheirCollation() throws {
        let text: SQLExpression = [Column("name").sqlExpression, "!".databaseValue.sqlExpression]
            .joined(operator: .concat)
        try expect(text.collating(.nocase) == "c!", ["C"])
        try expect(!(text.collating(.nocase) == "c!"), ["b"])
    }
}
