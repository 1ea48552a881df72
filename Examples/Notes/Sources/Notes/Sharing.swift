import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

extension NoteStore {
    /// Triggers in the file note each change of the table from now on, whichever program makes it.
    func synchronizer() throws -> Synchronizer { try Synchronizer(database, tables: ["note"]) }

    /// Serves the notes to the devices that it has invited, until the task is cancelled.
    func serve(port: Int, label: String, onReady: @escaping @Sendable (InviteLink) -> Void) async throws {
        let synchronizer = try synchronizer()
        let register = try DeviceRegister(synchronizer)
        let server = try HubServer([synchronizer], options: .init(host: "127.0.0.1", port: port))
        try await server.run { listening in
            do {
                let address = try ServerAddress(
                    host: "127.0.0.1", port: listening.port, trust: listening.trust)
                onReady(try register.invite(label: label, address: address))
            } catch {
                Terminal.say("no invitation: \(error)")
            }
        }
    }

    /// Makes a replica on this device, which an invitation allows once.
    static func join(_ link: InviteLink, at path: String, passphrase: borrowing Passphrase) throws {
        try Synchronizer.join(link, at: path, passphrase: passphrase)
    }

    /// Keeps this replica and the server equal, on a thread of its own, until ``LiveSynchronization/stop()``.
    func synchronizeLive() throws -> LiveSynchronization {
        let live = try LiveSynchronization(synchronizer())
        Thread.detachNewThread {
            do {
                try live.run { event in
                    switch event {
                    case .connected(let remote): Terminal.say("connected to \(remote)")
                    case .synchronized: break  // the observation shows what came
                    case .disconnected(let error, let milliseconds):
                        Terminal.say("not connected: \(error); trying again in \(milliseconds) ms")
                    }
                }
            } catch {
                Terminal.say("the synchronization ended: \(error)")
            }
        }
        return live
    }
}
