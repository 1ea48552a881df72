import Foundation
import Testing

@testable import CipherStore

/// Random tables with random names, and random values through every way to
/// write and read records: what comes out is what went in, or there is a typed error.
@Suite struct RecordFuzzTests {
    @Test(arguments: 0..<12) func whatIsWrittenIsRead(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let queue = try DatabaseQueue()
        for _ in 0..<4 { try run(queue, &random) }
    }

    @Test func whatIsWrittenIsReadAfterTheFileWasClosed() throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 1_000)
        let path = folder.file("a.db")
        var models: [FuzzModel] = []
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        for _ in 0..<6 {
            let table = FuzzTable(&random)
            try queue.write { db in
                try db.execute(sql: table.sql)
                var model = FuzzModel(table)
                for _ in 0..<5 { try insert(db, &model, &random) }
                models.append(model)
            }
        }
        try queue.close()
        let pool = try DatabasePool(path: path, configuration: .keyed("secret"))
        for model in models { try pool.read { try check($0, model) } }
    }

    private func run(_ queue: DatabaseQueue, _ random: inout SeededGenerator) throws {
        let table = FuzzTable(&random)
        var model = FuzzModel(table)
        try queue.write { try $0.execute(sql: table.sql) }
        try FuzzTable.$current.withValue(table) {
            for _ in 0..<8 { try queue.write { try insert($0, &model, &random) } }
            try queue.read { try check($0, model) }
            for _ in 0..<8 { try queue.write { try change($0, &model, &random) } }
            try queue.read { try check($0, model) }
            try queue.write { try delete($0, &model) }
        }
        try queue.write { try $0.drop(table: table.name) }
    }

    // MARK: Writing

    /// Runs a write that the table may refuse.
    private func attempt(_ db: Database, _ table: FuzzTable, _ body: () throws -> Void) throws -> Bool {
        do {
            try db.inSavepoint {
                try FuzzTable.$current.withValue(table) { try body() }
                return .commit
            }
            return true
        } catch let error as DatabaseError {
            #expect(error.resultCode == .SQLITE_CONSTRAINT, "\(error)\n\(table.sql)")
            return false
        }
    }

    private func insert(_ db: Database, _ model: inout FuzzModel, _ random: inout SeededGenerator) throws {
        let values = model.table.values(&random)
        let isNew = model.accepts(values)
        let way = Int.random(in: 0..<6, using: &random)
        let isWritten = try attempt(db, model.table) {
            switch way {
            case 0: try FuzzCodable(values: values).insert(db)
            case 1: _ = try FuzzRecord(values: values).insertAndFetch(db)
            case 2: try FuzzCodable(values: values).save(db)
            case 3 where isNew: try FuzzRecord(values: values).upsert(db)
            default: try FuzzRecord(values: values).insert(db)
            }
        }
        #expect(isWritten == isNew || way == 2, "\(model.table.sql)\n\(values)")
        if isWritten { model.set(values) }
    }

    private func change(_ db: Database, _ model: inout FuzzModel, _ random: inout SeededGenerator) throws {
        guard let old = model.rows.randomElement(using: &random) else { return }
        var values = model.table.values(&random)
        for index in model.table.key { values[index] = old[index] }
        let rest = model.rows.filter { !model.table.sameKey($0, old) }
        let isFree = FuzzModel(model.table, rows: rest).accepts(values)
        let way = Int.random(in: 0..<5, using: &random)
        let table = model.table
        let isWritten = try attempt(db, table) {
            switch way {
            case 0: try FuzzCodable(values: values).update(db)
            case 1: try FuzzRecord(values: values).save(db)
            case 2 where table.key.count < table.columns.count:
                let names = table.columns.indices.filter { !table.key.contains($0) }
                try FuzzRecord(values: values).update(db, columns: names.map { table.columns[$0].name })
            case 3 where isFree: try FuzzCodable(values: values).upsert(db)
            case 4: _ = try FuzzRecord(values: values).updateAndFetch(db)
            default: try FuzzRecord(values: values).update(db)
            }
        }
        #expect(isWritten == isFree, "\(table.sql)\n\(values)")
        if isWritten { model.set(values) }
    }

    private func delete(_ db: Database, _ model: inout FuzzModel) throws {
        while let row = model.rows.popLast() {
            #expect(try FuzzRecord(values: row).exists(db))
            #expect(try FuzzCodable(values: row).delete(db))
            #expect(try !FuzzRecord(values: row).exists(db))
            #expect(try FuzzRecord.fetchOne(db, key: model.table.keyDictionary(row)) == nil)
        }
        #expect(try FuzzRecord.fetchCount(db) == 0)
    }

    // MARK: Reading

    private func check(_ db: Database, _ model: FuzzModel) throws {
        try FuzzTable.$current.withValue(model.table) {
            let comment: Comment = "\(model.table.sql)"
            #expect(try FuzzRecord.fetchCount(db) == model.rows.count, comment)
            let all = try FuzzRecord.fetchAll(db)
            let cursor = try FuzzCodable.fetchCursor(db)
            for record in all {
                #expect(model.contains(record.values), "\(comment): \(record.values)")
                let decoded = try #require(try cursor.next())
                #expect(model.contains(decoded.values), "\(comment): \(decoded.values)")
            }
            #expect(try cursor.next() == nil)
            for row in model.rows {
                let key = model.table.keyDictionary(row)
                let found = try #require(try FuzzCodable.fetchOne(db, key: key), comment)
                #expect(model.table.isSame(found.values, row), comment)
                #expect(try FuzzRecord.filter(key: key).fetchCount(db) == 1, comment)
                for (index, column) in model.table.columns.enumerated() where !row[index].isNull {
                    let request = FuzzRecord.filter(Column(column.name) == row[index]).order(
                        Column(column.name).desc)
                    #expect(
                        try request.fetchAll(db).contains { model.table.isSame($0.values, row) },
                        "\(comment): \(column.name) = \(row[index])")
                }
            }
            let stream = FuzzStream()
            try db.dumpTables([model.table.name], format: .quote(), to: stream)
            #expect(!stream.text.isEmpty || model.rows.isEmpty, comment)
            #expect(try db.columns(in: model.table.name).map(\.name) == model.table.columns.map(\.name))
        }
    }
}

private final class FuzzStream: TextOutputStream {
    var text = ""
    func write(_ string: String) { text += string }
}
