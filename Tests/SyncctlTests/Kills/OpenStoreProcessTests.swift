import Foundation
import Testing

@testable import CipherStore

/// What another process meets while the passphrase of a store changes that this one has open.
@Suite struct OpenStoreProcessTests {
    @Test func anotherProcessGetsAClearErrorAndNeverABrokenFile() throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a")
        let queue = try place.open("a.db", "a")
        let rows = try StoreProbe.rows(queue)
        func status(_ passphrase: String) throws -> Int32 {
            try place.run(["status", place.path("a.db"), "--passphrase-file", place.secret(passphrase)])
                .status
        }
        var during: [Int32] = []
        try queue.changePassphrase(Workplace.passphrase("b")) { step in
            if during.isEmpty { during.append(try status("a")) }
        }
        #expect(during == [11])
        #expect(try status("a") == 12)
        #expect(try status("b") == 0)
        #expect(try StoreProbe.rows(queue) == rows)
        try StoreProbe.insert(500..<501, into: queue)
        // The other process writes into the file that this one goes on with.
        let note = try place.folder.write("name\nx\n", to: "note.csv")
        try place.succeed(["import", place.path("a.db"), note, "--passphrase-file", place.secret("b")])
        #expect(try StoreProbe.rows(queue, "note").count == 1)
        try queue.close()
        #expect(try place.rows("a.db", "b").count == rows.count + 1)
    }
}
