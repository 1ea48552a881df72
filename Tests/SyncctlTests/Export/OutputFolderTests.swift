import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// A folder of exported files is there as a whole, or not under its name.
@Suite struct OutputFolderTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private func export(_ arguments: [String]) throws -> CommandResult {
        try place.run(
            ["export", place.path("a.db"), "--passphrase-file", place.secret("a")] + arguments)
    }

    /// What is beside the store and its own files.
    private func contents() throws -> [String] {
        try place.contents().filter { !$0.hasPrefix("a.db") }
    }

    private func makeFolder(_ name: String, with files: [String]) throws {
        try FileManager.default.createDirectory(
            atPath: place.path(name), withIntermediateDirectories: false)
        for file in files { try place.folder.write("id\n1\n", to: "\(name)/\(file)") }
    }

    @Test(arguments: ["out", "out/"]) func aFolderHasItsNameOnlyWhenItIsFinished(name: String) throws {
        let folder = try OutputFolder(place.path(name))
        try Data([1]).write(to: URL(fileURLWithPath: folder.file("person.csv")))
        #expect(!FileManager.default.fileExists(atPath: place.path("out")))
        try folder.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("out")) == ["person.csv"])
        #expect(try contents() == ["out"])
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path("out"))
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func aFolderThatIsThereMeanwhileIsLeftAlone() throws {
        let folder = try OutputFolder(place.path("out"))
        try makeFolder("out", with: ["mine.txt"])
        let error = #expect(throws: StoreError.self) { try folder.finish() }
        #expect(error?.code == .exists)
        folder.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("out")) == ["mine.txt"])
        #expect(try contents() == ["out"])
    }

    /// What a process leaves that is killed after the first table.
    @Test func theNextExportRemovesTheFolderOfAKilledOne() throws {
        let leftover = "out.export-0123456789abcdef"
        try makeFolder(leftover, with: ["pet.csv", "person.csv.export-00000000000001a2"])
        let others = ["out.export-20261129", "out.export-notes", "other.export-0123456789abcdef"]
        for name in others { try makeFolder(name, with: ["pet.csv"]) }
        let result = try export(["--format", "csv", "--to", place.path("out")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try contents() == (["out"] + others).sorted())
        for name in others {
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.path(name)) == ["pet.csv"])
        }
    }

    @Test(arguments: ["csv", "sql"]) func theNextExportRemovesTheFileOfAKilledOne(format: String) throws {
        try place.folder.write("id\n1\n", to: "out.txt.export-0123456789abcdef")
        let others = ["out.txt.export-2026", "out.txt.export-notes"]
        for name in others { try place.folder.write("id\n1\n", to: name) }
        let choice = format == "csv" ? ["--table", "person"] : []
        let result = try export(["--format", format, "--to", place.path("out.txt")] + choice)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try contents() == ["out.txt"] + others)
    }

    @Test func aFolderThatIsThereIsCalledOne() throws {
        try makeFolder("out", with: [])
        let result = try export(["--format", "csv", "--to", place.path("out")])
        #expect(result.status == 1 && result.errors.contains("there is a folder already"))
        #expect(!result.errors.contains("remove"))
    }
}
