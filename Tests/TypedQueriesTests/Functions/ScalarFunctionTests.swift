import Foundation
import Testing

@testable import TypedQueries

@Suite struct ScalarFunctionTests {
    let item = Item.columns

    @Test func textsAreMeasuredAndChanged() throws {
        expectSQL(item.title.length(), #"length("items"."title")"#)
        expectSQL(item.title.octetLength(), #"octet_length("items"."title")"#)
        expectSQL(item.note.length(), #"length("items"."note")"#)
        expectSQL(item.title.trim("M"), #"trim("items"."title", 'M')"#)
        expectSQL(item.title.substr(2, 2), #"substr("items"."title", 2, 2)"#)
        expectSQL(item.title.replace("i", "o"), #"replace("items"."title", 'i', 'o')"#)
        expectSQL(item.title.instr("l"), #"instr("items"."title", 'l')"#)
        try withTables { db throws in
            #expect(try Item.values(db) { $0.title.length() } == [4, 5, 5, 4])
            #expect(try Item.values(db) { $0.title.octetLength() } == [4, 5, 6, 4])
            #expect(try Item.values(db) { $0.note.length() } == [9, nil, 3, 0])
            #expect(try Item.values(db) { $0.note.octetLength() } == [9, nil, 3, 0])
            #expect(try Item.values(db) { $0.title.lower() } == ["milk", "bread", "Äpfel", "milk"])
            #expect(try Item.values(db) { $0.title.upper() } == ["MILK", "BREAD", "ÄPFEL", "MILK"])
            #expect(try Item.values(db) { $0.note.trim() } == ["of oats", nil, "red", ""])
            #expect(try Item.values(db) { $0.note.ltrim() } == ["of oats ", nil, "red", ""])
            #expect(try Item.values(db) { $0.note.rtrim() } == [" of oats", nil, "red", ""])
            #expect(try Item.values(db) { $0.title.trim("Mk") } == ["il", "Bread", "Äpfel", "il"])
            #expect(try Item.values(db) { $0.title.ltrim("Mk") } == ["ilk", "Bread", "Äpfel", "ilk"])
            #expect(try Item.values(db) { $0.title.rtrim("Mk") } == ["Mil", "Bread", "Äpfel", "Mil"])
            #expect(try Item.values(db) { $0.title.substr(2) } == ["ilk", "read", "pfel", "ilk"])
            #expect(try Item.values(db) { $0.title.substr(-2, 1) } == ["l", "a", "e", "l"])
            #expect(
                try Item.values(db) { $0.title.replace("i", "oo") } == ["Moolk", "Bread", "Äpfel", "Moolk"])
            #expect(try Item.values(db) { $0.title.instr("e") } == [0, 3, 4, 0])
            #expect(try Item.values(db) { $0.note.instr("e") } == [0, nil, 2, 0])
            #expect(try Item.values(db) { $0.title.unicode() } == [77, 66, 196, 77])
        }
    }

    @Test func bytesAreWrittenAsDigits() throws {
        expectSQL(item.title.hex(), #"hex("items"."title")"#)
        try withTables { db throws in
            #expect(try Item.values(db) { $0.title.hex() }.first == "4D696C6B")
            #expect(try Item.values(db) { $0.title.hex().unhex() }.first == [0x4D, 0x69, 0x6C, 0x6B])
            #expect(try Values("4D-69".unhex("-")).fetchOne(db) == .some([0x4D, 0x69]))
            #expect(try Values("4D-69".unhex()).fetchOne(db) == .some(nil))
            #expect(try Values("4".unhex()).fetchOne(db) == .some(nil))
            #expect(try Item.values(db) { $0.note.quote() } == ["' of oats '", "NULL", "'red'", "''"])
            #expect(try Values(char(72, 228)).fetchOne(db) == "Hä")
            #expect(try Values(72.char()).fetchOne(db) == "H")
            #expect(try Values(3.zeroblob()).fetchOne(db) == [0, 0, 0])
            #expect(try Values(16.randomblob().length()).fetchOne(db) == 16)
            #expect(try Values(Int.random()).fetchOne(db) != nil)
        }
    }

    @Test func numbersAreRounded() throws {
        expectSQL(item.price.round(1), #"round("items"."price", 1)"#)
        expectSQL(item.price.sign(), #"sign("items"."price")"#)
        try withTables { db throws in
            #expect(try Item.values(db) { $0.price.abs() } == [2.5, 1.25, 4, 0])
            #expect(try Item.values(db) { $0.price.round() } == [3, -1, 4, 0])
            #expect(try Item.values(db) { $0.price.round(1) } == [2.5, -1.3, 4, 0])
            #expect(try Item.values(db) { $0.price.sign() } == [1, -1, 1, 0])
            #expect(try Item.values(db) { $0.amount.sign() } == [1, nil, 1, 1])
            #expect(try Item.values(db) { printf("%s:%.1f", $0.title, $0.price) }.first == "Milk:2.5")
        }
    }

    @Test func valuesStandInForNULL() throws {
        expectSQL(item.note.ifnull("-"), #"ifnull("items"."note", '-')"#)
        expectSQL(item.note.coalesce(default: "-"), #"coalesce("items"."note", '-')"#)
        try withTables { db throws in
            #expect(try Item.values(db) { $0.note.ifnull("-") } == [" of oats ", "-", "red", ""])
            #expect(try Item.values(db) { $0.amount.ifnull($0.amount) } == [3, nil, 3, 10])
            #expect(
                try Item.values(db) { $0.note.coalesce($0.note, default: "-") }
                    == [" of oats ", "-", "red", ""])
            #expect(try Item.values(db) { $0.note.coalesce($0.note) } == [" of oats ", nil, "red", ""])
            #expect(try Item.values(db) { $0.title.nullif("Milk") } == [nil, "Bread", "Äpfel", nil])
            #expect(try Item.values(db) { $0.amount.nullif(3) } == [nil, nil, nil, 10])
            #expect(try Item.values(db) { $0.amount.typeof() } == ["integer", "null", "integer", "integer"])
        }
    }

    @Test func valuesAreCast() throws {
        expectSQL(item.price.cast(as: Int.self), #"CAST("items"."price" AS INTEGER)"#)
        expectSQL(item.price.cast(as: String?.self), #"CAST("items"."price" AS TEXT)"#)
        try withTables { db throws in
            #expect(try Item.values(db) { $0.price.cast(as: Int.self) } == [2, -1, 4, 0])
            #expect(try Item.values(db) { $0.amount.cast(as: String?.self) } == ["3", nil, "3", "10"])
        }
    }

    @Test func conditionsChooseValues() throws {
        expectSQL(iif(item.isDone, "a", "b"), #"iif("items"."isDone", 'a', 'b')"#)
        expectSQL(
            Case().when(item.isDone, then: "done").else("open"),
            #"CASE WHEN "items"."isDone" THEN 'done' ELSE 'open' END"#)
        expectSQL(
            Case(item.amount).when(3, then: "few").when(10, then: "many"),
            #"CASE "items"."amount" WHEN 3 THEN 'few' WHEN 10 THEN 'many' END"#)
        expectSQL(item.isDone.likelihood(0.25), #"likelihood("items"."isDone", 0.250000)"#)
        try withTables { db throws in
            #expect(try Item.values(db) { iif($0.isDone, "a", "b") } == ["b", "a", "a", "b"])
            #expect(
                try Item.values(db) { Case().when($0.isDone, then: "done").else("open") }
                    == ["open", "done", "done", "open"])
            #expect(
                try Item.values(db) { Case($0.amount).when(3, then: "few").when(10, then: "many") }
                    == ["few", nil, "few", "many"])
            #expect(try Item.where { $0.isDone.likely() }.fetchCount(db) == 2)
            #expect(try Item.where { $0.isDone.unlikely() }.fetchCount(db) == 2)
            for probability in [0, 0.000_001, 0.5, 1, .nan, 7] {
                #expect(try Item.where { $0.isDone.likelihood(probability) }.fetchCount(db) == 2)
            }
        }
    }
}
