/// Where a page of a listing begins. It travels, so that the relay remembers nothing of who lists.
package struct ListingCursor: Equatable {
    /// The epoch that the listing began in.
    package let epoch: RelayEpoch
    /// Removals up to here are none of the listing's.
    package let start: RelayPosition
    /// The position of the last entry of the page before.
    package let last: RelayPosition
    /// Whether it lists everything.
    package let isComplete: Bool

    /// Makes one.
    package init(epoch: RelayEpoch, start: RelayPosition, last: RelayPosition, isComplete: Bool) {
        self.epoch = epoch
        self.start = start
        self.last = last
        self.isComplete = isComplete
    }

    /// Reads the name of a page; nil when it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count <= RelayListing.nextCharacterCountMax, parts.count == 4,
            let epoch = RelayEpoch(parts[0]), let start = RelayNumber.natural(parts[1]),
            let last = RelayNumber.natural(parts[2]), parts[3] == "all" || parts[3] == "new"
        else { return nil }
        self.init(epoch: epoch, start: start, last: last, isComplete: parts[3] == "all")
    }

    /// The name of the page.
    package var text: String { "\(epoch)-\(start)-\(last)-\(isComplete ? "all" : "new")" }

    /// The page after one.
    package func advanced(to last: RelayPosition) -> ListingCursor {
        ListingCursor(epoch: epoch, start: start, last: last, isComplete: isComplete)
    }
}

/// Numbers as they stand in addresses and headers.
package enum RelayNumber {
    /// Reads digits, without a sign; nil for anything else, and for what is above 2^63 - 1.
    package static func natural(_ text: some StringProtocol) -> Int64? {
        guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
