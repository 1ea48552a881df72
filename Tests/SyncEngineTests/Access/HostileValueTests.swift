import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Values that are longer than SQLite takes, which has a parameter NULL then.
@Suite struct HostileValueTests {
    /// Hands out a value that is one byte longer than SQLite takes. Nobody reads its memory, so it takes none.
    private func withOverlongValue(_ body: (WireValue) throws -> Void) rethrows {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000_000_001, alignment: 1)
        defer { memory.deallocate() }
        try body(.blob(UnsafeRawBufferPointer(memory)))
    }

    private func resultCode(_ body: () throws -> Void) throws -> ResultCode? {
        do {
            try body()
            return nil
        } catch let error as DatabaseError {
            return error.resultCode
        }
    }

    @Test func noRowHasNullForWhatIsTooLong() throws {
        let stores = try TestStores()
        let hub = try stores.create()
        let key = OwnedValue.make(itemKey(1).databaseValue)
        let codes = try hub.queue.write { db throws -> [ResultCode?] in
            guard let note = try SyncedTable.loadAll(db).first(where: { $0.name == "note" }) else { return [] }
            let table = try AppliedTable(db, note, columns: note.columns)
            let parking = try Parking(db, now: 0)
            var codes: [ResultCode?] = []
            try withExtendedLifetime(key) {
                let key = RowKey(key.value)
                try withOverlongValue { value in
                    codes.append(try resultCode { _ = try table.insert(key, [(name: "body", value: value)]) })
                    codes.append(
                        try resultCode { try parking.park(note.number, key, [0: value], why: "too long") })
                }
            }
            return codes
        }
        #expect(codes == [.SQLITE_TOOBIG, .SQLITE_TOOBIG])
        #expect(try hub.value("SELECT count(*) FROM note", as: Int.self) == 0)
        #expect(try hub.value("SELECT count(*) FROM _sync_shadow", as: Int.self) == 0)
    }
}
