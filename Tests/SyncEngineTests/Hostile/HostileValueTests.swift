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
            guard let note = try SyncedTable.loadAll(db).first(where: { $0.name == "note" }) else {
                return []
            }
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

    /// A bundle can have any number of rows of a table that is not here.
    @Test func rowsBeyondThoseThatAreRememberedAreCounted() throws {
        let stores = try TestStores()
        let hub = try stores.create()
        let keys = (1...5).map { OwnedValue.make(itemKey($0).databaseValue) }
        let counts = try hub.queue.write { db throws -> [Int64] in
            let parking = try Parking(db, now: 0, rememberedRowMax: 2)
            var counts: [Int64] = []
            func forEach(_ keys: ArraySlice<OwnedValue>, _ body: (RowKey) throws -> Void) throws {
                for key in keys { try withExtendedLifetime(key) { try body(RowKey(key.value)) } }
                counts += [parking.parkedRowCount, parking.shownRowCount]
            }
            for number in [1, 2] as [Int64] {
                try forEach(keys[...]) { key in
                    try parking.park(99, key, [0: .integer(number)], why: KeptReason.noTable)
                }
            }
            try forEach(keys[3...]) { try parking.remove(99, $0) }
            // Nothing of them waits any more.
            try forEach(keys[3...]) { try parking.remove(99, $0) }
            try forEach(keys[..<3]) { try parking.show(99, $0, columns: [0]) }
            return counts
        }
        #expect(counts == [5, 0, 5, 0, 3, 0, 3, 0, 0, 3])
    }
}
