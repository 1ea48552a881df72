import SyncEngine
import SyncWire
import Synchronization

/// The operations of a synchronization that a replica in another process answers. Bundles have operations of their
/// own: ``BundleRequest``, and uploads.
enum PeerOperations {
    static let greet = PeerOperation<Void, Greeting>(
        .init(.greet, .get, "greeting"), .nothing, .greeting
    ) { peer, _ in try peer.greet() }

    static let meet = PeerOperation<Greeting, [Fork]>(
        .init(.meet, .post, "greeting", upTo: OperationAddress.frameByteCountMax), .greeting, .forks
    ) { peer, greeting in try peer.meet(greeting) }

    static let renew = PeerOperation<Message.Renewal, Bool>(
        .init(.renew, .post, "identity", upTo: OperationAddress.documentByteCountMax), .document, .renewed
    ) { peer, renewal in try peer.renewIdentity(renewal) }

    static let remember = PeerOperation<Message.Knowledge, Void>(
        .init(.remember, .post, "acknowledgement", upTo: OperationAddress.documentByteCountMax), .document,
        .nothing
    ) { peer, knowledge in try peer.remember(knowledge) }

    static let state = PeerOperation<StateKind, ReplicaState?>(
        .init(.state, .post, "state", upTo: OperationAddress.documentByteCountMax), .stateKind, .state
    ) { peer, kind in try peer.state(kind) }

    static let question = PeerOperation<StateQuestion, StateAnswer>(
        .init(.question, .post, "answers", upTo: OperationAddress.frameByteCountMax),
        .bytes({ $0.encode() }, { try StateQuestion(bytes: $0) }),
        .bytes({ $0.encode() }, { try StateAnswer(bytes: $0) })
    ) { peer, question in try peer.answer(question) }

    static let definitions = PeerOperation<Void, [SharedTable]>(
        .init(.definitions, .get, "definitions"), .nothing, .definitions
    ) { peer, _ in try peer.definitions() }

    static let all: [any ServedOperation] = [greet, meet, renew, remember, state, question, definitions]
}

/// A replica as another process sees it that asks for operations.
protocol ServedPeer {
    func greet() throws -> Greeting
    func meet(_ greeting: Greeting) throws -> [Fork]
    /// - returns: Whether it has a new identity: not when what it greeted with was out of date.
    func renewIdentity(_ renewal: Message.Renewal) throws -> Bool
    func remember(_ knowledge: Message.Knowledge) throws
    /// Says what the replica holds, as digests; nil when it can't be compared now.
    func state(_ kind: StateKind) throws -> ReplicaState?
    func answer(_ question: StateQuestion) throws -> StateAnswer
    /// How the tables are made that may be exchanged.
    func definitions() throws -> [SharedTable]
}

/// A store of which who asks may have everything: whoever can write to a pipe.
final class WholeStore: ServedPeer, Sendable {
    private let synchronizer: Synchronizer
    /// What passed last over the connection: what a new identity is asked for because of.
    private let last = Mutex<(greeting: Greeting?, own: ReplicaID?)>((nil, nil))
    private var peer: any SyncPeer { synchronizer.localPeer }

    init(_ synchronizer: Synchronizer) { self.synchronizer = synchronizer }

    func greet() throws -> Greeting {
        let greeting = try peer.greet()
        last.withLock { $0.own = greeting.replica }
        return greeting
    }

    func meet(_ greeting: Greeting) throws -> [Fork] {
        guard try greeting.store == synchronizer.identity().store else {
            throw SyncError(.otherStore, "the other side is a replica of another database")
        }
        last.withLock { $0.greeting = greeting }
        return try peer.meet(greeting)
    }

    func renewIdentity(_ renewal: Message.Renewal) throws -> Bool {
        let forks = try Message.Forks(items: renewal.forks).values()
        guard case (let greeting?, let own?) = last.withLock({ $0 }) else {
            try peer.renewIdentity(forks)
            return true
        }
        return try peer.renewIdentity(forks, shownBy: greeting, to: own)
    }

    func remember(_ knowledge: Message.Knowledge) throws {
        guard let replica = knowledge.replica else {
            throw RemoteError(.malformed, "the message does not say which replica knows that")
        }
        try peer.remember(Message.identifier(replica), name: "", knowing: knowledge.known())
    }

    func state(_ kind: StateKind) throws -> ReplicaState? { try peer.state(kind) }

    func answer(_ question: StateQuestion) throws -> StateAnswer { try peer.answer(question) }

    func definitions() throws -> [SharedTable] { try synchronizer.definitions(ofTables: nil) }
}

/// A replica in another process, which operations are carried to.
extension CarriedPeer {
    func greet() throws -> Greeting { try ask(PeerOperations.greet, ()) }

    func meet(_ greeting: Greeting) throws -> [Fork] { try ask(PeerOperations.meet, greeting) }

    func renewIdentity(_ forks: [Fork]) throws { _ = try askToRenew(forks) }

    /// The other process knows what it greeted with last, and what it was greeted with.
    func renewIdentity(
        _ forks: [Fork], shownBy greeting: Greeting, to replica: ReplicaID
    ) throws -> Bool { try askToRenew(forks) }

    private func askToRenew(_ forks: [Fork]) throws -> Bool {
        do {
            return try ask(PeerOperations.renew, Message.Renewal(forks))
        } catch let error as RemoteError where error.code == .notFound {
            // The server was started anew in the meantime. The next greeting shows whether it was done.
            return true
        }
    }

    func remember(_ peer: ReplicaID, name: String, knowing vector: VersionVector) throws {
        try ask(PeerOperations.remember, Message.Knowledge(peer, vector))
    }

    func state(_ kind: StateKind) throws -> ReplicaState? {
        do {
            return try ask(PeerOperations.state, kind)
        } catch let error as RemoteError where error.code == .notFound {
            // Its program can't compare.
            return nil
        }
    }

    func answer(_ question: StateQuestion) throws -> StateAnswer {
        do {
            return try ask(PeerOperations.question, question)
        } catch let error as RemoteError where error.code == .notFound {
            throw SyncError(.notComparable, "the remote can't be compared: its program knows no digests")
        }
    }

    func definitions() throws -> [SharedTable] { try ask(PeerOperations.definitions, ()) }
}

extension OperationCoding<Greeting> {
    static var greeting: Self { .bytes({ $0.encode() }, { try Greeting(frame: $0) }) }
}

extension OperationCoding<[Fork]> {
    static var forks: Self { .document(Message.Forks.init, { try $0.values() }) }
}

extension OperationCoding<StateKind> {
    static var stateKind: Self { .document(Message.StateRequest.init, { try $0.value() }) }
}

extension OperationCoding<ReplicaState?> {
    /// Nothing stands for a replica that can't be compared now.
    static var state: Self {
        .bytes({ $0?.encode() ?? [] }, { $0.isEmpty ? nil : try ReplicaState(bytes: $0) })
    }
}

extension OperationCoding<Bool> {
    /// Nothing stands for a new identity: older programs always have one, and say nothing.
    static var renewed: Self { .bytes({ $0 ? [] : [0] }, { $0.isEmpty }) }
}

extension OperationCoding<[SharedTable]> {
    static var definitions: Self { .document(Message.Definitions.init, { $0.tables }) }
}
