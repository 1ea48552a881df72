/// One change to a source file.
struct Mutation: Codable {
    /// What switches it on, see ``switches``. The first is 1.
    var number: Int
    /// The file's path from the root of the repository.
    let file: String
    /// The line of the unchanged file, from 1.
    let line: Int
    /// The line of the changed file on which it begins, from 1. A compiler's message leads back to the mutation by it.
    var writtenLine = 0
    /// What was there, on one line.
    let original: String
    /// What is there instead.
    let changed: String

    /// What says of a mutation, whatever else changes in its file, that it is this one.
    var identity: String { "\(file): \(original) -> \(changed)" }
}

/// The source of the function that tells which mutation is switched on, for each module that has mutations. Who sets
/// CIPHERSTORE_MUTANTS_REACHED to a file's path gets there what a run came by, a byte for each number.
func switches(count: Int) -> String {
    """
    import Foundation

    private let activeMutant = ProcessInfo.processInfo.environment["CIPHERSTORE_MUTANT"].flatMap { Int($0) } ?? 0
    nonisolated(unsafe) private let reachedMutants: UnsafeMutablePointer<UInt8> = {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: \(count + 1))
        bytes.initialize(repeating: 0, count: \(count + 1))
        if ProcessInfo.processInfo.environment["CIPHERSTORE_MUTANTS_REACHED"] != nil {
            atexit {
                guard let path = ProcessInfo.processInfo.environment["CIPHERSTORE_MUTANTS_REACHED"] else { return }
                try? Data(bytes: reachedMutants, count: \(count + 1)).write(to: URL(fileURLWithPath: path))
            }
        }
        return bytes
    }()

    func isMutant(_ number: Int) -> Bool {
        reachedMutants[number] = 1
        return number == activeMutant
    }

    """
}
