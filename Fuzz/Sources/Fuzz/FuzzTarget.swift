import Foundation

/// Something that reads bytes which may come from anybody.
struct FuzzTarget: Sendable {
    /// The name on the command line.
    let name: String

    /// Reads an input. It ends the process when a promise of the reader is broken.
    let run: @Sendable ([UInt8]) throws -> Void

    /// Inputs to start from, made of the vectors in `Schemas` at a path.
    let seeds: @Sendable (_ schemas: String) throws -> [[UInt8]]

    /// The words of the format, for libFuzzer's dictionary.
    let words: [[UInt8]]

    static let all = [bundle, greeting, statement, keyring, archive, csv, text, pages]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Ends the process unless a promise is kept; libFuzzer keeps the input.
func require(
    _ condition: @autoclosure () throws -> Bool, _ promise: @autoclosure () -> String, line: UInt = #line
) rethrows {
    if try !condition() { fatalError("broken promise: \(promise())", line: line) }
}
