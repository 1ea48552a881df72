import CipherStore
import Foundation
import Testing

/// Values, dates, functions, aggregates and Unicode.
@Suite struct GuideValueTests {
    private enum Season: String, DatabaseValueConvertible { case spring, autumn }

    private func stored(_ value: some DatabaseValueConvertible) throws -> String? {
        let queue = try DatabaseQueue(configuration: Configuration())
        return try queue.read { db in
            try String.fetchOne(db, sql: "SELECT typeof(?1) || ' ' || quote(?1)", arguments: [value])
        }
    }

    @Test func valuesAreStoredInTheFormThatIsDocumented() throws {
        #expect(try stored(true) == "integer 1")
        #expect(try stored(UInt8(7)) == "integer 7")
        #expect(try stored(1.5) == "real 1.5")
        #expect(try stored(Data([0xAB])) == "blob X'AB'")
        #expect(try stored(URL(string: "https://example.com/a")!) == "text 'https://example.com/a'")
        #expect(
            try stored(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!)
                == "blob X'00112233445566778899AABBCCDDEEFF'")
        #expect(try stored(Decimal(string: "0.10")!) == "text '0.1'")
        #expect(try stored(NSNumber(value: 3.5)) == "real 3.5")
        #expect(try stored(Season.autumn) == "text 'autumn'")
        #expect(try stored(Date(timeIntervalSince1970: 86400.25)) == "text '1970-01-02 00:00:00.250'")
    }

    @Test func datesAreReadFromManyForms() throws {
        let store = try GardenStore()
        try store.queue.read { db throws in
            for text in [
                "'2024-02-29'", "'2024-02-29 00:00'", "'2024-02-29T00:00:00Z'",
                "'2024-02-29 02:00:00.000+02:00'",
                "1709164800",
            ] {
                let date = try Date.fetchOne(db, sql: "SELECT \(text)")
                #expect(date?.timeIntervalSince1970 == 1_709_164_800, "\(text)")
            }
        }
        #expect(Date(julianDay: 2_440_588.5)?.timeIntervalSince1970 == 86400)
    }

    @Test func dateComponentsKeepTheirFormat() throws {
        let store = try GardenStore()
        let sowing = DatabaseDateComponents(DateComponents(year: 2025, month: 3, day: 9), format: .YMD)
        try store.queue.read { db throws in
            let text = try String.fetchOne(db, sql: "SELECT ?", arguments: [sowing])
            #expect(text == "2025-03-09")
            let time = try DatabaseDateComponents.fetchOne(db, sql: "SELECT '06:30'")
            #expect(time?.format == .HM)
            #expect(time?.dateComponents.minute == 30)
        }
    }

    @Test func anUnknownCaseOfAnEnumIsFoundWithoutATrap() throws {
        let store = try GardenStore()
        let row = try #require(
            try store.queue.read { try Row.fetchOne($0, sql: "SELECT 'spring', 'winter', NULL") })
        #expect(row[0] as Season == .spring)
        #expect(row[2] as Season? == nil)
        let unknown: DatabaseValue = row[1]
        #expect(Season.fromDatabaseValue(unknown) == nil)
    }

    @Test func functionsRunInSQLAndInRequests() throws {
        let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map { String($0.prefix(2)) }
        }
        let sum = DatabaseFunction("anySum", pure: true) { values in
            values.compactMap(Int.fromDatabaseValue).reduce(0, +)
        }
        let strict = DatabaseFunction("strict", argumentCount: 0) { _ in
            throw DatabaseError(message: "too dry")
        }
        let store = try GardenStore { db in
            for function in [initials, sum, strict] { db.add(function: function) }
        }
        try store.queue.write { db throws in
            var plant = Plant(name: "Fern")
            try plant.insert(db)
            #expect(try Int.fetchOne(db, sql: "SELECT anySum(1, 2, 3)") == 6)
            #expect(try String.fetchAll(db, Plant.select(initials(Plant.Columns.name))) == ["Fe"])
            #expect(try String.fetchAll(db, Plant.select(initials.apply(Plant.Columns.name))) == ["Fe"])
            let error = #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT strict()") }
            #expect(error?.message == "too dry")
        }
    }

    @Test func aggregatesStepOverTheRows() throws {
        struct Span: DatabaseAggregate {
            var values: [Int] = []

            mutating func step(_ dbValues: [DatabaseValue]) {
                if let value = Int.fromDatabaseValue(dbValues[0]) { values.append(value) }
            }

            func finalize() -> (any DatabaseValueConvertible)? {
                guard let low = values.min(), let high = values.max() else { return nil }
                return high - low
            }
        }
        let span = DatabaseFunction("span", argumentCount: 1, pure: true, aggregate: Span.self)
        let store = try GardenStore.planted()
        try store.queue.write { db throws in
            db.add(function: span)
            #expect(try Int.fetchOne(db, sql: "SELECT span(height) FROM plant") == 95)
            #expect(try Int.fetchOne(db, Plant.select(span(Plant.Columns.height))) == 95)
            #expect(try Int.fetchOne(db, sql: "SELECT span(height) FROM plant WHERE 0") == nil)
        }
    }

    @Test func caseAndOrderKnowUnicode() throws {
        let store = try GardenStore()
        try store.queue.write { db throws in
            for name in ["Éclair", "zinnia", "aster"] {
                var plant = Plant(name: name)
                try plant.insert(db)
            }
            #expect(
                try String.fetchOne(db, Plant.filter(key: 1).select(Plant.Columns.name.uppercased))
                    == "ÉCLAIR")
            let upper = DatabaseFunction.uppercase.name
            #expect(try String.fetchOne(db, sql: "SELECT \(upper)('é')") == "É")
            let sorted = Plant.select(Plant.Columns.name)
                .order(Plant.Columns.name.collating(.localizedCaseInsensitiveCompare))
            #expect(try String.fetchAll(db, sorted) == ["aster", "Éclair", "zinnia"])
            #expect(
                try Plant.filter(Plant.Columns.name.collating(.caseInsensitiveCompare) == "éCLAIR")
                    .fetchCount(db) == 1)
            let byLength = DatabaseCollation("byLength") { left, right in
                left.count < right.count
                    ? .orderedAscending : left.count > right.count ? .orderedDescending : .orderedSame
            }
            db.add(collation: byLength)
            #expect(
                try String.fetchOne(
                    db, Plant.select(Plant.Columns.name).order(Plant.Columns.name.collating(byLength)))
                    == "aster")
        }
    }
}
