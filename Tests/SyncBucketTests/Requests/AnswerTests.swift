import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncBucket

@Suite(.anyEngine) struct XMLElementTests {
    private func read(_ text: String) -> XMLElement? { XMLElement(document: Data(text.utf8)) }

    @Test func whatServersWriteIsRead() throws {
        let root = try #require(
            read(
                """
                \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
                <!-- a comment -->
                <s3:List xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/" a='1'>
                  <Key>a &amp; b &lt;c&gt; &quot;&apos; &#252;&#x1F600;</Key><Empty/><Empty />
                  <Key><!-- no -->second</Key>
                </s3:List>

                """))
        #expect(root.name == "List" && root.children.map(\.name) == ["Key", "Empty", "Empty", "Key"])
        #expect(root.text("Key") == "a & b <c> \"' \u{FC}\u{1F600}")
        #expect(root.children.last?.text == "second" && root.text("Other") == nil)
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a></a><b></b>", "<a></a>x", "<a b></a>", "<a b=1></a>",
        "<a b='<'></a>",
        "<a>&b;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#+65;</a>", "<a>&amp</a>",
        "<a>&#99999999999;</a>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<!DOCTYPE a><a></a>", "<a><![CDATA[x]]></a>",
        "<a><?php ?></a>", "<a><!-- </a>", "</a>", "<a", "<a/", "<a><b/>", "< a></a>", "<a:b:c></a:b:c>",
        "<:a/>",
    ]) func whatIsNoneOrDangerousIsRefused(text: String) {
        #expect(read(text) == nil)
    }

    @Test func noPrefixOfADocumentIsOneOrATrap() {
        let text = "<?xml version=\"1.0\"?><a b='c'><!-- d --><e>&amp;&#65;</e><f/></a>"
        for count in 0..<text.utf8.count { #expect(read(String(text.prefix(count))) == nil) }
        #expect(read(text) != nil)
    }

    @Test func damagedDocumentsTrapNowhere() {
        let source = Array("<a b='c'><e>&amp;&#65;</e><f/><g h=\"\">x</g></a>".utf8)
        for index in source.indices {
            for byte in [0, 0x22, 0x26, 0x2F, 0x3B, 0x3C, 0x3E, 0xFF] as [UInt8] {
                var bytes = source
                bytes[index] = byte
                _ = XMLElement(document: Data(bytes))
            }
        }
    }

    @Test func depthCountAndLengthAreBounded() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(read(nested(8)) != nil && read(nested(9)) == nil && read(nested(100_000)) == nil)
        #expect(read("<a>" + String(repeating: "<b/>", count: 49_999) + "</a>") != nil)
        #expect(read("<a>" + String(repeating: "<b/>", count: 50_000) + "</a>") == nil)
        #expect(XMLElement(document: Data("<a>xx</a>".utf8), byteCountMax: 8) == nil)
        #expect(read("<\(String(repeating: "a", count: 129))/>") == nil)
    }
}

@Suite(.anyEngine) struct ListingTests {
    private func readPage(_ text: String) -> ListingPage? { ListingPage(Data(text.utf8)) }

