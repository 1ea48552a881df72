import Testing

@testable import CipherStore

/// Which statements change one row at most, by their text.
@Suite struct SingleRowChangeTests {
    @Test(arguments: [
        ("INSERT INTO note (id, title) VALUES (?, ?)", "INSERT OR FAIL INTO note (id, title) VALUES (?, ?)"),
        (
            "insert into main.\"a \"\"b\" values (1, (SELECT max(x) FROM y), 'a;)')",
            "insert OR FAIL into main.\"a \"\"b\" values (1, (SELECT max(x) FROM y), 'a;)')"
        ),
        (
            "INSERT /* x */ INTO `note` -- y\n VALUES (:values)",
            "INSERT OR FAIL /* x */ INTO `note` -- y\n VALUES (:values)"
        ),
    ])
    func anInsertionOfOneRowIsOne(sql: String, expected: String) throws {
        let change = try #require(SingleRowChange(sql: sql))
        #expect(change.sql == expected)
        #expect(change.conditionColumns == nil)
        #expect(change.assignedNames.isEmpty)
    }

    @Test func theTableIsNamedWithoutQuotesAndSchema() throws {
        #expect(SingleRowChange(sql: "INSERT INTO main.\"a \"\"b\"\"\" VALUES (1)")?.table == "a \"b\"")
        #expect(SingleRowChange(sql: "UPDATE main.[note] SET a = 1 WHERE id = 1")?.table == "note")
    }

    @Test(arguments: [
        "INSERT OR REPLACE INTO note VALUES (1)", "INSERT OR FAIL INTO note VALUES (1)",
        "REPLACE INTO note VALUES (1)",
        "INSERT INTO note VALUES (1), (2)", "INSERT INTO note SELECT 1",
        "INSERT INTO note (id) SELECT id FROM (VALUES (1))",
        "INSERT INTO note DEFAULT VALUES", "WITH a AS (SELECT 1) INSERT INTO note VALUES (1)",
        "INSERT INTO note VALUES (1) ON CONFLICT DO NOTHING", "INSERT INTO note VALUES (1) RETURNING id",
        "INSERT INTO temp.note VALUES (1)", "INSERT INTO other.note VALUES (1)",
        "INSERT INTO 'note' VALUES (1)",
        "INSERT INTO note AS n VALUES (1)", "INSERT", "INSERT INTO", "INSERT INTO note", "INSERT INTO note (",
        "", "INTO",
        "UPDATE OR FAIL note SET a = 1 WHERE id = 1", "UPDATE note SET a = 1",
        "UPDATE temp.note SET a = 1 WHERE id = 1",
        "UPDATE note INDEXED BY x SET a = 1 WHERE id = 1", "UPDATE note AS n SET a = 1 WHERE id = 1",
        "UPDATE note SET a = 1 WHERE id = 1 OR a = 2",
        "UPDATE note SET a = 1 WHERE id = 1 ORDER BY a LIMIT 1",
        "UPDATE note SET a = 1 WHERE a BETWEEN 1 AND id = 1", "UPDATE note SET a = 1 WHERE NOT id = 1",
        "UPDATE note SET a = 1 WHERE CASE WHEN a AND id = 1 AND b THEN 0 ELSE 1 END",
        "UPDATE note SET a = 1 WHERE id = 1 RETURNING a", "UPDATE",
        "INSERT INTO note VALUES ($x((), 1), (10, 2)",
        "INSERT INTO note VALUES (@x((), 1), (10, 2)", "INSERT INTO note VALUES (:a::b(), 1)",
        "INSERT INTO note VALUES (1))",
        "UPDATE note SET a = 1 WHERE size = ?1or size > ?1 AND id = ?2",
        "UPDATE note SET a = $a WHERE id = 1",
        "UPDATE note SET a = 1 FROM b WHERE id = 1 AND b.x = 2 ORDER BY 1", "DELETE FROM note WHERE id = 1",
        "SELECT 1",
    ])
    func othersAreNone(sql: String) {
        #expect(SingleRowChange(sql: sql) == nil)
    }

    @Test(arguments: [
        ("id = ?", ["id"]), ("id = ?1", ["id"]), ("id=:id", ["id"]), ("id == @id", ["id"]),
        ("id = 5", ["id"]),
        ("id = 'x'", ["id"]), ("\"id\"=?", ["id"]), ("(\"note\".\"id\") = (?)", ["id"]),
        ("((id = ?))", ["id"]),
        ("main.note.id = ?", ["id"]), ("id = ? AND a = ? AND b > 3", ["id", "a"]),
        ("a IN (1, 2) AND id = :or", ["id"]),
        ("(a = 1 OR b = 2) AND id = ?", ["id"]), ("id = :and AND a = :where", ["id", "a"]),
    ])
    func aConditionGivesColumns(condition: String, columns: [String]) throws {
        let change = try #require(
            SingleRowChange(sql: "UPDATE note SET a = ?, b = 'where' WHERE \(condition)"))
        #expect(change.conditionColumns == columns)
        #expect(change.assignedNames.contains("a") && change.assignedNames.contains("b"))
        #expect(change.sql.hasPrefix("UPDATE OR FAIL note SET "))
    }

    @Test(arguments: [
        "id = a", "id = ? + 1", "id = -1", "id = 1.5", "id > ?", "id <> ?", "id != ?", "id >= ?", "id IS ?",
        "id + 1 = ?",
        "id = ? COLLATE NOCASE", "id = \"x\"", "id = x'00'", "id IN (?)", "(id = ?) = 0", "id = ? = 0",
        "lower(id) = ?", "? = ?",
        "id = (SELECT 1)", "id = NULL", "id = abs(1)", "id", "id LIKE ?", "id = ? NOTNULL",
        "id = ? ISNULL", "id = '' NOTNULL", "id = '?' NOTNULL", "(id, a) = (1, 2)", "id = ?NOTNULL",
    ])
    func aConditionThatSeveralRowsMayMeetGivesNone(condition: String) throws {
        #expect(
            SingleRowChange(sql: "UPDATE note SET a = ? WHERE \(condition)")?.conditionColumns ?? [] == [])
    }
}
