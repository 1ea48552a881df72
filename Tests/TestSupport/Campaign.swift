import Foundation
import Testing

/// How much a test of random or exhaustive cases does: a small fixed part whenever the tests run, all of it at
/// night (`Scripts/nightly`).
public enum Campaign {
    /// Whether the whole of each campaign is wanted.
    public static let isNightly = ProcessInfo.processInfo.environment["CIPHERSTORE_NIGHTLY"] == "1"

    /// The seeds of a campaign, from 1 on, or those of `CIPHERSTORE_SEEDS`, such as `6-6`, to see one again.
    ///
    /// - parameters:
    ///   - usual: How many there are whenever the tests run.
    ///   - nightly: How many there are at night.
    public static func seeds(_ usual: Int, nightly: Int) -> ClosedRange<UInt64> {
        let chosen = ProcessInfo.processInfo.environment["CIPHERSTORE_SEEDS"] ?? ""
        let bounds = chosen.split(separator: "-").compactMap { UInt64($0) }
        if bounds.count == 2, bounds[0] <= bounds[1] { return bounds[0]...bounds[1] }
        return 1...UInt64(count(usual, nightly: nightly))
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
