import CipherStore
import Foundation
import SyncWire

/// Notices that the file is a copy, or was restored from one, before anything new is
/// told as a change of the replica that it was copied of.
///
/// The store remembers where it is. Each of these is a reason to go on as a new replica:
/// - another file (inode and time of birth): `cp`, a backup, a synchronized folder;
/// - another machine that the store never was on: the disk of a virtual machine was duplicated;
/// - another mark: an older content was written into the same file. The mark is a random
///   token beside the content that changes whenever changes get numbers, and the content
///   knows it, the one that it is about to replace, and its own last ones.
///
/// A renamed or moved file keeps all of them, and a change of the key says which file the
/// new one stands for. What is the same in all respects, such as a machine that was set
/// back to a snapshot, is found when it meets others (see ``ForkSearch``).
struct StoreFence {
    private enum Setting {
        static let machines = "place.machines"
        static let identity = "place.identity"
        static let mark = "place.mark"
        static let previousMark = "place.mark.previous"
        static let formerMarks = "place.marks.former"
        static let former = "place.former"
    }

    /// So many machines are remembered: a store on a stick may come by all of them again and again.
    private static let machineCountMax = 16

    /// A process that is late may set a mark beside the content that others have replaced since. A transaction may fold more than once,
    /// so that not only the last one can be such.
    private static let formerMarkCountMax = 4
    private static let markByteCount = 16

    let db: Database
    let environment: SyncEnvironment

    /// Gives the store a new replica id if it is a copy. Runs before a fold, in its transaction.
    ///
    /// - returns: The replica id that it had, when it got a new one.
    @discardableResult
    func check() throws -> ReplicaID? {
        guard let places = environment.places, let path = try path(), let place = places.place(of: path)
        else { return nil }
        let machines = try SyncSetting.text(db, Setting.machines)
        guard let machines else {
            // A new store, a clone, or one of an older program.
            try settle(place, path, machines: [])
            return nil
        }
        let known = machines.split(separator: "\n").map(String.init)
        guard try isElsewhere(place, known) else {
            if try place.identity != SyncSetting.text(db, Setting.identity) {
                try settle(place, path, machines: known)
            }
            return nil
        }
        let old = try StoreMetadata.require(db).replicaID()
        try ReplicaIdentity.mintForCopy(db, environment)
        // The original goes on with its snapshots.
        try SnapshotRecord.removeAll(db)
        try settle(place, path, machines: known)
        try SyncSetting.set(db, Setting.former, old.data)
        return old
    }

    /// The replica id that the store had before it turned out to be a copy, until somebody was told.
    func takeFormerReplica() throws -> ReplicaID? {
        guard let data = try SyncSetting.data(db, Setting.former) else { return nil }
        try SyncSetting.set(db, Setting.former, nil as Data?)
        return data.withUnsafeBytes { ReplicaID(bytes: $0) }
    }

    private func isElsewhere(_ place: StorePlace, _ machines: [String]) throws -> Bool {
        if let machine = place.machine, !machines.isEmpty, !machines.contains(machine) { return true }
        if let identity = try SyncSetting.text(db, Setting.identity), identity != place.identity,
            !place.predecessors.contains(identity)
        {
            return true
        }
        guard let mark = try SyncSetting.data(db, Setting.mark) else { return false }
        let previous = try SyncSetting.data(db, Setting.previousMark)
        guard let found = place.mark.map({ Data($0) }) else { return true }
        return try found != mark && found != previous && !formerMarks().contains(found)
    }

    /// The last marks that the content had.
    private func formerMarks() throws -> [Data] {
        let bytes = try [UInt8](SyncSetting.data(db, Setting.formerMarks) ?? Data())
        return stride(from: 0, to: bytes.count, by: Self.markByteCount).map {
            Data(bytes[$0..<min($0 + Self.markByteCount, bytes.count)])
        }
    }

