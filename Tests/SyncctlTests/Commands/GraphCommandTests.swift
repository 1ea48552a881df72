import Foundation
import Testing

@testable import SyncEngine
@testable import SyncctlCommands

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The picture of replicas.
@Suite(.timeLimit(.minutes(10))) struct GraphCommandTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<5)
        try place.makeReplica("b.db", "b", of: "a.db", "a")
    }

    private func own(_ name: String) -> [String] { ["--passphrase-file", place.secret(name)] }

    private func synchronize() throws {
        try place.succeed(
            [
                "sync", place.path("a.db"), "--remote", place.path("b.db"), "--remote-passphrase-file",
                place.secret("b"),
            ] + own("a"))
    }

    /// The texts of a document, and how many elements of each class it has.
    private final class Reader: NSObject, XMLParserDelegate {
        var texts: [String] = []
        var classes: [String: Int] = [:]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            for name in (attributes["class"] ?? "").split(separator: " ") {
                classes[String(name), default: 0] += 1
            }
            texts.append("")
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            texts[texts.count - 1] += text.trimmingCharacters(in: .newlines)
        }
    }

    private func read(_ svg: String) throws -> Reader {
        let reader = Reader()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "no reason")")
        return reader
    }

    @Test func replicasAndWhatTheyMissAreDrawn() throws {
        try synchronize()
        let queue = try place.open("a.db", "a")
        try StoreProbe.insert(10..<17, into: queue)
        try queue.close()
        let output = try place.succeed(
            ["graph", place.path("a.db"), "--to", place.path("replicas.svg")] + own("a"))
        #expect(output.output.isEmpty && output.errors.contains("drew 2 replicas in"))
        let drawing = try read(String(contentsOfFile: place.path("replicas.svg"), encoding: .utf8))
        #expect(drawing.classes["node"] == 2 && drawing.classes["local"] == 1)
        #expect(drawing.classes["met"] == 1 && drawing.classes["cell"] == 4)
        #expect(drawing.texts.contains("7"), "b.db lacks the seven rows")
        #expect(drawing.texts.contains("a.db: 2 replicas"))
        // It is never written over.
        let again = try place.run(
            ["graph", place.path("a.db"), "--to", place.path("replicas.svg")] + own("a"))
        #expect(again.status == 1 && again.errors.contains("there is a file already"))
    }

    @Test func programsGetTheSameAsADocument() throws {
        try synchronize()
        let result = try place.succeed(["graph", place.path("a.db"), "--json"] + own("a"))
        let replicas = try #require(result.document()["replicas"] as? [[String: Any]])
        #expect(replicas.count == 2)
        #expect(replicas[0]["local"] as? Bool == true && replicas[1]["reached"] as? Bool == true)
        let own = try #require(replicas[0]["replica"] as? String)
        let known = try #require(replicas[1]["known"] as? [String: Any])
        #expect((known[own] as? Int).map(Int64.init) == (replicas[0]["changes"] as? Int).map(Int64.init))
    }

    @Test func oneReplicaIsDrawnAlone() throws {
        let output = try place.succeed(["graph", place.path("a.db")] + own("a")).output
        let drawing = try read(output)
        #expect(drawing.classes["node"] == 1 && drawing.classes["line"] == nil)
    }

    private func replica(
        _ number: UInt8, name: String, sequence: Int64 = 1, known: [ReplicaID: Int64] = [:]
    ) throws -> ReplicaInformation {
        let bytes = [number] + Array(repeating: UInt8(1), count: 15)
        return ReplicaInformation(
            replica: try #require(bytes.withUnsafeBytes { ReplicaID(bytes: $0) }),
            isLocal: number == 0, name: name, isPeer: number % 2 == 1, sequence: sequence,
            lastSeenMilliseconds: number == 0 ? nil : .min, known: known, isUpToDate: false, retirement: nil)
    }

    @Test func whatOthersHaveWrittenCanNotBreakTheDocument() throws {
        let names = [
            "</svg><script>", "a & \"b\"", "\u{0}\u{1B}[31m\u{FFFE}", String(repeating: "x", count: 5000),
        ]
        let hostile = try names.enumerated().map { number, name in
            try replica(UInt8(number), name: name, sequence: number == 1 ? .min : .max)
        }
        let last = ReplicaDrawing(
            title: "<&>", replicas: hostile + [try replica(9, name: "z", known: [hostile[0].replica: .min])],
            now: .max)
        let drawing = try read(last.svg)
        #expect(drawing.classes["node"] == 5)
        #expect(drawing.texts.contains { $0 == "<&>: 5 replicas" })
        #expect(!last.svg.contains("<script>"))
    }

    @Test func ofManyReplicasTheFirstAreDrawn() throws {
        let many = try (0..<200).map { try replica(UInt8($0), name: "r\($0)") }
        let drawing = try read(ReplicaDrawing(title: "t", replicas: many, now: 0).svg)
        #expect(drawing.classes["node"] == ReplicaDrawing.replicasMax)
        #expect(drawing.texts.contains("t: 200 replicas, of which 24 are drawn"))
    }
}
