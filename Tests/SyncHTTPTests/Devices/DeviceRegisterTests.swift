import CipherStore
import SyncEngine
import Testing

@testable import SyncHTTP

@Suite struct DeviceRegisterTests {
    private let stores: ServedStores
    private let register: DeviceRegister
    private let address: ServerAddress

    init() throws {
        stores = try ServedStores()
        register = try DeviceRegister(stores.create("hub.db"))
        address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
    }

    private func code(_ body: () throws -> Void) -> RemoteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RemoteError)?.code
        }
    }

    @Test func anInvitationEnrolsOneDevice() throws {
        let link = try register.invite(label: "phone", address: address)
        let key = DeviceKey().publicKey
        let device = try register.enrol(key: key, secret: link.secret)
        #expect(device.label == "phone" && !device.isReadOnly)
        // The answer may have been lost on the way.
        #expect(try register.enrol(key: key, secret: link.secret) == device)
        try register.bind(device, to: ReplicaID(high: 1, low: 2))
        let bound = try register.admitted(key: key)
        #expect(try register.enrol(key: key, secret: link.secret) == bound)
        #expect(
            code { _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret) } == .invalidInvite
        )
        #expect(try register.devices() == [bound])
    }

    @Test func whoeverHasTheLinkWhileItIsUsedComesTooLate() throws {
        let link = try register.invite(label: "phone", isReadOnly: true, address: address)
        let (key, thief) = (DeviceKey().publicKey, DeviceKey().publicKey)
        let device = try register.enrol(key: key, secret: link.secret)
        let takeOver = { _ = try register.enrol(key: thief, secret: link.secret) }
        #expect(code(takeOver) == .invalidInvite)
        stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds - 1)
        #expect(code(takeOver) == .invalidInvite)
        // The same key may repeat its request, which prolongs nothing.
        #expect(try register.enrol(key: key, secret: link.secret) == device)
        #expect(try register.devices() == [device])
        #expect(code { _ = try register.admitted(key: thief) } == .unknownDevice)
    }

    @Test func aJoinThatWasKilledIsRepeatedWithAnotherKeyAfterAWhile() throws {
        let link = try register.invite(label: "phone", isReadOnly: true, address: address)
        let (lost, key) = (DeviceKey().publicKey, DeviceKey().publicKey)
        _ = try register.enrol(key: lost, secret: link.secret)
        stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds)
        let device = try register.enrol(key: key, secret: link.secret)
        #expect(device.isReadOnly && device.label == "phone")
        // There is one device, and the key before is nobody's.
        #expect(code { _ = try register.admitted(key: lost) } == .unknownDevice)
        #expect(try register.devices() == [device])
        // The new one has its time too.
        #expect(code { _ = try register.enrol(key: lost, secret: link.secret) } == .invalidInvite)
        try register.bind(device, to: ReplicaID(high: 1, low: 2))
        stores.clock.advance(milliseconds: 60_000)
        #expect(code { _ = try register.enrol(key: lost, secret: link.secret) } == .invalidInvite)
        try register.revoke("phone")
        #expect(code { _ = try register.enrol(key: key, secret: link.secret) } == .invalidInvite)
    }

    @Test func aClockThatWasSetBackHoldsNoInvitation() throws {
        let link = try register.invite(label: "phone", expiresAfter: 86_400_000, address: address)
        _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        stores.clock.advance(milliseconds: -3_600_000)
        let key = DeviceKey().publicKey
        #expect(try register.enrol(key: key, secret: link.secret) == register.admitted(key: key))
    }

    @Test func anEnrolmentThatIsTakenBackFreesTheInvitation() throws {
        let link = try register.invite(label: "phone", address: address)
        let (lost, key) = (DeviceKey().publicKey, DeviceKey().publicKey)
        let first = try register.enrol(key: lost, secret: link.secret)
        try register.release(first)
        #expect(try register.devices().isEmpty)
        #expect(code { try register.release(first) } == .unknownDevice)
        let device = try register.enrol(key: key, secret: link.secret)
        #expect(device.label == "phone" && code { _ = try register.admitted(key: lost) } == .unknownDevice)
        try register.bind(device, to: ReplicaID(high: 1, low: 2))
        // A device that is a replica goes by a revocation only, which does not free anything.
        #expect(code { try register.release(device) } == .malformed)
        try register.revoke("phone")
        #expect(code { try register.release(device) } == .revokedDevice)
        #expect(code { _ = try register.enrol(key: lost, secret: link.secret) } == .invalidInvite)
    }

    @Test func aDeviceThatMadeRoomLeavesNothingToTheNextOne() throws {
        let link = try register.invite(label: "phone", address: address)
        let first = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        let count = {
            try self.register.synchronizer.writer.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_setting WHERE name GLOB 'device.*'")
            }
        }
        func spend(_ device: Device) throws {
            try register.synchronizer.writer.write { db in
                for name in ["device.\(device.id).names", "device.\(device.id).replicas"] {
                    try db.execute(
                        sql: "INSERT INTO _sync_setting (name, value) VALUES (?, 9)", arguments: [name])
                }
            }
        }
        try spend(first)
        stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds)
        let second = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        #expect(try count() == 0)
        try spend(second)
        try register.release(second)
        #expect(try count() == 0)
    }

    @Test func aDeviceThatIsEnrolledAnewHasUsedItsFormerInvitationUp() throws {
        let key = DeviceKey().publicKey
        let links = try ["a", "b"].map { try register.invite(label: $0, address: address) }
        try register.bind(register.enrol(key: key, secret: links[0].secret), to: ReplicaID(high: 1, low: 2))
        let again = try register.enrol(key: key, secret: links[1].secret)
        #expect(again.label == "b" && again.replica == nil)
        let thief = { _ = try register.enrol(key: DeviceKey().publicKey, secret: links[0].secret) }
        stores.clock.advance(milliseconds: DeviceRegister.holdMilliseconds)
        #expect(code(thief) == .invalidInvite)
        try register.release(again)
        #expect(code(thief) == .invalidInvite)
    }

    @Test func aDeviceWithBoundsThatIsInvitedAgainGoesOnAsTheReplicaThatItWas() throws {
        let (key, scope) = (DeviceKey().publicKey, SyncScope.tables(["note"]))
        func invite(_ scope: SyncScope) throws -> Device {
            let link = try register.invite(label: "till", scope: scope, address: address)
            return try register.enrol(key: key, secret: link.secret)
        }
        try register.synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        try other.insert(1, "b")
        _ = try register.synchronizer.run(
            .both,
            StoreTransport(path: stores.path("b.db"), configuration: ServedStores.configuration("b.db")))
        let known = try other.identity().replica
        try register.bind(invite(.everything), to: known)
        #expect(try register.synchronizer.knows(known))
        try register.revoke("till")
        let again = try invite(scope)
        #expect(again.replica == known && again.revokedMilliseconds == nil && again.scope == scope)
        try register.bind(again, to: known)
        #expect(code { try register.release(again) } == .malformed)
        // Another key is another device.
        try register.revoke("till")
        let link = try register.invite(label: "till", scope: scope, address: address)
        let stranger = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        #expect(stranger.replica == nil && code { try register.bind(stranger, to: known) } == .otherReplica)
    }

    @Test func aDeviceWithBoundsOfAServerThatForgotItHearsWhatHelps() throws {
        try register.synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        try other.insert(1, "b")
        _ = try register.synchronizer.run(
            .both,
            StoreTransport(path: stores.path("b.db"), configuration: ServedStores.configuration("b.db")))
        let link = try register.invite(label: "till", scope: .tables(["note"]), address: address)
        let device = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        let error = #expect(throws: RemoteError.self) {
            try register.bind(device, to: other.identity().replica)
        }
        #expect(error?.code == .otherReplica && error?.message.contains("--everything") == true)
        #expect(error?.message.contains("revoke this device and invite it anew") == true)
        // The link was this key's, and the label is the device's as long as it is not revoked.
        let key = DeviceKey().publicKey
        #expect(code { _ = try register.enrol(key: key, secret: link.secret) } == .invalidInvite)
        let invite = { try register.invite(label: "till", scope: .tables(["note"]), address: address) }
        #expect(code { _ = try invite() } == .malformed)
        try register.revoke("till")
        let new = try register.enrol(key: key, secret: invite().secret)
        try register.bind(new, to: ReplicaID(high: 1, low: 2))
    }

    @Test func anInvitationExpires() throws {
        let link = try register.invite(label: "phone", expiresAfter: 5000, address: address)
        stores.clock.advance(milliseconds: 5000)
        #expect(
            code { _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret) } == .invalidInvite
        )
        #expect(try register.devices().isEmpty)
    }

    @Test func whatWasNotInvitedIsNotEnrolled() {
        let secret = [UInt8](repeating: 1, count: 16)
        #expect(code { _ = try register.enrol(key: DeviceKey().publicKey, secret: secret) } == .invalidInvite)
        #expect(code { _ = try register.admitted(key: DeviceKey().publicKey) } == .unknownDevice)
    }

    @Test func theSecretOfAnInvitationIsNotStored() throws {
        let link = try register.invite(label: "phone", address: address)
        let found = try register.synchronizer.writer.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM _sync_invite").contains {
                "\($0)".contains(ByteText.hex(link.secret))
            }
        }
        #expect(!found)
    }

    @Test func aRevokedDeviceNeedsAnotherInvitation() throws {
        let link = try register.invite(label: "phone", address: address)
        let key = DeviceKey().publicKey
        let device = try register.enrol(key: key, secret: link.secret)
        #expect(try register.revoke("phone").id == device.id)
        #expect(code { _ = try register.admitted(key: key) } == .revokedDevice)
        #expect(code { _ = try register.enrol(key: key, secret: link.secret) } == .invalidInvite)
        #expect(code { try register.revoke("phone") } == .unknownDevice)
        let other = try register.invite(label: "phone", isReadOnly: true, address: address)
        let again = try register.enrol(key: key, secret: other.secret)
        #expect(again.id == device.id && again.isReadOnly && again.revokedMilliseconds == nil)
    }

    @Test(arguments: ["", "a\nb", String(repeating: "x", count: 101)])
    func aLabelIsAFewPrintableBytes(label: String) {
        #expect(code { _ = try register.invite(label: label, address: address) } == .malformed)
    }

    @Test func twoDevicesHaveTwoLabelsAndTwoReplicas() throws {
        var devices: [Device] = []
        for label in ["a", "b"] {
            let link = try register.invite(label: label, address: address)
            devices.append(try register.enrol(key: DeviceKey().publicKey, secret: link.secret))
        }
        #expect(code { _ = try register.invite(label: "a", address: address) } == .malformed)
        let replica = ReplicaID(high: 1, low: 2)
        try register.bind(devices[0], to: replica)
        #expect(code { try register.bind(devices[1], to: replica) } == .otherReplica)
        let own = try register.synchronizer.identity().replica
        #expect(code { try register.bind(devices[1], to: own) } == .otherReplica)
        // A device whose file had been copied has another identity now.
        let device = try #require(try register.devices().first { $0.replica == replica })
        try register.bind(device, to: ReplicaID(high: 1, low: 3))
        // It does not get that of a device that was revoked, either.
        try register.revoke("a")
        #expect(code { try register.bind(devices[1], to: ReplicaID(high: 1, low: 3)) } == .otherReplica)
    }

    @Test func twoOpenInvitationsOfOneLabelEnrolOneDevice() throws {
        let links = try ["phone", "tablet"].map { try register.invite(label: $0, address: address) }
        // As older programs let it come about.
        try register.synchronizer.writer.write {
            try $0.execute(sql: "UPDATE _sync_invite SET label = 'phone'")
        }
        let (key, late) = (DeviceKey().publicKey, DeviceKey().publicKey)
        let device = try register.enrol(key: key, secret: links[0].secret)
        let comeLate = { _ = try register.enrol(key: late, secret: links[1].secret) }
        #expect(code(comeLate) == .invalidInvite)
        #expect(try register.devices() == [device])
        // The device itself may use the other one. What was made for it before is of no use any more.
        let again = try register.enrol(key: key, secret: links[1].secret)
        #expect(again.id == device.id && again.revision == device.revision + 1)
        #expect(try register.revoke("phone").id == device.id)
    }

    @Test func aLabelHasOneInvitationThatCanBeUsed() throws {
        let link = try register.invite(label: "phone", expiresAfter: 5000, address: address)
        let inviteAgain = { _ = try register.invite(label: "phone", address: address) }
        #expect(code(inviteAgain) == .malformed)
        #expect(try register.isInvited("phone") && !register.isInvited("tablet"))
        // One that has expired is in nobody's way, and neither is one that was withdrawn.
        stores.clock.advance(milliseconds: 5000)
        #expect(try !register.isInvited("phone"))
        #expect(code(inviteAgain) == nil)
        #expect(try register.withdrawInvitations { $0 == "phone" } == 2)
        let third = try register.invite(label: "phone", address: address)
        let late = { _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret) }
        #expect(code(late) == .invalidInvite)
        #expect(try register.enrol(key: DeviceKey().publicKey, secret: third.secret).label == "phone")
        // A device that is not revoked has the label, not the invitation that it used.
        try register.revoke("phone")
        #expect(code(inviteAgain) == nil)
    }

    @Test func labelsThatLookTheSameAreOneLabel() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let link = try register.invite(label: composed, address: address)
        let inviteAgain = { _ = try register.invite(label: decomposed, address: address) }
        #expect(try register.isInvited(decomposed) && !register.isInvited("cafe"))
        #expect(code(inviteAgain) == .malformed)
        _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        #expect(try !register.isInvited(composed))
        #expect(code(inviteAgain) == .malformed)
        // Those that name a device mean the same by it.
        let changed = try register.change(decomposed, isReadOnly: true)
        #expect(changed.isReadOnly && changed.label.utf8.elementsEqual(composed.utf8))
        #expect(try register.revoke(decomposed).id == changed.id)
        #expect(code { _ = try register.revoke(composed) } == .unknownDevice)
    }

    @Test func aLabelThatSeveralDevicesHaveNamesNone() throws {
        var devices: [Device] = []
        for label in ["a", "b"] {
            let link = try register.invite(label: label, address: address)
            devices.append(try register.enrol(key: DeviceKey().publicKey, secret: link.secret))
        }
        // As older programs let it come about.
        try register.synchronizer.writer.write { try $0.execute(sql: "UPDATE _sync_device SET label = 'a'") }
        #expect(code { _ = try register.revoke("a") } == .malformed)
        #expect(try register.change("\(devices[0].id)", isReadOnly: true).isReadOnly)
        #expect(try register.revoke("\(devices[1].id)").id == devices[1].id)
        #expect(try register.revoke("a").id == devices[0].id)
    }

    @Test func aDeviceTakesNoIdentityThatIsKnown() throws {
        let link = try register.invite(label: "phone", address: address)
        let device = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        try register.synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        try other.insert(1, "b")
        let environment = stores.clock.environment
        _ = try register.synchronizer.run(
            .both,
            StoreTransport(path: stores.path("b.db"), configuration: ServedStores.configuration("b.db")))
        let known = try other.identity().replica
        #expect(try register.synchronizer.knows(known))
        // At first it may be a replica that was reached in another way before.
        try register.bind(device, to: known)
        let bound = try #require(try register.devices().first)
        #expect(bound.replica == known)
        try register.bind(bound, to: ReplicaID(high: environment.random(), low: 3))
        let renewed = try #require(try register.devices().first)
        #expect(code { try register.bind(renewed, to: known) } == .otherReplica)
    }

    @Test(arguments: [false, true])
    func onlyADeviceThatMayWriteEverythingGoesOnUnderAnIdentityThatCameByAnotherWay(isReadOnly: Bool) throws {
        let link = try register.invite(label: "phone", isReadOnly: isReadOnly, address: address)
        let key = DeviceKey().publicKey
        let device = try register.enrol(key: key, secret: link.secret)
        try register.synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        let synchronize = {
            try other.insert(1, "b")
            _ = try self.register.synchronizer.run(
                .both,
                StoreTransport(
                    path: self.stores.path("b.db"), configuration: ServedStores.configuration("b.db")))
        }
        try synchronize()
        let former = try other.identity().replica
        try register.bind(device, to: former)
        // As after its file was put back, it synchronizes with another replica first.
        let renewed = try other.renewIdentity()
        try synchronize()
        #expect(try register.synchronizer.knows(renewed))
        let refusal: RemoteError.Code? = isReadOnly ? .otherReplica : nil
        let present = try register.admitted(key: key)
        #expect(code { try register.bind(present, to: renewed) } == refusal)
        let bound = try register.admitted(key: key)
        #expect(bound.replica == (isReadOnly ? former : renewed))
        // Another copy of the file that goes on under the former one is noticed.
        if !isReadOnly { #expect(code { try register.bind(bound, to: former) } == .otherReplica) }
    }

    @Test func aCopyOfTheFileHasNoneOfItsKeys() throws {
        let link = try register.invite(label: "phone", address: address)
        _ = try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        let key = try RemoteBook(register.synchronizer).deviceKey()
        _ = try ServerCertificate.ofStore(register.synchronizer)
        try register.synchronizer.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let copy = try stores.open("b.db")
        let counts = try copy.writer.read { db in
            try ["_sync_device", "_sync_device_key", "_sync_invite", "_sync_server", "_sync_remote"].map {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1
            }
        }
        #expect(counts == [0, 0, 0, 0, 0])
        #expect(try RemoteBook(copy).deviceKey().publicKey != key.publicKey)
    }
}
