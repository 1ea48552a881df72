import Foundation

/// The inputs from which a target starts, and its dictionary.
enum SeedCorpus {
    /// Writes the seeds of a target into a folder, and the dictionary beside it.
    static func write(_ target: FuzzTarget, schemas: String, to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (index, seed) in try target.seeds(schemas).enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
        }
        let lines = target.words.map { word in
            "\"" + word.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
        }
        try lines.joined(separator: "\n").write(
            toFile: folder + ".dict", atomically: true, encoding: .utf8)
    }

    /// All strings of even length and hexadecimal digits under a key of a JSON file, as bytes.
    static func hexadecimal(_ path: String, key: String) throws -> [[UInt8]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        var found: [[UInt8]] = []
        func visit(_ value: Any, _ isWanted: Bool) {
            switch value {
            case let object as [String: Any]:
                for (name, value) in object { visit(value, name == key) }
            case let array as [Any]:
                // A list of frames is one input.
                let texts = array.compactMap { $0 as? String }
                if isWanted, !texts.isEmpty {
                    found.append(texts.flatMap(bytes))
                } else {
                    for value in array { visit(value, isWanted) }
                }
            case let text as String where isWanted: found.append(bytes(text))
            default: break
            }
        }
        visit(try JSONSerialization.jsonObject(with: data), false)
        return found
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Files in memory, whose content is replaced for each input.
final class MemoryFile {
    let path: String
    private let descriptor: CInt

    init(_ name: String) {
        path = "/dev/shm/cipherstore-fuzz-\(name)-\(getpid())"
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        require(descriptor >= 0, "\(path) can be made")
    }

    func replace(with bytes: [UInt8]) {
        require(ftruncate(descriptor, 0) == 0, "\(path) can be emptied")
        require(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, "\(path) can be written")
    }
}
