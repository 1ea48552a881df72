import SyncEngine
import SyncMembers

/// People who come and go.
extension WitnessedRun {
    func foundMembership() throws {
        let members = WitnessedMembers(recovery: try stores[0].membership.found(Membership.Name("founder")))
        try stores[0].identify()
        self.members = members
        try meet(stores[0], .both)
    }

    /// Most of the stores that are there from the beginning take part.
    func inviteAll(_ random: inout SimulationRandom) throws {
        for store in stores.dropFirst() where !random.oneIn(4) {
            try invite(by: stores[0], &random)
            try meet(stores[0], .both)
            guard let invitation = members?.invitations.popLast() else { continue }
            try accept(invitation, at: store)
            try meet(store, .both)
        }
    }

    /// Something that people do about members: they invite, join, remove, and give other roles.
    func changeMembers(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        do {
            switch random.number(below: 10) {
            case 0..<2: try invite(by: store, &random)
            case 2..<6: try join(store, &random)
            case 6..<8: try remove(by: store, &random)
            case 8: try changeRole(by: store, &random)
            default:
                note("store \(store.name) takes the recovery key")
                guard let key = members?.recovery, let name = try members?.newName() else { return }
                guard try store.role() == nil else { return note("    it takes part") }
                try store.membership.recover(by: key, as: name)
                members?.trust(store.number)
                try store.identify()
            }
        } catch let error as MembershipError where error.code == .notAllowed {
            note("    \(error.message)")
        } catch let error as SyncError where error.code == .notMember {
            note("    \(error.message)")
        }
    }

    private func invite(by store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let roles: [Membership.Role] = [.reader, .writer, .writer, .admin]
        try invite(by: store, as: random.element(of: roles) ?? .writer)
    }

    private func invite(by store: WitnessedStore, as role: Membership.Role) throws {
        guard let name = try members?.newName() else { return }
        note("store \(store.name) invites \(name) as \(role)")
        members?.invitations.append(try store.membership.invite(name, as: role))
    }

    private func join(_ store: WitnessedStore, _ random: inout SimulationRandom) throws {
        guard let members, let invitation = random.element(of: members.invitations) else { return }
        var newcomer: WitnessedStore? = store
        if try store.role() != nil {
            let stranger = try stores.first { try $0.role() == nil }
            newcomer = random.oneIn(2) ? stranger : nil
            if newcomer == nil { newcomer = try clone(store) }
        }
        guard let newcomer else { return }
        try accept(invitation, at: newcomer)
    }

    private func accept(_ invitation: MembershipInvitation, at store: WitnessedStore) throws {
        note("store \(store.name) accepts an invitation")
        _ = try withFaults(of: store) { try store.membership.accept(invitation, through: $0) }
        guard try store.role() != nil else { return }
        members?.trust(store.number)
        try store.identify()
    }

    private func remove(by store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let known = try store.membership.members() ?? []
        let others = known.filter { $0.standing != .removed && (!$0.isOwn || random.oneIn(8)) }
        guard let member = random.element(of: others) else { return }
        note("store \(store.name) removes \(member.member.name)")
        try store.membership.remove(member.member.id)
    }

    private func changeRole(by store: WitnessedStore, _ random: inout SimulationRandom) throws {
        let known = try store.membership.members() ?? []
        guard let member = random.element(of: known.filter { $0.standing != .removed }) else { return }
        let role = random.element(of: [Membership.Role.reader, .writer, .admin]) ?? .writer
        note("store \(store.name) makes \(member.member.name) \(role)")
        try store.membership.setRole(role, of: member.member.id)
    }

    // MARK: Secrets

    /// Notes what those whose removal a store knows must not read.
    func keepFromRemoved(_ values: Set<String>, by store: WitnessedStore) throws {
        guard members != nil, try store.role() != nil else { return }
        let removed = try store.removedMembers()
        guard !removed.isEmpty else { return }
        for other in stores where other.member.map(removed.contains) ?? false {
            members?.keep(values, from: other.number)
        }
    }

    /// Requires that nobody reads what was written by those who knew that it was removed.
    func requireKept(_ values: Set<String>, from store: WitnessedStore) throws {
        guard let leaked = members?.leaked(values, to: store.number), !leaked.isEmpty,
            let member = store.member
        else { return }
        let active = try stores.filter { try $0.role() != nil }
        guard try active.allSatisfy({ try $0.removedMembers().contains(member) }) else {
            // Its removal does not count everywhere: one of two admins who removed each other's members.
            return
        }
        throw SimulationViolation(
            .secrecy,
            "store \(store.name), whose member was removed, reads \(leaked.sorted().joined(separator: ", "))")
    }

    // MARK: The end

    /// Lets all write who were not removed: some never accepted an invitation, some are readers, and of some the file was
    /// put back to before they came.
    func readmit() throws {
        let admin = try stores.first { try $0.role() == .admin } ?? recover()
        let removed = try admin.removedMembers()
        for store in stores where !(store.member.map(removed.contains) ?? false) {
            // A copy of it may be in again.
            try meet(store, .both)
            if try store.role() == nil {
                try invite(by: admin, as: .writer)
                try meet(admin, .both)
                guard let invitation = members?.invitations.last else { continue }
                try accept(invitation, at: store)
                try meet(store, .both)
            } else if try store.role() == .reader, let member = store.member {
                note("store \(admin.name) makes store \(store.name) a writer")
                try admin.membership.setRole(.writer, of: member)
                try meet(admin, .both)
                try meet(store, .both)
            }
            guard try store.role().map({ $0 >= .writer }) ?? false else {
                throw SimulationViolation(
                    .progress, "store \(store.name) may not write, although it was asked to")
            }
        }
    }

    private func recover() throws -> WitnessedStore {
        guard let key = members?.recovery, let name = try members?.newName() else { return stores[0] }
        note("store \(stores[0].name) is an admin's by the recovery key")
        try stores[0].membership.recover(by: key, as: name)
        members?.trust(stores[0].number)
        try stores[0].identify()
        for store in stores { try meet(store, .both) }
        return stores[0]
    }
}