    @Test func namesSizesAndVersionsAreRead() throws {
        let page = try #require(
            readPage(
                """
                <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
                <NextContinuationToken>t+/=</NextContinuationToken>
                <Contents><Key>a%2Fb+c%C3%BC</Key><Size>7</Size><ETag>&quot;abc-2&quot;</ETag></Contents>
                <Contents><Key>b</Key><Size>-1</Size></Contents><Contents><Key>%</Key><Size>1</Size></Contents>
                <Contents><Key>c</Key><Size>99999999999999999999</Size></Contents><Contents><Size>1</Size></Contents>
                <Contents><Key>d</Key><Size>0</Size></Contents></ListBucketResult>
                """))
        #expect(
            page.entries == [
                .init(key: "a/b c\u{FC}", byteCount: 7, tag: "abc-2"),
                .init(key: "d", byteCount: 0, tag: nil),
            ])
        #expect(page.continuation == "t+/=")
    }

    @Test func withoutAnEncodingNamesAreWhatTheyAre() throws {
        let page = try #require(
            readPage(
                "<ListBucketResult><Contents><Key>a%2Fb+c</Key><Size>7</Size></Contents></ListBucketResult>"))
        #expect(page.entries.map(\.key) == ["a%2Fb+c"] && page.continuation == nil)
    }

    @Test(arguments: [
        "", "<html></html>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<Error><Code>AccessDenied</Code></Error>",
    ]) func whatIsNoListingIsNone(text: String) { #expect(readPage(text) == nil) }

    @Test func weakAndOddTagsAreNone() {
        #expect(EntityTag.read("\"a\"") == "a" && EntityTag.read("a") == "a")
        for text in [nil, "", "\"\"", "W/\"a\"", "\"a\nb\"", "\"a\"b\"", String(repeating: "a", count: 257)] {
            #expect(EntityTag.read(text) == nil)
        }
    }

    @Test func onlyFilesOfFoldersUnderThePrefixCount() {
        var listing = BucketListing()
        for key in [
            "notes/a/head", "notes/a/b/c", "notes/head", "notes//x", "notes/a/", "other/a/head", "notes2/a/h",
        ] {
            listing.add(.init(key: key, byteCount: 1, tag: nil), prefix: "notes/")
        }
        #expect(listing.folders == ["a": ["head": .init(byteCount: 1, tag: nil)]])
        listing[MailboxPath(folder: "a", name: "head")] = nil
        #expect(listing.folders.isEmpty)
    }

    @Test func aListingWithoutAnEndEnds() throws {
        let endless = ScriptedCarrier.Step.status(
            200, [],
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>"
        )
        let script = try ScriptedMailbox(endless, endless, endless)
        let error = #expect(throws: MailboxError.self) { try script.mailbox.folders() }
        #expect(error?.code == .failed && script.carrier.requests.count == 2)
    }
}

@Suite(.anyEngine) struct EndlessFileTests {
    private let folder = String(repeating: "0a", count: 16)

    /// Gives a range of a file that is as long as it is said to be.
    private func range(of total: Int) -> ScriptedCarrier.Step {
        let count = Download.rangeByteCount
        return .answer(
            BucketAnswer(
                status: 206,
                headers: [("ETag", "\"a\""), ("Content-Range", "bytes 0-\(count - 1)/\(total)")],
                body: Data(count: count)))
    }

    private func listing(_ name: String, _ byteCount: Int) -> ScriptedCarrier.Step {
        let entry = "<Key>\(folder)/\(name)</Key><Size>\(byteCount)</Size><ETag>a</ETag>"
        return .status(200, [], "<ListBucketResult><Contents>\(entry)</Contents></ListBucketResult>")
    }

    @Test func aHeadThatIsTooLongEndsAfterOneRequest() throws {
        let script = try ScriptedMailbox(range(of: 1 << 40), range(of: 1 << 40))
        let head = MailboxPath(folder: folder, name: "head")
        let error = #expect(throws: MailboxError.self) { try script.mailbox.open(head) }
        #expect(error?.code == .failed && script.carrier.requests.count == 1)
    }

    @Test func aHeadThatIsListedTooLongIsNotAskedFor() throws {
        let script = try ScriptedMailbox(listing("head", 1 << 40))
        _ = try script.mailbox.folders()
        let head = MailboxPath(folder: folder, name: "head")
        let error = #expect(throws: MailboxError.self) { try script.mailbox.open(head) }
        #expect(error?.code == .failed && script.carrier.requests.count == 1)
    }

    @Test func aBundleIsAsLongAsItIsListed() throws {
        let script = try ScriptedMailbox(
            listing("1-2.bundle", 3), range(of: 1 << 40), range(of: 1 << 40), range(of: 1 << 40))
        _ = try script.mailbox.folders()
        // The listing counts also when something else is known to have changed since.
        for count in 2...3 {
            let error = #expect(throws: MailboxError.self) { try script.mailbox.open(script.path) }
            #expect(error?.code == .failed && script.carrier.requests.count == count)
        }
    }
}

@Suite(.anyEngine) struct ErrorAnswerTests {
    private func error(_ step: ScriptedCarrier.Step) throws -> BucketError? {
        let script = try ScriptedMailbox(step)
        return #expect(throws: BucketError.self) { try script.mailbox.folders() }
    }

    @Test func theyNameTheBucketAndWhatToDo() throws {
        let denied = try error(.error(403, "AccessDenied"))
        #expect(denied?.code == .accessDenied && denied?.message.contains("bucket notes") == true)
        let missing = try error(.error(404, "NoSuchBucket"))
        #expect(missing?.code == .noSuchBucket && missing?.message.contains("s3.example.com") == true)
        #expect(try error(.error(403, "InvalidAccessKeyId"))?.code == .credentialsRefused)
        #expect(try error(.error(403, "SignatureDoesNotMatch"))?.code == .credentialsRefused)
        #expect(try error(.status(401))?.code == .credentialsRefused)
    }

