import Foundation
import Testing
import TypedQueriesMacros

@Table struct Digit: Equatable {
    let id: Int
    var isOdd: Bool?
    var isSmall: Bool?
}

@Table struct Countdown: Equatable {
    let value: Int
}

/// Statements that are put together, and expressions that stand beside others.
@Suite struct CompoundTests {
    private func withDigits(_ body: (Database) throws -> Void) throws {
        let queue = try encryptedDatabase(
            "CREATE TABLE digits (id INTEGER PRIMARY KEY, isOdd INTEGER, isSmall INTEGER)")
        try queue.write { db throws in
            try Digit.insert {
                Digit(id: 1, isOdd: true, isSmall: true)
                Digit(id: 2, isOdd: false, isSmall: true)
                Digit(id: 3, isOdd: true)
                Digit(id: 4, isOdd: false, isSmall: false)
            }.execute(db)
            try body(db)
        }
    }

    private func ids(_ range: ClosedRange<Int>) -> Select<Int, Digit, NoJoins> {
        Digit.where { $0.id.between(range.lowerBound, and: range.upperBound) }.select(\.id)
    }

    @Test func aStatementWithoutRowsHasNone() throws {
        try withDigits { db throws in
            let (none, some) = (Digit.none.select(\.id), ids(1...2))
            #expect(try some.intersect(none).fetchAll(db) == [])
            #expect(try none.intersect(some).fetchAll(db) == [])
            #expect(try none.except(some).fetchAll(db) == [])
            #expect(try some.except(none).fetchAll(db) == [1, 2])
            #expect(try some.union(none).fetchAll(db) == [1, 2])
            #expect(try none.union(some).fetchAll(db) == [1, 2])
            #expect(try some.intersect(none).union(ids(3...3)).fetchAll(db) == [3])
        }
    }

    @Test func anInnerCompoundIsPutTogetherFirst() throws {
        try withDigits { db throws in
            #expect(
                try ids(1...2).union(ids(2...3).intersect(ids(3...4))).fetchAll(db).sorted() == [1, 2, 3])
            #expect(try ids(1...2).union(ids(2...3)).intersect(ids(3...4)).fetchAll(db) == [3])
            #expect(try ids(1...4).except(ids(1...3).except(ids(1...1))).fetchAll(db).sorted() == [1, 4])
            #expect(try ids(1...1).union(all: true, ids(1...2).union(ids(1...2))).fetchAll(db).count == 3)
            let flat = ids(1...1).union(ids(2...2).union(ids(3...3)))
            #expect(!sql(flat).contains("SELECT *"))
        }
    }

    @Test func aLimitIsThatOfItsStatement() throws {
        try withDigits { db throws in
            let last = Digit.order { $0.id.desc() }.limit(1).select(\.id)
            #expect(try ids(1...2).union(all: true, last).fetchAll(db).sorted() == [1, 2, 4])
            #expect(try last.union(all: true, ids(1...2)).fetchAll(db).sorted() == [1, 2, 4])
        }
    }

    /// A common table that refers to itself can't do so in a subquery.
    @Test func aLimitIsThatOfATableThatRefersToItself() throws {
        try withDigits { db throws in
            let query = With {
                Countdown(value: 9).union(
                    all: true, Countdown.select { Countdown.Columns(value: $0.value - 1) }.limit(4))
            } query: {
                Countdown.select(\.value)
            }
            #expect(try query.fetchAll(db) == [9, 8, 7, 6])
        }
    }

    @Test func nullsStandWhereTheyShouldWhateverIsOrdered() throws {
        try withDigits { db throws in
            func order(_ terms: (Digit.TableColumns) -> OrderingTerm) throws -> [Int] {
                try Digit.where { $0.id.neq(2) }.order { terms($0) }.select(\.id).fetchAll(db)
            }
            // Small: 1 yes, 3 NULL, 4 no.
            #expect(try order { (!$0.isSmall).asc(nulls: .last) } == [1, 4, 3])
            #expect(try order { (!$0.isSmall).asc(nulls: .first) } == [3, 1, 4])
            #expect(try order { (!$0.isSmall).desc(nulls: .last) } == [4, 1, 3])
            #expect(try order { ($0.isSmall && $0.id < 100).asc(nulls: .last) } == [4, 1, 3])
            #expect(try order { ($0.isSmall || $0.id < 0).desc(nulls: .first) } == [3, 1, 4])
        }
    }

    @Test func conditionsAreTruthValuesInJSON() throws {
        try withDigits { db throws in
            let values: [Bool?] = [true, false, nil]
            try Digit.delete().execute(db)
            for (index, pair) in values.flatMap({ odd in values.map { (odd, $0) } }).enumerated() {
                try Digit.insert { Digit(id: index, isOdd: pair.0, isSmall: pair.1) }.execute(db)
            }
            let both = try Digit.select { ($0.isOdd && $0.isSmall).jsonGroupArray() }.fetchOne(db)
            #expect(both == [true, false, nil, false, false, false, nil, false, nil])
            let one = try Digit.select { ($0.isOdd || $0.isSmall).jsonGroupArray() }.fetchOne(db)
            #expect(one == [true, true, true, true, false, nil, true, nil, nil])
        }
    }
}

