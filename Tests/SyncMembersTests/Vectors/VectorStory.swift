import Foundation
import SyncWire

@testable import SyncMembers

/// The story that the vectors tell.
struct VectorStory {
    private(set) var club: Club
    private(set) var people: [(name: String, keys: MemberDeviceKeys)] = []
    private(set) var statements: [(name: String, statement: SignedStatement)] = []
    private(set) var states: [(name: String, statements: [String])] = []

    private var person: [String: Person] = [:]

    init() throws {
        club = try Club(seed: 27)
        person["ada"] = club.founder
        people.append(("ada", club.founder.keys))
        for name in ["bob", "carol", "puppet", "rescuer", "other"] {
            let next = try club.person()
            person[name] = next
            people.append((name, next.keys))
        }
        let phone = try club.person()
        person["phone"] = Person(member: try who("bob").member, keys: phone.keys)
        people.append(("phone", phone.keys))
        statements.append(("found", club.found))
        try line()
        try conflicts()
        try recoveries()
        try claims()
    }

    private func who(_ name: String) throws -> Person {
        guard let person = person[name] else { throw MembershipError(.malformed, "nobody is called \(name)") }
        return person
    }

    func statement(_ name: String) throws -> SignedStatement {
        guard let found = statements.first(where: { $0.name == name }) else {
            throw MembershipError(.malformed, "no statement is called \(name)")
        }
        return found.statement
    }

    private mutating func say(_ name: String, _ speaker: String, _ kind: StatementKind, after: [String])
        throws
    {
        let keys = try who(speaker).keys
        let parents = try after.map { try statement($0).id }
        let content = try Statement(
            store: Club.store, issuer: .device(keys.card), parents: parents, kind: kind)
        statements.append((name, try SignedStatement(content, by: keys)))
    }

    private func newMember(_ name: String, _ role: MemberRole) throws -> StatementKind {
        let person = try who(name)
        return .addMember(
            NewMember(member: person.member, name: try MemberName(name), role: role, device: person.keys.card)
        )
    }

    private mutating func epoch(_ name: String, _ speaker: String, knowing names: [String]) throws {
        let state = try club.state(of: names.map { try statement($0) })
        var ring = EpochKeyring()
        ring.open(state, with: try who(speaker).keys)
        statements.append((name, try state.nextEpoch(by: try who(speaker).keys, keyring: ring)))
    }

    private let first = ["found", "bob", "phone", "replica", "epoch 1", "carol", "epoch 2"]

    /// One after another.
    private mutating func line() throws {
        let replica = ReplicaID(high: 1, low: 2)
        try say("bob", "ada", newMember("bob", .admin), after: ["found"])
        let phone = NewDevice(member: try who("bob").member, device: try who("phone").keys.card)
        try say("phone", "bob", .addDevice(phone), after: ["bob"])
        try say("replica", "phone", .bindReplica(replica), after: ["phone"])
        try epoch("epoch 1", "ada", knowing: ["found", "bob", "phone", "replica"])
        try say("carol", "bob", newMember("carol", .writer), after: ["epoch 1"])
        try epoch("epoch 2", "carol", knowing: ["found", "bob", "phone", "replica", "epoch 1", "carol"])
        // Carol has not the first key, so hers brings none.
        states.append(("a line", first))
        let bob = try who("bob").member
        try say(
            "remove bob", "ada", .removeMember(MemberRemoval(member: bob, cutOffs: [replica: 300])),
            after: ["epoch 2"])
        try epoch("epoch 3", "ada", knowing: first + ["remove bob"])
        states.append(("a removal", first + ["remove bob"]))
        states.append(("an epoch after a removal", first + ["remove bob", "epoch 3"]))
        try say(
            "lower carol", "ada", .setRole(RoleChange(member: try who("carol").member, role: .reader)),
            after: ["epoch 3"])
        try say(
            "remove phone", "ada",
            .removeDevice(DeviceRemoval(device: try who("phone").device, cutOffs: [replica: 20])),
            after: ["lower carol"])
        states.append(("later removals", first + ["remove bob", "epoch 3", "lower carol", "remove phone"]))
    }

