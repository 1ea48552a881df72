import Foundation
import TypedQueriesMacros

@DatabaseFunction(isDeterministic: true)
func folded(_ text: String) -> String { text.lowercased() }

@DatabaseFunction("to_seconds", as: ((Date.UnixTimeRepresentation) -> Int).self)
func seconds(of date: Date) throws -> Int { Int(date.timeIntervalSince1970) }

@DatabaseFunction
func firstWord(_ text: String?, orElse other: String = "-") -> String? {
    text?.split(separator: " ").first.map(String.init) ?? other
}

@DatabaseFunction
func median(_ numbers: some Sequence<Double>) -> Double? {
    let sorted = numbers.sorted()
    return sorted.isEmpty ? nil : sorted[sorted.count / 2]
}

@DatabaseFunction
func joined(_ rows: some Sequence<(name: String, amount: Int)>) -> String {
    rows.map { "\($0.name)=\($0.amount)" }.sorted().joined(separator: ",")
}

@DatabaseFunction
func counted(_ texts: some Sequence<String>) -> Int { Array(texts).count }

@DatabaseFunction("best")
func better(_ left: Int, _ right: Int) -> Int { max(left, right) }

@DatabaseFunction
func best(_ numbers: some Sequence<Int>) -> Int? { numbers.max() }

@DatabaseFunction("weighed")
func summed(_ numbers: some Sequence<Int>) -> Int { numbers.reduce(0, +) }

@DatabaseFunction
func weighed(_ rows: some Sequence<(amount: Int, weight: Int)>) -> Int {
    rows.reduce(0) { $0 + $1.amount * $1.weight }
}

@DatabaseFunction
func failing(_ text: String) throws -> Int { throw Failure(text: text) }

struct Failure: Error, CustomStringConvertible {
    let text: String
    var description: String { "it failed" }
}

enum Switches {
    @DatabaseFunction("is_on") static var isOn: Bool { true }

    @DatabaseFunction static func twice(_ number: Int) -> Int { 2 * number }
}

@Table struct Sale {
    let id: Int
    var name: String
    var amount: Int
    var price: Double
    @Column(as: Date.UnixTimeRepresentation.self) var date: Date
}
