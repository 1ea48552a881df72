'use strict'
// The page of a served store. What it shows is put in as text only, never as markup.
{
  const byId = id => document.getElementById(id)
  const svgSpace = 'http://www.w3.org/2000/svg'

  // MARK: Text

  // Characters that are not seen, or that turn the text around, are shown as their numbers.
  const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
  const visible = text =>
    String(text).replace(hidden, c => '\\u{' + c.codePointAt(0).toString(16) + '}')
  // The same for a text of its own, which may have lines.
  const visibleLines = text => String(text).split('\n').map(visible).join('\n')

  const count = number => Number(number).toLocaleString('en')
  const counted = (number, noun) => count(number) + ' ' + noun + (number === 1 ? '' : 's')

  function bytes(number) {
    let [amount, unit] = [number, 'B']
    for (const larger of ['KiB', 'MiB', 'GiB', 'TiB']) {
      if (amount < 1000) break
      amount /= 1024
      unit = larger
    }
    return (amount >= 99.95 || unit === 'B' ? String(Math.round(amount)) : amount.toFixed(1)) + ' ' + unit
  }

  // What the server's clock is ahead of this browser's, in milliseconds.
  let clockAhead = 0

  function span(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000))
    if (seconds < 60) return seconds + ' s'
    if (seconds < 3600) return Math.round(seconds / 60) + ' min'
    if (seconds < 48 * 3600) return Math.round(seconds / 3600) + ' h'
    return Math.round(seconds / 86400) + ' days'
  }

  function ago(milliseconds) {
    const age = Date.now() + clockAhead - milliseconds
    return age < 3000 ? 'just now' : span(age) + ' ago'
  }

  const exact = milliseconds => new Date(milliseconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

  // MARK: Elements

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag)
    for (const [name, value] of Object.entries(properties)) {
      if (name === 'class') made.className = value
      else made.setAttribute(name, value)
    }
    made.append(...children.filter(child => child !== null && child !== undefined))
    return made
  }

  function graphic(tag, attributes = {}, ...children) {
    const made = document.createElementNS(svgSpace, tag)
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
    made.append(...children)
    return made
  }

  // Text of others, which must not mix with the text around it.
  const foreign = (text, kind = '') => element('bdi', kind ? { class: kind } : {}, visible(text))
  const word = (text, kind) => element('span', { class: 'state ' + kind }, text)
  const sub = (...children) => element('span', { class: 'sub' }, ...children)

  function time(milliseconds, words = ago) {
    if (!milliseconds) return null
    const made = element('time', { datetime: new Date(milliseconds).toISOString(), title: exact(milliseconds) })
    made.words = () => words(milliseconds)
    made.textContent = made.words()
    return made
  }

  function row(key) {
    const text = visible(key)
    return element('span', { class: 'mono', title: text }, text.length > 16 ? text.slice(0, 8) + '…' + text.slice(-6) : text)
  }

  function bar(part, kind) {
    return graphic('svg', { class: 'bar', 'aria-hidden': 'true' },
      graphic('rect', { width: '100%', height: '100%', rx: 2 }),
      graphic('rect', { class: kind, width: Math.max(part > 0 ? 2 : 0, part * 100) + '%', height: '100%', rx: 2 }))
  }

  // MARK: Tables

  // A table whose rows stay while what they show does.
  function table(place, title, columns, empty) {
    const body = element('tbody', { role: 'rowgroup' })
    const headings = columns.map(([name, kind]) =>
      element('th', { scope: 'col', role: 'columnheader', class: kind || '' }, name))
    const whole = element('table', { class: 'stacks', role: 'table' },
      element('caption', { class: 'unseen' }, title),
      element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...headings)), body)
    const nothing = element('p', { class: 'empty' }, empty)
    place.replaceChildren(whole, nothing)
    let present = null
    return items => {
      const former = present
      present = new Map()
      for (const item of items) {
        const text = JSON.stringify([item.shown, item.kind || ''])
        let held = former && former.get(item.key)
        if (!held || held.text !== text) {
          const line = element('tr', { role: 'row', class: item.kind || '' })
          columns.forEach(([name, kind], index) => {
            const cell = [item.cells()[index]].flat().filter(part => part !== null && part !== undefined && part !== '')
            line.append(element('td', { role: 'cell', class: (kind || '') + (cell.length ? '' : ' none'), 'data-label': name },
              element('div', {}, ...cell)))
          })
          if (former) line.classList.add('new')
          held = { text, line }
        }
        present.set(item.key, held)
      }
      const lines = [...present.values()].map(held => held.line)
      if (lines.length !== body.children.length || lines.some((line, index) => line !== body.children[index])) {
        body.replaceChildren(...lines)
      }
      whole.hidden = items.length === 0
      nothing.hidden = items.length > 0
    }
  }

  // Made anew for each session, so that nothing of one is left for the next.
  let views = null

  function makeViews() {
    return {
      devices: table(byId('devices'), 'Devices of this store', [['Device'], ['State', 'short'], ['Last sync', 'short'], ['Behind'], ['May exchange'], ['Enrolled', 'short']],
        'No device was enrolled yet. Invite one with: syncctl invite <store> --label <name>'),
      conflicts: table(byId('conflicts'), 'Open conflicts, the newest first', [['Found', 'short'], ['Table'], ['Row', 'short'], ['Column'], ['Value that lost', 'wide'], ['Written by'], ['Lost against'], ['Details', 'short']],
        'No conflict is open.'),
      parked: table(byId('parked'), 'Rows that wait for their place', [['Since', 'short'], ['Table'], ['Row', 'short'], ['Why', 'wide'], ['Other row', 'short']],
        'Every row is in its place.'),
      tables: table(byId('tables'), 'Tables that are synchronized', [['Table'], ['Rows', 'number'], ['Share', 'short']], 'No table is tracked.'),
      peers: table(byId('peers'), 'Replicas that are no devices', [['Replica'], ['Last sync', 'short'], ['Behind']],
        'Only devices synchronize with this store.'),
      remotes: table(byId('remotes'), 'Synchronizations that this store asked for', [['Remote'], ['Last try', 'short'], ['Result']], ''),
      charts: ['Last 2 minutes', 'Last 2 hours'].map(chart),
    }
  }

  // MARK: Lists

  const lagText = lag => lag.changes > 0 ? (lag.atMost ? 'up to ' : '') + counted(lag.changes, 'change') : 'nothing'

  const share = (lag, most) => lag && most > 0 ? Math.round(100 * lag.changes / most) / 100 : 0

  function behind(lag, part) {
    if (!lag) return null
    if (lag.changes === 0) return word('up to date', 'good')
    return [lagText(lag), bar(part, 'late'),
      lag.oldest ? sub('oldest ', time(lag.oldest)) : null]
  }

  function deviceState(device) {
    if (device.revoked) return [word('revoked', 'bad'), sub(time(device.revoked))]
    if (device.streams > 0) return word('live', 'good')
    return device.replica ? word('not connected', 'quiet') : word('never connected', 'warn')
  }

  function showDevices(devices, number) {
    const most = Math.max(0, ...devices.map(device => device.lag ? device.lag.changes : 0))
    byId('devices-note').textContent = devices.length < number ? 'the newest ' + devices.length + ' of ' + count(number) : ''
    const order = [...devices].sort((a, b) => Boolean(a.revoked) - Boolean(b.revoked))
    views.devices(order.map(device => ({
      key: device.device, shown: [device, share(device.lag, most)], kind: device.revoked ? 'off' : '',
      cells: () => [
        [foreign(device.label), device.replica ? sub('replica ' + device.replica) : null],
        deviceState(device),
        [time(device.synced || device.seen) || 'never'],
        behind(device.lag, share(device.lag, most)),
        [device.tables ? foreign(device.tables.join(', ')) : 'all tables',
          device.rows ? sub('rows by ', foreign(device.rows.join(', '))) : null, device.readOnly ? sub('read-only') : null],
        [time(device.enrolled)],
      ],
    })))
  }

  const reasons = {
    newer: 'a newer value', deleted: 'a deletion', 'merge failed': 'a failed merge', row: 'a deletion',
  }

  function showConflicts(conflicts) {
    const more = conflicts.items.length < conflicts.open
      ? 'the newest ' + conflicts.items.length + ' of ' + count(conflicts.open) + '; ' : ''
    byId('conflicts-note').replaceChildren(
      ...conflicts.open > 0 ? [more + 'all of them at once: ', element('code', {}, 'syncctl conflicts resolve')] : [])
    views.conflicts(conflicts.items.map(item => ({
      key: item.id, shown: item,
      cells: () => [[time(item.found)], [foreign(item.table)], [row(item.key)], [foreign(item.column)],
        [foreign(item.lost, 'value-text')], [foreign(item.writer)],
        [reasons[item.reason] || foreign(item.reason), sub('by ', foreign(item.winner))],
        [button('Show', () => openConflict(item.id), 'Show the conflict in ' + visible(item.table) + ', column ' + visible(item.column))]],
    })))
  }

  // MARK: One conflict

  function button(text, act, label) {
    const made = element('button', label ? { type: 'button', 'aria-label': label } : { type: 'button' }, text)
    made.addEventListener('click', act)
    return made
  }

  function side(title, text, writer, absent) {
    const value = text === undefined
      ? element('p', { class: 'empty' }, absent)
      : element('pre', { class: 'value-text', tabindex: 0 }, element('bdi', {}, visibleLines(text)))
    return element('section', {}, element('h3', {}, title), value,
      element('p', { class: 'muted' }, 'by ', foreign(writer.name), writer.at ? ', ' : '', time(writer.at)))
  }

  const operations = { insert: 'inserted', update: 'written', delete: 'deleted' }

  function rowHistory(changes) {
    const lines = changes.map(change => element('tr', {},
      element('td', { class: 'short' }, time(change.at)), element('td', {}, foreign(change.by)),
      element('td', {}, operations[change.operation] || foreign(change.operation),
        change.columns.length ? sub(foreign(change.columns.join(', '))) : null)))
    return [element('h3', {}, 'What happened to the row'), lines.length
      ? element('table', {}, element('thead', {}, element('tr', {},
        ...['When', 'By', 'What'].map(name => element('th', { scope: 'col' }, name)))), element('tbody', {}, ...lines))
      : element('p', { class: 'empty' }, 'Nothing is known of it.')]
  }

  // Which conflict the dialog shows: what is chosen, and what is answered late, is about that one.
  let shown = null
  const conflictPath = (of, id) => '/console/stores/' + of + '/conflicts/' + id

  function conflictProblem(text) {
    byId('conflict-problem').textContent = text
    byId('conflict-problem').hidden = !text
  }

  function fillConflict(of, conflict) {
    shown = { store: of, id: conflict.id, state: conflict.state }
    byId('conflict-title').replaceChildren(foreign(conflict.table), ', column ', foreign(conflict.column))
    const gone = conflict.rowExists ? 'The column is not here.' : 'The row is not in its table.'
    const notes = [conflict.open ? null : 'It has been resolved in the meantime.',
      conflict.reason === 'deleted' ? 'Restoring the value inserts the whole row again.' : null,
      conflict.others > 0 ? 'The journal keeps ' + counted(conflict.others, 'other value') + ' of this row.' : null]
    byId('conflict-body').replaceChildren(
      element('p', { class: 'muted' }, 'row ', element('span', { class: 'mono' }, visible(conflict.key)), ', found ', time(conflict.found)),
      element('div', { class: 'sides' }, side('Value now', conflict.current, conflict.winner, gone),
        side('Value that lost', conflict.lost, conflict.writer, '')),
      ...notes.filter(Boolean).map(text => element('p', {}, text)), ...rowHistory(conflict.history))
    byId('conflict-actions').replaceChildren(...conflict.open
      ? [button('Keep what is there', () => choose('keep')), button('Restore the value that lost', () => choose('restore'))]
      : [])
  }

  async function openConflict(id) {
    const wanted = store
    const answer = await ask(conflictPath(wanted, id)).catch(() => null)
    if (wanted !== store) return
    if (answer && answer.status === 401) return ended()
    const found = answer && answer.status === 200
    conflictProblem(found ? '' : answer ? visible(answer.document.detail) : 'The server cannot be reached.')
    if (found) fillConflict(wanted, answer.document)
    else closeConflict(false)
    if (!byId('conflict').open) byId('conflict').showModal()
  }

  async function choose(choice) {
    const mine = shown
    const buttons = byId('conflict-actions').querySelectorAll('button')
    for (const made of buttons) made.disabled = true
    const answer = await ask(conflictPath(mine.store, mine.id), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ choice, state: mine.state }),
    }).catch(() => null)
    if (mine !== shown) return
    if (answer && answer.status === 401) return ended()
    if (answer && answer.status === 200 && answer.document.remaining === 0) return closeConflict(true)
    for (const made of buttons) made.disabled = false
    conflictProblem(!answer ? 'The server cannot be reached; nothing is known of what was chosen.'
      : answer.status === 200 ? 'It is still open: a newer value of the column was restored in its place, or the column is not here.'
        : visible(answer.document.detail))
  }

  // Leaves nothing of what it showed.
  function closeConflict(closes) {
    shown = null
    for (const id of ['conflict-title', 'conflict-body', 'conflict-actions']) byId(id).replaceChildren()
    if (closes && byId('conflict').open) byId('conflict').close()
  }

  const causes = {
    unique: 'has the value of another row', notNull: 'misses a value', check: 'breaks a check',
    missingParent: 'its parent is not here', trigger: 'was refused by a trigger',
    missingTable: 'its table is not here', missingColumn: 'a column is not here', other: 'could not be written',
  }

  function showParked(parked) {
    byId('parked-note').textContent = parked.items.length < parked.count
      ? parked.items.length + ' of ' + count(parked.count) : ''
    views.parked(parked.items.map(item => ({
      key: item.table + ' ' + item.key, shown: item,
      cells: () => [[time(item.since)], [foreign(item.table)], [row(item.key)],
        [causes[item.reason] || foreign(item.reason), sub(foreign(item.message))],
        item.otherKey ? [row(item.otherKey), item.otherTable && item.otherTable !== item.table ? sub(foreign(item.otherTable)) : null] : null],
    })))
  }

  function showOthers(state) {
    const rows = Math.max(1, ...state.store.tables.map(item => item.rows))
    const sum = state.store.tables.reduce((total, item) => total + item.rows, 0)
    byId('tables-note').textContent = counted(sum, 'row') + ' in ' + counted(state.store.tables.length, 'table')
    views.tables(state.store.tables.map(item => ({
      key: item.name, shown: [item, rows],
      cells: () => [[foreign(item.name)], [count(item.rows)], [bar(item.rows / rows, 'full')]],
    })))
    const most = Math.max(0, ...state.peers.map(peer => peer.lag ? peer.lag.changes : 0))
    views.peers(state.peers.map(peer => ({
      key: peer.replica, shown: [peer, share(peer.lag, most)],
      cells: () => [[foreign(peer.name || peer.replica), peer.name ? sub('replica ' + peer.replica) : null], [time(peer.synced)], behind(peer.lag, share(peer.lag, most))],
    })))
    views.remotes(state.remotes.map(remote => ({
      key: remote.name, shown: remote,
      cells: () => [[foreign(remote.name)], [time(remote.tried)],
        remote.failures > 0 ? [word(counted(remote.failures, 'failure'), 'bad'), sub(foreign(remote.error || ''))] : word('synchronized', 'good')],
    })))
  }

  // MARK: Summary and charts

  // The last ones, so that each can be made anew when the other comes.
  let latest = { state: null, traffic: null }

  function tile(name, value, detail, kind, picture) {
    return element('div', { class: 'tile ' + (kind || '') }, element('dt', {}, name),
      element('dd', { class: 'value' }, value), element('dd', { class: 'detail' }, ...[detail].flat()), picture)
  }

  function showTiles() {
    const { state, traffic } = latest
    if (!state) return
    const active = state.devices.filter(device => !device.revoked)
    const live = active.filter(device => device.streams > 0).length
    const late = active.filter(device => device.lag && device.lag.changes > 0).sort((a, b) => b.lag.changes - a.lag.changes)
    const synced = Math.max(0, ...active.map(device => device.synced || 0), ...state.peers.map(peer => peer.synced))
    const seconds = traffic && traffic.series[0]
    const last = series => series.slice(-6, -1).reduce((sum, value) => sum + value, 0) / 5
    const rate = seconds ? last(seconds.sent) + last(seconds.received) : 0
    byId('tiles').replaceChildren(
      tile('Devices', count(active.length), live > 0 ? word(live + ' live', 'good') : active.length > 0 ? 'none is live' : 'none was enrolled'),
      tile('Behind', late.length > 0 ? counted(late.length, 'device') : 'none',
        late.length > 0 ? [foreign(late[0].label), ': ' + lagText(late[0].lag)] : active.length > 0 ? 'all have every change' : '', late.length > 0 ? 'warn' : ''),
      tile('Last sync', synced ? time(synced) : 'never', synced ? new Date(synced).toLocaleTimeString() : ''),
      tile('Throughput', bytes(rate) + '/s', seconds ? last(seconds.requests).toFixed(1) + ' requests/s' : '', '', seconds ? sparkline(seconds) : null),
      tile('Conflicts', count(state.conflicts.open), state.conflicts.open > 0 ? 'open' : 'none is open', state.conflicts.open > 0 ? 'warn' : ''),
      tile('Rows that wait', count(state.parked.count), state.parked.count > 0 ? 'see below' : 'all are in place', state.parked.count > 0 ? 'warn' : ''))
  }

  // Bars from a line, upwards or, with a negative scale, downwards. What is there is seen, however small.
  function bars(values, scale, line) {
    return values.map((value, index) => {
      if (value <= 0) return ''
      const height = (Math.max(1, value * Math.abs(scale)) * Math.sign(scale)).toFixed(2)
      return 'M' + (index * 4) + ' ' + line + 'v' + -height + 'h3v' + height + 'z'
    }).join('')
  }

  function sparkline(series) {
    const values = series.sent.map((value, index) => value + series.received[index]).slice(-40)
    const most = Math.max(1, ...values)
    return graphic('svg', { viewBox: '0 0 160 40', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      graphic('path', { class: 'sent', d: bars(values, 38 / most, 40) }))
  }

  function chart(title, index) {
    const sent = graphic('path', { class: 'sent' })
    const received = graphic('path', { class: 'received' })
    const peak = element('span')
    const picture = graphic('svg', { viewBox: '0 0 480 100', preserveAspectRatio: 'none', role: 'img' },
      sent, received, graphic('line', { class: 'zero', x1: 0, x2: 480, y1: 50, y2: 50 }))
    byId('charts').append(element('figure', { class: 'chart' },
      element('figcaption', {}, element('span', {}, title), peak), picture,
      element('div', { class: 'axis', 'aria-hidden': 'true' },
        element('span', {}, index === 0 ? '2 min ago' : '2 h ago'), element('span', {}, 'now'))))
    return series => {
      const most = Math.max(...series.sent, ...series.received)
      const scale = 48 / Math.max(1, most)
      sent.setAttribute('d', bars(series.sent, scale, 50))
      received.setAttribute('d', bars(series.received, -scale, 50))
      const sum = values => bytes(values.reduce((total, value) => total + value, 0))
      peak.textContent = most > 0 ? 'peak ' + bytes(most * 1000 / series.step) + '/s' : 'nothing was sent'
      picture.setAttribute('aria-label', title + ': ' + sum(series.sent) + ' to devices, ' + sum(series.received) + ' from devices')
    }
  }

  function show(state) {
    if (!views) {
      byId('charts').replaceChildren()
      views = makeViews()
    }
    clockAhead = state.now - Date.now()
    latest.state = state
    byId('name').textContent = visible(state.store.name)
    byId('about').textContent = 'replica ' + state.store.replica + ' of database ' + state.store.id.slice(0, 8)
    document.title = visible(state.store.name) + ' · CipherStore'
    showTiles()
    showDevices(state.devices, state.store.devices)
    showConflicts(state.conflicts)
    showParked(state.parked)
    showOthers(state)
    byId('help').hidden = true
    byId('content').hidden = false
    byId('end').hidden = false
  }

  function showTraffic(traffic) {
    latest.traffic = traffic
    if (!views) return
    traffic.series.forEach((series, index) => views.charts[index](series))
    showTiles()
  }

  // MARK: Connection

  const silenceMilliseconds = 30000
  let store = null
  let source = null
  let heardAt = 0
  let failures = 0
  let retryAt = 0
  let again = null

  function say(text, kind) {
    const place = byId('connection')
    // The same words are not read out again.
    if (place.textContent !== text) place.textContent = text
    place.className = 'state ' + kind
  }

  function connected() {
    heardAt = Date.now()
    failures = 0
    retryAt = 0
    byId('retry').hidden = true
    document.body.classList.remove('lost')
    say('Live', 'good')
  }

  // Shows nothing but what to do.
  function help(title, text) {
    if (source) source.close()
    source = null
    store = null
    views = null
    latest = { state: null, traffic: null }
    retryAt = 0
    for (const id of ['devices', 'conflicts', 'parked', 'tables', 'peers', 'remotes', 'charts', 'tiles']) byId(id).replaceChildren()
    closeConflict(true)
    for (const id of ['content', 'end', 'retry']) byId(id).hidden = true
    byId('name').textContent = 'Server'
    byId('about').textContent = ''
    document.title = 'CipherStore'
    byId('help-title').textContent = title
    byId('help-text').textContent = text
    byId('help').hidden = false
    document.body.classList.remove('lost')
    say('No session', 'quiet')
  }

  const ended = () => help('The session has ended', 'It lasts twelve hours, and one hour without an open page. It also ends with the server, or when somebody ends it.')

  // Tries something again later, each time after a longer pause.
  function lost(what) {
    if (source) source.close()
    source = null
    failures += 1
    const seconds = Math.min(30, 2 ** (failures - 1)) * (0.75 + Math.random() / 2)
    retryAt = Date.now() + seconds * 1000
    again = what
    byId('retry').hidden = false
    document.body.classList.add('lost')
    say('Connection lost' + (latest.state ? ', this is from ' + new Date(heardAt).toLocaleTimeString() : ''), 'bad')
  }

  function retry() {
    if (!retryAt) return
    retryAt = 0
    say('Connecting', 'quiet')
    again()
  }

  async function ask(path, options = {}) {
    const response = await fetch(path, { cache: 'no-store', credentials: 'same-origin', ...options })
    return { status: response.status, document: response.status === 204 ? null : await response.json() }
  }

  // Asks once, because a stream that is refused does not say why, and then follows the stream.
  async function follow() {
    const wanted = store
    try {
      const answer = await ask('/console/stores/' + wanted + '/data')
      if (wanted !== store) return
      if (answer.status === 401) return ended()
      if (answer.status !== 200) return lost(follow)
      show(answer.document)
    } catch {
      return lost(follow)
    }
    source = new EventSource('/console/stores/' + wanted + '/events')
    heardAt = Date.now()
    const on = (name, act) => source.addEventListener(name, event => {
      connected()
      act(JSON.parse(event.data))
    })
    on('state', show)
    on('traffic', showTraffic)
    on('alive', () => {})
    source.onerror = () => lost(follow)
  }

  function open(identifier) {
    closeConflict(true)
    store = identifier
    history.replaceState(null, '', '/console?store=' + identifier)
    follow()
    listStores()
  }

  async function listStores() {
    const answer = await ask('/console/sessions').catch(() => null)
    if (!answer || answer.status !== 200) return
    const place = byId('stores')
    place.replaceChildren(...answer.document.stores.map(item => {
      const link = element('a', { href: '/console?store=' + item.store }, foreign(item.name))
      if (item.store === store) link.setAttribute('aria-current', 'page')
      return link
    }))
    place.hidden = answer.document.stores.length < 2
  }

  async function begin() {
    const secret = location.hash.slice(1)
    const given = new URLSearchParams(location.search).get('store')
    if (secret) {
      // It must not stay in the address bar or in the history.
      history.replaceState(null, '', '/console')
      return exchange(secret)
    }
    if (given && /^[0-9a-f]{32}$/.test(given)) return open(given)
    try {
      const answer = await ask('/console/sessions')
      if (answer.status !== 200) return lost(begin)
      if (answer.document.stores.length > 0) return open(answer.document.stores[0].store)
      help('This page opens with a link', 'It shows what a store holds, so nobody sees it without one.')
    } catch {
      lost(begin)
    }
  }

  async function exchange(secret) {
    if (source) source.close()
    source = null
    const later = () => exchange(secret)
    try {
      const answer = await ask('/console/sessions', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ secret }),
      })
      if (answer.status === 201) return open(answer.document.store)
      if (answer.status >= 500) return lost(later)
      help('This link does not open', 'It was used already, has expired, or is not this server\'s. Make another one.')
    } catch {
      lost(later)
    }
  }

  async function end() {
    try {
      if (store) await ask('/console/stores/' + store + '/session', { method: 'DELETE' })
      ended()
    } catch {
      say('The session could not be ended', 'bad')
    }
  }

  setInterval(() => {
    for (const place of document.querySelectorAll('time')) {
      const text = place.words()
      if (place.textContent !== text) place.textContent = text
    }
    if (source && Date.now() - heardAt > silenceMilliseconds) lost(follow)
    if (retryAt && Date.now() >= retryAt) retry()
  }, 1000)
  byId('retry').addEventListener('click', retry)
  byId('end').addEventListener('click', end)
  byId('conflict-close').addEventListener('click', () => closeConflict(true))
  byId('conflict').addEventListener('close', () => closeConflict(false))
  addEventListener('online', retry)
  // Another link that is put into the same address bar loads nothing anew.
  addEventListener('hashchange', () => { if (location.hash.length > 1) begin() })
  begin()
}
