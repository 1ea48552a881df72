import CipherStore
import Foundation
import Testing

/// `import --update` writes over rows whose key is there, and leaves alone what is equal.
@Suite struct ImportUpdateTests {
    let place: Workplace
    private static let keys = (1...3).map { "018f3a52-7c00-7000-8000-00000000000\($0)" }

    init() throws {
        place = try Workplace()
        try place.succeed(["init", place.path("a.db")] + own)
        let text = "id,name,stars\n\(Self.keys[0]),Ann,1\n\(Self.keys[1]),Bob,2\n"
        try place.succeed(
            ["import", place.path("a.db"), place.folder.write(text, to: "p.csv"), "--track"] + own)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    private func update(_ text: String, _ arguments: [String] = []) throws -> CommandResult {
        try place.run(
            ["import", place.path("a.db"), place.folder.write(text, to: "p.csv"), "--update", "--json"] + own
                + arguments)
    }

    @Test func rowsAreInsertedUpdatedOrLeftAlone() throws {
        let text = "id,name,stars\n\(Self.keys[0]),Ann,1\n\(Self.keys[1]),Bob,\n\(Self.keys[2]),Cem,3\n"
        let document = try update(text).document()
        #expect(document["inserted"] as? Int == 1)
        #expect(document["updated"] as? Int == 1)
        #expect(document["unchanged"] as? Int == 1)
        let rows = try place.rows("a.db", "a", "p")
        let ends = ["\"Ann\" | 1", "\"Bob\" | NULL", "\"Cem\" | 3"]
        #expect(rows.count == 3 && zip(rows, ends).allSatisfy { $0.hasSuffix($1) }, "\(rows)")
    }

    @Test func columnsThatTheFileHasNotKeepTheirValues() throws {
        #expect(try update("id,stars\n\(Self.keys[0]),9\n").status == 0)
        #expect(try place.rows("a.db", "a", "p")[0].hasSuffix("\"Ann\" | 9"))
    }

    @Test func equalRowsAreNoChangesToSynchronize() throws {
        func count() throws -> Int? {
            let queue = try place.open("a.db", "a")
            defer { try? queue.close() }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _sync_log") }
        }
        let before = try count()
        #expect(try update("id,name,stars\n\(Self.keys[0]),Ann,1\n").status == 0)
        #expect(try count() == before)
    }

    @Test func withoutTheKeyNothingCanBeUpdated() throws {
        let result = try update("name,stars\nAnn,1\n")
        #expect(result.status == 64 && result.errors.contains("--update needs the key"))
    }

    @Test func withoutTheOptionTheHintNamesIt() throws {
        let file = try place.folder.write("id,name,stars\n\(Self.keys[0]),Ann,1\n", to: "p.csv")
        let result = try place.run(["import", place.path("a.db"), file] + own)
        #expect(result.status == 1 && result.errors.contains("p.csv:2") && result.errors.contains("--update"))
    }

    @Test func anObjectWithoutAMemberIsRefused() throws {
        let lines = "{\"id\":\"\(Self.keys[0])\",\"stars\":1}\n{\"id\":\"\(Self.keys[1])\"}\n"
        let result = try update(lines, ["--format", "jsonl"])
        #expect(result.status == 1 && result.errors.contains("p.csv:2") && result.errors.contains("stars"))
    }
}