@Table struct Visit: Equatable {
    let id: Int
    @Column(as: [UUID].JSONRepresentation.self) var guests: [UUID] = []
    @Column(as: [Guest].JSONRepresentation.self) var rooms: [Guest] = []
    var at: Date?
}

@Selection struct Guest: Codable, Equatable {
    var person = UUID()
    var room = 0
}

/// Values of JSON and of time that have more than one form.
@Suite struct ValueFormTests {
    private let queue: DatabaseQueue
    private let ann = UUID()

    init() throws {
        queue = try encryptedDatabase(
            "CREATE TABLE visits (id INTEGER PRIMARY KEY, guests TEXT NOT NULL, rooms TEXT NOT NULL, at TEXT)"
        )
        let ann = ann
        try queue.write { db in
            try Visit.insert {
                Visit(id: 1, guests: [UUID(), ann], rooms: [Guest(person: ann, room: 7)])
                Visit(id: 2, guests: [UUID()], rooms: [Guest(person: UUID(), room: 7)])
            }.execute(db)
        }
    }

    /// Swift writes them in upper case into JSON.
    @Test func identifiersAreFoundInJSON() throws {
        try queue.write { db throws in
            #expect(try Visit.where { $0.guests.jsonEach().contains(ann) }.select(\.id).fetchAll(db) == [1])
            let equal = Visit.where { $0.guests.jsonEach().where { $0.value.eq(ann) }.exists() }
            #expect(try equal.select(\.id).fetchAll(db) == [1])
            let rooms = Visit.where { $0.rooms.jsonEach().where { $0.person.eq(ann) }.exists() }
            #expect(try rooms.select(\.id).fetchAll(db) == [1])
            try Visit.find(2).update { $0.guests = $0.guests.jsonAppend(ann) }.execute(db)
            #expect(
                try Visit.where { $0.guests.jsonEach().contains(ann) }.select(\.id).fetchAll(db) == [1, 2])
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, 1e12, -1e12])
    func aDateThatHasNoTextIsRefused(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        try queue.write { db throws in
            let error = #expect(throws: QueryBindingError.self) {
                try Visit.insert { Visit(id: 3, at: date) }.execute(db)
            }
            #expect(error?.description.contains("years 0 to 9999") == true)
            #expect(throws: (any Error).self) { try Visit.where { $0.at.lt(date) }.fetchAll(db) }
            #expect(try Visit.all.fetchCount(db) == 2)
            #expect(!sql(Visit.where { $0.at.lt(date) }).isEmpty)
        }
    }
}
