import Foundation
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import SyncBucket

/// Other uses of a mailbox while it lists its bucket.
@Suite(.anyEngine) struct ConcurrentListingTests {
    private static let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "1-2.bundle")

    /// A bucket in which a file appears after its first listing was made, and before that is answered.
    private final class LateCarrier: BucketCarrier {
        private struct State {
            var listingCount = 0
            var meanwhile: (@Sendable () throws -> Void)?
        }

        private let state = Mutex(State())

        var listingCount: Int { state.withLock { $0.listingCount } }

        /// Has something done before the first listing is answered.
        func setMeanwhile(_ body: @escaping @Sendable () throws -> Void) {
            state.withLock { $0.meanwhile = body }
        }

        func send(_ request: SignedRequest, check: () throws -> Void) throws -> BucketAnswer {
            switch request.method {
            case "PUT": return answer(200, "")
            case "DELETE": return answer(403, "<Error><Code>AccessDenied</Code></Error>")
            default: break
            }
            guard request.url.contains("list-type") else { return answer(200, "text") }
            let (count, meanwhile) = state.withLock { state in
                state.listingCount += 1
                defer { state.meanwhile = nil }
                return (state.listingCount, state.meanwhile)
            }
            try meanwhile?()
            let path = ConcurrentListingTests.path
            let file = "<Contents><Key>\(path)</Key><Size>4</Size><ETag>t</ETag></Contents>"
            return answer(200, "<ListBucketResult>\(count == 1 ? "" : file)</ListBucketResult>")
        }

        private func answer(_ status: Int, _ body: String) -> BucketAnswer {
            BucketAnswer(status: status, headers: [(name: "ETag", value: "t")], body: Data(body.utf8))
        }
    }

    private let carrier = LateCarrier()
    private let mailbox: BucketMailbox

    init() throws {
        mailbox = BucketMailbox(
            try BucketAddress(bucket: "notes"), CredentialSource(try TestCredentials.usual), carrier,
            RequestRetry(sleep: { _, _ in }, random: { 0 }), BucketMailbox.Options())
    }

    @Test func aFileThatIsWrittenMeanwhileIsThere() throws {
        carrier.setMeanwhile { [mailbox] in
            try mailbox.write(Self.path, replacing: true) { try $0(Data("text".utf8)) }
        }
        _ = try mailbox.folders()
        #expect(try mailbox.open(Self.path).byteCount == 4)
        #expect(try mailbox.files(in: Self.path.folder).map(\.name) == [Self.path.name])
        #expect(carrier.listingCount == 2)
    }

    @Test func aDoubtThatComesMeanwhileStays() throws {
        carrier.setMeanwhile { [mailbox] in
            // The server refuses it, and nobody knows whether it did so before it had removed the file.
            _ = try? mailbox.remove(Self.path)
        }
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: Self.path.folder).map(\.name) == [Self.path.name])
    }

    @Test func aLaterListingIsNotReplacedByAnEarlierOne() throws {
        carrier.setMeanwhile { [mailbox] in _ = try mailbox.folders() }
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: Self.path.folder).map(\.name) == [Self.path.name])
        #expect(carrier.listingCount == 2)
    }

    @Test func whatAListingCanNotKnowIsNotForgotten() {
        var known = KnownListing()
        let (first, second) = (known.begin(), known.begin())
        let isLaterWhole = known.keep(BucketListing(), from: second)
        let isEarlierWhole = known.keep(BucketListing(), from: first)
        #expect(isLaterWhole && !isEarlierWhole)
        let third = known.begin()
        known.changeCount += 1
        let isChangedWhole = known.keep(BucketListing(), from: third)
        #expect(!isChangedWhole)
    }

    @Test func aListingIsGoodUntilSomethingHappens() throws {
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: Self.path.folder).isEmpty)
        #expect(carrier.listingCount == 1)
    }
}
