import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// `syncctl sql` reads rows, writes them when it is told to, and does nothing else.
@Suite struct SQLCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    private func sql(_ arguments: String...) throws -> CommandResult {
        try place.run(["sql", place.path("a.db")] + own + arguments)
    }

    @Test func rowsAreShownAsATable() throws {
        let result = try sql("SELECT name, stars, NULL AS none FROM person ORDER BY stars")
        #expect(
            result.output == """
                name       stars  none
                name of 0      0  NULL
                name of 1      1  NULL
                name of 2      2  NULL

                """)
        #expect(try sql("SELECT name FROM person WHERE 0").output.isEmpty)
    }

    @Test(arguments: ["", " ", ";", " ; ;\n"]) func noStatementIsAWrongCommandLine(text: String) throws {
        let result = try sql(text)
        #expect(result.status == 64 && result.errors.contains("the statement is empty"), "\(result.errors)")
    }

    @Test func rowsAreGivenToPrograms() throws {
        let statement = "SELECT stars, x'00ff' AS data, 'a,b' AS text, NULL AS n FROM person WHERE stars = 1"
        #expect(try sql(statement, "--csv").output == "stars,data,text,n\n1,00ff,\"a,b\",\n")
        #expect(
            try sql(statement, "--jsonl").output
                == "{\"stars\":1,\"data\":{\"base64\":\"AP8=\"},\"text\":\"a,b\",\"n\":null}\n")
        let results =
            try sql("\(statement); SELECT 2 AS two", "--json").document()["results"] as? [[String: Any]]
        #expect(results?.count == 2)
        #expect(results?.first?["columns"] as? [String] == ["stars", "data", "text", "n"])
        #expect((results?.last?["rows"] as? [[Int]]) == [[2]])
    }

    @Test func whatCouldActOnATerminalIsShown() throws {
        let result = try sql("SELECT 'a' || char(27) || '[31m' || char(10) || 'b' AS \"x\u{1B}y\"")
        #expect(result.output == "x\\u{1b}y\na\\u{1b}[31m\\nb\n")
    }

    @Test func rowsAreWrittenOnlyWhenThatIsAllowed() throws {
        let statement = "UPDATE person SET stars = 9 WHERE stars = 1"
        let refused = try sql(statement)
        #expect(refused.status == 1 && refused.errors.contains("--write"))
        #expect(try sql(statement, "--write").output == "changed 1 row\n")
        #expect(try sql("SELECT count(*) FROM person WHERE stars = 9", "--csv").output == "count(*)\n1\n")
        let log = try place.succeed(["log", place.path("a.db"), "--limit", "1", "--json"] + own).document()
        let change = (log["changes"] as? [[String: Any]])?.first
        #expect(change?["operation"] as? String == "update" && change?["columns"] as? [String] == ["stars"])
    }

    @Test func statementsAreAppliedAsAWholeOrNotAtAll() throws {
        let before = try place.rows("a.db", "a")
        let failed = try sql("DELETE FROM person; SELECT missing FROM person", "--write")
        #expect(failed.status == 1)
        #expect(
            failed.errors.contains("nothing was changed: what was done before that was undone"),
            "\(failed.errors)")
        #expect(try place.rows("a.db", "a") == before)
        // Where nothing was said to be changed, nothing has to be taken back.
        let first = try sql("SELECT missing FROM person; DELETE FROM person", "--write")
        #expect(first.status == 1 && !first.errors.contains("undone"), "\(first.errors)")
        let read = try sql("SELECT 1; SELECT missing FROM person")
        #expect(read.status == 1 && !read.errors.contains("undone"), "\(read.errors)")
    }

    #if os(Linux)
        @Test func changesWhoseResultCannotBePrintedAreSaidToStay() throws {
            func delete(_ stars: Int, _ options: String...) throws -> CommandResult {
                let statement = "DELETE FROM person WHERE stars = \(stars)"
                return try CommandRunner.runHere(
                    ["sql", place.path("a.db"), statement, "--write"] + own + options, output: "/dev/full")
            }
            // The document is printed after the commit, the other forms before it.
            let document = try delete(1, "--json")
            #expect(
                document.status == 1 && document.errors.contains("what they changed stays"),
                "\(document.errors)")
            #expect(try place.rows("a.db", "a").count == 2)
            let before = try place.rows("a.db", "a")
            let table = try delete(2)
            #expect(table.status == 1 && !table.errors.contains("stays"), "\(table.errors)")
            #expect(try place.rows("a.db", "a") == before)
        }
    #endif

    @Test(arguments: [
        "CREATE TABLE x (a)", "DROP TABLE person", "DELETE FROM _sync_log", "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = DELETE", "PRAGMA key = 'x'", "SELECT sqlcipher_export('main')",
        "BEGIN; COMMIT",
    ]) func nothingButRowsIsChanged(statement: String) throws {
        let before = try place.contents()
        let result = try sql(statement + " ", "--write")
        #expect(result.status == 1, "\(result.output)")
        #expect(try place.contents() == before)
    }

    @Test func errorsAreThoseOfTheStatement() throws {
        #expect(try sql("SELECT missing FROM person").errors.contains("no such column: missing"))
        #expect(try sql("SELECT ? AS x").errors.contains("parameters"))
        #expect(try sql("SELECT 1 AS a", "--csv", "--json").status == 64)
    }

    @Test func statementsComeFromStandardInput() throws {
        let result = try CommandRunner.run(
            ["sql", place.path("a.db"), "--csv"] + own,
            input: "SELECT 'a;b' AS a; -- nothing;\nSELECT count(*) AS n FROM person;\n")
        #expect(result.output == "a\na;b\n\nn\n3\n" && result.status == 0, "\(result.errors)")
    }
}

/// What a line of the shell is.
@Suite struct StatementSplitterTests {
    private func statements(_ lines: [String]) -> [[String]] {
        var splitter = StatementSplitter()
        return lines.map { splitter.add($0).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } }
    }

    @Test func statementsEndWithSemicolonsOutsideOfQuotesAndComments() {
        #expect(statements(["SELECT 1; SELECT", "2;", ";"]) == [["SELECT 1;"], ["SELECT\n2;"], []])
        #expect(statements(["SELECT 'a;''b", ";c';"]) == [[], ["SELECT 'a;''b\n;c';"]])
        #expect(statements(["SELECT \"a;\", [b;], `c;`;"]).first?.count == 1)
        #expect(statements(["SELECT 1 -- a; b", "/* ; */ ;"]) == [[], ["SELECT 1 -- a; b\n/* ; */ ;"]])
    }

    @Test func whatHasBegunCanBeDropped() {
        var splitter = StatementSplitter()
        #expect(!splitter.hasBegun)
        _ = splitter.add("SELECT 'a")
        #expect(splitter.hasBegun)
        splitter.clear()
        #expect(splitter.add("SELECT 1;") == ["SELECT 1;"])
        _ = splitter.add("  ")
        #expect(!splitter.hasBegun)
    }
}