    /// What some did not know of others.
    private mutating func conflicts() throws {
        try say("puppet", "bob", newMember("puppet", .admin), after: ["epoch 2"])
        try say("claim", "puppet", .bindReplica(ReplicaID(high: 3, low: 4)), after: ["puppet"])
        states.append(("a sock puppet", first + ["puppet", "claim", "remove bob"]))
        let ada = try who("ada").member
        try say("remove ada", "bob", .removeMember(MemberRemoval(member: ada)), after: ["epoch 2"])
        states.append(("both removed", first + ["remove bob", "remove ada"]))
        try say("by carol", "carol", .removeMember(MemberRemoval(member: ada)), after: ["epoch 2"])
        states.append(("not an admin", first + ["by carol"]))
        try say("ada's claim", "ada", .bindReplica(ReplicaID(high: 5, low: 6)), after: ["epoch 2"])
        try say("bob's claim", "bob", .bindReplica(ReplicaID(high: 5, low: 6)), after: ["epoch 2"])
        states.append(("two claims", first + ["ada's claim", "bob's claim"]))
        states.append(("a parent is missing", ["found", "bob", "replica"]))
    }

    private mutating func recoveries() throws {
        let next = try club.recoveryKey().card
        for (name, successor) in [("rescuer", next), ("other", nil)] as [(String, RecoveryCard?)] {
            let person = try who(name)
            let content = Recovery(
                member: person.member, name: try MemberName(name), device: person.keys.card,
                successor: successor)
            let parents = try ["remove bob", "remove ada"].map { try statement($0).id }
            let recovery = try Statement(
                store: Club.store, issuer: .recovery(club.recovery.card), parents: parents,
                kind: .recover(content))
            statements.append(("recover \(name)", try SignedStatement(recovery, by: club.recovery)))
        }
        let gone = first + ["remove bob", "remove ada"]
        states.append(("a recovery", gone + ["recover rescuer"]))
        states.append(("two recoveries", gone + ["recover rescuer", "recover other"]))
    }

    /// An admin who was removed names somebody who came later.
    private mutating func claims() throws {
        let next = try club.person()
        person["newcomer"] = next
        people.append(("newcomer", next.keys))
        let bob = try who("bob").member
        try say("newcomer", "ada", newMember("newcomer", .admin), after: ["remove bob"])
        try say(
            "claim newcomer", "bob", .addDevice(NewDevice(member: bob, device: next.keys.card)),
            after: ["epoch 2"])
        try say(
            "remove claimed", "bob", .removeDevice(DeviceRemoval(device: next.device)),
            after: ["claim newcomer"])
        let named = NewMember(
            member: next.member, name: try MemberName("newcomer"), role: .reader,
            device: try who("puppet").keys.card)
        try say("name newcomer", "bob", .addMember(named), after: ["epoch 2"])
        try say(
            "remove named", "bob", .removeMember(MemberRemoval(member: next.member)), after: ["name newcomer"]
        )
        let claimed = ["claim newcomer", "remove claimed", "name newcomer", "remove named"]
        states.append(("a former admin", first + ["remove bob", "newcomer"] + claimed))
        try carolsClaims(on: next)
    }

    /// A member claims an invitation that was not used, and a device that has spoken, as its own.
    private mutating func carolsClaims(on newcomer: Person) throws {
        let laptop = try club.person()
        person["laptop"] = Person(member: newcomer.member, keys: laptop.keys)
        people.append(("laptop", laptop.keys))
        try say(
            "laptop", "newcomer", .addDevice(NewDevice(member: newcomer.member, device: laptop.keys.card)),
            after: ["newcomer"])
        try say("laptop's replica", "laptop", .bindReplica(ReplicaID(high: 7, low: 8)), after: ["laptop"])
        let carol = try who("carol").member
        // She tries until the names of her claims are the smaller ones. Names are random, as epochs are: in one of some hundred
        // stories they are so small that no claim of hers is smaller, and the last ones stay.
        let tryCount: UInt64 = 1000
        for number in 1...tryCount {
            try say(
                "carol's replica", "carol", .bindReplica(ReplicaID(high: 9, low: number)), after: ["epoch 2"])
            for (name, device) in [("newcomer", newcomer), ("laptop", laptop)] {
                try say(
                    "claim \(name) again", "carol",
                    .addDevice(NewDevice(member: carol, device: device.keys.card)),
                    after: ["carol's replica"])
            }
            let isNewcomerFirst = try statement("claim newcomer again").id < statement("newcomer").id
            let isLaptopFirst = try statement("claim laptop again").id < statement("laptop").id
            if isNewcomerFirst, isLaptopFirst { break }
            if number < tryCount { statements.removeLast(3) }
        }
        let known = first + ["remove bob", "newcomer"]
        let claims = ["carol's replica", "claim newcomer again"]
        states.append(("a claim on an invitation", known + claims))
        states.append(
            ("a claim on a device", known + ["laptop", "laptop's replica"] + claims + ["claim laptop again"]))
    }
}
