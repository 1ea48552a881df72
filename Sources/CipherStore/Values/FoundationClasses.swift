import Foundation

// The classes that came before the Swift types are stored as those are. A class
// can't be decoded as a subclass that holds more, so that decoding one of those,
// as `NSMutableString`, gives nil.

extension NSNull: DatabaseValueConvertible {
    /// NULL.
    public var databaseValue: DatabaseValue { .null }

    /// Returns nil: NULL is nil everywhere else in the interface.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { nil }
}

extension NSString: DatabaseValueConvertible {
    /// The text.
    public var databaseValue: DatabaseValue { (self as String).databaseValue }

    /// Decodes text, and blobs that hold UTF-8.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSString(string: $0) as? Self }
    }
}

extension NSData: DatabaseValueConvertible {
    /// The bytes.
    public var databaseValue: DatabaseValue { (self as Data).databaseValue }

    /// Decodes blobs, and the UTF-8 bytes of text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Data.fromDatabaseValue(dbValue).flatMap { NSData(data: $0) as? Self }
    }
}

extension NSDate: DatabaseValueConvertible {
    /// The date as text, as a `Date` is.
    public var databaseValue: DatabaseValue { (self as Date).databaseValue }

    /// Decodes what a `Date` is decoded from.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Date.fromDatabaseValue(dbValue).flatMap {
            NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) as? Self
        }
    }
}

extension NSURL: DatabaseValueConvertible {
    /// The absolute URL as text.
    public var databaseValue: DatabaseValue { (self as URL).databaseValue }

    /// Decodes what a `URL` is decoded from.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        URL.fromDatabaseValue(dbValue).flatMap { NSURL(string: $0.absoluteString) as? Self }
    }
}

extension NSUUID: DatabaseValueConvertible {
    /// The 16 bytes of the UUID.
    public var databaseValue: DatabaseValue { (self as UUID).databaseValue }

    /// Decodes 16-byte blobs, and text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        UUID.fromDatabaseValue(dbValue).flatMap { NSUUID(uuidString: $0.uuidString) as? Self }
    }
}

extension NSNumber: DatabaseValueConvertible {
    /// An integer, or a floating-point number.
    ///
    /// A `NSDecimalNumber` is an integer when it is whole and fits in 64 bits,
    /// and is rounded to a floating-point number otherwise. Store a `Decimal`
    /// to keep all digits.
    public var databaseValue: DatabaseValue {
        if let number = self as? NSDecimalNumber { return number.decimalValue.numericDatabaseValue }
        // The type encodings of the Objective-C runtime.
        switch UInt8(truncatingIfNeeded: objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"):
            return doubleValue.databaseValue
        case UInt8(ascii: "Q"), UInt8(ascii: "L"):
            return Int64(exactly: uint64Value)?.databaseValue ?? doubleValue.databaseValue
        default:
            return int64Value.databaseValue
        }
    }

    /// Decodes numbers, and text that is a decimal number, which gives a
    /// `NSDecimalNumber`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        let isDecimal = Self.self is NSDecimalNumber.Type
        let number: NSNumber
        switch dbValue.storage {
        case .int64(let value):
            number = isDecimal ? NSDecimalNumber(value: value) : NSNumber(value: value)
        case .double(let value):
            if isDecimal, !value.isFinite { return nil }
            number = isDecimal ? NSDecimalNumber(value: value) : NSNumber(value: value)
        case .string:
            guard let decimal = Decimal.fromDatabaseValue(dbValue) else { return nil }
            number = NSDecimalNumber(decimal: decimal)
        case .null, .blob:
            return nil
        }
        return number as? Self
    }
}
