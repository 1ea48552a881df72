import Foundation

/// The prepared statements of a connection, by the bytes of the fragments they were made of.
///
/// It stands before the connection's cache, which has them by their text: both layers share one statement.
final class StatementIndex: ConnectionAttachment {
    /// A statement, and how it gets its values.
    final class Entry {
        let key: [UInt8]
        let hash: UInt64
        let statement: CipherStore.Statement
        /// Which values its parameters have; nil for all, in order.
        let values: [Int]?

        init(key: [UInt8], hash: UInt64, statement: CipherStore.Statement, values: [Int]?) {
            self.key = key
            self.hash = hash
            self.statement = statement
            self.values = values
        }
    }

    private static let capacity = 1024
    @exclusivity(unchecked) private var entries: [Entry?] = Array(repeating: nil, count: capacity)
    @exclusivity(unchecked) private var count = 0

    /// The entry that was found last: in a loop it is mostly the next one too.
    @exclusivity(unchecked) private var last: Entry?

    /// A piece that is written again and again, so that it need not be allocated.
    @exclusivity(unchecked) private var scratch = QueryFragment()

    func connectionForgetsStatements() {
        last = nil
        if count > 0 { forgetEntries() }
    }

    private func forgetEntries() {
        entries = Array(repeating: nil, count: Self.capacity)
        count = 0
    }

    /// Takes the piece that is kept, or an empty one.
    func takeScratch() -> QueryFragment {
        let fragment = scratch
        scratch = QueryFragment()
        return fragment
    }

    /// Keeps a piece without what it holds, and leaves an empty one.
    func keepScratch(_ fragment: inout QueryFragment) {
        // They mostly are those of a part of the statement, shared.
        fragment.bindings = []
        // A large one would be kept for nothing.
        guard fragment.code.count < 65_536 else { return }
        // It is swapped, because a copy of it would have to be allocated anew.
        swap(&scratch, &fragment)
        scratch.code.removeAll(keepingCapacity: true)
    }

    /// A hash of bytes, eight at a time. It need not withstand anybody: keys are compared.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while index &+ 8 <= bytes.count {
            hash =
                (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            index &+= 8
        }
        if index < bytes.count {
            var rest: UInt64 = 0
            withUnsafeMutableBytes(of: &rest) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[index...]))
            }
            hash = (hash ^ rest) &* 0xFF51_AFD7_ED55_8CCD
        }
        return hash ^ hash >> 29
    }

    /// The entry of a key, or nil.
    func entry(_ key: [UInt8]) -> Entry? {
        key.withUnsafeBytes { key in
            if let last, Self.isEqual(last.key, key) { return last }
            let hash = Self.hash(key)
            var slot = Int(truncatingIfNeeded: hash) & (Self.capacity - 1)
            while let entry = entries[slot] {
                if entry.hash == hash, Self.isEqual(entry.key, key) {
                    last = entry
                    return entry
                }
                slot = (slot &+ 1) & (Self.capacity - 1)
            }
            return nil
        }
    }

    @inline(__always)
    private static func isEqual(_ key: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        guard key.count == other.count, let start = other.baseAddress else { return false }
        return key.withUnsafeBytes { memcmp($0.baseAddress ?? start, start, other.count) == 0 }
    }

    /// Keeps an entry that is not there.
    func insert(_ entry: Entry) {
        last = entry
        if count >= Self.capacity / 2 { forgetEntries() }
        var slot = Int(truncatingIfNeeded: entry.hash) & (Self.capacity - 1)
        while entries[slot] != nil { slot = (slot + 1) & (Self.capacity - 1) }
        entries[slot] = entry
        count += 1
    }
}

extension Database {
    /// The statements of the connection by their fragments.
    var statementIndex: StatementIndex {
        // Nothing else attaches anything to a connection.
        if let attachment { return unsafeDowncast(attachment, to: StatementIndex.self) }
        let index = StatementIndex()
        attachment = index
        return index
    }

    /// An empty piece to write a statement into, for ``keepScratch(_:)`` afterwards.
    @usableFromInline func takeScratch() -> QueryFragment { statementIndex.takeScratch() }

    @usableFromInline func keepScratch(_ fragment: inout QueryFragment) {
        statementIndex.keepScratch(&fragment)
    }

    /// The statement of a fragment, from the cache if it is there and nobody reads its rows.
    func entry(of fragment: QueryFragment) throws -> StatementIndex.Entry {
        let index = statementIndex
        if let entry = index.entry(fragment.code) {
            if !entry.statement.isBusy { return entry }
            // A statement of its own, for this run.
            let statement = try makeStatement(sql: entry.statement.sql)
            return StatementIndex.Entry(
                key: entry.key, hash: entry.hash, statement: statement, values: entry.values)
        }
        if hasTooManyValues(fragment) { return try makeLongEntry(fragment) }
        let entry = try makeEntry(fragment, fragment.code.withUnsafeBytes { StatementIndex.hash($0) })
        index.insert(entry)
        return entry
    }

    private func makeEntry(_ fragment: QueryFragment, _ hash: UInt64) throws -> StatementIndex.Entry {
        let renderer = FragmentRenderer(fragment)
        let sql = String(decoding: renderer.text, as: UTF8.self)
        try check(renderer, of: fragment, sql: sql)
        return StatementIndex.Entry(
            key: fragment.code, hash: hash, statement: try cachedStatement(sql: sql),
            values: renderer.isIdentity ? nil : renderer.values)
    }

    /// Throws when the SQL would not run, or not mean what was asked for.
    func check(_ renderer: FragmentRenderer, of fragment: QueryFragment, sql: String) throws {
        try renderer.check(sql: sql)
        for table in renderer.numberedTables { try requireRowNumber(of: table, sql: sql) }
        if renderer.isUpdateFromViews { try requireNoOwnView(in: fragment, sql: sql) }
        // A trigger or view with a parameter in it is a syntax error, which would hide the reason.
        for value in renderer.values where fragment.bindings.indices.contains(value) {
            if case .invalid(let error) = fragment.bindings[value] { throw error }
        }
    }

    /// Whether a piece has more values than a statement can have parameters.
    private func hasTooManyValues(_ fragment: QueryFragment) -> Bool {
        // Every engine takes 999.
        fragment.bindings.count > 999 && fragment.bindings.count > maximumStatementArgumentCount
    }

    /// What makes text of a piece, in which the values that are too many are literals.
    func renderer(of fragment: QueryFragment) -> FragmentRenderer {
        guard hasTooManyValues(fragment) else { return FragmentRenderer(fragment) }
        return FragmentRenderer(fragment, .limited(maximumStatementArgumentCount))
    }

    /// A statement for one run: others of the same bytes have other literals.
    private func makeLongEntry(_ fragment: QueryFragment) throws -> StatementIndex.Entry {
        let renderer = renderer(of: fragment)
        let sql = String(decoding: renderer.text, as: UTF8.self)
        try check(renderer, of: fragment, sql: sql)
        return StatementIndex.Entry(
            key: fragment.code, hash: 0, statement: try makeStatement(sql: sql), values: renderer.values)
    }
}
