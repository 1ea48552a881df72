import Foundation

extension PersistenceContainer {
    /// What a container has: an object, so that a container costs one reference
    /// when it is passed on, and so that the next record can use its memory.
    ///
    /// It is `@unchecked Sendable` because a container changes only an object
    /// that it alone has.
    @usableFromInline final class Storage: @unchecked Sendable {
        /// The columns that the record is expected to set. It may set others.
        @exclusivity(unchecked) private(set) var layout: ColumnLayout
        /// How many columns may still be expected: none once another one was set.
        @exclusivity(unchecked) private var expectedCount: Int
        /// The names of the columns that were set, if they are not the expected ones.
        @exclusivity(unchecked) private var ownNames: [String]?

        @exclusivity(unchecked) private var cells: UnsafeMutablePointer<EncodedValue>
        @exclusivity(unchecked) private var capacity: Int
        /// How many columns were set.
        @exclusivity(unchecked) private(set) var count = 0

        /// The bytes of texts and blobs.
        @exclusivity(unchecked) private(set) var memory: UnsafeMutableRawPointer
        @exclusivity(unchecked) private var memoryCapacity: Int
        @exclusivity(unchecked) private var memoryCount = 0

        /// The positions, below 64, at which a UUID was nil: what a new key is made for.
        @exclusivity(unchecked) private(set) var nilUUIDs: UInt64 = 0

        /// Why a value could not be encoded, where nothing can be thrown.
        @exclusivity(unchecked) var failure: (any Error)?

        /// The encoder of `Encodable` records, so that the next one can use it.
        @exclusivity(unchecked) var encoder: RecordEncoder?

        /// Memory that one record has needed is kept for the next one up to this size.
        private static let keptMemory = 65_536

        /// Makes an empty storage for a record that is expected to set these
        /// columns, in this order.
        init(expecting layout: ColumnLayout = .empty) {
            self.layout = layout
            expectedCount = layout.names.count
            capacity = max(layout.names.count, 8)
            cells = .allocate(capacity: capacity)
            memoryCapacity = 256
            memory = .allocate(byteCount: memoryCapacity, alignment: 8)
        }

        deinit {
            cells.deallocate()
            memory.deallocate()
        }

        /// Empties the storage for the next record.
        func reset(expecting layout: ColumnLayout) {
            if self.layout !== layout { self.layout = layout }
            expectedCount = layout.names.count
            if ownNames != nil { ownNames = nil }
            count = 0
            reserve(expectedCount)
            memoryCount = 0
            if memoryCapacity > Self.keptMemory {
                memory.deallocate()
                memoryCapacity = 256
                memory = .allocate(byteCount: memoryCapacity, alignment: 8)
            }
            nilUUIDs = 0
            if failure != nil { failure = nil }
        }

        func copy() -> Storage {
            let copy = Storage(expecting: layout)
            copy.expectedCount = expectedCount
            copy.ownNames = ownNames
            copy.reserve(count)
            copy.cells.update(from: cells, count: count)
            copy.count = count
            copy.growMemory(to: memoryCount)
            copy.memory.copyMemory(from: memory, byteCount: memoryCount)
            copy.memoryCount = memoryCount
            copy.nilUUIDs = nilUUIDs
            copy.failure = failure
            return copy
        }

        // MARK: Columns

        /// The layout, if its columns are those that were set, all of them.
        var completedLayout: ColumnLayout? {
            expectedCount == count && ownNames == nil ? layout : nil
        }

        /// The names of the columns that were set, in order.
        var columns: [String] {
            if let ownNames { return ownNames }
            return count == layout.names.count ? layout.names : Array(layout.names[..<count])
        }

        /// Returns the position of a column that was set.
        func index(of column: String) -> Int? {
            let columns = columns
            return columns.firstIndex { $0.hasSameBytes(as: column) }
                ?? columns.firstIndex { $0.isSameName(as: column) }
        }

        /// Whether all columns so far were the expected ones, and there are more.
        @inline(__always)
        var isFollowing: Bool { count < expectedCount }

        // MARK: Writing

        /// Sets the next column, which is the expected one.
        @inline(__always)
        func append(_ value: EncodedValue) {
            cells[count] = value
            count &+= 1
        }

        /// Sets a column.
        @inline(__always)
        func set(_ value: EncodedValue, for column: String) {
            if count < expectedCount, layout.pointer.isSame(column, at: count) {
                append(value)
            } else {
                setUnexpected(value, for: column)
            }
        }

        /// Sets a column that is not the next of those expected.
        @inline(never)
        private func setUnexpected(_ value: EncodedValue, for column: String) {
            // The name may be the expected one, but elsewhere in memory.
            if count < expectedCount, layout.names[count].hasSameBytes(as: column) { return append(value) }
            if let index = index(of: column) {
                cells[index] = value
                return
            }
            ownNames = columns + [column]
            expectedCount = 0
            reserve(count + 1)
            append(value)
        }

