/// How paths, queries and times are written in requests that are signed.
enum CanonicalText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Percent-encodes all bytes of UTF-8 but letters, digits and `-._~`, once, with capital digits.
    ///
    /// - parameter keepsSlashes: Whether slashes stay, as in a path. Nothing else of a path is changed: to S3, `a//b` and
    ///   `a/../b` are names like any other.
    static func encode(_ text: String, keepsSlashes: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || (keepsSlashes && byte == 0x2F) {
                bytes.append(byte)
            } else {
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Reads percent-encoded text; nil for what is none, or is no UTF-8.
    ///
    /// - parameter plusIsSpace: Whether `+` is a space, as in the listings of S3.
    static func decode(_ text: String, plusIsSpace: Bool) -> String? {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            switch source[index] {
            case 0x25:
                guard index + 2 < source.count, let high = value(source[index + 1]),
                    let low = value(source[index + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                index += 3
            case 0x2B where plusIsSpace:
                bytes.append(0x20)
                index += 1
            default:
                bytes.append(source[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// A query as it is signed and sent: sorted by the bytes of the encoded names, then of the values.
    static func query(_ items: [(name: String, value: String)]) -> String {
        items.map { (name: encode($0.name), value: encode($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// Bytes as hexadecimal digits in lower case.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// A time in UTC as requests name it: `20130524T000000Z`.
    ///
    /// - parameter milliseconds: Milliseconds since 1970. What is not between the years 1970 and 9999 is taken for the
    ///   nearest time that is.
    static func timestamp(_ milliseconds: Int64) -> String {
        let seconds = min(max(0, milliseconds / 1000), 253_402_300_799)
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = date(ofDay: days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)\(two(month))\(two(day))T\(two(rest / 3600))\(two(rest / 60 % 60))\(two(rest % 60))Z"
    }

    /// The date of a day since 1970, in the Gregorian calendar: years that begin in March have their leap day last.
    private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * ofYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * march + 2) / 5 + 1)
    }

    /// The milliseconds since 1970 of a time as answers name it: `Fri, 24 May 2013 00:00:00 GMT`; nil for other text.
    static func milliseconds(ofHTTPDate text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, time.allSatisfy({ (0..<61).contains($0) }) else { return nil }
        let shiftedYear = month < 2 ? year - 1 : year
        let ofYear = (153 * Int64(month < 2 ? month + 10 : month - 2) + 2) / 5 + day - 1
        let leaps = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        let days = shiftedYear * 365 + leaps + ofYear - 719_468
        return (days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]) * 1000
    }
}
