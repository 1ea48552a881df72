import Foundation
import Testing

@testable import SyncctlCommands

/// People see times in their zone, programs in UTC.
@Suite struct TimeTests {
    private static let moment: Int64 = 1_795_221_600_000

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_795_221_600_123, "2026-11-21T00:40:00.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func timestampsOfJSONAreInUTC(milliseconds: Int64, text: String) {
        #expect(HumanFormat.timestamp(milliseconds, style: .internetMilliseconds) == text)
        #expect(HumanFormat.timestamp(milliseconds) == text.dropLast(5) + "Z")
        DisplayZone.$ofTask.withValue(.utc) {
            let day = text.prefix(10)
            let second = text.dropFirst(11).prefix(8)
            #expect(HumanFormat.timestamp(milliseconds, style: .second) == "\(day) \(second)Z")
            #expect(HumanFormat.timestamp(milliseconds, style: .minute) == "\(day) \(second.prefix(5))Z")
        }
        for style in [.internet, .second] as [HumanFormat.TimestampStyle] {
            #expect(!HumanFormat.timestamp(.max, style: style).isEmpty)
            #expect(!HumanFormat.timestamp(.min, style: style).isEmpty)
        }
    }

    @Test func textShowsTheLocalTimeWithItsZoneAndJSONShowsUTC() throws {
        let place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<1)
        func log(_ arguments: String...) throws -> String {
            try place.run(
                ["log", place.path("a.db"), "--passphrase-file", place.secret("a")] + arguments,
                environment: ["TZ": "XYZ-5:30"]
            ).output
        }
        #expect(try log().contains("+05:30 "))
        #expect(try log("--utc").contains("Z ") && !log("--utc").contains("+05:30"))
        #expect(try !log("--json").contains("+05:30"))
        // The same moment, in both.
        let local = try #require(try log().firstMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+05:30/)).output
        let text = String(local).replacing(" ", with: "T")
        let date = try #require(ISO8601DateFormatter().date(from: text))
        let shown = HumanFormat.timestamp(Int64(date.timeIntervalSince1970 * 1000))
        #expect(try log("--json").contains(shown.dropLast()))
    }

    private func milliseconds(_ text: String) throws -> Int64? {
        try TimeArgument(argument: text)?.milliseconds(now: Self.moment)
    }

    @Test func timesAreReadAsTheyAreWritten() throws {
        try DisplayZone.$ofTask.withValue(.utc) { () throws in
            #expect(try milliseconds("2026-11-21 00:40") == Self.moment)
            #expect(try milliseconds("2026-11-21T00:40:00Z") == Self.moment)
            #expect(try milliseconds("2026-11-21T01:40:00.123+01:00") == Self.moment)
            #expect(try milliseconds("2026-11-20 21:10:00-03:30") == Self.moment)
            #expect(try milliseconds("2026-11-21") == Self.moment - 40 * 60_000)
            #expect(try milliseconds("90m") == Self.moment - 90 * 60_000)
            #expect(try milliseconds("7d") == Self.moment - 7 * 86_400_000)
            let shown = HumanFormat.timestamp(Self.moment, style: .second)
            #expect(try milliseconds(shown) == Self.moment)
        }
        for text in ["", "d", "1y", "2026-1-1", "2026-11-21 24:00", "2026-11-21T", "99999999d", "2026/11/21"]
        {
            #expect(try milliseconds(text) == nil, "\(text)")
        }
    }

    @Test func whatIsShownInTheLocalZoneIsReadInIt() throws {
        let shown = HumanFormat.timestamp(Self.moment, style: .second)
        #expect(try milliseconds(shown) == Self.moment)
        #expect(try milliseconds(String(shown.prefix(19))) == Self.moment)
    }
}
