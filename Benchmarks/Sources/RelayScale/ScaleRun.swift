/// Devices, their databases and a relay for a day, event by event.
///
/// A device that is taken up connects, asks what is new, reads it and watches. An edit is three requests (what is new, the
/// changes, the head), and each other device that watches reads it by three. Who has read something says so in its own head,
/// once an hour at most. A watch begins anew each ten minutes, and who has asked nothing for five asks what is new. All of that
/// is what docs/relay.md says.
struct ScaleRun {
    struct Setting {
        var deviceCount: Int
        var day = DeviceDay()
        var times = ServiceTimes()
        /// The processors of all nodes.
        var processorCount: Int
        /// From when to when nobody reaches the relay, in seconds of the day; nil for never.
        var outage: (start: Double, end: Double)?
        var seed: UInt64 = 1
    }

    private enum Event {
        case wake(device: Int, end: Double, isBack: Bool)
        case sleep(device: Int)
        case edit(device: Int, session: Int32)
        case renew(device: Int, session: Int32)
        case poll(device: Int, session: Int32)
        case step(RequestChain)
    }

    private struct Device {
        let channel: Int
        /// The next use of the device among the spans, and the end of its own.
        var span: Int
        let spanEnd: Int
        var isWatching = false
        /// Tells a use of the device from the ones before.
        var session: Int32 = 0
        var end = 0.0
        var seen = 0
        /// When it asked what is new last.
        var asked = 0.0
        var headTime = -86_400.0
        var hasUnsent = false
    }

    /// How long a device that watches asks nothing at most, in seconds.
    private static let pollSeconds = 300.0

    private let setting: Setting
    private var random: ModelRandom
    private var events = EventQueue<Event>()
    private var devices: [Device] = []
    /// When devices are in use: those of one after those of another.
    private var spans: [(start: Float, end: Float)] = []
    private var members: [[Int]] = []
    /// How many edits each database has seen.
    private var positions: [Int] = []
    private var processors: ProcessorStation
    private var commits: CommitStation
    private(set) var tally = ScaleTally()
    /// How long after an outage the last device that came back knew what was new.
    private(set) var recoverySeconds = 0.0

    init(_ setting: Setting) {
        self.setting = setting
        random = ModelRandom(seed: setting.seed)
        processors = ProcessorStation(count: setting.processorCount)
        commits = CommitStation(
            commitSeconds: setting.times.commit / 1000, changeSeconds: setting.times.change / 1000)
        makeDevices()
    }

    var commitCount: Int { commits.commitCount }
    var commitBusyShare: Double { commits.busySeconds / DeviceDay.seconds }

    private mutating func makeDevices() {
        let day = setting.day
        var counts = [Double](repeating: 0, count: day.sizes.count)
        while devices.count < setting.deviceCount {
            // Always that size which is furthest behind its share, so that few databases are like many.
            let all = Double(members.count + 1)
            let size = day.sizes.indices.max {
                day.sizes[$0].share * all - counts[$0] < day.sizes[$1].share * all - counts[$1]
            }
            let index = size ?? 0
            counts[index] += 1
            let zone = members.count % day.zoneCount
            var ids: [Int] = []
            for _ in 0..<min(day.sizes[index].deviceCount, setting.deviceCount - devices.count) {
                let device = devices.count
                let isPhone = random.fraction() < day.phoneShare
                let first = spans.count
                for span in day.spans(isPhone, zone: zone, &random).sorted(by: { $0.start < $1.start }) {
                    spans.append((Float(span.start), Float(span.end)))
                }
                ids.append(device)
                devices.append(Device(channel: members.count, span: first, spanEnd: spans.count))
                addWake(device)
            }
            members.append(ids)
            positions.append(0)
        }
    }

    /// Adds the next use of a device.
    private mutating func addWake(_ device: Int) {
        guard devices[device].span < devices[device].spanEnd else { return }
        let span = spans[devices[device].span]
        devices[device].span += 1
        events.add(.wake(device: device, end: Double(span.end), isBack: false), at: Double(span.start))
    }

    /// Runs the day.
    mutating func run() {
        while let (time, event) = events.next() {
            switch event {
            case .wake(let device, let end, let isBack): wake(device, time, end, isBack)
            case .sleep(let device): sleep(device)
            case .edit(let device, let session):
                if devices[device].session == session { edit(device, time) }
            case .renew(let device, let session):
                guard devices[device].session == session, devices[device].isWatching else { continue }
                if isOut(time) {
                    drop(device, time)
                } else {
                    _ = request(.watch, at: time)
                    events.add(event, at: time + 600)
                }
            case .poll(let device, let session):
                if devices[device].session == session { poll(device, time) }
            case .step(let chain): step(chain, at: time)
            }
        }
    }

    // MARK: Requests

    private func isOut(_ time: Double) -> Bool {
        setting.outage.map { ($0.start..<$0.end).contains(time) } ?? false
    }

    /// One request: what it costs a node, and what the disk takes.
    ///
    /// - returns: When it is answered.
    private mutating func request(_ kind: RequestKind, at time: Double) -> Double {
        let seconds = setting.times.milliseconds(of: kind) / 1000
        var end = processors.serve(at: time, seconds: seconds)
        if kind == .writing { end = commits.commit(at: end) }
        tally.note(kind, at: time, seconds: seconds, took: end - time)
        return end
    }