    /// Remembers where the store is from now on.
    private func settle(_ place: StorePlace, _ path: String, machines: [String]) throws {
        let all = (machines.filter { $0 != place.machine } + [place.machine].compactMap { $0 })
            .suffix(Self.machineCountMax)
        try SyncSetting.set(db, Setting.machines, all.joined(separator: "\n"))
        try SyncSetting.set(db, Setting.identity, place.identity)
        let mark = environment.identifier()
        if let found = place.mark { return try change(to: mark.data, from: Data(found), path) }
        // Only the attempt tells whether the file takes marks. After a crash, or a rollback, there may be one replica id too many.
        let takesMarks = environment.places?.setMark(mark.bytes, of: path) ?? false
        try SyncSetting.set(db, Setting.mark, takesMarks ? mark.data : nil)
        try SyncSetting.set(db, Setting.previousMark, nil as Data?)
    }

    /// Changes the mark, because changes got numbers.
    func advance() throws {
        guard let places = environment.places, let last = try SyncSetting.data(db, Setting.mark),
            let path = try path()
        else { return }
        // It may be the mark of an earlier fold of this transaction that the content has, and not yet the file.
        let found = places.place(of: path)?.mark.map { Data($0) }
        try change(to: environment.identifier().data, from: found ?? last, path)
    }

    /// Changes the mark of the content, and, once that is committed, the one beside it. Until then that one counts too.
    private func change(to mark: Data, from found: Data, _ path: String) throws {
        if let last = try SyncSetting.data(db, Setting.mark) {
            let marks = try (formerMarks() + [last]).suffix(Self.formerMarkCountMax)
            try SyncSetting.set(db, Setting.formerMarks, Data(marks.joined()))
        }
        try SyncSetting.set(db, Setting.mark, mark)
        try SyncSetting.set(db, Setting.previousMark, found)
        guard let places = environment.places else { return }
        db.afterNextTransaction { Self.copyMark(of: $0, path, places) }
    }

    /// Sets the mark beside the content to that of the content as it is committed: a savepoint can have undone the change.
    private static func copyMark(of db: Database, _ path: String, _ places: any StorePlaces) {
        // It can have undone as well that the content learnt which file it is since its key changed. Who sets the mark says that it
        // knows, and the file's predecessors would be forgotten. The mark that the file has is one that the content knows.
        guard let place = places.place(of: path),
            place.identity == (try? SyncSetting.text(db, Setting.identity))
        else { return }
        // Where it can't be read, the former one stays, which the content knows as well.
        var mark = try? SyncSetting.data(db, Setting.mark)
        // Another process may commit the next one meanwhile.
        for _ in 0..<8 {
            guard let set = mark, places.setMark([UInt8](set), of: path) else { return }
            mark = try? SyncSetting.data(db, Setting.mark)
            if mark == set { return }
        }
    }

    /// Forgets where the store is, in a copy that is a replica of its own already.
    static func forget(_ db: Database) throws {
        for name in [
            Setting.machines, Setting.identity, Setting.mark, Setting.previousMark, Setting.formerMarks,
            Setting.former,
        ] {
            try SyncSetting.set(db, name, nil as Data?)
        }
    }

    /// Two openings of one file have the same, two files hardly ever.
    func fingerprint() throws -> Identifier128? {
        guard let path = try path(), let place = environment.places?.place(of: path) else { return nil }
        var hash = ChainHash(after: try StoreMetadata.require(db).store)
        for part in [place.machine, place.identity] { hash.add(Array((part ?? "").utf8)) }
        return hash.value
    }

    private func path() throws -> String? {
        let rows = try Row.fetchAll(db, sql: "PRAGMA database_list")
        let main = try rows.first { try $0.decode(String.self, atIndex: 1) == "main" }
        guard let path = try main?.decodeIfPresent(String.self, atIndex: 2), !path.isEmpty else { return nil }
        return path
    }
}
