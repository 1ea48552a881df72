import Foundation
import Testing

/// `member recover`, which asks first what was said meanwhile.
@Suite struct MemberRecoveryTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func remotePassphrase(_ name: String = "c") -> [String] {
        ["--remote-passphrase-file", place.secret(name)]
    }

    private func sync(_ store: String, _ name: String) throws {
        try place.succeed(
            [
                "sync", place.path(store), "--create", "--cost", "14", "--remote",
                "dir:\(place.path("shared"))",
            ]
                + remotePassphrase() + own(name))
    }

    /// Founds members in one store, and writes the recovery key to a file.
    private func found() throws -> String {
        let found = try place.succeed(
            ["member", "found", place.path("a.db"), "--as", "anna", "--json"] + own("a"))
        let text = try #require(found.document()["recovery_key"] as? String)
        return try place.folder.writePassphrase(text, to: "recovery")
    }

    private func recover(_ store: String, _ name: String, _ key: String, _ more: [String]) throws
        -> CommandResult
    {
        try place.run(
            ["member", "recover", place.path(store), "--as", "new", "--recovery-key-file", key] + more
                + own(name))
    }

    private func memberCount() throws -> Int {
        let list = try place.succeed(["member", "list", place.path("a.db"), "--json"] + own("a"))
        return try #require(list.document()["members"] as? [Any]).count
    }

    @Test func aStoreThatIsBehindHearsOfAnEarlierRecoveryFirst() throws {
        let key = try found()
        try sync("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let remote = ["--remote", "dir:\(place.path("shared"))"] + remotePassphrase()
        let first = try recover("b.db", "b", key, ["--new-key"] + remote)
        #expect(first.status == 0 && first.errors.contains("synchronize at once"), "\(first.errors)")
        #expect(first.errors.contains("syncctl member found"), "\(first.errors)")
        try sync("b.db", "b")
        // The key that this store knows does not count any more, and it finds that out by the remote that it remembers.
        let second = try recover("a.db", "a", key, remotePassphrase())
        #expect(second.status == 14 && second.errors.contains("not any more"), "\(second.errors)")
        #expect(try memberCount() == 2)
    }

    @Test func whereNobodyTellsNothingIsRecoveredUnlessToldSo() throws {
        let key = try found()
        let alone = try recover("a.db", "a", key, [])
        #expect(alone.status == 14 && alone.errors.contains("--offline"), "\(alone.errors)")
        try sync("a.db", "a")
        let wrong = try recover("a.db", "a", key, remotePassphrase("wrong"))
        #expect(wrong.status != 0 && wrong.errors.contains("--offline"), "\(wrong.errors)")
        let none = try recover("a.db", "a", key, [])
        #expect(none.status == 64 && none.errors.contains("--remote-passphrase-file"), "\(none.errors)")
        try FileManager.default.moveItem(atPath: place.path("shared"), toPath: place.path("away"))
        let gone = try recover("a.db", "a", key, remotePassphrase())
        #expect(gone.status != 0 && gone.errors.contains("--offline"), "\(gone.errors)")
        let both = try recover(
            "a.db", "a", key, ["--offline", "--remote", "dir:\(place.path("away"))"] + remotePassphrase())
        #expect(both.status == 64, "\(both.errors)")
        #expect(try memberCount() == 1)
        let told = try recover("a.db", "a", key, ["--offline"])
        #expect(told.status == 0, "\(told.errors)")
        #expect(try memberCount() == 2)
    }

    @Test func theCommandToSynchronizeNamesThePlaceThatWasNamed() throws {
        let key = try found()
        try sync("a.db", "a")
        try place.makeReplica("b.db", "b", of: "a.db", "a")
        let shared = "dir:\(place.path("shared"))"
        let result = try recover("b.db", "b", key, ["--remote", shared, "--json"] + remotePassphrase())
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let remarks = try #require(result.document()["remarks"] as? [String])
        let isNamed = remarks.contains { $0.contains("syncctl sync") && $0.contains("--remote \(shared)") }
        #expect(isNamed, "\(remarks)")
    }

    @Test func oneOfTwoPlacesIsEnoughAndTheOtherOneIsTold() throws {
        let key = try found()
        try sync("a.db", "a")
        try place.succeed(
            [
                "sync", place.path("a.db"), "--create", "--cost", "14", "--remote",
                "dir:\(place.path("stick"))",
            ]
                + remotePassphrase() + own("a"))
        try FileManager.default.removeItem(atPath: place.path("stick"))
        let result = try recover("a.db", "a", key, remotePassphrase())
        #expect(result.status == 0 && result.errors.contains("not heard from everywhere"), "\(result.errors)")
        #expect(result.errors.contains("stick"), "\(result.errors)")
    }
}
