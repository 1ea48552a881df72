import Foundation

/// What the reader of CSV files uses of syncctl's errors, which need its argument parser.
enum Failure {
    static func systemText(_ code: Int32) -> String { String(cString: strerror(code)) }
}
