import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The part of the file that is in memory: it slides forward, and grows only for a record that needs it.
struct ByteWindow: ~Copyable {
    enum Refill {
        case more, endOfFile, full
        case invalidUTF8(Int64)
        case failed(String)
    }

    let source: ImportSource
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var end = 0
    /// The bytes before this index are whole, valid UTF-8 characters.
    private(set) var limit = 0
    /// The place of the window in the file.
    private(set) var offset: Int64 = 0

    init(source: ImportSource, capacity: Int) {
        self.source = source
        base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { base.deallocate() }

    var startsWithByteOrderMark: Bool {
        limit >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF
    }

    /// The first byte from `start` on that can have a meaning: the delimiter, a quote, or anything up to the
    /// carriage return, among which are the line ends and NUL.
    @inline(__always)
    func indexOfSpecialByte(from start: Int, delimiter: UInt8) -> Int {
        var index = start
        while index < limit {
            let byte = base[index]
            if byte == delimiter || byte == CSVByte.quote || byte <= CSVByte.carriageReturn { break }
            index += 1
        }
        return index
    }

    /// Moves the bytes from `start` on to the front and reads what follows them, until at least one more
    /// whole character is there. An invalid byte is reported only when everything before it has been used.
    mutating func refill(keepingFrom start: Int) -> Refill {
        if start > 0 { base.update(from: base + start, count: end - start) }
        end -= start
        limit -= start
        offset += Int64(start)
        while true {
            let (valid, isInvalid) = validUTF8(from: limit)
            if valid > limit {
                limit = valid
                return .more
            }
            if isInvalid { return .invalidUTF8(offset + Int64(limit)) }
            if end == capacity, !grow() { return .full }
            let count = source.read(into: base + end, count: capacity - end, at: offset + Int64(end))
            if count < 0 { return .failed(Failure.systemText(errno)) }
            if count == 0 { return limit < end ? .invalidUTF8(offset + Int64(limit)) : .endOfFile }
            end += count
        }
    }

    private mutating func grow() -> Bool {
        guard capacity < CSVReader.maximumRecordBytes else { return false }
        capacity = min(capacity * 2, CSVReader.maximumRecordBytes)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.initialize(from: base, count: end)
        base.deallocate()
        base = larger
        return true
    }

    /// Where the whole, valid characters from `start` on end, and whether an invalid one is what ends them.
    private func validUTF8(from start: Int) -> (end: Int, isInvalid: Bool) {
        var index = start
        while index < end {
            let lead = base[index]
            if lead < 0x80 {
                index += 1
                while end - index >= 8 {
                    let word = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
                    if word & 0x8080_8080_8080_8080 != 0 { break }
                    index += 8
                }
                continue
            }
            let width = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0
            if width == 0 { return (index, true) }
            for step in 1..<width {
                guard index + step < end else { return (index, false) }
                // The second byte alone excludes overlong forms, surrogates and values past U+10FFFF.
                let low: UInt8 = step > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80
                let high: UInt8 = step > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF
                if base[index + step] < low || base[index + step] > high { return (index, true) }
            }
            index += width
        }
        return (index, false)
    }
}
