import Foundation
import Testing

/// How much a test of random or exhaustive cases does: a small fixed part whenever the tests run, all of it at
/// night (`Scripts/nightly`).
public enum Campaign {
    /// Whether the whole of each campaign is wanted.
    public static let isNightly = ProcessInfo.processInfo.environment["CIPHERSTORE_NIGHTLY"] == "1"

    /// The seeds of a campaign, from 1 on.
    ///
    /// - parameters:
    ///   - usual: How many there are whenever the tests run.
    ///   - nightly: How many there are at night.
    public static func seeds(_ usual: Int, nightly: Int) -> ClosedRange<UInt64> {
        1...UInt64(count(usual, nightly: nightly))
    }

    /// How often a campaign does something.
    public static func count(_ usual: Int, nightly: Int) -> Int { isNightly ? nightly : usual }

    /// Every so many of the cases of an exhaustive campaign; at night each of them.
    public static func every<Cases: Collection>(_ step: Int, of cases: Cases) -> [Cases.Element] {
        isNightly ? Array(cases) : cases.enumerated().filter { $0.offset % step == 0 }.map(\.element)
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests that never touch SQLCipher: `Scripts/test` runs them on the first engine only.
    public static var anyEngine: Self {
        .disabled(
            if: ProcessInfo.processInfo.environment["CIPHERSTORE_SECOND_ENGINE"] == "1",
            "it does not depend on the engine, and was run on the first one")
    }
}
