import Foundation
import Testing

@testable import CipherStore

/// What the file of a store keeps when a rekey replaces it.
@Suite struct RekeyedFileTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
    }

    /// The rights of a file, as Linux writes them: the owner reads and writes, user 12345 reads.
    private static var rights: [UInt8] {
        let entries: [[UInt8]] = [
            [2, 0, 0, 0], entry(0x01, 6), entry(0x02, 4, [0x39, 0x30, 0, 0]), entry(0x04, 0), entry(0x10, 4),
            entry(0x20, 0),
        ]
        return entries.flatMap { $0 }
    }

    private static func entry(
        _ kind: UInt8, _ permission: UInt8, _ user: [UInt8] = [255, 255, 255, 255]
    ) -> [UInt8] {
        [kind, 0, permission, 0] + user
    }

    #if os(Linux)
        private static let attributes: [(String, [UInt8])] = [
            ("user.note", [1, 2, 3]), ("system.posix_acl_access", rights),
        ]
    #else
        private static let attributes: [(String, [UInt8])] = [("org.example.note", [1, 2, 3])]
    #endif

    /// Some file systems have none: then there is nothing to keep.
    @Test(arguments: attributes) func attributesAreKept(name: String, value: [UInt8]) throws {
        guard FilePlace.setAttribute(name, value, of: path) else { return }
        let identity = try #require(FilePlace(path: path)).identity
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        #expect(FilePlace.attribute(name, of: path).value == value)
        // The new file does not take itself for the old one.
        let place = try #require(FilePlace(path: path))
        #expect(place.identity != identity || identity == nil)
        #expect(place.predecessors.allSatisfy { $0 == identity })
    }

    /// The content knows the file that it was in when it was looked at.
    @Test(arguments: [1, 4, 5, 12]) func theFirstFileIsKnownHoweverOftenTheKeyChanges(count: Int) throws {
        guard FilePlace.setMark([1], at: path) else { return }
        let first = try #require(FilePlace(path: path)?.identity)
        var last = path
        for number in 1...count {
            let next = folder.file("\(number).db")
            try Data([7]).write(to: URL(fileURLWithPath: next))
            FilePlace.prepareSuccession(of: last, by: next)
            last = next
        }
        let place = try #require(FilePlace(path: last))
        #expect(place.predecessors.first == first)
        #expect(place.mark == [1])
        // Who notes a mark knows where it is from now on.
        #expect(FilePlace.setMark([2], at: last))
        let seen = try #require(FilePlace(path: last))
        #expect(seen.predecessors.isEmpty && seen.mark == [2])
        FilePlace.prepareSuccession(of: last, by: path)
        #expect(FilePlace(path: path)?.predecessors == [seen.identity].compactMap { $0 })
    }
}
