import CipherStore
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// What replicas in two processes ask each other has one form, whatever carries it.
@Suite struct PeerOperationTests {
    private let replica = Identifier128(high: 1, low: 2)

    @Test func noTwoOperationsHaveOneAddress() {
        let addresses =
            PeerOperations.all.map(\.address) + [
                BundleRequest.changes(TransferRequest(base: VersionVector())).address,
                BundleRequest.rows([]).address,
            ]
        #expect(Set(addresses.map(\.kind)).count == addresses.count)
        #expect(Set(addresses.map { "\($0.method) \($0.path)" }).count == addresses.count)
        for address in addresses where address.method == .get { #expect(address.byteCountMax == 0) }
    }

    @Test func everyOperationIsInTheDescriptionOfTheServer() {
        for operation in PeerOperations.all {
            #expect(OpenAPIDocument.text.contains("/v1/stores/{store}/\(operation.address.path):"))
        }
    }

    /// Programs of before there was one form sent less.
    @Test func requestsOfOlderProgramsAreRead() throws {
        let renewal = try PeerOperations.renew.request.decode(
            Array(#"{"forks":[{"common":3,"replica":"\#(replica)"}]}"#.utf8))
        #expect(renewal.request == nil)
        #expect(try Message.Forks(items: renewal.forks).values() == [Fork(replica: replica, common: 3)])
        let knowledge = try PeerOperations.remember.request.decode(
            Array(#"{"vector":{"\#(replica)":7}}"#.utf8))
        #expect(knowledge.replica == nil)
        #expect(try knowledge.known() == VersionVector([replica: 7]))
    }

    /// Programs of before there was one form have to understand what is sent now.
    @Test func olderProgramsFindWhatTheyReadInRequests() throws {
        let renewal = try PeerOperations.renew.request.encode(
            Message.Renewal([Fork(replica: replica, common: 3)]))
        #expect(
            try JSONDocument.decode(Message.Forks.self, from: renewal).values()
                == [Fork(replica: replica, common: 3)])
        let knowledge = try PeerOperations.remember.request.encode(
            Message.Knowledge(replica, VersionVector([replica: 7])))
        #expect(
            try JSONDocument.decode(Message.Vector.self, from: knowledge).value()
                == VersionVector([replica: 7]))
    }

    @Test func aReplicaThatCanNotBeComparedAnswersNothing() throws {
        #expect(try PeerOperations.state.answer.encode(nil) == [])
        #expect(try PeerOperations.state.answer.decode([]) == nil)
        #expect(throws: (any Error).self) { try PeerOperations.state.answer.decode([0]) }
    }

    @Test func aRepeatedRequestForANewIdentityIsTheSame() throws {
        let renewal = Message.Renewal([])
        let bytes = try PeerOperations.renew.request.encode(renewal)
        #expect(try PeerOperations.renew.request.decode(bytes).request == renewal.request)
        #expect(Message.Renewal([]).request != renewal.request)
    }

    /// Another process may have synchronized the two since this one greeted: what it then knows of itself was not yet
    /// in its greeting, and looks like a copy of its file.
    @Test func aReplicaBehindAPipeKeepsItsIdentityWhenItsGreetingWasOutOfDate() throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try hub.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let device = try stores.open("b.db")
        let pipe = WholeStore(hub)
        let old = try pipe.greet()
        try hub.insert(1, "written after the greeting")
        _ = try hub.run(
            .both,
            StoreTransport(path: stores.path("b.db"), configuration: ServedStores.configuration("b.db")))
        let greeting = try device.localPeer.greet()
        #expect(greeting.vector[old.replica] > old.ownSequence)
        #expect(try pipe.meet(greeting) == [])
        let renewal = Message.Renewal([Fork(replica: old.replica, common: old.ownSequence)])
        let body = try PeerOperations.renew.request.encode(renewal)
        let answer = try PeerOperations.renew.answer(body, by: pipe)
        #expect(try PeerOperations.renew.answer.decode(answer) == false)
        #expect(try pipe.greet().replica == old.replica)
    }

    @Test func throughAPipeARenewalNeedsNoNumberAndKnowledgeNeedsAReplica() throws {
        let stores = try ServedStores()
        let store = WholeStore(try stores.create("hub.db", rows: 1))
        let before = try store.greet()
        let forks = #"{"forks":[{"common":0,"replica":"\#(before.replica)"}]}"#
        _ = try PeerOperations.renew.answer(Array(forks.utf8), by: store)
        #expect(try store.greet().replica != before.replica)
        let vector = Array(#"{"vector":{"\#(replica)":7}}"#.utf8)
        let error = #expect(throws: RemoteError.self) {
            try PeerOperations.remember.answer(vector, by: store)
        }
        #expect(error?.code == .malformed)
    }
}
