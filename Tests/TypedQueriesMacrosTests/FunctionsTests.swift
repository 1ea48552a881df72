import Foundation
import Testing
import TypedQueriesMacros

@Suite struct FunctionsTests {
    private func sales() throws -> DatabaseQueue {
        try encryptedDatabase(
            """
            CREATE TABLE sales (id INTEGER PRIMARY KEY, name TEXT, amount INTEGER, price REAL, date INTEGER);
            INSERT INTO sales VALUES (1, 'Ann Lee', 1, 1.5, 60), (2, 'BOB', 2, 2.5, 120), (3, 'BOB', 3, 9, 180);
            """
        ) { db in
            db.add(function: $folded)
            db.add(function: $seconds)
            db.add(function: $firstWord)
            db.add(function: $median)
            db.add(function: $joined)
            db.add(function: $counted)
            db.add(function: $better)
            db.add(function: $best)
            db.add(function: $summed)
            db.add(function: $weighed)
            db.add(function: $failing)
            db.add(function: Switches.$isOn)
            db.add(function: Switches.$twice)
        }
    }

    @Test func aFunctionIsCalledInAQuery() throws {
        try sales().read { db throws in
            #expect(try Sale.where { $folded($0.name).eq("ann lee") }.fetchAll(db).map(\.id) == [1])
            #expect(try Sale.select { $firstWord(#sql("\($0.name)")) }.fetchAll(db) == ["Ann", "BOB", "BOB"])
            #expect(try Sale.select { $seconds(of: $0.date) }.fetchAll(db) == [60, 120, 180])
            #expect(try Sale.select { Switches.$twice($0.amount) }.fetchAll(db) == [2, 4, 6])
            #expect(try Sale.where { _ in Switches.$isOn }.fetchCount(db) == 3)
        }
        #expect(
            sql(Sale.where { $folded($0.name).eq("x") }.select(\.id)).squeezed
                == #"SELECT "sales"."id" FROM "sales" WHERE ("folded"("sales"."name")) = ('x')"#)
    }

    @Test func anAggregateSeesTheRowsOfAGroup() throws {
        try sales().read { db throws in
            let groups = try Sale.group(by: \.name).order(by: \.name)
                .select { ($0.name, $median($0.price), $joined(name: $0.name, amount: $0.amount)) }.fetchAll(
                    db)
            #expect(groups.map(\.0) == ["Ann Lee", "BOB"])
            #expect(groups.map(\.1) == [1.5, 9])
            #expect(groups.map(\.2) == ["Ann Lee=1", "BOB=2,BOB=3"])
            #expect(try Sale.select { $median($0.price, filter: $0.amount.lt(3)) }.fetchOne(db) == 2.5)
            #expect(try Sale.select { $median($0.price, filter: $0.amount.gt(9)) }.fetchAll(db) == [nil])
        }
    }

    @Test func anAggregateSeesDifferentRowsOfACondition() throws {
        try sales().read { db throws in
            let names = try Sale.select { $counted($0.name, filter: $0.amount.gt(1)) }.fetchOne(db)
            #expect(names == 2)
            let different = Sale.select { $counted($0.name, distinct: true, filter: $0.amount.gt(1)) }
            #expect(try different.fetchOne(db) == 1)
            // SQLite takes the number that a text begins with for its truth.
            let all = try Sale.select { $counted($0.name, filter: #sql("'1'", as: Bool.self)) }.fetchOne(db)
            #expect(all == 3)
        }
    }

    @Test func anAggregateLeavesFunctionsOfMoreArgumentsAlone() throws {
        try sales().read { db throws in
            #expect(try Sale.select { $better($0.amount, 2) }.fetchAll(db) == [2, 2, 3])
            #expect(try Sale.select { $best($0.amount) }.fetchOne(db) == 3)
            #expect(try Sale.select { $best($0.amount, filter: $0.amount.lt(3)) }.fetchOne(db) == 2)
        }
    }

    @Test func aggregatesOfOneNameHaveTheirOwnConditions() throws {
        try sales().write { db throws in
            let sums = Sale.select { $summed($0.amount, filter: $0.amount.gt(1)) }
            let weighedSums = Sale.select {
                $weighed(amount: $0.amount, weight: $0.id, filter: $0.amount.gt(1))
            }
            let sum = try sums.fetchOne(db)
            #expect(sum == 5)
            let weighedSum = try weighedSums.fetchOne(db)
            #expect(weighedSum == 13)
            db.remove(function: $weighed)
            let left = try sums.fetchOne(db)
            #expect(left == 5)
        }
    }

    @Test func anErrorOfAFunctionIsThatOfTheStatement() throws {
        try sales().read { db throws in
            let error = #expect(throws: DatabaseError.self) {
                _ = try Sale.select { $failing($0.name) }.fetchAll(db)
            }
            #expect(error?.message?.contains("it failed") == true)
        }
    }

    @Test func aFunctionOfAnotherArgumentTypeIsAnError() throws {
        try sales().read { db throws in
            let number = #sql("1", as: String.self)
            #expect(throws: DatabaseError.self) {
                try #sql("SELECT \($folded(number))", as: String.self).fetchAll(db)
            }
        }
    }

    @Test func aRemovedFunctionIsUnknown() throws {
        try sales().write { db throws in
            db.remove(function: $folded)
            db.remove(function: $median)
            #expect(throws: DatabaseError.self) { try Sale.select { $folded($0.name) }.fetchAll(db) }
            #expect(throws: DatabaseError.self) { try Sale.select { $median($0.price) }.fetchAll(db) }
        }
    }
}
