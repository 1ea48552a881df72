import Foundation

extension DateText {
    /// Reads `YYYY-MM-DD HH:MM:SS.SSS`, the form that the library writes.
    ///
    /// It looks at eight characters at a time. Each of the three words, of which
    /// the last two share a digit, is combined with what a word of zeros would
    /// be, so that digits become their values and separators become zero. Then
    /// one addition tells whether a byte is too large, and one multiplication
    /// makes pairs of digits.
    ///
    /// - returns: nil for every other text, and for numbers that are out of
    ///   range: ``parse(_:)-(UnsafeRawBufferPointer)`` decides about those.
    @inline(__always)
    static func readFixedForm(_ text: UnsafeRawBufferPointer) -> Date? {
        guard text.count == 23 else { return nil }
        // YYYY-MM-, DD HH:MM, M:SS.SSS. The first character is in the lowest byte.
        let date = word(text, at: 0) ^ 0x2D30_302D_3030_3030
        let hours = word(text, at: 8) ^ 0x3030_3A30_3020_3030
        let seconds = word(text, at: 15) ^ 0x3030_302E_3030_3A30
        // A digit of ten or more, and a separator of one or more, gets its highest bit set.
        let excess =
            date | (date &+ 0x7F76_767F_7676_7676) | hours | (hours &+ 0x7676_7F76_767F_7676)
            | seconds | (seconds &+ 0x7676_767F_7676_7F76)
        guard excess & 0x8080_8080_8080_8080 == 0 else { return nil }
        let datePairs = pairs(date)
        let hourPairs = pairs(hours)
        let secondPairs = pairs(seconds)
        let year = byte(0, of: datePairs) &* 100 &+ byte(2, of: datePairs)
        let month = byte(5, of: datePairs)
        let day = byte(0, of: hourPairs)
        let hour = byte(3, of: hourPairs)
        let minute = byte(6, of: hourPairs)
        let second = byte(2, of: secondPairs)
        let millisecond = byte(5, of: secondPairs) &* 10 &+ byte(7, of: seconds)
        guard month &- 1 < 12, day &- 1 < 31, hour <= 24, minute < 60, second < 60 else { return nil }
        let minutes = (days(year: year, month: month, day: day) &* 24 &+ Int(hour)) &* 60 &+ Int(minute)
        let milliseconds = (minutes &* 60 &+ Int(second)) &* 1000 &+ Int(millisecond)
        return Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
    }

    @inline(__always)
    private static func word(_ text: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Ten times each byte, plus the byte after it.
    @inline(__always)
    private static func pairs(_ digits: UInt64) -> UInt64 { digits &* 10 &+ (digits &>> 8) }

    @inline(__always)
    private static func byte(_ index: UInt64, of word: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: (word &>> (8 &* index)) & 0xFF)
    }

    /// Days from 2001-01-01 to a date of the years 0000 to 9999.
    ///
    /// It is ``days(year:month:day:)`` for numbers without a sign: four hundred
    /// years are added first, which have the same number of days wherever they begin.
    @inline(__always)
    private static func days(year: UInt32, month: UInt32, day: UInt32) -> Int {
        let isBeforeMarch = month <= 2
        let year = year &+ (isBeforeMarch ? 399 : 400)
        let monthIndex = isBeforeMarch ? month &+ 9 : month &- 3
        let days =
            365 &* year &+ year / 4 &- year / 100 &+ year / 400 &+ (153 &* monthIndex &+ 2) / 5 &+ day
        return Int(days) &- 1 &- 719_468 &- 146_097 &- referenceDay
    }
}
