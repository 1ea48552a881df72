// The C library's `environ` is a mutable global, which strict concurrency cannot see to be safe.
// It is read on the thread that parses the command line, before others change variables.
#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#else
    @preconcurrency import Darwin
#endif

/// The environment of the process, handled so that passphrases in it stay out of `String`s.
package enum PassphraseEnvironment {
    /// The variables that hold a passphrase itself.
    private static let secretNames = Set(PassphraseKind.allCases.map(\.valueVariable))

    /// What stands in `current()` for the value of a variable that holds a passphrase.
    static let maskedValue = "<secret>"

    /// All variables, for settings and for `PassphraseOptions.source(environment:)`. A passphrase
    /// is masked; that it is there, and whether it is empty, can be seen.
    static func current() -> [String: String] {
        if let surroundings = CommandSurroundings.current { return surroundings.environment }
        var result: [String: String] = [:]
        forEachEntry { entry, nameLength in
            let name = string(entry, count: nameLength)
            let value = entry + nameLength + 1
            let isMasked = secretNames.contains(name) && value.pointee != 0
            result[name] = isMasked ? maskedValue : String(cString: value)
        }
        return result
    }

    /// Takes a passphrase out of the environment: copies it, overwrites it in place, so that
    /// `/proc/<pid>/environ` no longer shows it, and removes the variable.
    static func take(_ name: String) throws -> SecretBuffer {
        guard let value = getenv(name) else {
            throw Failure("\(name) is not set")
        }
        let bytes = UnsafeMutableRawPointer(value)
        let count = strlen(value)
        var buffer = try SecretBuffer()
        buffer.append(UnsafeRawBufferPointer(start: bytes, count: count))
        SecretBuffer.erase(bytes, count)
        unsetenv(name)
        return buffer
    }

    /// The entries that a child process gets: all but the passphrases. They point into the
    /// environment itself, and the array ends in nil.
    static func entriesForChildren() -> [UnsafeMutablePointer<CChar>?] {
        var entries: [UnsafeMutablePointer<CChar>?] = []
        forEachEntry { entry, nameLength in
            if !secretNames.contains(string(entry, count: nameLength)) { entries.append(entry) }
        }
        return entries + [nil]
    }

    /// The same for a program that Foundation starts.
    package static func forChildren() -> [String: String] {
        var result: [String: String] = [:]
        forEachEntry { entry, nameLength in
            let name = string(entry, count: nameLength)
            if !secretNames.contains(name) { result[name] = String(cString: entry + nameLength + 1) }
        }
        return result
    }

    private static func forEachEntry(_ body: (UnsafeMutablePointer<CChar>, Int) -> Void) {
        // Imported as optional on some systems only.
        let start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        guard var entries = start else { return }
        while let entry = entries.pointee {
            if let equals = strchr(entry, Int32(UInt8(ascii: "="))) {
                body(entry, equals - entry)
            }
            entries += 1
        }
    }

    private static func string(_ base: UnsafeMutablePointer<CChar>, count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self)
    }
}
