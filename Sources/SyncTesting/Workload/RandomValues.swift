import CipherStore
import Foundation

/// Values of every type, with the edges that have broken databases before.
enum RandomValues {
    /// Any value.
    static func any(_ random: inout SimulationRandom) -> DatabaseValue {
        switch random.number(below: 12) {
        case 0: .null
        case 1...3: integer(&random)
        case 4, 5: real(&random)
        case 6...9: text(&random)
        default: blob(&random)
        }
    }

    static func integer(_ random: inout SimulationRandom) -> DatabaseValue {
        let edges: [Int64] = [0, 1, -1, .max, .min, 1 << 53, 255, -129]
        return (random.element(of: edges) ?? 0).databaseValue
    }

    static func real(_ random: inout SimulationRandom) -> DatabaseValue {
        let edges: [Double] = [
            0.5, 0, 1, 2, 1e300, -.infinity, .infinity, .nan, .leastNonzeroMagnitude, 9_007_199_254_740_992,
            -1.25,
        ]
        return (random.element(of: edges) ?? 0).databaseValue
    }

    static func text(_ random: inout SimulationRandom) -> DatabaseValue {
        let edges = [
            "", "abc", "ABC", "Abc", "a\u{0}b", "a", "é", "e\u{301}", "1", "1.0", "NULL", "'; --", "😀",
            " abc",
        ]
        if random.oneIn(25) {
            return String(repeating: "long ", count: 1000 + random.number(below: 1500)).databaseValue
        }
        return (random.element(of: edges) ?? "").databaseValue
    }

    static func blob(_ random: inout SimulationRandom) -> DatabaseValue {
        if random.oneIn(25) {
            return Data(repeating: UInt8(random.number(below: 256)), count: 4000 + random.number(below: 9000))
                .databaseValue
        }
        let edges: [[UInt8]] = [[], [0], [0, 0], [0xFF], Array("abc".utf8)]
        return Data(random.element(of: edges) ?? []).databaseValue
    }

    /// A few short texts that differ by case, for columns that are to collide.
    static func name(_ random: inout SimulationRandom) -> DatabaseValue {
        let names = ["a", "A", "b", "B", "c", "d"]
        return random.oneIn(8) ? .null : (random.element(of: names) ?? "").databaseValue
    }

    static func smallNumber(_ random: inout SimulationRandom) -> DatabaseValue {
        Int64(random.number(below: 6)).databaseValue
    }
}