    @Test func aSessionThatIsWrongIsToldFromAKeyThatIsNotKnown() throws {
        let script = try ScriptedMailbox(.error(400, "ExpiredToken"), .error(400, "ExpiredToken"))
        let ended = #expect(throws: BucketError.self) { try script.mailbox.folders() }
        let wrong = try error(.error(400, "InvalidToken"))
        #expect(ended?.message.contains("has ended (ExpiredToken)") == true)
        #expect(wrong?.message.contains("token of the session (InvalidToken)") == true)
        for error in [ended, wrong] {
            #expect(error?.code == .credentialsRefused && error?.hint?.contains("AWS_SESSION_TOKEN") == true)
            #expect(error?.message.contains("does not know the key") == false)
        }
    }

    @Test func theRightRegionIsNamed() throws {
        for step in [
            .error(301, "PermanentRedirect", [("x-amz-bucket-region", "eu-west-1")]),
            .error(400, "AuthorizationHeaderMalformed", [], "<Region>eu-west-1</Region>"),
        ] as [ScriptedCarrier.Step] {
            let error = try error(step)
            #expect(error?.code == .wrongRegion && error?.region == "eu-west-1")
            #expect(error?.hint?.contains("--s3-region eu-west-1") == true)
        }
        let odd = try error(.error(301, "PermanentRedirect", [("x-amz-bucket-region", "eu west; rm -r")]))
        #expect(odd?.code == .redirected && odd?.message.contains("rm -r") == false)
        #expect(try error(.status(307, [("location", "https://other.example/")]))?.code == .redirected)
    }

    @Test func aWrongClockIsNamedWithHowFarItIsOff() throws {
        let now = SyncEnvironment.system.milliseconds()
        let answer = ErrorAnswer(
            BucketAnswer(
                status: 403, headers: [("Date", "Fri, 24 May 2013 00:20:00 GMT")],
                body: Data("<Error><Code>RequestTimeTooSkewed</Code></Error>".utf8)))
        let address = try BucketAddress(bucket: "notes")
        let error = answer.error(address, isOfFile: false, now: 1_369_353_600_000) as? BucketError
        #expect(error?.code == .clockSkewed && error?.message.contains("20 min behind") == true)
        let other = answer.error(address, isOfFile: true, now: now) as? BucketError
        #expect(other?.message.contains("ahead of") == true && other?.hint?.contains("set the clock") == true)
    }

    @Test func whatMayBeOverByItselfIsToldFromWhatIsNot() throws {
        let skewed = try error(.error(403, "RequestTimeTooSkewed"))
        #expect(skewed?.code == .clockSkewed && skewed?.mayPass == true)
        let script = try ScriptedMailbox(.error(400, "ExpiredToken"), .error(400, "ExpiredToken"))
        let ended = #expect(throws: BucketError.self) { try script.mailbox.folders() }
        #expect(ended?.code == .credentialsRefused && ended?.mayPass == true)
        for code in ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"] {
            #expect(try error(.error(403, code))?.mayPass == false)
        }
    }

    @Test func nothingThatAServerSaysIsTakenOver() throws {
        for step in [
            .error(400, "Odd\u{1B}[31m"), .error(403, TestCredentials.secret),
            .status(418, [], "secret words"),
        ] as [ScriptedCarrier.Step] {
            let script = try ScriptedMailbox(step)
            let error = #expect(throws: (any Error).self) { try script.mailbox.folders() }
            let text = "\(error.map { "\($0)" } ?? "")"
            #expect(!text.contains("secret words") && !text.contains("\u{1B}") && !text.contains("kestrel"))
        }
    }

    @Test func aMissingFileInAMissingBucketIsAMissingBucket() throws {
        let script = try ScriptedMailbox(.error(404, "NoSuchKey"), .error(404, "NoSuchBucket"))
        let missing = #expect(throws: MailboxError.self) { try script.mailbox.open(script.path) }
        #expect(missing?.code == .missing)
        let bucket = #expect(throws: BucketError.self) { try script.mailbox.open(script.path) }
        #expect(bucket?.code == .noSuchBucket)
    }
}