        /// Notes that the UUID that is set next is nil.
        func noteNilUUID() {
            if count < 64 { nilUUIDs |= 1 << UInt64(count) }
        }

        private func reserve(_ needed: Int) {
            guard needed > capacity else { return }
            let larger = UnsafeMutablePointer<EncodedValue>.allocate(capacity: max(needed, 2 * capacity))
            larger.update(from: cells, count: count)
            cells.deallocate()
            cells = larger
            capacity = max(needed, 2 * capacity)
        }

        // MARK: Memory

        /// Copies a text into the memory.
        @inline(__always)
        func text(_ text: String) -> EncodedValue {
            let count = text.utf8.withContiguousStorageIfAvailable { copy(UnsafeRawBufferPointer($0)) }
            if let count { return .text(at: memoryCount &- count, count: count) }
            return foreignText(text)
        }

        @inline(never)
        private func foreignText(_ text: String) -> EncodedValue {
            var text = text
            let count = text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
            return .text(at: memoryCount - count, count: count)
        }

        /// Copies bytes into the memory.
        @inline(__always)
        func blob(_ bytes: UnsafeRawBufferPointer) -> EncodedValue {
            let count = copy(bytes)
            return .blob(at: memoryCount &- count, count: count)
        }

        /// Writes the text of a date into the memory; NULL for a date that has none.
        @inline(__always)
        func date(_ date: Date) -> EncodedValue {
            growMemory(to: memoryCount &+ DateText.capacity)
            let offset = memoryCount
            let text = (memory + offset).assumingMemoryBound(to: UInt8.self)
            let count = DateText.write(date, to: text)
            memoryCount = offset &+ count
            return count == 0 ? .null : .text(at: offset, count: count)
        }

        /// The encoded form of a database value. One that SQLite can't store becomes
        /// the failure of the record.
        func encoded(_ value: DatabaseValue) -> EncodedValue {
            switch value.content {
            case .null: .null
            case .int64(let value): EncodedValue(value)
            case .double(let value): EncodedValue(value)
            case .string(let value): text(value)
            case .blob(let value) where value.count > Int(CInt.max): tooBig()
            case .blob(let value): value.withUnsafeBytes { blob($0) }
            case .sixteenBytes(let first, let second): withUnsafeBytes(of: (first, second)) { blob($0) }
            case .unencodable: failed(value)
            }
        }

        /// What SQLite would refuse when it is bound is not copied before.
        private func tooBig() -> EncodedValue {
            failure = failure ?? DatabaseError(resultCode: .SQLITE_TOOBIG)
            return .null
        }

        private func failed(_ value: DatabaseValue) -> EncodedValue {
            failure = failure ?? value.encodingError
            return .null
        }

        @inline(__always)
        private func copy(_ bytes: UnsafeRawBufferPointer) -> Int {
            growMemory(to: memoryCount &+ bytes.count)
            if let start = bytes.baseAddress {
                (memory + memoryCount).copyMemory(from: start, byteCount: bytes.count)
            }
            memoryCount &+= bytes.count
            return bytes.count
        }

        @inline(__always)
        private func growMemory(to needed: Int) {
            if needed > memoryCapacity { reallocateMemory(needed) }
        }

        @inline(never)
        private func reallocateMemory(_ needed: Int) {
            let larger = max(needed, 2 * memoryCapacity)
            let copy = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
            copy.copyMemory(from: memory, byteCount: memoryCount)
            memory.deallocate()
            memory = copy
            memoryCapacity = larger
        }

        // MARK: Reading

        @inline(__always)
        subscript(_ index: Int) -> EncodedValue { cells[index] }

        /// The value of the column at a position.
        func databaseValue(at index: Int) -> DatabaseValue {
            precondition(index < count, "there is no such column")
            let value = cells[index]
            return switch value.kind {
            case .null: .null
            case .int64: value.int64.databaseValue
            case .double: value.double.databaseValue
            case .text: String(decoding: bytes(of: value), as: UTF8.self).databaseValue
            case .blob: DatabaseValue(bytes: bytes(of: value))
            }
        }

        /// The bytes of a text or a blob.
        @inline(__always)
        func bytes(of value: EncodedValue) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: memory + value.offset, count: value.count)
        }

        /// Whether the value of the column at a position is NULL.
        func isNull(at index: Int) -> Bool { cells[index].kind == .null }

        /// The values of the columns, in order.
        var values: [DatabaseValue] { (0..<count).map { databaseValue(at: $0) } }
    }
}

extension UnsafeMutableBufferPointer<String> {
    /// Whether a name has the very words of the one at a position, as equal
    /// literals and all short equal names have.
    @inline(__always)
    fileprivate func isSame(_ name: String, at index: Int) -> Bool {
        guard MemoryLayout<String>.size == 16, let base = baseAddress else { return false }
        let expected = UnsafeRawPointer(base + index)
        let words = unsafeBitCast(name, to: (UInt64, UInt64).self)
        return expected.load(as: UInt64.self) == words.0
            && expected.load(fromByteOffset: 8, as: UInt64.self) == words.1
    }
}