    private mutating func step(_ chain: RequestChain, at time: Double) {
        var chain = chain
        guard let kind = chain.next() else { return finish(chain, at: time) }
        let end = request(kind, at: time)
        switch kind {
        case .listing: list(&chain, at: time)
        case .writing:
            if let told = chain.noteWriting() { tell(chain, isEdit: told.isEdit, at: end) }
        case .connection, .reading, .watch, .line: break
        }
        events.add(.step(chain), at: end)
    }

    /// What is to be read: each head and bundle that came since, or one bundle of everything when they are many.
    private mutating func list(_ chain: inout RequestChain, at time: Double) {
        devices[chain.device].asked = time
        if case .head = chain.purpose { return }
        let channel = devices[chain.device].channel
        let missing = positions[channel] - devices[chain.device].seen
        devices[chain.device].seen = positions[channel]
        guard missing > 0 else { return }
        chain.readCount = min(missing, members[channel].count - 1) + min(missing, 64)
        // An edit brings a head anyway.
        guard chain.writeCount == 0, time - devices[chain.device].headTime >= 3_600 else { return }
        chain.acknowledges = true
        devices[chain.device].headTime = time
    }

    private mutating func finish(_ chain: RequestChain, at time: Double) {
        switch chain.purpose {
        case .hearing:
            // What comes late because of an outage is told apart.
            if setting.outage.map({ time < $0.start }) ?? true { tally.arrivals.add(time - chain.start) }
        case .edit, .head, .poll: break
        case .wake(let isBack):
            if let outage = setting.outage, isBack {
                recoverySeconds = max(recoverySeconds, time - outage.end)
            }
            let device = chain.device
            guard !devices[device].isWatching, devices[device].end > time else { return }
            devices[device].isWatching = true
            tally.openWatches += 1
            tally.openWatchesMax = max(tally.openWatchesMax, tally.openWatches)
            events.add(.renew(device: device, session: devices[device].session), at: time + 600)
            events.add(
                .poll(device: device, session: devices[device].session), at: time + Self.pollSeconds)
            if devices[device].hasUnsent { send(device, at: time) }
        }
    }

    /// Those who watch hear of a change, and look.
    private mutating func tell(_ chain: RequestChain, isEdit: Bool, at time: Double) {
        let channel = devices[chain.device].channel
        if isEdit {
            positions[channel] += 1
            devices[chain.device].seen = positions[channel]
            devices[chain.device].headTime = time
        }
        for other in members[channel] where other != chain.device && devices[other].isWatching {
            guard !isOut(time) else {
                drop(other, time)
                continue
            }
            let heard = request(.line, at: time)
            events.add(
                .step(RequestChain(isEdit ? .hearing : .head, device: other, start: chain.start)), at: heard)
        }
    }

    // MARK: Devices

    private mutating func wake(_ device: Int, _ time: Double, _ end: Double, _ isBack: Bool) {
        if !isBack {
            devices[device].session += 1
            devices[device].end = end
            events.add(.sleep(device: device), at: end)
            let mean = 3_600 / setting.day.editsPerHour
            events.add(
                .edit(device: device, session: devices[device].session), at: time + random.exponential(mean))
        }
        guard !isOut(time) else { return comeBack(device, time) }
        guard !devices[device].isWatching, time < devices[device].end else { return }
        let sends = devices[device].hasUnsent
        devices[device].hasUnsent = false
        events.add(
            .step(RequestChain(.wake(isBack: isBack), device: device, start: time, sends: sends)), at: time)
    }

    private mutating func sleep(_ device: Int) {
        devices[device].session += 1
        addWake(device)
        guard devices[device].isWatching else { return }
        devices[device].isWatching = false
        tally.openWatches -= 1
    }

    private mutating func edit(_ device: Int, _ time: Double) {
        tally.editCount += 1
        let mean = 3_600 / setting.day.editsPerHour
        // What is typed within a minute goes as one.
        events.add(
            .edit(device: device, session: devices[device].session), at: time + 60 + random.exponential(mean))
        devices[device].hasUnsent = true
        guard !isOut(time) else { return drop(device, time) }
        if devices[device].isWatching { send(device, at: time) }
    }

    /// Asks what is new where nothing was asked for long, since a relay need not tell all.
    private mutating func poll(_ device: Int, _ time: Double) {
        guard devices[device].isWatching else { return }
        guard !isOut(time) else { return drop(device, time) }
        if time - devices[device].asked >= Self.pollSeconds {
            devices[device].asked = time
            events.add(.step(RequestChain(.poll, device: device, start: time)), at: time)
        }
        // At least a second later, whatever the sum is rounded to.
        events.add(
            .poll(device: device, session: devices[device].session),
            at: max(devices[device].asked + Self.pollSeconds, time + 1))
    }

    private mutating func send(_ device: Int, at time: Double) {
        devices[device].hasUnsent = false
        events.add(.step(RequestChain(.edit, device: device, start: time, sends: true)), at: time)
    }

    /// Whoever watches when the relay goes comes back after it.
    private mutating func drop(_ device: Int, _ time: Double) {
        guard devices[device].isWatching else { return }
        devices[device].isWatching = false
        tally.openWatches -= 1
        comeBack(device, time)
    }

    /// A device that finds no relay tries again, at last once a minute, each at a moment of its own.
    private mutating func comeBack(_ device: Int, _ time: Double) {
        guard let outage = setting.outage else { return }
        let pause = min(60, max(0.5, (outage.end - time) / 2))
        let moment = outage.end + random.fraction() * pause
        if moment < devices[device].end {
            events.add(.wake(device: device, end: devices[device].end, isBack: true), at: moment)
        }
    }
}
